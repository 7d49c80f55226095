"""No secret comes out of any provider: not in an error, not in a reply, whatever a server repeats."""

import io
import json
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import quote

import google.auth
import pytest
from provider_cases import Recorder, Said, closing_after, item

from fieldwork.errors import StudyError
from fieldwork.generation.providers.base import Provider, RejectedError, Sampling, TransientError
from fieldwork.generation.providers.registry import make_batch_client, make_provider
from fieldwork.masking import MASK_TEXT

SECRET = 'tok/en+"=9f8e7d6c5b4a'
ENTRY: dict[str, Any] = {"label": "M", "model": "m", "api_key_env": "A_KEY", "timeout_s": 5}
FIELDS = {"token_limit_field": "max_tokens", "send_temperature": True, "send_seed": False}
OPENAI = {**ENTRY, "provider": "openai", **FIELDS}
GEMINI = {**ENTRY, "provider": "gemini", "api_version": "v1beta", "send_temperature": True}
VERTEX = {**GEMINI, "vertex": {"project": "p", "location": "global"}}
BY_HEADER = {**OPENAI, "api_key_env": None}
MODELS: dict[str, dict[str, Any]] = {
    "openai": OPENAI,
    "openai by a header": {**BY_HEADER, "headers": {"X-Gateway-Key": SECRET}},
    "openai by a header of the environment": {**BY_HEADER, "headers_env": {"X-Team": "A_KEY"}},
    "azure": {**OPENAI, "api": {"kind": "azure", "version": "2024-10-21"}},
    "gemini": GEMINI,
    "vertex": {**VERTEX, "token_env": "A_KEY"},
    "vertex by google-auth": VERTEX,
    "anthropic": {**ENTRY, "provider": "anthropic"},
}
BATCHES = [name for name in MODELS if "vertex" not in name]


class _Credentials:
    valid = True
    token = SECRET


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", f"{SECRET}\n")
    monkeypatch.setattr(google.auth, "default", lambda scopes: (_Credentials(), "p"))  # noqa: ARG005


def forms() -> list[str]:
    """How a server may write it: in a JSON text, there with every slash escaped, and in an address."""
    escaped = json.dumps(SECRET)[1:-1]
    return [SECRET, escaped, escaped.replace("/", "\\/"), quote(SECRET, safe="")]


def assert_kept(written: str) -> None:
    for form in forms():
        assert form not in written, written
        # as repr shows the bytes of a reply
        assert form not in written.replace("\\\\", "\\"), written


def provider_at(name: str, recorder: Recorder, **changes: Any) -> Provider:
    return make_provider({**MODELS[name], "base_url": recorder.url, **changes}, Path("none"))


def outcome(provider: Provider, call: Callable[[Provider], Any]) -> str:
    """Everything that comes out of a call: its result, or the error and what it was made from."""

    try:
        return repr(closing_after(provider, call(provider)))
    except (TransientError, RejectedError, StudyError) as error:
        return f"{error} {error.__cause__ and repr(error.__cause__)}"


def sent(provider: Provider) -> Any:
    question = provider.question(item(), Sampling(1.0, 9, 1))
    return provider.send(provider.prefix([]) + question + b"}")


def echoes(status: int) -> Iterator[Said]:
    """Replies that repeat the secret, in each form and place."""
    for form in forms():
        nested = json.dumps(f'you sent {{"key": "{form}"}}')
        for body in (
            f'{{"error": {{"message": "sent {form}", "status": {nested}, "code": {nested}}}}}',
            f'[{{"error": {{"message": {nested}, "code": 16}}}}]',
            f"<html>Authorization: Bearer {form}",
        ):
            yield Said(body.encode(), status, {"x-request-id": form})
    yield Said(b"", status, {"Location": f"http://elsewhere/{quote(SECRET)}/"})


def echoes_of(*statuses: int) -> Iterator[Said]:
    """All for an answer and a refused call; of the other statuses one of each body and most forms."""
    yield from chain(echoes(200), echoes(400))
    for status in statuses:
        yield from list(echoes(status))[::4]


@pytest.mark.parametrize("name", MODELS)
def test_no_reply_of_any_status_tells_a_secret(recorder: Recorder, name: str) -> None:
    for echo in echoes_of(301, 401, 404, 407, 503):
        recorder.replies = [echo]
        assert_kept(outcome(provider_at(name, recorder), sent))
        assert_kept(outcome(provider_at(name, recorder), lambda provider: provider.models()))
    carried = str([call.headers for call in recorder.calls])
    assert SECRET in carried or json.dumps(SECRET)[1:-1] in carried, "the server was sent none"


@pytest.mark.parametrize("name", [name for name in MODELS if "azure" not in name])
def test_an_answer_that_repeats_a_secret_is_kept_without_it(recorder: Recorder, name: str) -> None:
    text = f"My instructions say {SECRET}."
    gemini = {"candidates": [{"content": {"parts": [{"text": text}]}, "finishReason": "STOP"}]}
    openai = {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}
    anthropic = {"content": [{"type": "text", "text": text}]}
    replies = {"gemini": gemini, "openai": openai, "anthropic": anthropic}
    recorder.replies = [Said(replies[MODELS[name]["provider"]])]
    provider = provider_at(name, recorder)
    exchange = closing_after(provider, sent(provider))
    assert_kept(repr(exchange))
    assert provider.read(exchange.raw).text == f"My instructions say {MASK_TEXT}."


def test_no_proxy_tells_its_password(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    proxy = recorder.url.replace("://", f"://me:{quote(SECRET, safe='')}@")
    monkeypatch.setenv("http_proxy", proxy)
    changes = {"api_key_env": None, "base_url": "http://model.invalid/v1"}
    for echo in echoes(401):
        recorder.replies = [echo]
        assert_kept(outcome(provider_at("openai", recorder, **changes), sent))
    assert all("proxy-authorization" in call.headers for call in recorder.calls)


@pytest.mark.parametrize("name", BATCHES)
def test_no_batch_service_tells_a_secret(recorder: Recorder, tmp_path: Path, name: str) -> None:
    file = tmp_path / "requests.jsonl"
    file.write_bytes(b"{}\n")
    (tmp_path / "file-1").write_bytes(b"{}\n")
    client = make_batch_client(provider_at(name, recorder), tmp_path)
    calls: dict[str, Callable[[], Any]] = {
        "upload": lambda: client.upload(file),
        "create": lambda: client.create("file-1", "run-1"),
        "find": lambda: client.find("run-1"),
        "status": lambda: client.status("batches/1"),
        "download": lambda: client.download("files/1", io.BytesIO()),
        "discard": lambda: client.discard("files/1"),
    }
    try:
        for echo in echoes_of(301, 401, 503):
            recorder.replies = [echo]
            for call in calls.values():
                try:
                    call()
                except (TransientError, RejectedError, StudyError) as error:
                    assert_kept(f"{error} {error.__cause__ and repr(error.__cause__)}")
    finally:
        client.close()


@pytest.mark.parametrize("status", [200, 400])
@pytest.mark.parametrize("name", BATCHES)
def test_no_row_of_a_batch_tells_a_secret(
    recorder: Recorder, tmp_path: Path, name: str, status: int
) -> None:
    client = make_batch_client(provider_at(name, recorder), tmp_path)
    for form in forms():
        said = {"choices": [{"message": {"content": f"I know {form}"}}], "responseId": form}
        error = {"code": 3, "message": f"you sent {form}"}
        body = said if status == 200 else {"error": error}
        response = {"status_code": status, "request_id": form, "body": body}
        openai = {"custom_id": "1", "response": response, "error": None}
        gemini = {"key": "1", **({"response": said} if status == 200 else {"error": error})}
        message = {"id": form, "content": [{"type": "text", "text": f"I know {form}"}]}
        kept = {"type": "succeeded", "message": message}
        refused = {"type": "errored", "error": {"error": error, "request_id": form}}
        anthropic = {"custom_id": "1", "result": kept if status == 200 else refused}
        lines = {"gemini": gemini, "openai": openai, "anthropic": anthropic}
        row = client.row(json.dumps(lines[MODELS[name]["provider"]]).encode())
        assert MASK_TEXT.encode() in row.raw
        assert_kept(repr(row))
    client.close()


@pytest.mark.parametrize("key", ["two\nlines", "nul\x7f", "schlüssel"])
@pytest.mark.parametrize(
    "name", [n for n, model in MODELS.items() if "A_KEY" in str(model) and "google" not in n]
)
def test_a_key_that_no_header_can_hold_is_refused_without_telling_it(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch, name: str, key: str
) -> None:
    monkeypatch.setenv("A_KEY", key)
    recorder.replies = [Said({})]

    def ask() -> None:
        provider = provider_at(name, recorder)
        closing_after(provider, sent(provider))

    with pytest.raises(StudyError, match="the environment variable A_KEY") as caught:
        ask()
    assert key not in str(caught.value)
    assert not recorder.calls


def test_a_header_whose_variable_is_not_set_is_named(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("A_KEY")
    sentence = r"A_KEY, named by models\.\*\.headers_env\.X-Team, is not"
    with pytest.raises(StudyError, match=sentence):
        provider_at("openai by a header of the environment", recorder)

"""OpenAI's batches through the official SDK, against the loopback server."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from batch_desk import LIMITS, SPEED, Desk, is_in, n_run, seen

from fieldwork.errors import StudyError
from fieldwork.generation.providers.base import RejectedError, TransientError
from fieldwork.generation.providers.batch_openai import RUN, OpenAIBatches
from fieldwork.generation.providers.openai import OpenAI, OpenAISettings
from servers import openai_batches
from servers.provider import (
    BatchRules,
    Chat,
    Fault,
    ModelSpec,
    http_error,
    no_credit,
    serve_provider,
)

KEY = "sk-loopback-secret"


@pytest.fixture
def chat() -> Iterator[Chat]:
    with serve_provider(specs=[ModelSpec("gpt-x")], speed=SPEED, api_key=KEY) as served:
        yield served


def settings_for(chat: Chat, **more: Any) -> OpenAISettings:
    return OpenAISettings(
        **{
            "model": "gpt-x",
            "base_url": chat.base_url,
            "api_key": KEY,
            "token_limit_field": "max_tokens",
            "send_temperature": True,
            "send_seed": True,
            "timeout_s": 5.0,
            "concurrency": 4,
            **more,
        }
    )


def client_for(chat: Chat, **more: Any) -> OpenAIBatches:
    return OpenAIBatches(settings_for(chat, **more))


@pytest.fixture
def desk(chat: Chat, tmp_path: Path) -> Desk:
    return Desk(tmp_path, client_for(chat), OpenAI(settings_for(chat)))


def test_requests_are_answered_once_at_the_batch_tier(desk: Desk, chat: Chat) -> None:
    assert desk.settle() == Counter()
    assert len(set(desk.texts())) == 6
    assert {tier for _, tier in chat.bill.lines} == {"batch"}
    assert n_run(chat) == 6
    entry = next(iter(desk.entries().values()))
    assert entry.tier == "batch"
    assert entry.request_id is not None
    assert entry.request_id.startswith("req_")
    assert not is_in([KEY], desk.files())
    # what went up is not left there
    assert all(stored.purpose != "batch" for stored in chat.files.values())
    assert desk.settle() == Counter()
    assert n_run(chat) == 6


@pytest.mark.parametrize("breakpoint_", [False, True])
def test_a_line_holds_what_a_live_call_would_send_but_no_breakpoint(
    breakpoint_: bool, chat: Chat, tmp_path: Path
) -> None:
    settings = settings_for(chat, cache_key=True, cache_breakpoint=breakpoint_)
    provider = OpenAI(settings)
    call = Desk(tmp_path, client_for(chat), provider, 1).calls[0]
    line = OpenAIBatches(settings).line("id", call.wire.body())
    assert line.count(b"\n") == 1
    entry = json.loads(line)
    assert entry == {
        "custom_id": "id",
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": json.loads(call.wire.body()),
    }
    assert entry["body"]["prompt_cache_key"] == "c"
    assert b"prompt_cache_breakpoint" not in line


def test_azure(chat: Chat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Azure's interface has no version in the paths of requests
    monkeypatch.setattr(openai_batches, "ENDPOINT", "/chat/completions")
    azure = {"base_url": chat.azure_url, "azure_version": "2024-10-21"}
    chat.api_key = None
    desk = Desk(tmp_path, client_for(chat, **azure), OpenAI(settings_for(chat, **azure)))
    assert desk.settle() == Counter()
    assert n_run(chat) == 6
    assert {request.headers.get("api-key") for request in chat.requests} == {KEY}
    assert {r.query.get("api-version") for r in chat.requests} == {"2024-10-21"}


STEPS = ["files.upload", "batches.create", "batches.get", "batches.list", "files.content"]
FAULTS: dict[str, dict[str, Any]] = {
    "status_500": {"status": 500, "body": b"{}"},
    "status_503_late": {"status": 503, "body": b"busy", "late": True},
    "throttled": {"status": 429, "headers": {"Retry-After": "0.01"}, "body": b"{}"},
    "reset": {"reset": True},
    "cut": {"cut": True},
    "html": {"status": 200, "body": b"<html>hello</html>", "late": True},
}


@pytest.mark.parametrize(
    ("step", "fault"),
    [(step, name) for n, step in enumerate(STEPS) for name in list(FAULTS)[n % 2 :: 2]]
    + [("batches.create", name) for name in FAULTS],
)
def test_a_step_that_goes_wrong_is_mended_and_no_request_is_run_twice(
    step: str, fault: str, desk: Desk, chat: Chat
) -> None:
    # the list is only asked for where a creation's fate is unknown
    chat.faults += [http_error(500, step="batches.create", late=True)] * (step == "batches.list")
    chat.faults.append(Fault(step=step, times=1, **FAULTS[fault]))
    assert desk.settle() == Counter()
    assert len(desk.entries()) == 6
    assert n_run(chat) == 6


def test_a_lost_batch_is_found_on_a_later_page(chat: Chat, tmp_path: Path) -> None:
    client = client_for(chat)
    path = tmp_path / "f.jsonl"
    path.write_bytes(
        client.line("a", b'{"model":"gpt-x","messages":[{"role":"user","content":"q"}]}')
    )
    file_id = client.upload(path)
    first = client.create(file_id, "first")
    for n in range(101):
        client.create(file_id, f"other {n}")
    assert client.find("first") == first
    assert client.find("none") is None
    assert seen(chat, "GET", "/batches") == 4
    assert chat.jobs[first].about["metadata"] == {RUN: "first"}


@pytest.mark.parametrize("body", [b"{}", b'"x"', b"null", b"", b"<html>", b'{"data": null}', b"[]"])
def test_a_list_that_is_none_is_not_taken_for_an_empty_one(body: bytes, chat: Chat) -> None:
    chat.faults.append(Fault(step="batches.list", body=body))
    with pytest.raises(TransientError):
        client_for(chat).find("run")


@pytest.mark.parametrize(
    ("fault", "kind", "told"),
    [
        (no_credit(), StudyError, "add credit"),
        (http_error(401, message=f"bad key {KEY}"), StudyError, "api_key_env"),
        (http_error(403), StudyError, "api_key_env"),
        (http_error(404, message="gone"), RejectedError, "HTTP 404: gone"),
        (http_error(400, message="bad"), RejectedError, "HTTP 400: bad"),
        (http_error(400, code="billing_hard_limit_reached"), StudyError, "add credit"),
        (Fault(status=302, headers={"Location": "http://127.0.0.1:9/"}), StudyError, "base_url"),
        (http_error(503, retry_after="3"), TransientError, "HTTP 503"),
        (http_error(529), TransientError, "HTTP 529"),
    ],
)
def test_refusals_are_sorted_and_nothing_is_tried_twice(
    fault: Fault, kind: type[Exception], told: str, chat: Chat
) -> None:
    fault.step = "batches.get"
    fault.times = 5
    chat.faults.append(fault)
    with pytest.raises(kind, match=told) as caught:
        client_for(chat).status("batch_1")
    assert KEY not in str(caught.value)
    assert len(chat.requests) == 1


@pytest.mark.parametrize(
    ("fault", "seconds", "taken"),
    [
        (http_error(429, retry_after="3"), 3.0, False),
        (Fault(status=500, body=b"", headers={"retry-after-ms": "250"}), 0.25, True),
        (http_error(500), None, True),
        (Fault(reset=True), None, True),
    ],
)
def test_what_passes_says_how_long_and_whether_it_may_have_taken_effect(
    fault: Fault, seconds: float | None, taken: bool, chat: Chat
) -> None:
    fault.step = "batches.create"
    chat.faults.append(fault)
    with pytest.raises(TransientError) as caught:
        client_for(chat).create("file", "run")
    assert (caught.value.retry_after_s, caught.value.maybe_billed) == (seconds, taken)


def test_no_server_passes(chat: Chat) -> None:
    client = client_for(chat, base_url="http://127.0.0.1:9/v1")
    with pytest.raises(TransientError, match="Connect"):
        client.status("batch_1")


def test_a_file_of_certificates_that_is_none_is_told(chat: Chat, tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="ca_file to a PEM file"):
        client_for(chat, ca_file=str(tmp_path / "none.pem"))


# -- results


@pytest.mark.parametrize(
    ("rules", "n_missing"),
    [
        (BatchRules(duplicate=2), 0),
        (BatchRules(unknown=3), 0),
        (BatchRules(missing=1), 2),
        (BatchRules(done_share=0.5, window_s=300), 3),
        (BatchRules(done_share=0.0, window_s=300), 6),
    ],
    ids=["duplicates", "unknown", "missing", "expired_half_way", "expired"],
)
def test_what_came_is_settled_and_the_rest_is_asked_in_the_next_run(
    rules: BatchRules, n_missing: int, desk: Desk, chat: Chat
) -> None:
    chat.batch = rules
    failures = desk.settle()
    assert sum(failures.values()) == n_missing
    before = desk.entries()
    chat.batch = BatchRules()
    assert desk.settle() == Counter()
    assert {key: desk.entries()[key] for key in before} == before
    assert len(set(desk.texts())) == 6


ROWS: list[tuple[Fault, str | None, int]] = [
    (http_error(500, message="Oops", step="row"), "HTTP 500: Oops", 5),
    (http_error(429, message="Slow down", step="row"), "HTTP 429: Slow down", 5),
    (http_error(400, code="content_filter", step="row"), None, 6),
    (Fault(step="row", choice={"finish_reason": "content_filter"}), None, 6),
    (Fault(step="row", message={"refusal": "no"}), None, 6),
    (Fault(step="row", drop=("choices",)), "no chat completion", 5),
]


@pytest.mark.parametrize(("fault", "cause", "n_stored"), ROWS)
def test_rows_are_read_as_live_answers_are(
    fault: Fault, cause: str | None, n_stored: int, desk: Desk, chat: Chat
) -> None:
    fault.times = 1
    chat.faults.append(fault)
    failures = desk.settle()
    assert len(desk.entries()) == n_stored
    assert bool(failures) is (cause is not None)
    assert all((cause or "") in told for told in failures)


def test_a_batch_over_the_enqueued_tokens_waits_for_room(desk: Desk, chat: Chat) -> None:
    chat.specs["gpt-x"] = ModelSpec("gpt-x", enqueued_tokens=100)
    chat.batch = BatchRules(running_s=2000)
    assert desk.settle(LIMITS._replace(max_requests=3)) == Counter()
    assert len(desk.entries()) == 6
    assert n_run(chat) == 6
    assert any(job.state == "failed" for job in chat.jobs.values())


def test_a_batch_that_fails_says_why(desk: Desk, chat: Chat) -> None:
    chat.batch = BatchRules(failure="model_not_found")
    failures = desk.settle()
    assert sum(failures.values()) == 6
    assert all("the batch failed: model_not_found" in told for told in failures)


def test_another_model_is_quarantined(desk: Desk, chat: Chat) -> None:
    chat.specs["gpt-x"] = ModelSpec("gpt-x", returns="gpt-cheap")
    with pytest.raises(StudyError, match="came from gpt-cheap"):
        desk.settle()
    assert desk.entries() == {}


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"[]",
        b"null",
        b"{}",
        b'{"custom_id": 1, "response": {"status_code": 200, "body": {}}}',
        b'{"custom_id": "a", "response": {"body": {}}}',
        b'{"custom_id": "a", "response": "x"}',
        b'{"custom_id": "a", "response": {"status_code": "x", "body": {}}}',
        b'{"custom_id": "a", "resp',
        b'\xff\xfe{"custom_id": "a"}',
    ],
)
def test_a_line_that_is_no_row_is_refused(line: bytes, chat: Chat) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - any will do
        client_for(chat).row(line)


def test_a_lone_surrogate_in_a_row_is_read(chat: Chat) -> None:
    line = b'{"custom_id": "a", "response": {"status_code": 200, "body": {"x": "\\ud83d \\u0000"}}}'
    row = client_for(chat).row(line)
    assert json.loads(row.raw) == {"x": "\ufffd \x00"}

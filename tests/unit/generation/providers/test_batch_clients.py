"""The three batch clients against the loopback server: one contract, and what each service has alone.

How Anthropic's client finds its own batches is in test_batch_anthropic.py.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from batch_desk import LIMITS, SPEED, Desk, n_run, seen
from provider_cases import make_anthropic, make_gemini, make_openai

from fieldwork.errors import StudyError
from fieldwork.generation.providers.anthropic_errors import HTTP_STATUS
from fieldwork.generation.providers.base import RejectedError, TransientError
from fieldwork.generation.providers.batch_anthropic import AnthropicBatches
from fieldwork.generation.providers.batch_base import BatchClient
from fieldwork.generation.providers.batch_gemini import GeminiBatches
from fieldwork.generation.providers.batch_openai import RUN, OpenAIBatches
from fieldwork.generation.providers.jsontext import loads
from servers import openai_batches
from servers.faults import anthropic_error, google_error, openai_error
from servers.provider import (
    FOREVER,
    BatchRules,
    Chat,
    Fault,
    ModelSpec,
    gemini_error,
    http_error,
    no_credit,
    prompt_blocked,
    serve_provider,
)

KEY = "sk-loopback-secret"
FAMILIES = {"openai": "", "gemini": "gemini", "anthropic": "claude"}


class Desks(NamedTuple):
    """A service, and what works on it."""

    api: str
    chat: Chat
    folder: Path

    def provider(self, **changes: Any) -> Any:
        given = {"model": f"{self.api}-x", "api_key": KEY, "timeout_s": 5.0, **changes}
        if self.api == "openai":
            return make_openai(**{"base_url": self.chat.base_url, "send_seed": True, **given})
        if self.api == "gemini":
            return make_gemini(self.chat.gemini_url, send_seed=True, **given)
        return make_anthropic(self.chat.anthropic_url, cache_breakpoint=True, **given)

    def client(self, **changes: Any) -> BatchClient:
        settings = self.provider(**changes).settings
        if self.api == "anthropic":
            return AnthropicBatches(settings, self.folder)
        return OpenAIBatches(settings) if self.api == "openai" else GeminiBatches(settings)

    def desk(self, n: int = 6, **changes: Any) -> Desk:
        return Desk(self.folder, self.client(**changes), self.provider(**changes), n)

    def file(self, client: BatchClient) -> str:
        """A file of one request that was brought up."""
        body: dict[str, Any] = {"model": "openai-x", "messages": [{"role": "user", "content": "q"}]}
        if self.api == "gemini":
            body = {"contents": [{"role": "user", "parts": [{"text": "q"}]}]}
        path = self.folder / "f.jsonl"
        path.write_bytes(client.line("a", json.dumps(body | {"max_tokens": 8}).encode()))
        return client.upload(path)


@pytest.fixture(params=FAMILIES)
def desks(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Desks]:
    api = request.param
    spec = ModelSpec(f"{api}-x", family=FAMILIES[api]) if api != "openai" else ModelSpec("openai-x")
    # Google's is not locked: the SDK brings a file to the address it was given for it without the key
    key = None if api == "gemini" else KEY
    with serve_provider(specs=[spec], speed=SPEED, api_key=key) as chat:
        yield Desks(api, chat, tmp_path)


def of(*apis: str) -> Any:
    """For these services alone."""
    return pytest.mark.parametrize("desks", apis, indirect=True)


def cases(names: str, *rows: Any) -> Any:
    """Rows that begin with the service."""
    return pytest.mark.parametrize(f"desks, {names}", rows, indirect=["desks"])


def test_requests_are_answered_once_at_the_batch_tier(desks: Desks) -> None:
    desk, chat = desks.desk(), desks.chat
    assert desk.settle() == Counter()
    assert len(set(desk.texts())) == 6
    assert {tier for _, tier in chat.bill.lines} == {"batch"}
    assert n_run(chat) == 6
    entry = next(iter(desk.entries().values()))
    assert (entry.tier, entry.started_at is not None) == ("batch", True)
    if desks.api == "openai":
        assert (entry.request_id or "").startswith("req_")
    assert KEY.encode() not in desk.files()
    # what went up is not left there, nor here
    assert not {stored.purpose for stored in chat.files.values()} & {"batch", "uploaded"}
    assert not [path.name for path in desks.folder.iterdir() if ".jsonl" in path.name]
    assert desk.settle() == Counter()
    assert n_run(chat) == 6


@pytest.mark.parametrize("marked", [False, True])
def test_a_line_holds_what_a_live_call_would_send_but_no_breakpoint(
    desks: Desks, marked: bool
) -> None:
    steered = {"cache_key": True, "cache_breakpoint": marked} if desks.api == "openai" else {}
    client, desk = desks.client(**steered), desks.desk(1, **steered)
    body = desk.calls[0].wire.body()
    assert b"\n" in body
    line = client.line("id", body)
    assert line.count(b"\n") == 1
    sent = json.loads(body)
    post = {"method": "POST", "url": "/v1/chat/completions"}
    expected = {
        "openai": {"custom_id": "id", **post, "body": sent},
        "gemini": {"key": "id", "request": sent},
        "anthropic": {"custom_id": "id", "params": sent},
    }
    assert json.loads(line) == expected[desks.api]
    assert b"cache_breakpoint" not in line
    assert b"cache_control" not in line
    assert (b'"prompt_cache_key":"c"' in line) == (desks.api == "openai")


SLOW = b'{"error": {"code": 429, "message": "slow"}}'
FAULTS: dict[str, dict[str, Any]] = {
    "status_500": {"status": 500, "body": b"{}"},
    "status_529_late": {"status": 529, "body": b"busy", "late": True},
    "throttled": {"status": 429, "headers": {"Retry-After": "0.01"}, "body": SLOW},
    "reset": {"reset": True},
    "cut": {"cut": True},
    "html": {"status": 200, "body": b"<html>hello</html>", "late": True},
}


@cases(
    "step, fault",
    *(
        (api, step, name)
        for n, step in enumerate(["batches.get", "batches.list", "files.content"])
        for m, api in enumerate(FAMILIES)
        for name in list(FAULTS)[(n + m) % 3 :: 3]
    ),
    *((api, "batches.create", name) for api in FAMILIES for name in FAULTS),
    *(("openai", "files.upload", name) for name in ("status_529_late", "throttled", "cut")),
    ("gemini", "files.upload", "reset"),
)
def test_a_step_that_goes_wrong_is_mended_and_no_request_is_run_twice(
    desks: Desks, step: str, fault: str
) -> None:
    desk, faults = desks.desk(), desks.chat.faults
    # the list is asked for where a creation's fate is unknown, and by Anthropic's client before it too
    is_list = step == "batches.list"
    faults += [Fault(step="batches.create", status=500, body=b"{}", late=True)] * is_list
    skip = int(is_list and desks.api == "anthropic")
    faults.append(Fault(step=step, skip=skip, times=1, **FAULTS[fault]))
    assert desk.settle() == Counter()
    assert len(desk.entries()) == 6
    assert n_run(desks.chat) == 6


@of("openai", "gemini")
def test_a_lost_batch_is_found_on_a_later_page(desks: Desks) -> None:
    client = desks.client()
    file_id = desks.file(client)
    first = client.create(file_id, "first")
    for n in range(101):
        client.create(file_id, f"other {n}")
    assert client.find("first") == first
    assert client.find("none") is None
    assert seen(desks.chat, "GET", "/batches") == 4
    if desks.api == "openai":
        assert desks.chat.jobs[first].about["metadata"] == {RUN: "first"}


QUARTER = {"retry-after-ms": "250"}


def claude_error(status: int, words: str = f"bad {KEY}") -> Fault:
    return Fault(status=status, body=anthropic_error(words))


@cases(
    "step, fault, kind, told",
    ("openai", "get", no_credit(), StudyError, "add credit"),
    ("openai", "get", http_error(401, message=f"bad key {KEY}"), StudyError, "api_key_env"),
    ("openai", "get", http_error(404, message="gone"), RejectedError, "HTTP 404: gone"),
    ("openai", "get", http_error(400, code="billing_hard_limit_reached"), StudyError, "add credit"),
    ("openai", "get", http_error(503, retry_after="3"), TransientError, "HTTP 503"),
    ("gemini", "get", gemini_error(400, message=f"bad {KEY}"), RejectedError, "HTTP 400: bad"),
    ("gemini", "get", gemini_error(503), TransientError, "HTTP 503"),
    ("gemini", "list", gemini_error(403), StudyError, "api_key_env"),
    ("gemini", "list", Fault(body=b"<html>"), TransientError, "a page of HTML"),
    ("gemini", "create", gemini_error(404, message="model"), StudyError, "models"),
    ("gemini", "create", gemini_error(403, message="no such File"), RejectedError, "no such File"),
    ("anthropic", "get", claude_error(400), RejectedError, "HTTP 400: bad"),
    ("anthropic", "get", claude_error(529), TransientError, "HTTP 529"),
    ("anthropic", "list", claude_error(401), StudyError, "api_key_env"),
    ("anthropic", "list", claude_error(307), StudyError, "redirects calls"),
    ("anthropic", "create", claude_error(413), RejectedError, "HTTP 413"),
    ("anthropic", "create", claude_error(402), StudyError, "add credit"),
)
def test_refusals_are_sorted_and_nothing_is_tried_twice(
    desks: Desks, step: str, fault: Fault, kind: type[Exception], told: str
) -> None:
    client = desks.client()
    file_id = desks.file(client) if desks.api == "anthropic" else "files/f1"
    fault.step, fault.times = f"batches.{step}", 5
    desks.chat.faults.append(fault)
    calls: dict[str, Callable[[], Any]] = {
        "get": lambda: client.status("batches/b1" if desks.api == "gemini" else "b1"),
        "list": lambda: client.find("run"),
        "create": lambda: client.create(file_id, "run"),
    }
    # before it makes a batch, Anthropic's client notes which there are
    lists_first = desks.api == "anthropic" and step == "list"
    with pytest.raises(kind, match=told) as caught:
        calls["create" if lists_first else step]()
    assert KEY not in str(caught.value)
    assert len(desks.chat.requests) == 1 + (desks.api == "anthropic" and step == "create")


@cases(
    "step, fault, seconds, is_made",
    ("openai", "create", http_error(429, retry_after="3"), 3.0, False),
    ("openai", "create", Fault(status=500, body=b"", headers=QUARTER), 0.25, True),
    ("openai", "create", Fault(reset=True), None, True),
    ("gemini", "create", gemini_error(429, retry_s=3), 3.0, False),
    ("gemini", "create", gemini_error(500), None, True),
    ("anthropic", "create", claude_error(429), None, False),
    ("anthropic", "create", claude_error(500), None, True),
    ("anthropic", "list", claude_error(500), None, False),
)
def test_what_passes_says_how_long_and_whether_it_may_have_taken_effect(
    desks: Desks, step: str, fault: Fault, seconds: float | None, is_made: bool
) -> None:
    client = desks.client()
    file_id = desks.file(client) if desks.api == "anthropic" else "files/f1"
    fault.step = f"batches.{step}"
    desks.chat.faults.append(fault)
    with pytest.raises(TransientError) as caught:
        client.create(file_id, "run")
    assert (caught.value.retry_after_s, caught.value.maybe_billed) == (seconds, is_made)


@pytest.mark.parametrize(
    ("rules", "n_missing"),
    [
        (BatchRules(duplicate=2, unknown=3), 0),
        (BatchRules(missing=1), 2),
        (BatchRules(done_share=0.5, window_s=300), 3),
        (BatchRules(done_share=0.0, window_s=300), 6),
        (BatchRules(failure="INTERNAL"), 6),
    ],
    ids=["duplicates_and_unknown", "missing", "expired_half_way", "expired", "failed"],
)
def test_what_came_is_settled_and_the_rest_is_asked_in_the_next_run(
    desks: Desks, rules: BatchRules, n_missing: int
) -> None:
    desk, desks.chat.batch = desks.desk(), rules
    failures = desk.settle()
    assert sum(failures.values()) == n_missing
    if rules.failure and desks.api == "openai":
        assert all("the batch failed: INTERNAL" in told for told in failures)
    before = desk.entries()
    desks.chat.batch = BatchRules()
    assert desk.settle() == Counter()
    assert {key: desk.entries()[key] for key in before} == before
    assert len(set(desk.texts())) == 6


OOPS = {"status": 500, "step": "row", "body": anthropic_error("Oops")}
WITHHELD = anthropic_error("Output blocked by content filtering policy", "invalid_request_error")


@cases(
    "fault, cause",
    ("openai", http_error(500, message="Oops", step="row"), "HTTP 500: Oops"),
    ("openai", http_error(400, code="content_filter", step="row"), "filtered"),
    ("openai", Fault(step="row", message={"refusal": "no"}), "refused"),
    ("openai", Fault(step="row", drop=("choices",)), "no chat completion"),
    ("gemini", gemini_error(500, message="Oops", step="row"), "HTTP 500: Oops"),
    ("gemini", prompt_blocked("SAFETY", step="row"), "filtered"),
    ("gemini", Fault(step="row", drop=("candidates",)), "no generated content"),
    ("anthropic", Fault(**OOPS), "HTTP 500: Oops"),
    ("anthropic", Fault(step="row", reply={"stop_reason": "refusal", "content": []}), "refused"),
    ("anthropic", Fault(status=400, body=WITHHELD, step="row"), "filtered"),
    ("anthropic", Fault(step="row", drop=("content",)), "no message"),
)
def test_rows_are_read_as_live_answers_are(desks: Desks, fault: Fault, cause: str) -> None:
    fault.times = 1
    desks.chat.faults.append(fault)
    desk, provider = desks.desk(), desks.provider()
    failures = desk.settle()
    outcomes = Counter(provider.read(entry.raw).outcome for entry in desk.entries().values())
    if cause in ("filtered", "refused"):
        assert (failures, outcomes) == (Counter(), Counter({"ok": 5, cause: 1}))
    else:
        assert outcomes == Counter(ok=5)
        assert all(cause in told for told in failures)
        assert failures.total() == 1


def test_another_model_is_quarantined(desks: Desks) -> None:
    field = "modelVersion" if desks.api == "gemini" else "model"
    desks.chat.faults.append(Fault(step="row", reply={field: "cheap"}))
    desk = desks.desk()
    with pytest.raises(StudyError, match="came from cheap"):
        desk.settle()
    assert len(desk.entries()) in (3, 5)


@of("gemini")
def test_rows_carry_a_status(desks: Desks) -> None:
    rows = {
        b'{"key": "a", "response": {"responseId": "r"}}': 200,
        b'{"key": "a", "error": {"code": 8, "message": "m"}}': 429,
        b'{"key": "a", "error": {"code": 503, "message": "m"}}': 503,
        b'{"key": "a", "error": {"error": {"code": 400, "message": "m"}}}': 400,
        b'{"key": "a", "status": {"code": 14, "message": "m"}}': 503,
        b'{"key": "a", "error": {"message": "m"}}': 500,
    }  # fmt: skip
    for line, status in rows.items():
        row = desks.client().row(line)
        assert (row.custom_id, row.status) == ("a", status)
        assert status == 200 or json.loads(row.raw)["error"]["message"] == "m"


@of("anthropic")
def test_rows_carry_the_status_of_their_error(desks: Desks) -> None:
    for kind, status in HTTP_STATUS.items():
        error = {"type": "error", "error": {"type": kind, "message": f"m {KEY}"}, "request_id": "r"}
        line = {"custom_id": "a", "result": {"type": "errored", "error": error}}
        row = desks.client().row(json.dumps(line).encode())
        assert (row.custom_id, row.status, row.request_id) == ("a", status, "r")
        assert loads(row.raw)["error"]["message"] == "m ***masked***"


def settle_one_by_one(desks: Desks) -> int:
    """Ask by one batch after the other; how many requests have no answer in the end."""
    desk = desks.desk(12)
    limits = LIMITS._replace(max_tokens=sum(call.tokens for call in desk.calls[:4]))
    return desk.settle(limits, haste=400.0).total()


def n_batched(chat: Chat) -> int:
    return sum(len(job.rows) for job in chat.jobs.values())


@pytest.mark.parametrize("step", ["batches.create", "batches.get", "files.content"])
def test_a_service_that_sends_pages_is_met_by_a_few_calls(desks: Desks, step: str) -> None:
    page = Fault(body=b"<html>Please log in</html>", step=step, times=FOREVER)
    desks.chat.faults.append(page)
    with suppress(StudyError):
        assert settle_one_by_one(desks) == 12
    assert n_batched(desks.chat) <= 4
    assert FOREVER - page.times <= 25


def test_a_batch_without_an_answer_is_the_last(desks: Desks) -> None:
    errors = {"openai": openai_error("broken"), "anthropic": anthropic_error("broken")}
    body = errors.get(desks.api, google_error(500, "broken"))
    desks.chat.faults.append(Fault(status=500, body=body, step="row", times=FOREVER))
    with pytest.raises(StudyError, match=r"none of the 4 requests of batch .*broken.*No further"):
        settle_one_by_one(desks)
    assert n_batched(desks.chat) == 4
    desks.chat.faults.clear()
    assert settle_one_by_one(desks) == 0


@of("openai")
def test_azure(desks: Desks, monkeypatch: pytest.MonkeyPatch) -> None:
    # Azure's interface has no version in the paths of requests
    monkeypatch.setattr(openai_batches, "ENDPOINT", "/chat/completions")
    desks.chat.api_key = None
    desk = desks.desk(base_url=desks.chat.azure_url, azure_version="2024-10-21")
    assert desk.settle() == Counter()
    assert n_run(desks.chat) == 6
    assert {request.headers.get("api-key") for request in desks.chat.requests} == {KEY}
    assert {r.query.get("api-version") for r in desks.chat.requests} == {"2024-10-21"}


@of("openai")
def test_a_batch_over_the_enqueued_tokens_waits_for_room(desks: Desks) -> None:
    desks.chat.specs["openai-x"] = ModelSpec("openai-x", enqueued_tokens=100)
    desks.chat.batch = BatchRules(running_s=2000)
    desk = desks.desk()
    assert desk.settle(LIMITS._replace(max_requests=3)) == Counter()
    assert len(desk.entries()) == 6
    assert n_run(desks.chat) == 6
    assert any(job.state == "failed" for job in desks.chat.jobs.values())


@of("gemini")
def test_vertex_is_refused(desks: Desks) -> None:
    with pytest.raises(StudyError, match="set dispatch to live"):
        desks.client(vertex={"project": "p", "location": "global"})

"""Gemini's batches through the official SDK, against the loopback server."""

import io
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from batch_desk import SPEED, Desk, is_in, n_run, seen

from fieldwork.errors import StudyError
from fieldwork.generation.providers.base import RejectedError, TransientError
from fieldwork.generation.providers.batch_gemini import GeminiBatches
from fieldwork.generation.providers.gemini import Gemini, GeminiSettings
from fieldwork.generation.providers.vertex import VertexSettings
from servers.provider import (
    BatchRules,
    Chat,
    Fault,
    ModelSpec,
    gemini_error,
    prompt_blocked,
    serve_provider,
    stopped,
)

KEY = "AI-loopback-secret"


@pytest.fixture
def chat() -> Iterator[Chat]:
    # not locked: the SDK brings a file to the address it was given for it without the key
    with serve_provider(specs=[ModelSpec("gemini-x")], speed=SPEED) as served:
        yield served


def settings_for(chat: Chat, **more: Any) -> GeminiSettings:
    given = {"model": "gemini-x", "base_url": chat.gemini_url, "api_key": KEY, "timeout_s": 5.0}
    return GeminiSettings(**{**given, **more})


@pytest.fixture
def client(chat: Chat) -> GeminiBatches:
    return GeminiBatches(settings_for(chat))


@pytest.fixture
def desk(chat: Chat, client: GeminiBatches, tmp_path: Path) -> Desk:
    return Desk(tmp_path, client, Gemini(settings_for(chat, send_seed=True)))


def test_requests_are_answered_once_at_the_batch_tier(desk: Desk, chat: Chat) -> None:
    assert desk.settle() == Counter()
    assert len(set(desk.texts())) == 6
    assert {tier for _, tier in chat.bill.lines} == {"batch"}
    assert n_run(chat) == 6
    entry = next(iter(desk.entries().values()))
    assert (entry.tier, entry.started_at is not None) == ("batch", True)
    assert not is_in([KEY], desk.files())
    # what went up is not left there
    assert all(stored.purpose != "uploaded" for stored in chat.files.values())
    assert desk.settle() == Counter()
    assert n_run(chat) == 6


def test_a_line_holds_what_a_live_call_would_send(client: GeminiBatches, desk: Desk) -> None:
    body = desk.calls[0].wire.body()
    assert b"\n" in body
    line = client.line("id", body)
    assert line.count(b"\n") == 1
    assert json.loads(line) == {"key": "id", "request": json.loads(body)}


FAULTS: dict[str, dict[str, Any]] = {
    "status_500": {"status": 500, "body": b"{}"},
    "status_503_late": {"status": 503, "body": b"busy", "late": True},
    "throttled": {"status": 429, "body": b'{"error": {"code": 429, "message": "slow"}}'},
    "reset": {"reset": True},
    "cut": {"cut": True},
    "html": {"status": 200, "body": b"<html>hello</html>", "late": True},
}
STEPS = ["batches.get", "batches.list", "files.content"]


@pytest.mark.parametrize(
    ("step", "fault"),
    [(step, name) for n, step in enumerate(STEPS) for name in list(FAULTS)[n % 2 :: 2]]
    + [("batches.create", name) for name in FAULTS]
    + [("files.upload", "status_500"), ("files.upload", "reset")],
)
def test_a_step_that_goes_wrong_is_mended_and_no_request_is_run_twice(
    step: str, fault: str, desk: Desk, chat: Chat
) -> None:
    # the list is only asked for where a creation's fate is unknown
    lost = Fault(step="batches.create", status=500, body=b"{}", late=True)
    chat.faults += [lost] * (step == "batches.list")
    chat.faults.append(Fault(step=step, times=1, **FAULTS[fault]))
    assert desk.settle() == Counter()
    assert len(desk.entries()) == 6
    assert n_run(chat) == 6


def test_a_lost_batch_is_found_on_a_later_page(
    client: GeminiBatches, chat: Chat, tmp_path: Path
) -> None:
    path = tmp_path / "f.jsonl"
    path.write_bytes(client.line("a", b'{"contents":[{"role":"user","parts":[{"text":"q"}]}]}'))
    file_id = client.upload(path)
    first = client.create(file_id, "first")
    for n in range(101):
        client.create(file_id, f"other {n}")
    assert client.find("first") == first
    assert client.find("none") is None
    assert seen(chat, "GET", "/batches") == 4


@pytest.mark.parametrize(
    ("step", "fault", "kind", "told"),
    [
        ("get", gemini_error(400, message=f"bad {KEY}"), RejectedError, "HTTP 400: bad"),
        ("get", gemini_error(404, message="no such batch"), RejectedError, "HTTP 404"),
        ("get", gemini_error(503), TransientError, "HTTP 503"),
        ("list", gemini_error(403), StudyError, "api_key_env"),
        ("list", gemini_error(401), StudyError, "api_key_env"),
        ("list", gemini_error(404), StudyError, "models"),
        ("list", Fault(body=b"<html>"), TransientError, "a page of HTML"),
        ("create", gemini_error(404, message="model"), StudyError, "models"),
        ("create", gemini_error(403, message="no such File"), RejectedError, "no such File"),
    ],
)
def test_refusals_are_sorted_and_nothing_is_tried_twice(
    step: str, fault: Fault, kind: type[Exception], told: str, client: GeminiBatches, chat: Chat
) -> None:
    fault.step, fault.times = f"batches.{step}", 5
    chat.faults.append(fault)
    with pytest.raises(kind, match=told) as caught:
        {
            "get": lambda: client.status("batches/b1"),
            "list": lambda: client.find("run"),
            "create": lambda: client.create("files/f1", "run"),
        }[step]()
    assert KEY not in str(caught.value)
    assert len(chat.requests) == 1


@pytest.mark.parametrize(
    ("fault", "seconds", "taken"),
    [
        (gemini_error(429, retry_s=3), 3.0, False),
        (gemini_error(500), None, True),
        (Fault(reset=True), None, True),
    ],
)
def test_what_passes_says_how_long_and_whether_it_may_have_taken_effect(
    fault: Fault, seconds: float | None, taken: bool, client: GeminiBatches, chat: Chat
) -> None:
    fault.step = "batches.create"
    chat.faults.append(fault)
    with pytest.raises(TransientError) as caught:
        client.create("files/f1", "run")
    assert (caught.value.retry_after_s, caught.value.maybe_billed) == (seconds, taken)


def test_vertex_is_refused(chat: Chat) -> None:
    with pytest.raises(StudyError, match="set dispatch to live"):
        GeminiBatches(settings_for(chat, vertex=VertexSettings("p", "global")))


def test_a_file_of_certificates_that_is_none_is_told(chat: Chat, tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="ca_file to a PEM file"):
        GeminiBatches(settings_for(chat, ca_file=str(tmp_path / "none.pem")))


def test_results_that_are_gone_are_told(client: GeminiBatches) -> None:
    with pytest.raises(RejectedError):
        client.download("files/batch-none", io.BytesIO())


@pytest.mark.parametrize(
    ("rules", "n_missing"),
    [
        (BatchRules(duplicate=2, unknown=3), 0),
        (BatchRules(missing=1), 2),
        (BatchRules(done_share=0.5, window_s=300), 3),
        (BatchRules(failure="INTERNAL"), 6),
    ],
    ids=["duplicates_and_unknown", "missing", "expired_half_way", "failed"],
)
def test_what_came_is_settled_and_the_rest_is_asked_in_the_next_run(
    rules: BatchRules, n_missing: int, desk: Desk, chat: Chat
) -> None:
    chat.batch = rules
    assert sum(desk.settle().values()) == n_missing
    before = desk.entries()
    chat.batch = BatchRules()
    assert desk.settle() == Counter()
    assert {key: desk.entries()[key] for key in before} == before
    assert len(set(desk.texts())) == 6


@pytest.mark.parametrize(
    ("fault", "cause", "n_stored"),
    [
        (gemini_error(500, message="Oops", step="row"), "HTTP 500: Oops", 5),
        (gemini_error(429, message="Slow down", step="row"), "HTTP 429: Slow down", 5),
        (prompt_blocked("SAFETY", step="row"), None, 6),
        (stopped("RECITATION", step="row"), None, 6),
        (Fault(step="row", drop=("candidates",)), "no generated content", 5),
    ],
)
def test_rows_are_read_as_live_answers_are(
    fault: Fault, cause: str | None, n_stored: int, desk: Desk, chat: Chat
) -> None:
    chat.faults.append(fault)
    failures = desk.settle()
    assert len(desk.entries()) == n_stored
    assert bool(failures) is (cause is not None)
    assert all((cause or "") in told for told in failures)


def test_another_model_is_quarantined(desk: Desk, chat: Chat) -> None:
    chat.faults.append(Fault(step="row", reply={"modelVersion": "gemini-cheap"}))
    with pytest.raises(StudyError, match="came from gemini-cheap"):
        desk.settle()
    assert len(desk.entries()) in (3, 5)


@pytest.mark.parametrize(
    ("line", "status"),
    [
        (b'{"key": "a", "response": {"responseId": "r"}}', 200),
        (b'{"key": "a", "error": {"code": 8, "message": "m"}}', 429),
        (b'{"key": "a", "error": {"code": 503, "message": "m"}}', 503),
        (b'{"key": "a", "error": {"error": {"code": 400, "message": "m"}}}', 400),
        (b'{"key": "a", "status": {"code": 14, "message": "m"}}', 503),
        (b'{"key": "a", "error": {"message": "m"}}', 500),
    ],
)
def test_rows_carry_a_status(line: bytes, status: int, client: GeminiBatches) -> None:
    row = client.row(line)
    assert (row.custom_id, row.status) == ("a", status)
    assert status == 200 or json.loads(row.raw)["error"]["message"] == "m"


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"[]",
        b"null",
        b"{}",
        b'{"key": 1, "response": {}}',
        b'{"key": "a"}',
        b'{"key": "a',
        b'{"key": "a", "response": "x"}',
        b'{"key": "a", "error": "x"}',
    ],
)
def test_a_line_that_is_no_row_is_refused(line: bytes, client: GeminiBatches) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - any will do
        client.row(line)

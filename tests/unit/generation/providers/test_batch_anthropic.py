"""Anthropic's batches against the loopback server, and their bodies against the official SDK's."""

import io
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import pytest
from batch_desk import SPEED, Desk, is_in, n_run, seen
from provider_cases import Recorder, Said

from fieldwork.errors import StudyError
from fieldwork.generation.providers.anthropic import Anthropic, AnthropicSettings
from fieldwork.generation.providers.anthropic_errors import HTTP_STATUS
from fieldwork.generation.providers.base import RejectedError, TransientError
from fieldwork.generation.providers.batch_anthropic import AnthropicBatches
from fieldwork.generation.providers.jsontext import loads
from servers.faults import anthropic_error
from servers.provider import BatchRules, Chat, Fault, ModelSpec, serve_provider

KEY = "sk-ant-loopback-secret-1"
MODEL = "claude-x"
BATCHES = "/v1/messages/batches"
BODY = b'{"model":"claude-x","messages":[{"role":"user","content":"q"}],"max_tokens":8,"temperature":1}'


@pytest.fixture
def chat() -> Iterator[Chat]:
    specs = [ModelSpec(MODEL, family="claude")]
    with serve_provider(specs=specs, speed=SPEED, api_key=KEY) as served:
        yield served


def settings_for(url: str, **more: Any) -> AnthropicSettings:
    given = {"model": MODEL, "base_url": url, "api_key": KEY, "timeout_s": 5.0}
    return AnthropicSettings(**{**given, **more})


@pytest.fixture
def client(chat: Chat, tmp_path: Path) -> AnthropicBatches:
    return AnthropicBatches(settings_for(chat.anthropic_url), tmp_path)


@pytest.fixture
def desk(chat: Chat, client: AnthropicBatches, tmp_path: Path) -> Desk:
    provider = Anthropic(settings_for(chat.anthropic_url, cache_breakpoint=True))
    return Desk(tmp_path, client, provider)


def test_requests_are_answered_once_at_the_batch_tier(
    desk: Desk, chat: Chat, tmp_path: Path
) -> None:
    assert desk.settle() == Counter()
    assert len(set(desk.texts())) == 6
    assert {tier for _, tier in chat.bill.lines} == {"batch"}
    assert n_run(chat) == 6
    entry = next(iter(desk.entries().values()))
    assert (entry.tier, entry.started_at is not None) == ("batch", True)
    assert not is_in([KEY], desk.files())
    assert not [path.name for path in tmp_path.iterdir() if ".jsonl" in path.name]
    assert desk.settle() == Counter()
    assert n_run(chat) == 6


def test_a_line_holds_a_live_call_without_its_breakpoint(
    client: AnthropicBatches, desk: Desk
) -> None:
    body = desk.calls[0].wire.body()
    assert b"\n" in body
    line = client.line("id", body)
    assert line.count(b"\n") == 1
    assert json.loads(line) == {"custom_id": "id", "params": json.loads(body)}
    assert b"cache_control" not in line


def test_a_batch_is_the_one_the_official_sdk_makes(recorder: Recorder, tmp_path: Path) -> None:
    batch = {"id": "b1", "processing_status": "in_progress", "request_counts": {}}
    recorder.replies = [Said(batch), Said({"data": []}), Said(batch)]
    sdk = anthropic.Anthropic(
        api_key=KEY,
        base_url=recorder.url,
        max_retries=0,
        default_headers={"anthropic-version": "2023-06-01"},
    )
    requests: Any = [{"custom_id": name, "params": json.loads(BODY)} for name in ("a", "b")]
    sdk.messages.batches.create(requests=requests)
    client = AnthropicBatches(settings_for(recorder.url), tmp_path)
    path = tmp_path / "requests.jsonl"
    path.write_bytes(client.line("a", BODY) + client.line("b", BODY))
    assert client.create(client.upload(path), "run") == "b1"
    theirs, _, ours = recorder.calls
    assert ours.body == theirs.body
    assert (ours.method, ours.path) == (theirs.method, theirs.path) == ("POST", BATCHES)
    for header in ("anthropic-version", "content-type"):
        assert ours.headers[header] == theirs.headers[header]
    # so that a proxy need not wait for the end to know how long it is
    assert int(ours.headers["content-length"]) == len(ours.raw)


FAULTS: dict[str, dict[str, Any]] = {
    "status_500": {"status": 500, "body": b"{}"},
    "status_529_late": {"status": 529, "body": b"busy", "late": True},
    "throttled": {"status": 429, "body": anthropic_error("slow", "rate_limit_error")},
    "reset": {"reset": True},
    "cut": {"cut": True},
    "html": {"status": 200, "body": b"<html>hello</html>", "late": True},
}
STEPS = ["batches.get", "batches.list", "files.content"]


@pytest.mark.parametrize(
    ("step", "fault"),
    [(step, name) for n, step in enumerate(STEPS) for name in list(FAULTS)[n % 2 :: 2]]
    + [("batches.create", name) for name in FAULTS],
)
def test_a_step_that_goes_wrong_is_mended_and_no_request_is_run_twice(
    step: str, fault: str, desk: Desk, chat: Chat
) -> None:
    # the second listing is for a batch of which it is not known whether it was made
    is_list = step == "batches.list"
    lost = Fault(step="batches.create", status=500, body=b"{}", late=True)
    chat.faults += [lost] * is_list
    chat.faults.append(Fault(step=step, skip=int(is_list), **FAULTS[fault]))
    assert desk.settle() == Counter()
    assert len(desk.entries()) == 6
    assert n_run(chat) == 6


# --- which batch is whose ------------------------------------------------------------------------


def make_file(client: AnthropicBatches, folder: Path, *names: str) -> str:
    path = folder / f"{'-'.join(names)}.jsonl"
    path.write_bytes(b"".join(client.line(name, BODY) for name in names))
    return client.upload(path)


def make_stranger(client: AnthropicBatches, folder: Path, *names: str) -> str:
    """A batch of somebody else with the same account."""
    other = folder / "elsewhere"
    other.mkdir(exist_ok=True)
    stranger = AnthropicBatches(client._settings, other)
    return stranger.create(make_file(stranger, other, *names), "other run")


def create_and_forget(client: AnthropicBatches, chat: Chat, name: str) -> str:
    """Make a batch whose reply is lost; the id that the client does not get to know."""
    chat.faults.append(Fault(step="batches.create", status=500, body=b"{}", late=True))
    with pytest.raises(TransientError):
        client.create(name, "run")
    return list(chat.jobs)[-1]


def test_a_lost_batch_is_found_among_those_that_are_newer(
    client: AnthropicBatches, chat: Chat, tmp_path: Path
) -> None:
    make_stranger(client, tmp_path, "s1", "s2")
    batch_id = create_and_forget(client, chat, make_file(client, tmp_path, "a", "b"))
    make_stranger(client, tmp_path, "s1", "s2", "s3")
    assert client.find("run") == batch_id
    assert client.find("none") is None
    # a new process finds it too
    again = AnthropicBatches(client._settings, tmp_path)
    assert again.find("run") == batch_id


def test_a_batch_that_was_not_made_is_not_found(
    client: AnthropicBatches, chat: Chat, tmp_path: Path
) -> None:
    make_stranger(client, tmp_path, "s1", "s2")
    name = make_file(client, tmp_path, "a", "b")
    assert client.find("run") is None
    chat.faults.append(Fault(step="batches.create", status=500, body=b"{}"))
    with pytest.raises(TransientError) as caught:
        client.create(name, "run")
    assert caught.value.maybe_billed
    assert client.find("run") is None


def test_results_tell_whose_a_batch_is(
    client: AnthropicBatches, chat: Chat, tmp_path: Path
) -> None:
    batch_id = create_and_forget(client, chat, make_file(client, tmp_path, "a", "b"))
    make_stranger(client, tmp_path, "s1", "s2")
    chat.clock.skip(10_000)
    assert client.find("run") == batch_id


def test_two_that_may_be_it_are_waited_for(
    client: AnthropicBatches, chat: Chat, tmp_path: Path
) -> None:
    chat.batch = BatchRules(running_s=80_000)
    create_and_forget(client, chat, make_file(client, tmp_path, "a", "b"))
    other_id = make_stranger(client, tmp_path, "s1", "s2")
    with pytest.raises(TransientError, match=f"{other_id}.*shows when they end"):
        client.find("run")


def test_a_batch_that_is_known_is_no_other_runs(
    client: AnthropicBatches, chat: Chat, tmp_path: Path
) -> None:
    earlier = make_file(client, tmp_path, "a", "b")
    later = make_file(client, tmp_path, "c", "d")
    # the list lags: the earlier batch is not in it when the later one is about to be made
    chat.batch = BatchRules(hidden_s=20_000, running_s=80_000)
    earlier_id = client.create(earlier, "earlier run")
    chat.faults.append(Fault(step="batches.create", status=500, body=b"{}"))
    with pytest.raises(TransientError):
        client.create(later, "run")
    chat.clock.skip(20_001)
    assert client.find("run") is None
    assert client.find("earlier run") == earlier_id


def test_the_list_is_read_page_by_page(
    client: AnthropicBatches, chat: Chat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fieldwork.generation.providers.batch_anthropic._PAGE", 2)
    batch_id = create_and_forget(client, chat, make_file(client, tmp_path, "a"))
    for n in range(4):
        make_stranger(client, tmp_path, *(f"s{n}{m}" for m in range(2)))
    before = seen(chat, "GET", BATCHES)
    assert client.find("run") == batch_id
    assert seen(chat, "GET", BATCHES) - before == 3


def test_the_same_requests_are_kept_once(client: AnthropicBatches, tmp_path: Path) -> None:
    assert make_file(client, tmp_path, "a") == make_file(client, tmp_path, "a")


def test_a_file_of_requests_that_is_gone_is_told(client: AnthropicBatches) -> None:
    with pytest.raises(RejectedError, match="is gone; run again"):
        client.create("none", "run")


def test_a_full_disk_does_not_hide_a_batch_that_was_made(
    client: AnthropicBatches, chat: Chat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = make_file(client, tmp_path, "a")
    write, n_notes = client._write_note, 0

    def write_once(path: Path, note: Any) -> None:
        nonlocal n_notes
        n_notes += 1
        if n_notes > 1:
            raise StudyError("the disk is full")
        write(path, note)

    monkeypatch.setattr(client, "_write_note", write_once)
    assert client.create(name, "run") in chat.jobs


def test_a_batch_that_was_found_is_no_other_runs(
    client: AnthropicBatches, chat: Chat, tmp_path: Path
) -> None:
    chat.batch = BatchRules(hidden_s=20_000, running_s=80_000)
    batch_id = create_and_forget(client, chat, make_file(client, tmp_path, "a"))
    chat.faults.append(Fault(step="batches.create", status=500, body=b"{}"))
    with pytest.raises(TransientError):
        client.create(make_file(client, tmp_path, "b"), "other run")
    chat.clock.skip(20_001)
    assert client.find("run") == batch_id
    assert client.find("other run") is None


def test_a_note_that_is_damaged_is_told(client: AnthropicBatches, tmp_path: Path) -> None:
    (tmp_path / "x.note").write_bytes(b"{")
    with pytest.raises(StudyError, match="put a backup"):
        client.find("run")


# --- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("step", "status", "kind", "told"),
    [
        ("get", 400, RejectedError, "HTTP 400: bad"),
        ("get", 404, RejectedError, "HTTP 404: bad"),
        ("get", 529, TransientError, "HTTP 529"),
        ("list", 401, StudyError, "api_key_env"),
        ("list", 307, StudyError, "redirects calls"),
        ("create", 413, RejectedError, "HTTP 413"),
        ("create", 402, StudyError, "add credit"),
    ],
)
def test_refusals_are_sorted_and_nothing_is_tried_twice(
    step: str,
    status: int,
    kind: type[Exception],
    told: str,
    client: AnthropicBatches,
    chat: Chat,
    tmp_path: Path,
) -> None:
    name = make_file(client, tmp_path, "a")
    body = anthropic_error(f"bad {KEY}")
    chat.faults.append(Fault(step=f"batches.{step}", status=status, body=body, times=5))
    with pytest.raises(kind, match=told) as caught:
        {
            "get": lambda: client.status("b1"),
            "list": lambda: client.create(name, "run"),
            "create": lambda: client.create(name, "run"),
        }[step]()
    assert KEY not in str(caught.value)
    assert len(chat.requests) == (2 if step == "create" else 1)


@pytest.mark.parametrize(
    ("step", "status", "is_made"),
    [("create", 429, False), ("create", 500, True), ("list", 500, False)],
)
def test_what_passes_says_whether_it_may_have_taken_effect(
    step: str, status: int, is_made: bool, client: AnthropicBatches, chat: Chat, tmp_path: Path
) -> None:
    name = make_file(client, tmp_path, "a")
    body = anthropic_error("no")
    chat.faults.append(Fault(step=f"batches.{step}", status=status, body=body))
    with pytest.raises(TransientError) as caught:
        client.create(name, "run")
    assert caught.value.maybe_billed == is_made


def test_a_file_of_certificates_that_is_none_is_told(chat: Chat, tmp_path: Path) -> None:
    settings = settings_for(chat.anthropic_url, ca_file=str(tmp_path / "none.pem"))
    with pytest.raises(StudyError, match="ca_file to a PEM file"):
        AnthropicBatches(settings, tmp_path)


def test_results_that_are_gone_are_told(client: AnthropicBatches, chat: Chat) -> None:
    with pytest.raises(RejectedError):
        client.download("none", io.BytesIO())
    archived = {
        "id": "b1",
        "processing_status": "ended",
        "request_counts": {"processing": 0, "succeeded": 2},
        "created_at": "2026-11-01T10:00:00.123456Z",
        "results_url": None,
    }
    chat.faults.append(Fault(step="batches.get", body=json.dumps(archived).encode()))
    status = client.status("b1")
    assert (status.is_over, status.n_done, status.files) == (True, 2, ())
    assert status.is_lost
    assert status.error == "the provider no longer has its results"


# --- results -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "n_missing"),
    [
        (BatchRules(duplicate=2, unknown=3), 0),
        (BatchRules(missing=1), 2),
        (BatchRules(done_share=0.5, window_s=300), 3),
        (BatchRules(failure="broken"), 6),
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


def test_a_canceled_batch_keeps_what_was_done(
    client: AnthropicBatches, chat: Chat, tmp_path: Path
) -> None:
    chat.batch = BatchRules(running_s=40_000)
    batch_id = client.create(make_file(client, tmp_path, "a", "b"), "run")
    chat.jobs[batch_id].cancelled_at = chat.clock.now() + 20_100
    chat.clock.skip(21_000)
    assert client.status(batch_id).is_over
    spool = io.BytesIO()
    client.download(batch_id, spool)
    rows = {row.custom_id: row for row in map(client.row, spool.getvalue().splitlines())}
    assert (rows["a"].status, rows["b"].status) == (200, 0)
    assert b"canceled before this request was run" in rows["b"].raw


@pytest.mark.parametrize(
    ("fault", "cause", "n_stored"),
    [
        (Fault(step="row", status=500, body=anthropic_error("Oops")), "HTTP 500: Oops", 5),
        (
            Fault(step="row", status=529, body=anthropic_error("Busy", "overloaded_error")),
            "HTTP 529: Busy",
            5,
        ),
        (Fault(step="row", reply={"stop_reason": "refusal", "content": []}), None, 6),
        (Fault(step="row", drop=("content",)), "no message", 5),
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
    chat.faults.append(Fault(step="row", reply={"model": "claude-cheap"}))
    with pytest.raises(StudyError, match="came from claude-cheap"):
        desk.settle()
    assert len(desk.entries()) in (3, 5)


@pytest.mark.parametrize("kind", HTTP_STATUS)
def test_rows_carry_the_status_of_their_error(kind: str, client: AnthropicBatches) -> None:
    error = {"type": "error", "error": {"type": kind, "message": f"m {KEY}"}, "request_id": "r"}
    line = {"custom_id": "a", "result": {"type": "errored", "error": error}}
    row = client.row(json.dumps(line).encode())
    assert (row.custom_id, row.status, row.request_id) == ("a", HTTP_STATUS[kind], "r")
    assert loads(row.raw)["error"]["message"] == "m ***masked***"


def test_an_answer_that_the_filter_withheld_is_an_outcome(desk: Desk, chat: Chat) -> None:
    provider = Anthropic(settings_for(chat.anthropic_url))
    raw = anthropic_error("Output blocked by content filtering policy", "invalid_request_error")
    chat.faults.append(Fault(status=400, body=raw, step="row", times=1))
    assert desk.settle() == Counter()
    replies = [provider.read(entry.raw) for entry in desk.entries().values()]
    assert Counter(reply.outcome for reply in replies) == Counter(ok=5, filtered=1)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"null",
        b"{}",
        b'{"custom_id": 1, "result": {"type": "expired"}}',
        b'{"custom_id": "a"}',
        b'{"custom_id": "a", "result": "x"}',
        b'{"custom_id": "a", "result": {"type": []}}',
        b'{"custom_id": "a", "result": {"type": "else"}}',
        b'{"custom_id": "a", "result": {"type": "succeeded"}}',
        b'{"custom_id": "a", "result": {"type": "errored", "error": "x"}}',
    ],
)
def test_a_line_that_is_no_row_is_refused(line: bytes, client: AnthropicBatches) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - any will do
        client.row(line)

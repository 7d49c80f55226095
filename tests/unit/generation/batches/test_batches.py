"""Batches: split, submitted once, found again after any crash, settled row by row."""

import errno
import os
import signal
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from batch_service import Service, Ticking, batch_provider, make_calls, written
from kills import at_step, exit_of
from scripted_provider import reply_bytes
from senders import sender_of

from fieldwork.errors import StudyError
from fieldwork.generation.accounts import Account
from fieldwork.generation.agenda import Call
from fieldwork.generation.batches import results as batch_results
from fieldwork.generation.batches.files import BatchLimits, write_files
from fieldwork.generation.batches.journal import Journal, open_journal
from fieldwork.generation.batches.settling import settle_batches
from fieldwork.generation.budget import Reservation
from fieldwork.generation.ledger import Entry, Ledger, open_ledger
from fieldwork.generation.providers.base import RejectedError, TransientError, Usage
from fieldwork.generation.providers.batch_base import BatchStatus
from fieldwork.generation.sending import BatchDispatch

LIMITS = BatchLimits(max_requests=3, listing_lag_s=60, attempts=3)
CALLS = make_calls(7)


class Desk:
    """A folder with a ledger and a journal, and the service behind them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ticking = Ticking()
        self.service = Service(folder / "service", self.ticking)
        self.shown: list[tuple[int, str]] = []

    @property
    def journal(self) -> Path:
        return self.folder / "ledger" / "plain.batches.sqlite"

    @property
    def ledger(self) -> Path:
        return self.folder / "ledger" / "plain.sqlite"

    def settle(
        self,
        calls: Sequence[Call] = CALLS,
        *,
        limits: BatchLimits = LIMITS,
        account: Account | None = None,
    ) -> Counter[str]:
        with open_ledger(self.ledger) as ledger:
            return settle_batches(
                iter(calls),
                sender_of(batch_provider(), ledger, tier="batch", account=account),
                BatchDispatch(self.service, self.journal, limits, poll_s=10),
                show=lambda n, note: self.shown.append((n, note)),
                clock=self.ticking.clock(),
            )

    def answers(self) -> dict[bytes, bytes]:
        with open_ledger(self.ledger) as ledger:
            return {entry.key: entry.raw for entry in ledger.entries(ledger.keys())}

    def finish(self) -> None:
        """Settle what is left: all is answered, and was asked once."""
        assert self.settle() == Counter()
        assert self.answers() == EXPECTED
        assert self.service.ran() == once()

    def states(self) -> list[str]:
        with closing(sqlite3.connect(self.journal)) as connection:
            return [row[0] for row in connection.execute("SELECT state FROM runs ORDER BY number")]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


EXPECTED = {call.key: reply_bytes(f"answer to {n}") for n, call in enumerate(CALLS)}


def once(calls: Sequence[Call] = CALLS) -> Counter[str]:
    return Counter({call.key.hex(): 1 for call in calls})


def test_requests_are_split_answered_and_stored_as_batch_answers(desk: Desk) -> None:
    desk.finish()
    first = (desk.folder / "service" / desk.service.batches()[0]["file"]).read_bytes()
    assert CALLS[0].wire.body() in first, "the body is joined in as it is sent"
    assert [len(desk.service.lines(batch)) for batch in desk.service.batches()] == [3, 3, 1]
    assert desk.states() == ["settled"] * 3
    assert sum(n for n, _ in desk.shown) == 7
    assert any("3 batches under way" in note for _, note in desk.shown)
    with open_ledger(desk.ledger) as ledger:
        (entry,) = ledger.entries([CALLS[0].key])
    assert (entry.tier, entry.replicate, entry.latency_s) == ("batch", 0, None)
    assert entry.request_id == f"request of {CALLS[0].key.hex()[:4]}"
    assert entry.started_at is not None
    assert entry.started_at.timestamp() == 1_000
    assert desk.settle() == Counter()
    assert len(desk.service.batches()) == 3, "a second run asks nothing"


def line(custom_id: str, body: bytes) -> bytes:
    return custom_id.encode() + body + b"\n"


PAIR = 2 * len(line(CALLS[0].key.hex(), CALLS[0].wire.body()))


@pytest.mark.parametrize(
    ("limits", "sizes"),
    [
        (BatchLimits(), [7]),
        (BatchLimits(max_requests=2), [2, 2, 2, 1]),
        (BatchLimits(max_bytes=PAIR), [2, 2, 2, 1]),
        # what fits nowhere goes alone: the provider has the last word
        (BatchLimits(max_bytes=1), [1] * 7),
        (BatchLimits(max_tokens=3 * CALLS[0].tokens), [3, 3, 1]),
    ],
)
def test_files_are_split_by_count_bytes_and_tokens(
    limits: BatchLimits, sizes: list[int], tmp_path: Path
) -> None:
    path = tmp_path / "file.jsonl"
    found, keys = [], []
    for file in write_files(CALLS, path, line, limits):
        lines = path.read_bytes().splitlines()
        assert [raw[:64].decode() for raw in lines] == [key.hex() for key in file.draws]
        assert file.tokens == len(lines) * CALLS[0].tokens
        found.append(len(lines))
        keys += list(file.draws)
    assert found == sizes
    assert keys == [call.key for call in CALLS]
    assert not path.exists()


# -- killed at any instant

NOTES = ("intend", "record_upload", "begin_creation", "record_submission", "settle")
CALLED = ("upload", "create", "download")
STEPS: list[tuple[type, str, str, int]] = [
    *((Journal, method, when, 1) for method in NOTES for when in ("before", "after")),
    (Journal, "begin_creation", "after", 3),
    (Journal, "settle", "after", 2),
    *((Service, method, when, 1) for method in CALLED for when in ("before", "after")),
    (Service, "create", "after", 3),
    (Service, "status", "before", 2),
    (Service, "row", "after", 2),
    (Service, "discard", "before", 1),
    (Ledger, "store", "before", 1),
    (Ledger, "store", "after", 1),
]
# where the provider's list has the last word, it may be late
LATE = [step for step in STEPS if step[1] in ("begin_creation", "record_submission", "create")]
KILLS = [*((*step, 0.0) for step in STEPS), *((*step, 45.0) for step in LATE)]


@pytest.mark.parametrize(("owner", "method", "when", "nth", "hidden_s"), KILLS)
def test_a_kill_at_any_step_loses_nothing_and_repeats_nothing(
    owner: type,
    method: str,
    when: str,
    nth: int,
    hidden_s: float,
    desk: Desk,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(batch_results, "ROWS_PER_COMMIT", 2)
    desk.service.hidden_s = hidden_s

    def until_killed() -> None:
        at_step(owner, method, when, nth)
        desk.settle()

    assert exit_of(until_killed) == -signal.SIGKILL
    desk.ticking.time += 1
    desk.finish()
    assert set(desk.states()) <= {"settled", "abandoned"}


# -- steps that fail


def no_space(*_: Any) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_under_the_results_stops_the_run_and_the_next_goes_on(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(Service, "download", no_space)
        with pytest.raises(StudyError, match="stay with the provider"):
            desk.settle()
    desk.finish()


def test_a_full_disk_under_the_file_of_requests_submits_nothing_of_it(desk: Desk) -> None:
    def broken() -> Iterator[Call]:
        yield from CALLS[:4]
        no_space()

    with pytest.raises(StudyError, match="file of requests cannot be written"):
        desk.settle(broken())  # type: ignore[arg-type]
    assert sum(desk.service.ran().values()) == 3
    desk.finish()


def passing(n: int, **more: Any) -> list[Exception]:
    return [TransientError("HTTP 503: try later", **more) for _ in range(n)]


@pytest.mark.parametrize(
    ("method", "asked_s"), [("upload", None), ("create", 50.0), ("find", None), ("status", 50.0)]
)
def test_a_server_of_errors_is_told_at_once_and_given_up_within_minutes(
    method: str, asked_s: float | None, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[tuple[float, str]] = []
    monkeypatch.setattr(
        "fieldwork.generation.batches.patience.logger.warning",
        lambda form, *values: said.append((desk.ticking.now(), form % values)),
    )
    errors = passing(10_000, maybe_billed=True, retry_after_s=asked_s)
    desk.service.faults = {method: errors}
    if method == "find":  # which is asked after a creation of unknown fate
        desk.service.faults["create"] = passing(1, maybe_billed=True)
    with pytest.raises(StudyError, match=r"failed \d+ times, at last with: HTTP 503: try later"):
        desk.settle(limits=LIMITS._replace(attempts=1_000))
    began, first = said[0]
    assert "failed: HTTP 503: try later; next try in" in first
    # a minute of it is the listing's
    assert desk.ticking.now() - began <= 600 + 60
    desk.service.faults = {}
    desk.finish()


@pytest.mark.parametrize("took_effect", [False, True])
@pytest.mark.parametrize("hidden_s", [0.0, 45.0])
def test_a_creation_of_unknown_fate_is_looked_for_before_it_is_tried_again(
    took_effect: bool, hidden_s: float, desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    desk.service.hidden_s = hidden_s
    desk.service.faults = {"create": passing(1, maybe_billed=True)}
    desk.service.late = {"create"} if took_effect else set()
    desk.finish()
    assert "it is not known whether a batch was made (HTTP 503: try later)" in caplog.text


def test_a_creation_turned_away_for_good_fails_its_requests(desk: Desk) -> None:
    desk.service.faults = {"create": [RejectedError("HTTP 400: no such file")]}
    sentence = "the provider refuses the batch: HTTP 400: no such file"
    assert desk.settle() == Counter({sentence: 3})
    assert desk.settle() == Counter()
    assert desk.answers() == EXPECTED


def test_a_batch_the_provider_does_not_know_stops_the_run(desk: Desk) -> None:
    desk.service.faults = {"status": [StudyError("stopped")]}
    for sentence in ("stopped", "batch-000 is in the journal but"):
        with pytest.raises(StudyError, match=sentence):
            desk.settle()
        (desk.folder / "service" / "batch-000.json").unlink(missing_ok=True)


def test_runs_of_another_endpoint_are_left_alone(desk: Desk) -> None:
    with open_journal(desk.journal, "elsewhere") as journal:
        journal.intend("theirs", {CALLS[0].key: 0}, 1)
    assert desk.settle() == Counter()
    assert desk.states() == ["intended", "settled", "settled", "settled"]


def test_a_file_that_is_no_journal_is_refused(desk: Desk) -> None:
    desk.journal.parent.mkdir()
    desk.journal.write_bytes(b"no database at all, but long enough to be read as one" * 30)
    with pytest.raises(StudyError, match="journal of batches cannot be used"):
        desk.settle()


# -- room


def test_no_more_than_the_limit_is_under_way(desk: Desk) -> None:
    most: list[int] = []

    def watch(_: str, status: BatchStatus) -> BatchStatus:
        with closing(sqlite3.connect(desk.journal)) as connection:
            query = "SELECT coalesce(sum(tokens), 0) FROM runs WHERE state = 'submitted'"
            most.append(connection.execute(query).fetchone()[0])
        return status

    desk.service.status_of = watch
    limit = 3 * CALLS[0].tokens
    assert desk.settle(limits=LIMITS._replace(max_tokens=limit)) == Counter()
    assert max(most) <= limit
    assert desk.service.ran() == once()
    assert any("waiting for room" in note for _, note in desk.shown)


def refuse(n: int) -> Callable[[str, BatchStatus], BatchStatus]:
    """Of all batches, the `n` first that are looked at once the first one is there have no room."""
    refused: set[str] = set()

    def status_of(batch_id: str, status: BatchStatus) -> BatchStatus:
        if batch_id in refused or (batch_id != "batch-000" and len(refused) < n):
            refused.add(batch_id)
            return BatchStatus("failed", is_over=True, error="token_limit_exceeded", no_room=True)
        return status

    return status_of


def test_a_batch_without_room_is_submitted_again(desk: Desk) -> None:
    desk.service.status_of = refuse(2)
    desk.finish()
    assert sorted(desk.states()) == ["abandoned"] * 2 + ["settled"] * 3


def test_a_kill_while_waiting_for_room_loses_nothing(desk: Desk) -> None:
    desk.service.status_of = refuse(2)

    def until_killed() -> None:
        at_step(Journal, "renew", "after", 2)
        desk.settle()

    assert exit_of(until_killed) == -signal.SIGKILL
    desk.service.status_of = None
    assert desk.settle() == Counter()
    assert desk.answers() == EXPECTED


def test_where_there_is_never_room_the_requests_fail(desk: Desk) -> None:
    no_room = BatchStatus("failed", is_over=True, error="token_limit_exceeded", no_room=True)
    desk.service.status_of = lambda *_: no_room
    assert desk.settle() == Counter({"token_limit_exceeded": 7})
    assert desk.service.ran() == Counter()


# -- money


class Purse(Account):
    """An account that lets a number of calls pass, and remembers what was settled."""

    def __init__(self, n: int) -> None:
        super().__init__(None, "batch", 1)
        self.left, self.open = n, set[int]()
        self.paid: list[Usage | None] = []

    def reserve(self, input_tokens: int) -> Reservation | None:
        if not self.left or not input_tokens:
            raise StudyError("budget_usd is reached")
        self.left -= 1
        self.open.add(self.left)
        return Reservation(self.left, 1)

    def settle(
        self, reservation: Reservation | None, usage: Usage | None, *, unsure: bool = False
    ) -> None:
        assert reservation is not None
        assert not unsure
        self.open.remove(reservation.number)
        self.paid.append(usage)


def test_what_fits_the_budget_is_settled_before_the_run_stops(desk: Desk) -> None:
    purse = Purse(4)
    with pytest.raises(StudyError, match="budget_usd is reached"):
        desk.settle(account=purse)
    assert desk.answers() == {key: EXPECTED[key] for key in list(EXPECTED)[:4]}
    assert purse.open == set()
    assert purse.paid == [Usage(10, output=1)] * 4


FAILED = BatchStatus("failed", is_over=True, error="the batch failed: no such model")
GONE = "HTTP 404: no such file"
PAID, ALL_SET_ASIDE = Usage(10, output=1), Usage()
ERROR = {"status": 400, "body": {"error": {"code": "bad", "message": "no"}}}


def changed(change: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    """Results whose rows are changed."""
    return {"spoil": lambda lines: [{**row, **change(row)} for row in lines]}


def first_failed(batch_id: str, status: BatchStatus) -> BatchStatus:
    return FAILED if batch_id == "batch-000" else status


def cancelled_after_one(_: str, status: BatchStatus) -> BatchStatus:
    return status._replace(state="cancelled", n_done=1) if status.is_over else status


MONEY: list[tuple[dict[str, Any], dict[Usage | None, int], str]] = [
    # a row with an error costs nothing
    (changed(lambda _: ERROR), {None: 7}, "HTTP 400: no"),
    # an answer that cannot be read may cost all that was set aside
    (changed(lambda _: {"body": {}}), {ALL_SET_ASIDE: 7}, "unreadable reply"),
    # one that broke off costs what it says
    (changed(lambda row: {"body": {**row["body"], "error": True}}), {PAID: 7}, ""),
    # results that are gone may cost all that was set aside
    (
        {"faults": {"download": [RejectedError(GONE)]}},
        {ALL_SET_ASIDE: 3, PAID: 4},
        f"the provider no longer has results batch-000: {GONE}",
    ),
    # a request without a row counts as billed
    ({"spoil": lambda rows: rows[1:]}, {ALL_SET_ASIDE: 3, PAID: 4}, "so it counts as billed"),
    # one that the provider never ran costs nothing
    (
        {"spoil": lambda rows: rows[:1], "status_of": cancelled_after_one},
        {None: 4, PAID: 3},
        "",
    ),
    # a batch that failed as a whole costs nothing
    ({"status_of": first_failed}, {None: 3, PAID: 4}, "the batch failed: no such model"),
    # a line that cannot be read may be an answer that was billed
    ({"spoil": lambda rows: b"{cut\n" + written(rows[1:])}, {ALL_SET_ASIDE: 3, PAID: 4}, ""),
]


@pytest.mark.parametrize(("changes", "paid", "cause"), MONEY)
def test_what_a_batch_costs(
    changes: dict[str, Any], paid: Any, cause: str, desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    vars(desk.service).update(changes)
    purse = Purse(7)
    failures = desk.settle(account=purse)
    assert purse.open == set()
    assert Counter(purse.paid) == Counter(paid)
    assert failures.total() == 7 - paid.get(PAID, 0) or cause == ""
    assert all(cause in told for told in failures)
    if "counts as billed" in cause:
        assert "defects of its results: 1 missing rows" in caplog.text


def test_an_answer_that_came_live_meanwhile_is_not_asked_for(desk: Desk) -> None:
    with open_ledger(desk.ledger) as ledger:
        ledger.store([Entry(CALLS[0].key, "scripted", 0, b'{"text": "live"}', None, None, 1)])
    assert desk.settle() == Counter()
    assert desk.service.ran() == once(CALLS[1:])

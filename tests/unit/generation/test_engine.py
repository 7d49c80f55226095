"""The loop of paid calls: nothing is asked twice, nothing that arrived is lost, no fault hangs it.

A server that is wrong for everybody is met by a few calls; one that fails now and then by all.
"""

import asyncio
import hashlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from scripted_provider import ScriptedProvider, reply_bytes, text_of
from senders import ask_of, loopback_entry, numbered, sender_of, settle_asks

from fieldwork.errors import StudyError
from fieldwork.generation import outage
from fieldwork.generation.accounts import Account
from fieldwork.generation.agenda import Ask
from fieldwork.generation.budget import open_budget
from fieldwork.generation.engine import AnswerTally
from fieldwork.generation.ledger import Entry, Ledger, ledger_key, open_ledger
from fieldwork.generation.limits import Limits
from fieldwork.generation.outage import FIRST_REQUESTS, THROTTLED_S, Outage
from fieldwork.generation.pricing import Price
from fieldwork.generation.providers.base import RejectedError, TransientError
from fieldwork.generation.providers.registry import make_provider
from fieldwork.retries import FIRST_WAIT_S, LONGEST_WAIT_S
from servers.provider import serve_chat

SCRIPTS = Path(__file__).parents[3] / "workflow" / "scripts"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "m.sqlite"


def asks(texts: str, replicates: int = 1) -> list[Ask]:
    return [ask_of(text, i) for text in texts for i in range(replicates)]


def ask(
    wanted: Sequence[Ask], provider: ScriptedProvider, ledger: Ledger, attempts: int = 3
) -> AnswerTally:
    return settle_asks(wanted, sender_of(provider, ledger, attempts=attempts))


def key_of(one: Ask) -> bytes:
    provider = ScriptedProvider()
    prefix = provider.prefix([])
    body = prefix + provider.question(one.item, one.sampling) + b"}"
    digest, context_digest = hashlib.sha256(body).digest(), hashlib.sha256(prefix).digest()
    return ledger_key(digest, provider.endpoint, one.draw, context_digest=context_digest)


def held(path: Path) -> list[str]:
    """The questions of all answers on disk, as another process would find them."""
    with open_ledger(path) as ledger:
        return sorted(text_of(entry.raw).split()[0] for entry in ledger.entries(ledger.keys()))


def failing(fates: dict[str, Any], **settings: Any) -> ScriptedProvider:
    """A provider with fates of its own for some questions."""
    return ScriptedProvider(lambda question, _: fates.get(question, 0.001), **settings)


# --- what is asked


def test_an_entry_holds_what_the_call_gave(ledger: Ledger) -> None:
    provider = ScriptedProvider(lambda _, send: TransientError("busy", 0.0) if send == 1 else 0.0)
    settled = ask([ask_of("q", 7)], provider, ledger)
    (entry,) = ledger.entries(settled.keys)
    assert entry == Entry(settled.keys[0], "scripted", 7, reply_bytes("q #2"), None, 0.5, 2)


@pytest.mark.parametrize(
    ("first", "second", "sent_by_second"),
    [
        (asks("ab"), asks("ab"), ""),
        (asks("ab"), asks("bcc"), "c"),
        (asks("a"), asks("a", replicates=3), "aa"),
        ([], asks("a"), "a"),
    ],
)
def test_what_is_known_is_not_asked_again(
    ledger: Ledger, first: list[Ask], second: list[Ask], sent_by_second: str
) -> None:
    provider = ScriptedProvider()
    n_before = ask(first, provider, ledger).n_asked
    settled = ask(second, provider, ledger)
    assert "".join(provider.sends[n_before:]) == sent_by_second
    assert settled.n_asked == len(sent_by_second)
    assert settled.keys == [key_of(one) for one in second]
    replies = {entry.raw for entry in ledger.entries(settled.keys)}
    assert len(replies) == len(set(settled.keys)), "each draw has an answer of its own"


def test_the_model_is_looked_up_once_and_only_where_something_is_asked(ledger: Ledger) -> None:
    looks: list[float] = []

    async def look(estimate_s: float) -> None:
        looks.append(estimate_s)
        await asyncio.sleep(0.01)

    sender = sender_of(ScriptedProvider(), ledger)._replace(preflight=look)
    for _ in range(2):
        settle_asks(numbered(20), sender)
    assert len(looks) == 1


# --- faults


def test_a_transient_fault_is_tried_again_after_growing_waits(
    ledger: Ledger, naps: list[float]
) -> None:
    provider = ScriptedProvider(lambda _, send: TransientError("busy") if send < 12 else 0.0)
    assert not ask(asks("a"), provider, ledger, attempts=12).failures
    assert len(provider.sends) == 12
    bounds = [min(FIRST_WAIT_S * 2**i, LONGEST_WAIT_S) for i in range(11)]
    assert all(nap <= bound for nap, bound in zip(naps, bounds, strict=True))
    assert max(naps) > 4 * bounds[0], "the waits must grow"
    assert len(set(naps)) == len(naps), "and differ, or all workers come back at once"


def test_a_wait_of_hours_stops_the_run_and_is_left_to_the_next(
    ledger: Ledger, path: Path, naps: list[float]
) -> None:
    tomorrow = TransientError("come back tomorrow", 86_400.0, is_throttled=True)
    provider = ScriptedProvider(lambda body, _: tomorrow if body > "q2" else 0.0, concurrency=2)
    with pytest.raises(StudyError, match=r"come back tomorrow; .* 24\.0 hours"):
        ask(numbered(9), provider, ledger)
    assert len(provider.sends) <= 5
    assert naps == []
    assert {"q0", "q1"} <= {*held(path)}


@pytest.mark.usefixtures("naps")
def test_failures_are_counted_and_not_stored_and_the_rest_is(ledger: Ledger, path: Path) -> None:
    too_long = RejectedError("too long")
    provider = failing({"b": TransientError("busy"), "c": too_long, "d": too_long})
    assert ask(asks("abcde"), provider, ledger).failures == {"busy": 1, "too long": 2}
    assert Counter(provider.sends) == {"a": 1, "b": 3, "c": 1, "d": 1, "e": 1}
    assert held(path) == ["a", "e"]
    again = ScriptedProvider()
    assert not ask(asks("abcde"), again, ledger).failures
    assert sorted(again.sends) == ["b", "c", "d"]


def test_an_error_of_the_study_stops_at_once_and_keeps_what_arrived(
    ledger: Ledger, path: Path
) -> None:
    provider = failing({"q4": 0.3, "q5": StudyError("no credit")}, concurrency=3)
    with pytest.raises(StudyError, match="no credit"):
        ask(numbered(500), provider, ledger)
    assert len(provider.sends) < 12
    # q4 was under way when q5 was refused: it may have been billed, and is waited for
    assert {"q0", "q1", "q2", "q3", "q4"} <= {*held(path)}
    assert provider.n_closed == 1


def test_a_bug_is_not_swallowed(ledger: Ledger) -> None:
    provider = failing({"q3": ZeroDivisionError()})
    with pytest.raises(ZeroDivisionError):
        ask(numbered(10), provider, ledger)
    assert provider.n_closed == 1


@pytest.mark.parametrize("good_commits", [0, 2])
def test_a_disk_that_refuses_stops_the_run(
    ledger: Ledger, path: Path, monkeypatch: pytest.MonkeyPatch, good_commits: int
) -> None:
    store, n_commits = ledger.store, 0

    def refuse(entries: list[Entry]) -> None:
        nonlocal n_commits
        n_commits += 1
        if n_commits > good_commits:
            raise StudyError("the disk is full")
        store(entries)

    monkeypatch.setattr(ledger, "store", refuse)
    provider = failing({}, concurrency=3)
    with pytest.raises(StudyError, match="the disk is full"):
        ask(numbered(2_000), provider, ledger)
    assert len(provider.sends) <= 3 * (good_commits + 2)
    assert len(held(path)) <= 3 * good_commits
    assert provider.n_closed == 1


def test_answers_are_kept_where_the_budget_cannot_be_written(
    ledger: Ledger, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What arrived is paid for: it is stored before its cost is counted."""
    monkeypatch.setattr("fieldwork.generation.budget.LUMP_LASTS_S", 0.0)
    purse = tmp_path / "budget.sqlite"

    def lose_the_budget(question: str, n_sends: int) -> float:  # noqa: ARG001
        if provider.n_under_way == 3:
            purse.unlink()
        return 0.01 if purse.exists() else 0.02

    provider = ScriptedProvider(lose_the_budget, concurrency=3)
    price = Price(1.0, 0.5, 1.0, 4.0, date(2026, 11, 1), "the test")

    def spend() -> None:
        with open_budget(purse, None) as budget:
            account = Account(price, "live", 16, budget)
            settle_asks(numbered(20), sender_of(provider, ledger, account=account))

    with pytest.raises(StudyError, match="the file that counts spending cannot be used"):
        spend()
    assert len(provider.sends) == len(held(path)) == 3


def test_a_ledger_that_is_removed_stops_the_run_and_loses_no_answer(path: Path) -> None:
    def remove_the_ledger(question: str, n_sends: int) -> float:  # noqa: ARG001
        if len(provider.sends) == 6:
            path.unlink()
        return 0.01

    provider = ScriptedProvider(remove_the_ledger, concurrency=3)

    def work() -> None:
        with open_ledger(path) as ledger:
            ask(numbered(20), provider, ledger)

    with pytest.raises(StudyError, match=r"removed or replaced.*written back: run again"):
        work()
    assert len(held(path)) == len(provider.sends) <= 6 + 3


def test_no_call_is_begun_before_the_last_answer_is_on_disk(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A crash may lose the calls in flight and no more, however slow the disk is."""
    provider = ScriptedProvider(concurrency=4)
    store, n_stored, most_at_risk = ledger.store, 0, 0

    def slow(entries: list[Entry]) -> None:
        nonlocal n_stored, most_at_risk
        time.sleep(0.005)
        most_at_risk = max(most_at_risk, len(provider.sends) - n_stored)
        store(entries)
        n_stored += len(entries)

    monkeypatch.setattr(ledger, "store", slow)
    ask(numbered(40), provider, ledger)
    assert n_stored == 40
    assert most_at_risk <= 4


# --- servers that are wrong for everybody


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def timed_out() -> TransientError:
    error = TransientError("no reply within 3 s", maybe_billed=True)
    error.__cause__ = TimeoutError()
    return error


@pytest.mark.usefixtures("naps")
@pytest.mark.parametrize(
    ("error", "most", "sentence"),
    [
        (RejectedError("HTTP 400: no"), 5, r"5 calls: HTTP 400: no.*objects to"),
        (TransientError("HTTP 500: oops"), 5 * 3, r"15 calls: HTTP 500: oops.*base_url"),
        (timed_out(), 5 + 3, r"[5-8] calls: no reply.*may be billed; .*timeout_s"),
    ],
)
def test_a_server_that_is_wrong_for_everybody_is_left_after_a_few_calls(
    error: Exception, most: int, sentence: str, ledger: Ledger
) -> None:
    provider = ScriptedProvider(lambda *_: error, concurrency=16)
    with pytest.raises(StudyError, match=f"scripted: no request is answered.*{sentence}"):
        ask(numbered(400), provider, ledger)
    assert 5 <= len(provider.sends) <= most
    assert provider.n_closed == 1


@pytest.mark.usefixtures("naps")
@pytest.mark.parametrize("attempts", [1, 5])
def test_replies_that_cannot_be_read_are_paid_for_a_few_times(
    attempts: int, ledger: Ledger
) -> None:
    provider = ScriptedProvider(concurrency=16)
    provider.make_reply = lambda *_: b"<html>"
    with pytest.raises(StudyError, match=r"<html>.\), so .* may be billed; .*models\.\*\.provider"):
        ask(numbered(400), provider, ledger, attempts)
    assert len(provider.sends) == FIRST_REQUESTS * attempts


@pytest.mark.parametrize("retry_after_s", [None, 0.0, 1.0, 20.0, 400.0])
def test_a_server_that_throttles_everybody_is_waited_for_and_then_left(
    retry_after_s: float | None, ledger: Ledger, naps: list[float]
) -> None:
    error = TransientError("HTTP 429: slow", retry_after_s, is_throttled=True)
    provider, clock = ScriptedProvider(lambda *_: error, concurrency=16), Clock()

    async def pass_by(seconds: float) -> None:
        clock.now += seconds
        await asyncio.sleep(0)

    minutes = {"requests_per_minute": None, "tokens_per_minute": None}
    limits = Limits(ceiling=16, **minutes, clock=clock, sleep=pass_by)
    sender = sender_of(provider, ledger, attempts=3)._replace(limits=limits)
    with pytest.raises(StudyError, match=r"HTTP 429: slow.*requests_per_minute"):
        settle_asks(numbered(400), sender)
    # every request waits by itself, and the first that has waited enough ends them all
    longest = THROTTLED_S + max(retry_after_s or 0.0, LONGEST_WAIT_S)
    assert THROTTLED_S <= sum(naps) <= FIRST_REQUESTS * longest
    assert len(provider.sends) <= FIRST_REQUESTS * 16


@pytest.mark.usefixtures("naps")
def test_before_the_first_answer_only_a_few_requests_are_out(ledger: Ledger) -> None:
    first = {f"q{i}" for i in range(FIRST_REQUESTS)}
    provider = ScriptedProvider(lambda body, _: 0.2 if body in first else 0.0, concurrency=16)
    assert ask(numbered(60), provider, ledger).n_asked == len(provider.sends) == 60
    assert set(provider.sends[:FIRST_REQUESTS]) == first


@pytest.mark.usefixtures("naps")
def test_one_answer_and_failures_are_the_requests_own(ledger: Ledger) -> None:
    """A burst among answers is asked through, and what fails is counted, as the next run asks it."""
    fates = {f"q{i}": TransientError("HTTP 500") for i in range(400) if i not in (0, 300)}
    provider = failing(fates)
    assert ask(numbered(400), provider, ledger).failures == {"HTTP 500": 398}
    assert Counter(provider.sends) == {"q0": 1, "q300": 1, **dict.fromkeys(fates, 3)}


def test_a_server_that_falls_silent_is_left_after_half_an_hour() -> None:
    clock = Clock()
    state = Outage("there", clock)
    state.note_answer()
    clock.now = outage.LONGEST_SILENCE_S - 1
    for _ in range(1000):
        state.note_failure(timed_out(), is_unreadable=False)
    clock.now += 2
    with pytest.raises(StudyError, match=r"no answer arrived for 30 minutes.*1001 calls"):
        state.note_failure(timed_out(), is_unreadable=False)


# --- the process ends


@pytest.fixture
def _interruptible() -> Iterator[None]:
    """A shell's background jobs ignore SIGINT, and so would this process and its children."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


N_ASKED = 150


def run_study(path: Path, base_url: str) -> int:
    """How many were asked of a server."""
    with open_ledger(path) as ledger:
        provider = make_provider(loopback_entry(base_url, timeout_s=30.0), path)
        return settle_asks(numbered(N_ASKED), sender_of(provider, ledger, attempts=2)).n_asked


RUN = """
import sys
from pathlib import Path
from test_engine import run_study
run_study(Path(sys.argv[1]), sys.argv[2])
"""


def n_stored(path: Path) -> int:
    with open_ledger(path) as ledger:
        return len(ledger.keys())


@pytest.mark.usefixtures("_interruptible")
@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_run_that_is_ended_loses_at_most_the_calls_in_flight(
    path: Path, ending: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = (SCRIPTS, Path(__file__).parent, Path(__file__).parents[2])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, folders)))
    monkeypatch.setenv("no_proxy", "*")
    with serve_chat(latency_s=0.01) as chat:
        command = [sys.executable, "-c", RUN, str(path), chat.base_url]
        run = subprocess.Popen(command, stderr=subprocess.PIPE)
        deadline = time.monotonic() + 60
        while chat.n_answered < 30:
            assert time.monotonic() < deadline
            time.sleep(0.001)
        run.send_signal(ending)
        run.communicate(timeout=60)
        assert run.returncode != 0
        n_answered, n_held = chat.n_answered, n_stored(path)
        assert n_answered < N_ASKED
        assert n_answered - 4 <= n_held <= n_answered
        chat.requests.clear()
        assert run_study(path, chat.base_url) == N_ASKED - n_held
        assert len(chat.requests) == len(set(chat.questions())) == N_ASKED - n_held
    assert n_stored(path) == N_ASKED


@pytest.mark.usefixtures("_interruptible")
def test_control_c_puts_on_disk_what_had_arrived(
    ledger: Ledger, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, storing = ledger.store, threading.Event()

    def slow(entries: list[Entry]) -> None:
        if not storing.is_set():
            storing.set()
            time.sleep(0.2)  # q1 arrives and the interrupt falls while q0 is being written
        store(entries)

    def interrupt() -> None:
        storing.wait(timeout=30)
        time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(ledger, "store", slow)
    provider = failing({"q0": 0.0, "q1": 0.02, **{f"q{n}": 30.0 for n in range(2, 10)}})
    provider.concurrency = 3
    interrupter = threading.Thread(target=interrupt)
    interrupter.start()
    with pytest.raises(KeyboardInterrupt):
        ask(numbered(10), provider, ledger)
    interrupter.join()
    assert held(path) == ["q0", "q1"]
    assert provider.n_closed == 1

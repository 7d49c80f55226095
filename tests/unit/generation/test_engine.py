"""The loop of paid calls: nothing is asked twice, nothing that arrived is lost, no fault hangs it."""

import asyncio
import hashlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from pathlib import Path

import pytest
from scripted_provider import ScriptedProvider, reply_bytes, text_of
from senders import ask_of, loopback_entry, numbered, sender_of, settle_asks

from fieldwork.errors import StudyError
from fieldwork.generation.accounts import Account
from fieldwork.generation.agenda import Ask
from fieldwork.generation.budget import open_budget
from fieldwork.generation.engine import AnswerTally
from fieldwork.generation.ledger import Entry, Ledger, ledger_key, open_ledger
from fieldwork.generation.pricing import Price
from fieldwork.generation.providers.base import RejectedError, TransientError
from fieldwork.generation.providers.registry import make_provider
from fieldwork.retries import FIRST_WAIT_S, LONGEST_WAIT_S
from servers.provider import Chat, serve_chat

SCRIPTS = Path(__file__).parents[3] / "workflow" / "scripts"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "m.sqlite"


def asks(*texts: str, replicates: int = 1) -> list[Ask]:
    return [ask_of(text, i) for text in texts for i in range(replicates)]


def ask(
    wanted: Sequence[Ask], provider: ScriptedProvider, ledger: Ledger, attempts: int = 3
) -> AnswerTally:
    return settle_asks(wanted, sender_of(provider, ledger, attempts=attempts))


def key_of(text: str, draw: int = 0) -> bytes:
    provider, request = ScriptedProvider(), ask_of(text, draw)
    prefix = provider.prefix([])
    body = prefix + provider.question(request.item, request.sampling) + b"}"
    digest, context_digest = hashlib.sha256(body).digest(), hashlib.sha256(prefix).digest()
    return ledger_key(digest, provider.endpoint, draw, context_digest=context_digest)


def held(path: Path) -> list[str]:
    """The text of every answer on disk, as another process would find it."""
    with open_ledger(path) as ledger:
        return sorted(text_of(entry.raw) for entry in ledger.entries(ledger.keys()))


# --- what is asked -------------------------------------------------------------------------------


def test_an_entry_holds_what_the_call_gave(ledger: Ledger) -> None:
    provider = ScriptedProvider(lambda _, send: TransientError("busy", 0.0) if send == 1 else 0.0)
    settled = ask([ask_of("q", 7)], provider, ledger)
    (entry,) = ledger.entries(settled.keys)
    assert entry == Entry(settled.keys[0], "scripted", 7, reply_bytes("q #2"), None, 0.5, 2)


@pytest.mark.parametrize(
    ("first", "second", "sent_by_second"),
    [
        (asks("a", "b"), asks("a", "b"), []),
        (asks("a", "b"), asks("b", "c", "c"), ["c"]),
        (asks("a"), asks("a", replicates=3), ["a", "a"]),
        ([], asks("a"), ["a"]),
    ],
)
def test_what_is_known_is_not_asked_again(
    ledger: Ledger, first: list[Ask], second: list[Ask], sent_by_second: list[str]
) -> None:
    provider = ScriptedProvider()
    n_before = ask(first, provider, ledger).n_asked
    settled = ask(second, provider, ledger)
    assert provider.sends[n_before:] == sent_by_second
    assert settled.n_asked == len(sent_by_second)
    assert settled.keys == [key_of(one.item.item_id, one.draw) for one in second]
    replies = {entry.raw for entry in ledger.entries(settled.keys)}
    assert len(replies) == len(set(settled.keys)), "each draw has an answer of its own"


def test_the_model_is_looked_up_once_and_only_when_something_is_to_be_asked(
    ledger: Ledger,
) -> None:
    looks: list[float] = []

    async def look(estimate_s: float) -> None:
        looks.append(estimate_s)
        await asyncio.sleep(0.01)

    sender = sender_of(ScriptedProvider(), ledger, attempts=1)._replace(preflight=look)
    for _ in range(2):
        settle_asks(numbered(20), sender)
    assert len(looks) == 1


# --- faults --------------------------------------------------------------------------------------


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
    assert {"q0", "q1"} <= {reply.split()[0] for reply in held(path)}


@pytest.mark.usefixtures("naps")
def test_failures_are_counted_and_not_stored_and_the_rest_is(ledger: Ledger, path: Path) -> None:
    fates = {
        "b": TransientError("busy"),
        "c": RejectedError("too long"),
        "d": RejectedError("too long"),
    }
    provider = ScriptedProvider(lambda body, _: fates.get(body, 0.0))
    settled = ask(asks("a", "b", "c", "d", "e"), provider, ledger)
    assert settled.failures == {"busy": 1, "too long": 2}
    assert Counter(provider.sends) == {"a": 1, "b": 3, "c": 1, "d": 1, "e": 1}
    assert [reply[0] for reply in held(path)] == ["a", "e"]
    again = ScriptedProvider()
    assert not ask(asks("a", "b", "c", "d", "e"), again, ledger).failures
    assert sorted(again.sends) == ["b", "c", "d"]


def test_an_error_of_the_study_stops_at_once_and_keeps_what_arrived(
    ledger: Ledger, path: Path
) -> None:
    fates: dict[str, float | Exception] = {"q4": 0.3, "q5": StudyError("no credit")}
    provider = ScriptedProvider(lambda body, _: fates.get(body, 0.001), concurrency=3)
    with pytest.raises(StudyError, match="no credit"):
        ask(numbered(500), provider, ledger)
    assert len(provider.sends) < 450
    assert len(provider.sends) < 12
    # q4 was under way when q5 was refused: it may have been billed, and is waited for
    assert {"q0", "q1", "q2", "q3", "q4"} <= {reply.split()[0] for reply in held(path)}
    assert provider.n_closed == 1


def test_a_bug_is_not_swallowed(ledger: Ledger) -> None:
    provider = ScriptedProvider(lambda body, _: ZeroDivisionError() if body == "q3" else 0.0)
    with pytest.raises(ZeroDivisionError):
        ask(numbered(10), provider, ledger)
    assert provider.n_closed == 1


@pytest.mark.parametrize("good_commits", [0, 2])
def test_a_disk_that_refuses_stops_the_run(
    ledger: Ledger, path: Path, monkeypatch: pytest.MonkeyPatch, good_commits: int
) -> None:
    commits = Counter[str]()
    store = ledger.store

    def refuse(entries: list[Entry]) -> None:
        commits["tried"] += 1
        if commits["tried"] > good_commits:
            raise StudyError("the disk is full")
        store(entries)

    monkeypatch.setattr(ledger, "store", refuse)
    provider = ScriptedProvider(lambda *_: 0.001, concurrency=3)
    with pytest.raises(StudyError, match="the disk is full"):
        ask(numbered(2_000), provider, ledger)
    assert len(provider.sends) < 1_800
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
            sender = sender_of(provider, ledger)
            sender = sender._replace(account=Account(price, "live", 16, budget))
            settle_asks(numbered(20), sender)

    with pytest.raises(StudyError, match="the file that counts spending cannot be used"):
        spend()
    assert len(provider.sends) == 3
    assert len(held(path)) == 3


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
    assert len(provider.sends) <= 6 + 3
    assert len(held(path)) == len(provider.sends)


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


# --- the process ends ----------------------------------------------------------------------------


@pytest.fixture
def _interruptible() -> Iterator[None]:
    """A shell's background jobs ignore SIGINT, and so would this process and its children."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def run_study(path: Path, base_url: str) -> int:
    """How many were asked of a server."""
    entry = loopback_entry(base_url, timeout_s=30.0)
    with open_ledger(path) as ledger:
        sender = sender_of(make_provider(entry, path), ledger, attempts=2, ceiling=4)
        return settle_asks(numbered(N_ASKED), sender).n_asked


RUN = """
import sys
from pathlib import Path
from test_engine import run_study
run_study(Path(sys.argv[1]), sys.argv[2])
"""
N_ASKED = 150


def another_run(path: Path, chat: Chat) -> subprocess.Popen[str]:
    folders = (SCRIPTS, Path(__file__).parent, Path(__file__).parents[2])
    places = os.pathsep.join(map(str, folders))
    return subprocess.Popen(
        [sys.executable, "-c", RUN, str(path), chat.base_url],
        env={**os.environ, "PYTHONPATH": places, "no_proxy": "*"},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def n_stored(path: Path) -> int:
    with open_ledger(path) as ledger:
        return len(ledger.keys())


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.001)


@pytest.mark.usefixtures("_interruptible")
@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_run_that_is_ended_loses_at_most_the_calls_in_flight(
    path: Path, ending: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve_chat(latency_s=0.01) as chat:
        run = another_run(path, chat)
        wait_for(lambda: chat.n_answered >= 30)
        run.send_signal(ending)
        run.communicate(timeout=60)
        assert run.returncode != 0
        n_answered, n_held = chat.n_answered, n_stored(path)
        assert n_answered < N_ASKED
        assert n_answered - 4 <= n_held <= n_answered
        chat.requests.clear()
        monkeypatch.setenv("no_proxy", "*")
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
    delays = {"q0": 0.0, "q1": 0.02}
    provider = ScriptedProvider(lambda body, _: delays.get(body, 30.0), concurrency=3)
    interrupter = threading.Thread(target=interrupt)
    interrupter.start()
    with pytest.raises(KeyboardInterrupt):
        ask(numbered(10), provider, ledger)
    interrupter.join()
    assert [reply.split()[0] for reply in held(path)] == ["q0", "q1"]
    assert provider.n_closed == 1

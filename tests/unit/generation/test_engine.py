"""The loop of paid calls: nothing is asked twice, nothing that arrived is lost, no fault hangs it."""

import asyncio
import hashlib
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import date
from pathlib import Path

import pytest
from scripted_provider import ScriptedProvider, reply_bytes, text_of

from fieldwork.errors import StudyError
from fieldwork.generation.accounts import Account
from fieldwork.generation.agenda import Ask, ContextGroup
from fieldwork.generation.budget import open_budget
from fieldwork.generation.engine import AnswerTally, settle
from fieldwork.generation.ledger import Entry, Ledger, ledger_key, open_ledger
from fieldwork.generation.limits import Limits
from fieldwork.generation.pricing import Price
from fieldwork.generation.providers.base import RejectedError, Sampling, TransientError
from fieldwork.generation.providers.openai import OpenAI, OpenAISettings
from fieldwork.generation.sending import Sender
from fieldwork.records.tasks import Item
from fieldwork.retries import FIRST_WAIT_S, LONGEST_WAIT_S
from servers.provider import Chat, serve_chat

SCRIPTS = Path(__file__).parents[3] / "workflow" / "scripts"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.sqlite"


@pytest.fixture
def ledger(path: Path) -> Iterator[Ledger]:
    with open_ledger(path) as opened:
        yield opened


def asks(*texts: str, replicates: int = 1) -> list[Ask]:
    return [ask_of(text, i) for text in texts for i in range(replicates)]


def ask_of(text: str, draw: int = 0) -> Ask:
    item = Item(text, "list", text, text, [], None, None, "test")
    return Ask(item, Sampling(1.0, 5, 0), draw)


def numbered(n: int) -> list[Ask]:
    return asks(*(f"q{i}" for i in range(n)))


def ask(
    wanted: Sequence[Ask], provider: ScriptedProvider, ledger: Ledger, attempts: int = 3
) -> AnswerTally:
    sender = sender_of(provider, ledger, attempts)
    return settle([ContextGroup(None, [], wanted)], sender, total=len(wanted))


def sender_of(provider: ScriptedProvider, ledger: Ledger, attempts: int) -> Sender:
    return Sender(
        provider=provider,
        ledger=ledger,
        limits=Limits(ceiling=64, requests_per_minute=None, tokens_per_minute=None),
        account=Account(None, "live", 5),
        attempts=attempts,
    )


def key_of(text: str, draw: int = 0) -> bytes:
    provider, request = ScriptedProvider(), ask_of(text, draw)
    prefix = provider.prefix([])
    body = prefix + provider.question(request.item, request.sampling) + b"}"
    digest, context_digest = hashlib.sha256(body).digest(), hashlib.sha256(prefix).digest()
    return ledger_key(digest, provider.endpoint, draw, context_digest=context_digest)


def replies_on_disk(path: Path) -> list[bytes]:
    """Every reply, as another process would find it."""
    with closing(sqlite3.connect(path)) as connection:
        keys = [key for (key,) in connection.execute("SELECT key FROM answers")]
    with open_ledger(path) as ledger:
        return [entry.raw for entry in ledger.entries(keys)]


def held(path: Path) -> list[str]:
    """The text of every answer on disk."""
    return sorted(map(text_of, replies_on_disk(path)))


# --- what is asked -------------------------------------------------------------------------------


def test_keys_come_back_in_the_order_of_the_asks(ledger: Ledger) -> None:
    settled = ask(asks("b", "a", "b"), ScriptedProvider(), ledger)
    assert settled.keys == [key_of(text) for text in ("b", "a", "b")]


def test_an_entry_holds_what_the_call_gave(ledger: Ledger) -> None:
    provider = ScriptedProvider(lambda _, send: TransientError("busy", 0.0) if send == 1 else 0.0)
    settled = ask([ask_of("q", 7)], provider, ledger)
    (entry,) = ledger.entries(settled.keys)
    assert entry == Entry(settled.keys[0], "scripted", 7, reply_bytes("q #2"), None, 0.5, 2)


@pytest.mark.parametrize(
    ("first", "second", "sent_by_second"),
    [
        (asks("a", "b"), asks("a", "b"), []),
        (asks("a", "b"), asks("b", "c"), ["c"]),
        (asks("a"), asks("a", replicates=3), ["a", "a"]),
        ([], asks("a"), ["a"]),
        (asks("a"), [], []),
    ],
)
def test_what_is_known_is_not_asked_again(
    ledger: Ledger, first: list[Ask], second: list[Ask], sent_by_second: list[str]
) -> None:
    ask(first, ScriptedProvider(), ledger)
    provider = ScriptedProvider()
    settled = ask(second, provider, ledger)
    assert provider.sends == sent_by_second
    assert settled.n_asked == len(sent_by_second)
    assert ledger.answered_keys(settled.keys) == set(settled.keys)


def test_equal_requests_are_asked_once(ledger: Ledger) -> None:
    provider = ScriptedProvider()
    settled = ask(asks("a", "b", "a", "a"), provider, ledger)
    assert Counter(provider.sends) == {"a": 1, "b": 1}
    assert settled.n_asked == 2


def test_replicates_of_one_prompt_get_answers_of_their_own(ledger: Ledger) -> None:
    settled = ask(asks("a", replicates=3), ScriptedProvider(), ledger)
    assert len({entry.raw for entry in ledger.entries(settled.keys)}) == 3


def test_another_endpoint_is_asked_anew(ledger: Ledger) -> None:
    ask(asks("a"), ScriptedProvider(), ledger)
    elsewhere = ScriptedProvider()
    elsewhere.endpoint = "elsewhere"
    assert ask(asks("a"), elsewhere, ledger).n_asked == 1


def test_no_more_calls_are_under_way_than_allowed(ledger: Ledger) -> None:
    # longer than a commit on a busy disk
    provider = ScriptedProvider(lambda *_: 0.05, concurrency=5)
    ask(numbered(40), provider, ledger)
    assert provider.most_under_way == 5


def test_an_answer_of_another_model_stops_the_run_and_is_kept_apart(
    ledger: Ledger, path: Path
) -> None:
    provider = ScriptedProvider(concurrency=1)
    provider.answering_model = "something cheaper"
    with pytest.raises(StudyError, match=r"something cheaper.*accept_models"):
        ask(numbered(5), provider, ledger)
    assert (len(provider.sends), held(path)) == (1, [])
    assert [entry.raw for entry in ledger.quarantined_entries([key_of("q0")])] == [
        reply_bytes("q0 #1", "something cheaper")
    ]
    again = ScriptedProvider()
    again.answering_model = "something cheaper"
    with pytest.raises(StudyError, match="in quarantine"):
        ask(numbered(5), again, ledger)
    assert again.sends == []


def test_the_model_is_looked_up_once_and_only_when_something_is_to_be_asked(
    ledger: Ledger,
) -> None:
    looks: list[float] = []

    async def look(estimate_s: float) -> None:
        looks.append(estimate_s)
        await asyncio.sleep(0.01)

    sender = sender_of(ScriptedProvider(), ledger, attempts=1)._replace(preflight=look)
    for _ in range(2):
        settle([ContextGroup(None, [], numbered(20))], sender, total=20)
    assert len(looks) == 1


def test_a_model_that_is_gone_is_not_asked(ledger: Ledger) -> None:
    async def look(estimate_s: float) -> None:
        raise StudyError(f"gone within {estimate_s:g} s")

    provider = ScriptedProvider()
    sender = sender_of(provider, ledger, attempts=1)._replace(preflight=look)
    with pytest.raises(StudyError, match="gone within"):
        settle([ContextGroup(None, [], numbered(20))], sender, total=20)
    assert provider.sends == []


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


@pytest.mark.parametrize("asked", [0.25, 7.0, 600.0])
def test_the_server_says_how_long_to_wait(ledger: Ledger, naps: list[float], asked: float) -> None:
    provider = ScriptedProvider(lambda _, send: TransientError("busy", asked) if send == 1 else 0.0)
    assert ask(asks("a"), provider, ledger).n_asked == 1
    assert naps == [asked]


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


@pytest.mark.parametrize("attempts", [1, 3])
@pytest.mark.usefixtures("naps")
def test_a_call_that_keeps_failing_is_given_up(ledger: Ledger, attempts: int) -> None:
    provider = ScriptedProvider(lambda *_: TransientError("HTTP 503: down"))
    settled = ask(asks("a"), provider, ledger, attempts)
    assert len(provider.sends) == attempts
    assert settled.failures == {"HTTP 503: down": 1}
    assert settled.n_asked == 0


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
            sender = sender_of(provider, ledger, 1)
            sender = sender._replace(account=Account(price, "live", 5, budget))
            settle([ContextGroup(None, [], numbered(20))], sender, total=20)

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


def test_answers_that_wait_for_a_commit_share_the_next(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, sizes = ledger.store, []

    def noting(entries: list[Entry]) -> None:
        sizes.append(len(entries))
        store(entries)

    monkeypatch.setattr(ledger, "store", noting)
    ask(numbered(320), ScriptedProvider(concurrency=32), ledger)
    assert sum(sizes) == 320
    assert len(sizes) <= 40


# --- the process ends ----------------------------------------------------------------------------


@pytest.fixture
def _interruptible() -> Iterator[None]:
    """A shell's background jobs ignore SIGINT, and so would this process and its children."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def run_study(path: Path, base_url: str) -> int:
    """How many were asked of a server."""
    model = OpenAISettings(
        model="loopback",
        base_url=base_url,
        api_key=None,
        token_limit_field="max_tokens",
        send_temperature=True,
        send_seed=False,
        timeout_s=30.0,
        concurrency=4,
    )
    with open_ledger(path) as ledger:
        sender = Sender(
            provider=OpenAI(model),
            ledger=ledger,
            limits=Limits(ceiling=4, requests_per_minute=None, tokens_per_minute=None),
            account=Account(None, "live", 5),
            attempts=2,
        )
        return settle([ContextGroup(None, [], numbered(N_ASKED))], sender, total=N_ASKED).n_asked


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
        n_answered, n_held = chat.n_answered, len(replies_on_disk(path))
        assert n_answered < N_ASKED
        assert n_answered - 4 <= n_held <= n_answered
        chat.requests.clear()
        monkeypatch.setenv("no_proxy", "*")
        assert run_study(path, chat.base_url) == N_ASKED - n_held
        assert len(chat.requests) == len(set(chat.questions())) == N_ASKED - n_held
    assert len(replies_on_disk(path)) == N_ASKED


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

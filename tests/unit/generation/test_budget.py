"""The budget: never passed, by no number of processes, whoever of them dies; and cheap to keep."""

import errno
import math
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kills import FORK, die, exit_of

from fieldwork.errors import StudyError
from fieldwork.generation import budget as module
from fieldwork.generation.budget import Budget, BudgetReached, BudgetTotals, open_budget


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger" / "budget.sqlite"


def totals(path: Path) -> BudgetTotals:
    with open_budget(path, None) as budget:
        return budget.totals()


def spend(budget: Budget, most: float, cost: float | None) -> None:
    budget.settle(budget.reserve(most), cost)


# --- one process


@pytest.mark.parametrize(
    ("limit", "usd", "expected"),
    [(1.0, 0.1, 10), (1.0, 0.3, 3), (0.3, 0.1, 3), (1e-9, 1e-9, 1), (0.0, 1e-9, 0)],
)
def test_as_much_is_reserved_as_there_is(
    path: Path, limit: float, usd: float, expected: int
) -> None:
    with open_budget(path, limit) as budget:
        for _ in range(expected):
            budget.reserve(usd)
        with pytest.raises(BudgetReached):
            budget.reserve(usd)


def test_what_a_call_did_not_cost_comes_back(path: Path) -> None:
    with open_budget(path, 1.0) as budget:
        for _ in range(9):
            spend(budget, 0.5, 0.0625)
        with pytest.raises(BudgetReached):
            budget.reserve(0.5)
        budget.reserve(0.4375)
        assert budget.totals() == BudgetTotals(9 * 0.0625, 0.4375)


@pytest.mark.parametrize(
    ("most", "cost", "spent"),
    [
        (0.5, 0.25, 0.25),
        (0.5, 0.0, 0.0),
        (0.5, None, 0.5),
        # dearer than it could be: what was billed was billed
        (0.5, 3.0, 3.0),
        # a token at half of 0.075 dollars a million: billionths are rounded up
        (1e-6, 3.75e-8, 3.8e-8),
    ],
)
def test_what_was_spent_is_kept(path: Path, most: float, cost: float | None, spent: float) -> None:
    with open_budget(path, 2.0) as budget:
        spend(budget, most, cost)
        assert budget.totals() == BudgetTotals(spent, 0.0)
    assert totals(path) == BudgetTotals(spent, 0.0)


def test_it_says_what_was_spent_and_what_to_do(path: Path) -> None:
    sentence = r"^budget_usd: .* 2\.00 USD is reached: 1\.00 USD are spent, 0\.75 .*0\.5000.*Raise"
    with open_budget(path, 2.0) as budget:
        spend(budget, 1.0, 1.0)
        held = budget.reserve(0.75)
        with pytest.raises(BudgetReached, match=sentence):
            budget.reserve(0.5)
        budget.settle(held, 0.25)
        budget.reserve(0.5)


@pytest.mark.parametrize("usd", [math.nan, math.inf, -1e-9, 1e12])
def test_what_is_no_amount_is_refused(path: Path, usd: float) -> None:
    with open_budget(path, 1.0) as budget:
        held = budget.reserve(0.5)
        for act in (budget.reserve, budget.reconcile, lambda amount: budget.settle(held, amount)):
            with pytest.raises(ValueError, match="not an amount"):
                act(usd)
        budget.settle(held, 0.25)
    assert totals(path) == BudgetTotals(0.25, 0.0)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    return now


def test_thousands_of_calls_a_second_take_a_few_transactions(
    path: Path, clock: list[float]
) -> None:
    statements: list[str] = []
    with open_budget(path, 1e6) as budget:
        budget._connection.set_trace_callback(statements.append)
        for _ in range(10 * 3000):
            clock[0] += 1 / 3000
            spend(budget, 0.01, 0.01)
        assert statements.count("BEGIN IMMEDIATE") <= 12 + 2 * 10
        assert budget.totals().reserved_usd == 0.0


def test_money_that_came_back_goes_back_to_the_purse(path: Path, clock: list[float]) -> None:
    with open_budget(path, 10.0) as first, open_budget(path, 10.0) as second:
        held = [first.reserve(1.0) for _ in range(9)]
        with pytest.raises(BudgetReached):
            second.reserve(5.0)
        clock[0] += 5.0
        for reservation in held:
            clock[0] += 2.0
            first.settle(reservation, 0.125)
        second.reserve(5.0)


# --- several processes


def hammer(path: Path, limit: float, seed: int, go: Any, said: Any) -> None:
    """Spend at random until nothing is left; says how many billionths that were."""
    dice, spent, held = random.Random(seed), 0, []
    go.wait()
    with open_budget(path, limit) as budget:
        for _ in range(200_000):
            try:
                held.append(budget.reserve(dice.randrange(1, 4000) / 1e6))
            except BudgetReached:
                if not held:
                    break
            if len(held) > 20 or dice.random() < 0.5:
                reservation = held.pop(dice.randrange(len(held)))
                nanos = dice.randrange(reservation.nanos + 1)
                budget.settle(reservation, nanos / 1e9)
                spent += nanos
        for reservation in held:
            budget.settle(reservation, reservation.nanos / 1e9)
            spent += reservation.nanos
    said.put(spent)


def hammering(path: Path, limit: float, n: int) -> tuple[list[Any], Any]:
    """Processes that begin to spend at the same time, and what they say."""
    go, said = FORK.Event(), FORK.Queue()
    workers = [FORK.Process(target=hammer, args=(path, limit, n, go, said)) for n in range(n)]
    for worker in workers:
        worker.start()
    go.set()
    return workers, said


def test_four_processes_at_once_never_pass_it(path: Path) -> None:
    limit = 4.0
    workers, said = hammering(path, limit, 4)
    spent = sum(said.get(timeout=60) for _ in workers)
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0] * 4
    assert 0.99 * limit * 1e9 <= spent <= limit * 1e9, "and hardly anything of it is left"
    assert totals(path) == BudgetTotals(spent / 1e9, 0.0)


def test_a_process_killed_at_any_time_leaves_a_sound_budget(path: Path) -> None:
    for trial in range(3):
        (process,), _ = hammering(path, 1e6, 1)
        time.sleep(0.15 + 0.05 * trial)
        process.kill()
        process.join()
    with open_budget(path, 1e6) as budget:
        counted = budget.totals()
        assert budget.reconcile(counted.spent_usd + counted.reserved_usd)
        before = budget.totals()
        assert before.reserved_usd == 0.0
        spend(budget, 1.0, 1.0)
        assert budget.totals().spent_usd == pytest.approx(before.spent_usd + 1.0)


def spend_hastily(path: Path, then: Callable[[], Any], *words: str) -> None:
    """Calls of a cent at most that cost a tenth of it, so fast that the lump grows.

    The last is under way.
    """
    with open_budget(path, 100.0, "m") as budget:
        for _ in range(1500):
            spend(budget, 0.01, 0.001)
        if "lost" in words:
            spend(budget, 0.01, None)
        budget.reserve(0.01, is_safe="safe" in words)
        then()


def spend_and_die(path: Path, *words: str) -> None:
    assert exit_of(lambda: spend_hastily(path, die, *words)) == -signal.SIGKILL


@pytest.mark.parametrize(
    ("words", "at_least", "at_most"),
    [
        ((), 0.01, 0.02),
        # neither what was lost nor what may be billed is forgotten
        (("lost",), 0.02, 0.04),
        # a batch is on the next bill
        (("safe",), 0.0, 0.02),
    ],
)
def test_of_what_a_killed_process_held_only_what_was_under_way_stays_spent(
    path: Path, words: tuple[str, ...], at_least: float, at_most: float
) -> None:
    spend_and_die(path, *words)
    bill = 1500 * 0.001
    with open_budget(path, 100.0, "n") as other:
        before = other.totals()
        assert before.spent_usd + before.reserved_usd > bill + 0.5, "a lump worth the while"
        # the leftovers of another account are left to it
        assert not other.has_leftovers()
        assert other.reconcile(0.0)
        assert other.totals() == before
    with open_budget(path, 100.0, "m") as budget:
        assert budget.has_leftovers()
        for _ in range(2):
            assert budget.reconcile(bill)
            assert not budget.has_leftovers()
            left = budget.totals()
            assert left.reserved_usd == 0.0
            assert at_least <= left.spent_usd - bill + 1e-9 <= at_most + 1e-8


def test_a_bill_below_what_was_counted_frees_nothing(path: Path) -> None:
    spend_and_die(path)
    with open_budget(path, 100.0, "m") as budget:
        spend(budget, 5.0, 5.0)
        before = budget.totals()
        assert not budget.reconcile(1.5)
        assert budget.totals() == before
        assert budget.reconcile(6.5)
        assert budget.totals().reserved_usd == 0.0
        assert 6.5 <= budget.totals().spent_usd <= 6.53


def test_reconciling_frees_nothing_of_the_living(path: Path) -> None:
    ready, end = FORK.Event(), FORK.Event()

    def wait() -> None:
        ready.set()
        end.wait()

    alive = FORK.Process(target=spend_hastily, args=(path, wait))
    alive.start()
    assert ready.wait(60)
    spend_and_die(path)
    with open_budget(path, 100.0, "m") as budget:
        before = budget.totals()
        assert not any(budget.reconcile(bill) for bill in (0.0, 3.0, 50.0))
        assert budget.totals() == before
    end.set()
    alive.join(60)
    with open_budget(path, 100.0, "m") as budget:
        assert budget.reconcile(3.0)
        assert budget.totals().reserved_usd == 0.0
        assert 3.02 <= budget.totals().spent_usd <= 3.05


@pytest.mark.parametrize("limit", [None, 1.0])
def test_a_file_system_without_locks_has_a_budget_all_the_same(
    path: Path,
    limit: float | None,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    with open_budget(path, limit) as budget:
        budget.reserve(0.25)  # a call that a stopped job had under way

    def refuse(_file: int, _operation: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", refuse)
    with open_budget(path, limit) as budget:
        spend(budget, 0.5, 0.5)
        assert not budget.reconcile(0.5), "another job may be alive"
        if limit is not None:
            with pytest.raises(BudgetReached):
                budget.reserve(0.5)
    assert "has no locks" in caplog.text


def test_who_closes_does_not_take_a_living_one_that_holds_nothing_for_dead(path: Path) -> None:
    with open_budget(path, 1.0) as idle:
        with open_budget(path, 1.0):
            pass
        idle.reserve(0.75)
        with open_budget(path, 1.0) as other, pytest.raises(BudgetReached):
            other.reserve(0.5)


def test_reconciling_keeps_what_is_under_way_here(path: Path) -> None:
    with open_budget(path, 10.0) as budget:
        spend(budget, 1.0, 0.5)
        held = budget.reserve(2.0)
        assert budget.reconcile(0.75)
        assert budget.totals() == BudgetTotals(0.75, 2.0)
        budget.settle(held, 1.0)
    assert totals(path) == BudgetTotals(1.75, 0.0)


# --- refusals


@pytest.mark.parametrize("content", [None, b"no database " * 400])
def test_what_is_no_budget_is_refused_in_one_sentence(path: Path, content: bytes | None) -> None:
    if content is None:
        path.parent.write_text("a file where the folder should be")
    else:
        path.parent.mkdir()
        path.write_bytes(content)
    with pytest.raises(StudyError, match="counts spending cannot be used") as caught:
        totals(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_a_disk_that_refuses_is_said_and_grants_nothing(path: Path) -> None:
    with open_budget(path, 10.0) as budget:
        run = budget._connection.execute
        acts: list[Callable[[], Any]] = [
            lambda: budget.reserve(5.0),
            lambda: budget.reconcile(1.0),
            budget.totals,
        ]
        run("ALTER TABLE holders RENAME TO away")
        for act in acts:
            with pytest.raises(StudyError, match=r"cannot be used .*No more requests are sent"):
                act()
        run("ALTER TABLE away RENAME TO holders")
        spend(budget, 1.0, 1.0)
        run("PRAGMA query_only = 1")
        with pytest.raises(StudyError, match="free disk space"):
            budget.reserve(5.0)
        run("PRAGMA query_only = 0")
        spend(budget, 9.0, 9.0)
    assert totals(path) == BudgetTotals(10.0, 0.0)

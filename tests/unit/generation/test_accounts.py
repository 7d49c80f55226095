"""What a job sends with, as the config says; the bill of a ledger, and what of a dead job's money
comes free by it."""

import asyncio
import json
import sqlite3
from contextlib import AbstractContextManager, closing
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from senders import loopback_entry
from survival_study import PRICE as PRICE_ENTRY

from fieldwork.errors import StudyError
from fieldwork.generation.accounts import Account, bill_usd, free_leftovers
from fieldwork.generation.batches.journal import open_journal
from fieldwork.generation.budget import BudgetReached, open_budget
from fieldwork.generation.ledger import Entry, Ledger, open_ledger
from fieldwork.generation.pricing import Price
from fieldwork.generation.providers.base import Usage
from fieldwork.generation.providers.registry import make_provider
from fieldwork.generation.sending import Sender, open_sender

PRICE = Price(1.0, 0.5, 1.0, 4.0, date(2026, 11, 1), "the test")
PROVIDER = make_provider(loopback_entry(model="m"), Path("unused"))
# a thousand tokens in, a thousand out
USD = 0.005


def entry(key: str, **changes: Any) -> Entry:
    usage = {"prompt_tokens": 1000, "completion_tokens": 1000}
    choice = {"message": {"content": "B"}, "finish_reason": "stop"}
    raw = json.dumps({"choices": [choice], "usage": usage}).encode()
    known = Entry(key.encode().ljust(32), PROVIDER.endpoint, 0, raw, None, None, 1)
    return known._replace(**changes)


# --- bills


def test_every_answer_is_billed_at_its_own_tier_those_set_apart_too(ledger: Ledger) -> None:
    assert bill_usd(ledger, PROVIDER, PRICE) == 0.0
    ledger.store([entry("a"), entry("b", tier="batch"), entry("c", tier="flex")])
    ledger.quarantine([entry("d"), entry("e", tier="batch")])
    assert bill_usd(ledger, PROVIDER, PRICE) == pytest.approx(3.5 * USD, abs=0)


@pytest.mark.parametrize(
    "odd",
    [
        {"endpoint": "http://127.0.0.1:9/v2/chat/completions"},
        {"raw": b'{"choices": [{"message": {"content": "B"}}]}'},
        {"raw": b"no reply"},
    ],
)
def test_what_cannot_be_priced_makes_no_bill(ledger: Ledger, odd: dict[str, Any]) -> None:
    ledger.store([entry("a")])
    ledger.quarantine([entry("z", **odd)])
    assert bill_usd(ledger, PROVIDER, PRICE) is None


def test_a_damaged_answer_makes_no_bill_then_or_later(ledger: Ledger, tmp_path: Path) -> None:
    ledger.store([entry("a"), entry("b")])
    with closing(sqlite3.connect(tmp_path / "m.sqlite")) as connection, connection:
        connection.execute("UPDATE answers SET reply = x'00' WHERE key = ?", (entry("b").key,))
    for _ in range(2):
        assert bill_usd(ledger, PROVIDER, PRICE) is None


@pytest.mark.parametrize(
    ("tier", "answers", "apart", "spent"),
    [
        # the call under way may have been billed; the three before it are in the ledger
        ("live", 3, 0, 3 * USD + 0.00825),
        ("live", 2, 1, 3 * USD + 0.00825),
        # an answer more than was settled: it came as the job died
        ("live", 4, 0, 4 * USD + 0.00825),
        # its batch ended since: the answer that was under way is on the bill
        ("batch", 4, 0, 4 * USD / 2),
    ],
)
def test_what_a_dead_job_did_not_spend_comes_free(
    ledger: Ledger, tmp_path: Path, tier: Any, answers: int, apart: int, spent: float
) -> None:
    path = tmp_path / "budget.sqlite"
    with open_budget(path, 10.0, "m") as budget:
        # at most 0.00125 dollars of input, with the margin, and 0.007 of output a call
        account = Account(PRICE, tier, 1750, budget)
        for _ in range(3):
            account.settle(account.reserve(1000), PROVIDER.read(entry("a").raw).usage)
        account.reserve(1000)
    ledger.store([entry(f"{n}", tier=tier) for n in range(answers)])
    ledger.quarantine([entry(f"q{n}", tier=tier) for n in range(apart)])
    with open_budget(path, 10.0, "m") as budget:
        assert budget.totals().reserved_usd > 0
        free_leftovers(budget, ledger, PROVIDER, PRICE)
        assert budget.totals() == (pytest.approx(spent, abs=1e-9), 0.0)
    with open_budget(path, spent + 0.0005, "m") as budget:
        budget.reserve(0.0004)


def test_with_an_answer_missing_the_larger_sum_stays(ledger: Ledger, tmp_path: Path) -> None:
    path = tmp_path / "budget.sqlite"
    with open_budget(path, 10.0, "m") as budget:
        budget.settle(budget.reserve(3.0), 3.0)
        budget.reserve(1.0)
    ledger.store([entry("a")])
    with open_budget(path, 10.0, "m") as budget:
        free_leftovers(budget, ledger, PROVIDER, PRICE)
        assert budget.totals() == (3.0, 1.0)


# --- jobs


def job(
    folder: Path, max_tokens: int = 9, may_ask: bool = True, **model: Any
) -> AbstractContextManager[Sender]:
    entry = loopback_entry(model="m", batch={"poll_s": 1.0}, **model)
    generation = {"attempts": 1, "budget_usd": 10.0, "may_ask": may_ask}
    stores = {"folder": folder, "vector_store": folder / "none"}
    prices = {"m": PRICE_ENTRY}
    return open_sender("m", entry, generation, prices, max_tokens=max_tokens, **stores)


def test_a_job_frees_at_its_start_what_the_last_one_held_but_for_batches_under_way(
    tmp_path: Path,
) -> None:
    path, journal_path = tmp_path / "budget.sqlite", tmp_path / "m.batches.sqlite"
    with open_ledger(tmp_path / "m.sqlite") as opened:
        opened.store([entry("a", tier="batch")])
    with open_budget(path, None, "m") as budget:
        Account(PRICE, "batch", 1000, budget).reserve(1000)
    with open_journal(journal_path, PROVIDER.endpoint) as journal:
        run = journal.intend("run", {b"k" * 32: 0}, 1000)
    with job(tmp_path), open_budget(path, None, "n") as budget:
        assert budget.totals().reserved_usd > 0
    with open_journal(journal_path, PROVIDER.endpoint) as journal:
        journal.abandon(run, "the test")
    with job(tmp_path), open_budget(path, None, "n") as budget:
        assert budget.totals() == (USD / 2, 0.0)


def test_a_budget_that_could_be_passed_unseen_is_refused(tmp_path: Path) -> None:
    """What explicit caches cost is in no answer."""
    sentence = r"models\.m\.explicit_cache .*set explicit_cache to false"
    with pytest.raises(StudyError, match=sentence), job(tmp_path, explicit_cache=True):
        pass


def test_the_tokens_a_minute_include_the_longest_answers(tmp_path: Path) -> None:
    async def wait_of_the_next(sender: Sender) -> float:
        await sender.limits.acquire(100)
        waiting = asyncio.create_task(sender.limits.acquire(100))
        await asyncio.sleep(0)
        hold = sender.limits.hold
        waiting.cancel()
        return hold.wait_s if hold is not None else 0.0

    # a call takes 1,000 of the 6,000 tokens of a minute
    with job(tmp_path, max_tokens=900, tokens_per_minute=6000) as sender:
        assert asyncio.run(wait_of_the_next(sender)) == pytest.approx(10, abs=0.5)


def test_a_study_from_an_archive_asks_no_model(tmp_path: Path) -> None:
    with job(tmp_path, may_ask=False) as sender:
        assert sender.preflight is not None
        with pytest.raises(StudyError, match="the ledger of this archive lacks an answer, and a"):
            asyncio.run(sender.preflight(1.0))


# --- what is set aside


def test_a_flex_call_sets_aside_what_a_usual_one_costs(tmp_path: Path) -> None:
    with open_budget(tmp_path / "budget.sqlite", None) as budget:
        account = Account(PRICE, "flex", 1000, budget)
        reservation = account.reserve(1000)
        # a byte a token, as the model has not answered yet
        assert budget.totals().reserved_usd == pytest.approx(0.004 + 0.004)
        account.settle(reservation, Usage(1000, output=1000), service_tier="flex")
        assert budget.totals() == (USD / 2, 0.0)


def test_the_first_answer_says_how_many_tokens_the_model_counts(tmp_path: Path) -> None:
    with open_budget(tmp_path / "budget.sqlite", 1.0) as budget:
        account = Account(PRICE, "live", 100, budget)
        first = account.reserve(1000)
        with pytest.raises(BudgetReached, match="first answer"):
            account.reserve(1000)
        # a call without a reply says nothing
        account.settle(first, None)
        account.settle(account.reserve(1000), Usage(2500, output=400))
        # 2.5 times the estimate, four times max_tokens, and a margin of a quarter
        account.reserve(1000)
        account.reserve(1000)
        each = 1000 * 2.5 * 1.25 * 1e-6 + 400 * 1.25 * 4e-6
        assert budget.totals().reserved_usd == pytest.approx(2 * each)


@pytest.mark.parametrize(("tier", "limit"), [("live", None), ("batch", 1.0)])
def test_nobody_waits_where_spending_has_no_limit_or_goes_in_batches(
    tmp_path: Path, tier: Any, limit: float | None
) -> None:
    with open_budget(tmp_path / "budget.sqlite", limit) as budget:
        account = Account(PRICE, tier, 100, budget)
        assert account.reserve(10) != account.reserve(10)

"""Prices and bills: worked out by hand, with bounds that hold; by arm and tier, shared calls once."""

from datetime import UTC, date, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldwork import tables
from fieldwork.generation.costs import BilledAnswer, PlannedCalls, cost_rows, read_stream_bills
from fieldwork.generation.first_tokens import STREAM
from fieldwork.generation.ledger import Tier
from fieldwork.generation.pricing import Price, billed_tier, cost_usd, most_usd, price_of
from fieldwork.generation.providers.base import Usage
from fieldwork.records.service import FirstToken

SOURCE = (date(2026, 11, 1), "price page")
# a cache at half price that is free to write; reads at a tenth and writes at 1.25 times the input
MINI, LARGE = Price(0.15, 0.075, 0.15, 0.60, *SOURCE), Price(1.25, 0.125, 1.5625, 10.0, *SOURCE)
FLASH = Price(0.30, 0.03, 0.30, 2.50, *SOURCE, batch=0.5, flex=0.8)


@pytest.mark.parametrize(
    ("tier", "service_tier", "billed"),
    [
        ("flex", "default", "live"),
        ("flex", "flex", "flex"),
        ("flex", None, "flex"),
        # a service with names of its own, such as Groq's
        ("flex", "on_demand", "flex"),
        ("live", "default", "live"),
        ("batch", "default", "batch"),
    ],
)
def test_a_flex_call_that_was_answered_as_a_usual_one_is_billed_as_one(
    tier: Tier, service_tier: str | None, billed: Tier
) -> None:
    assert billed_tier(tier, service_tier) == billed


@pytest.mark.parametrize(
    ("usage", "price", "tier", "expected"),
    [
        (Usage(input=1_000_000, output=0), MINI, "live", 0.15),
        # 1,000 × 0.15 + 10 × 0.60 = 156 millionths
        (Usage(input=1000, cache_read=0, output=10), MINI, "live", 0.000156),
        # 2,048 cached of 3,000: 952 × 0.15 + 2,048 × 0.075 + 5 × 0.60 = 299.4
        (Usage(input=3000, cache_read=2048, output=5), MINI, "live", 0.0002994),
        # the same in a batch
        (Usage(input=3000, cache_read=2048, output=5), MINI, "batch", 0.0001497),
        # first call after a context, 90,000 written and 60 beside it:
        # 60 × 1.25 + 90,000 × 1.5625 + 20 × 10 = 140,900
        (Usage(input=90_060, cache_read=0, cache_write=90_000, output=20), LARGE, "live", 0.1409),
        # and the next: 60 × 1.25 + 90,000 × 0.125 + 20 × 10 = 11,525
        (Usage(input=90_060, cache_read=90_000, output=20), LARGE, "live", 0.011525),
        # reasoning is part of the output already: 100 × 1.25 + 800 × 10 = 8,125
        (Usage(input=100, output=800, reasoning=780), LARGE, "flex", 0.0040625),
        # Gemini, 300 tokens of thought and 12 of answer: (1,000 × 0.30 + 312 × 2.50) × 0.8 = 864
        (Usage(input=1000, output=312, reasoning=300), FLASH, "flex", 0.000864),
        # more cached than there was cannot be: all of the input was
        (Usage(input=1000, cache_read=1200, output=0), MINI, "live", 0.000075),
        (Usage(input=1000, cache_read=600, cache_write=600, output=0), LARGE, "live", 0.0007),
        # what is not known has no cost
        (Usage(), MINI, "live", None),
        (Usage(input=10), MINI, "live", None),
        (Usage(input=-1, output=5), MINI, "live", None),
        (Usage(input=5, output=-1), MINI, "live", None),
        (Usage(input=5, cache_read=-1, output=5), MINI, "live", None),
    ],
)
def test_bills(usage: Usage, price: Price, tier: Tier, expected: float | None) -> None:
    assert cost_usd(usage, price, tier) == expected


TOKENS = st.integers(0, 2_000_000)
DOLLARS = st.integers(0, 100_000_000).map(lambda millionths: millionths / 1_000_000)
BATCHES, FLEXES = st.sampled_from([0.5, 0.33, 1.0]), st.sampled_from([0.5, 0.8])
PRICES = st.builds(Price, *[DOLLARS] * 4, *map(st.just, SOURCE), BATCHES, FLEXES)
MAYBE = st.none() | TOKENS
USAGES = st.builds(Usage, TOKENS, MAYBE, MAYBE, TOKENS, MAYBE)


@given(USAGES, PRICES, st.sampled_from(["live", "flex", "batch"]), st.integers(0, 5))
def test_no_call_costs_more_than_the_most(usage: Any, price: Price, tier: Any, spare: int) -> None:
    cost = cost_usd(usage, price, tier)
    assert cost is not None
    assert 0 <= cost <= most_usd(usage.input + spare, usage.output, price, tier)
    assert cost <= most_usd(usage.input, usage.output + spare, price, tier)


@given(TOKENS, TOKENS, PRICES)
def test_a_bill_is_the_float_nearest_to_the_true_one(n_in: int, n_out: int, price: Price) -> None:
    true = n_in * Fraction(str(price.input)) + n_out * Fraction(str(price.output))
    cost = cost_usd(Usage(input=n_in, output=n_out), price, "live")
    assert cost == float(true / 1_000_000)


FEES = {"cached": 0, "cache_write": 0.1875, "batch": 0.4, "flex": 1}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, Price(0.15, 0.15, 0.15, 0.6, *SOURCE, 0.5, 0.5)),
        ({"cached": None, "cache_write": None}, Price(0.15, 0.15, 0.15, 0.6, *SOURCE)),
        (FEES, Price(0.15, 0.0, 0.1875, 0.6, *SOURCE, 0.4, 1.0)),
    ],
)
def test_an_entry_is_read_for_the_very_model(changes: dict[str, Any], expected: Price) -> None:
    entry = {"as_of": "2026-11-01", "source": "price page", "input": 0.15, "output": 0.6}
    prices = {"gpt-4o": entry | changes}
    assert price_of(prices, "gpt-4o") == expected
    assert price_of(prices, "gpt") is price_of(prices, "gpt-4o-2024-05-13") is None


# --- the bill of a study, beside its plan

ARM = ("m", "t", "c")
CALLS = PlannedCalls(*ARM)


def answer(key: str, **changes: Any) -> BilledAnswer:
    plain = BilledAnswer(*ARM, key, "live", 100, 40, 10, 5, 1, 0.25, "2026-11-01")
    return plain._replace(**changes)


def test_tokens_and_dollars_add_up_beside_the_plan() -> None:
    (row,) = cost_rows([answer("a"), answer("b", cost_usd=0.5)], {CALLS: 0.5})
    assert (row.n_answers, row.input_tokens, row.cached_tokens) == (2, 200, 80)
    assert (row.cache_write_tokens, row.output_tokens, row.reasoning_tokens) == (20, 10, 2)
    assert (row.cached_share, row.cost_usd, row.planned_usd) == (0.4, 0.75, 0.5)
    assert (row.difference_usd, row.reason) == (0.25, None)


def test_a_server_that_counts_more_cached_than_it_was_sent_is_not_believed() -> None:
    rows = cost_rows([answer("a", cached_tokens=10**6), answer("b", input_tokens=None)], {})
    assert [(row.cached_tokens, row.cached_share) for row in rows] == [(100, 1.0)]


def test_a_shared_call_is_billed_where_it_first_appears() -> None:
    first, second = cost_rows([answer("a"), answer("a", condition="d")], {CALLS: 1.0})
    assert (first.n_shared, first.cost_usd) == (0, 0.25)
    assert (second.n_shared, second.cost_usd, second.input_tokens) == (1, 0.0, 0)
    assert second.planned_usd is None


def test_dispatches_are_rows_that_share_the_plan_and_streams_have_their_own() -> None:
    answers = [answer("a"), answer("b"), answer("c"), answer("d", dispatch="flex")]
    answers.append(answer("s", dispatch=STREAM, price_as_of=None))
    planned_usd = {CALLS: 1.0, CALLS._replace(is_stream=True): 0.5}
    rows = {row.dispatch: row for row in cost_rows(answers, planned_usd)}
    found = [(name, row.n_answers, row.planned_usd) for name, row in rows.items()]
    assert found == [("live", 3, 0.75), ("flex", 1, 0.25), ("stream", 1, 0.5)]
    stream = rows["stream"]
    assert (stream.cost_usd, stream.difference_usd, stream.price_as_of) == (0.25, -0.25, None)


def test_streams_are_read_from_their_table(tmp_path: Path) -> None:
    sent_at = datetime(2026, 11, 23, tzinfo=UTC)
    call = FirstToken(*ARM, "i", None, None, 0, "k", 0.2, 0.5, 100, 40, 5, 0.25, sent_at)
    tables.write_table(tmp_path / "c.parquet", [call], FirstToken)
    (bill,) = read_stream_bills([str(tmp_path / "c.parquet")])
    assert bill == BilledAnswer(*ARM, "k", "stream", 100, 40, None, 5, None, 0.25, None)


NONE, APART = "no answer has a cost", "billed apart"


@pytest.mark.parametrize(
    ("costs", "storing", "total", "reasons"),
    [
        ([None, None], set(), None, [NONE]),
        ([0.25, None], set(), 0.25, ["1 of 2 answers have no cost"]),
        ([0.25, 0.25], set(), 0.5, []),
        ([0.25, 0.25], {"m"}, 0.5, [APART]),
        ([None], {"m"}, None, [NONE, APART]),
        ([0.25], {"other"}, 0.25, []),
    ],
)
def test_a_cost_that_is_not_all_known_has_a_reason(
    costs: list[float | None], storing: set[str], total: float | None, reasons: list[str]
) -> None:
    answers = [answer(str(n), cost_usd=cost) for n, cost in enumerate(costs)]
    (row,) = cost_rows(answers, {CALLS: 0.5}, storing)
    assert row.cost_usd == total
    assert (row.difference_usd is None) == (total is None)
    assert all(reason in (row.reason or "") for reason in reasons)
    assert (row.reason is None) == (not reasons)

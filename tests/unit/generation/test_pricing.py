"""Prices: bills worked out by hand, and bounds that hold."""

from datetime import date
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldwork.generation.ledger import Tier
from fieldwork.generation.pricing import Price, billed_tier, cost_usd, most_usd, price_of
from fieldwork.generation.providers.base import Usage

DAY = date(2026, 11, 1)
MINI = Price(0.15, 0.075, 0.15, 0.60, DAY, "price page")
"""A model whose cache is half price and free to write."""
LARGE = Price(1.25, 0.125, 1.5625, 10.0, DAY, "price page")
"""A model with reads at a tenth, writes at 1.25 times the input price."""
FLASH = Price(0.30, 0.03, 0.30, 2.50, DAY, "price page", batch=0.5, flex=0.8)


def entry(**changes: Any) -> dict[str, Any]:
    fields = {"as_of": "2026-11-01", "source": "price page", "input": 0.15, "output": 0.6}
    return {**fields, **changes}


# --- tiers ---


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


# --- bills ---------------------------------------------------------------------------------------


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
    ],
)
def test_bills(usage: Usage, price: Price, tier: Tier, expected: float) -> None:
    assert cost_usd(usage, price, tier) == expected


@pytest.mark.parametrize(
    "usage",
    [
        Usage(),
        Usage(input=10),
        Usage(input=-1, output=5),
        Usage(input=5, output=-1),
        Usage(input=5, cache_read=-1, output=5),
    ],
)
def test_what_is_not_known_has_no_cost(usage: Usage) -> None:
    assert cost_usd(usage, MINI, "live") is None


TOKENS = st.integers(0, 2_000_000)
DOLLARS = st.integers(0, 100_000_000).map(lambda millionths: millionths / 1_000_000)
PRICES = st.builds(
    Price,
    DOLLARS,
    DOLLARS,
    DOLLARS,
    DOLLARS,
    st.just(DAY),
    st.just("price page"),
    st.sampled_from([0.5, 0.33, 1.0]),
    st.sampled_from([0.5, 0.8]),
)
TIERS = st.sampled_from(["live", "flex", "batch"])
MAYBE = st.none() | TOKENS
USAGES = st.builds(Usage, TOKENS, MAYBE, MAYBE, TOKENS, MAYBE)


@given(usage=USAGES, price=PRICES, tier=TIERS, spare=st.integers(0, 5))
def test_no_call_costs_more_than_the_most(
    usage: Usage, price: Price, tier: Tier, spare: int
) -> None:
    cost = cost_usd(usage, price, tier)
    assert cost is not None
    assert usage.input is not None
    assert usage.output is not None
    assert 0 <= cost <= most_usd(usage.input + spare, usage.output, price, tier)
    assert cost <= most_usd(usage.input, usage.output + spare, price, tier)


@given(n_input=TOKENS, n_output=TOKENS, price=PRICES)
def test_a_bill_is_the_float_nearest_to_the_true_one(
    n_input: int, n_output: int, price: Price
) -> None:
    true = n_input * Fraction(str(price.input)) + n_output * Fraction(str(price.output))
    cost = cost_usd(Usage(input=n_input, output=n_output), price, "live")
    assert cost == float(true / 1_000_000)


# --- the table -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, Price(0.15, 0.15, 0.15, 0.6, DAY, "price page", 0.5, 0.5)),
        (
            {"cached": None, "cache_write": None},
            Price(0.15, 0.15, 0.15, 0.6, DAY, "price page"),
        ),
        (
            {"cached": 0, "cache_write": 0.1875, "batch": 0.4, "flex": 1},
            Price(0.15, 0.0, 0.1875, 0.6, DAY, "price page", 0.4, 1.0),
        ),
    ],
)
def test_an_entry_is_read(changes: dict[str, Any], expected: Price) -> None:
    assert price_of({"model": entry(**changes)}, "model") == expected


@pytest.mark.parametrize("model", ["gpt", "gpt-4o-2024-05-13"])
def test_only_the_very_model_has_its_price(model: str) -> None:
    assert price_of({"gpt-4o": entry()}, model) is None

"""Quantiles and their intervals: against numpy and the binomial distribution, and on known sources."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from fieldwork.statistics.quantiles import (
    order_places,
    quantile,
    quantile_interval,
    values_needed,
)
from fieldwork.statistics.seeds import generator

SHARES = (0.5, 0.95, 0.99)


def test_no_values_have_no_quantile() -> None:
    with pytest.raises(ValueError, match="no quantile"):
        quantile(np.array([]), 0.5)
    assert quantile_interval(np.array([]), 0.5) is None


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("n", [6, 40, 72, 150, 368, 2000])
def test_order_statistics_miss_on_each_side_as_rarely_as_promised(n: int, share: float) -> None:
    """A quantile lies below the value at a place if fewer values than that are below the quantile."""
    places = order_places(n, share)
    if places is None:
        assert n < values_needed(share)
        return
    below, above = binom.cdf(places.low - 1, n, share), binom.sf(places.high - 1, n, share)
    assert max(below, above) <= 0.025
    # the next places would miss too often
    assert binom.cdf(places.low, n, share) > 0.025
    assert binom.sf(places.high - 2, n, share) > 0.025


@pytest.mark.parametrize(("share", "needed"), [(0.5, 6), (0.95, 72), (0.99, 368), (0.05, 72)])
def test_an_interval_needs_so_many_values_and_no_more(share: float, needed: int) -> None:
    assert values_needed(share) == needed
    assert order_places(needed, share) is not None
    assert order_places(needed - 1, share) is None


@given(st.lists(st.floats(-50, 50), min_size=6, max_size=120))
def test_an_interval_lies_among_the_values_whatever_their_scale(numbers: list[float]) -> None:
    values = np.array(numbers)
    interval, scaled = quantile_interval(values, 0.5), quantile_interval(np.exp(values), 0.5)
    assert interval is not None
    assert scaled is not None
    assert {*interval} <= {*numbers}
    assert interval.low <= quantile(values, 0.5) <= interval.high
    assert tuple(scaled) == tuple(np.exp([interval.low, interval.high]))


def _held(
    share: float, n_clusters: int, size: int, spread: float, *, counts_clusters: bool
) -> float:
    """Share of 500 studies whose interval holds the truth; log times have a part of their cluster's."""
    draws, held = generator(7, "quantiles", f"{share}{size}{spread}"), 0
    clusters = np.repeat(np.arange(n_clusters), size)
    truth = math.exp(math.sqrt(1 + spread**2) * NormalDist().inv_cdf(share))
    for _ in range(500):
        common = spread * draws.normal(size=n_clusters)[clusters]
        values = np.exp(common + draws.normal(size=len(clusters)))
        interval = quantile_interval(values, share, clusters if counts_clusters else None)
        assert interval is not None
        held += interval.low <= truth <= interval.high
    return held / 500


@pytest.mark.parametrize("share", [0.5, 0.95])
def test_intervals_of_values_in_clusters_hold_the_truth_where_plain_ones_do_not(
    share: float,
) -> None:
    assert 0.93 <= _held(share, 400, 1, 0.0, counts_clusters=False) <= 0.99
    assert _held(share, 40, 25, 0.7, counts_clusters=False) < 0.85
    assert 0.92 <= _held(share, 40, 25, 0.7, counts_clusters=True) <= 0.99

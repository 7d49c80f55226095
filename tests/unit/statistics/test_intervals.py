"""Intervals against scipy, printed tables and each other."""

import math

import numpy as np
import pytest
from scipy.stats import binomtest, bootstrap, ttest_ind

from fieldwork.statistics.intervals import (
    BoundedValue,
    Interval,
    ShareCount,
    difference_interval,
    jackknife_variance,
    newcombe_interval,
    percentile_interval,
    ratio_interval,
    student_interval,
    welch_freedom,
    wilson_interval,
)


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
@pytest.mark.parametrize(
    ("successes", "trials"), [(0, 1), (1, 1), (0, 7), (7, 7), (3, 10), (118, 514), (1, 100_000)]
)
def test_wilson_is_scipys(successes: int, trials: int, confidence: float) -> None:
    expected = binomtest(successes, trials).proportion_ci(confidence, method="wilson")
    found = wilson_interval(successes, trials, confidence=confidence)
    assert found == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_welch_is_scipys() -> None:
    own, other = np.array([0.1, 0.4, 0.35, 0.8]), np.array([0.2, 0.25, 0.3, 0.2, 0.1, 0.15])
    variances = [float(side.var(ddof=1)) / len(side) for side in (own, other)]
    reference = ttest_ind(own, other, equal_var=False)
    freedom = welch_freedom(variances, [len(own) - 1, len(other) - 1])
    assert freedom == pytest.approx(reference.df)
    difference = float(own.mean() - other.mean())
    interval = student_interval(difference, math.sqrt(sum(variances)), freedom)
    assert interval == pytest.approx(tuple(reference.confidence_interval(0.95)))


@pytest.mark.parametrize(
    ("pair", "low", "high"),
    [
        # Newcombe 1998, Statistics in Medicine 17:873-890, table II, method 10
        ((56, 70, 48, 80), 0.0524, 0.3339),
        ((9, 10, 3, 10), 0.1705, 0.8090),
        ((0, 10, 0, 20), -0.1611, 0.2775),
        ((0, 10, 0, 10), -0.2775, 0.2775),
        ((10, 10, 0, 10), 0.6075, 1.0),
    ],
)
def test_published_intervals(pair, low: float, high: float) -> None:
    own, other = ShareCount(*pair[:2]), ShareCount(*pair[2:])
    assert newcombe_interval(own, [other]) == pytest.approx((low, high), abs=5e-5)
    assert newcombe_interval(other, [own]) == pytest.approx((-high, -low), abs=5e-5)


def test_the_jackknife_of_a_mean_is_its_variance() -> None:
    values = np.array([1.0, 4.0, 2.0, 8.0])
    left_out = (values.sum() - values) / 3
    assert jackknife_variance(left_out) == pytest.approx(values.var(ddof=1) / 4)


def test_percentiles_are_scipys_bootstrap_and_samples_without_a_value_are_no_lucky_ones() -> None:
    values = np.random.default_rng(1).normal(size=40)
    reference = bootstrap((values,), np.mean, method="percentile", rng=np.random.default_rng(2))
    samples = reference.bootstrap_distribution
    assert percentile_interval(samples) == pytest.approx(tuple(reference.confidence_interval))
    for n_missing, has_interval in ((0, True), (2, True), (3, False)):
        samples = np.where(np.arange(100) < n_missing, np.nan, np.arange(100.0))
        assert isinstance(percentile_interval(samples), Interval) == has_interval


def scaled(value: BoundedValue, factor: float) -> BoundedValue:
    low, high = value.interval
    return BoundedValue(factor * value.value, Interval(factor * low, factor * high))


@pytest.mark.parametrize("cost", [(3.0, 2.5, 4.5), (0.01, 0.0, 0.02), (8.0, 7.9, 8.1)])
@pytest.mark.parametrize("score", [(0.4, 0.3, 0.45), (0.02, 0.001, 0.9), (5.0, 4.0, 7.0)])
def test_a_ratio_is_at_an_end_where_the_difference_to_it_reaches_nothing(
    cost: tuple[float, float, float], score: tuple[float, float, float]
) -> None:
    above, below = (BoundedValue(side[0], Interval(*side[1:])) for side in (cost, score))
    interval = ratio_interval(above, below)
    assert interval is not None
    assert interval.low <= above.value / below.value <= interval.high
    at_low = difference_interval(above, [scaled(below, interval.low)])
    at_high = difference_interval(above, [scaled(below, interval.high)])
    assert at_low.low == pytest.approx(0, abs=1e-9 * max(cost))
    assert at_high.high == pytest.approx(0, abs=1e-9 * max(cost))


def test_a_ratio_over_what_may_be_nothing_has_no_interval() -> None:
    cost = BoundedValue(1.0, Interval(0.5, 1.5))
    assert ratio_interval(cost, BoundedValue(0.2, Interval(0.0, 0.4))) is None
    assert ratio_interval(BoundedValue(0.0, Interval(0.0, 0.0)), cost) is None


def test_intervals_of_ratios_hold_the_truth() -> None:
    draws, held = np.random.default_rng(5), 0
    for _ in range(800):
        sides = []
        for mean, sd, n in ((2.0, 1.0, 30), (0.5, 0.5, 60)):
            sample = draws.normal(mean, sd, n)
            error = float(sample.std(ddof=1)) / math.sqrt(n)
            centre = float(sample.mean())
            sides.append(BoundedValue(centre, student_interval(centre, error, n - 1)))
        interval = ratio_interval(*sides)
        held += interval is not None and interval.low <= 4.0 <= interval.high
    assert 0.93 <= held / 800 <= 0.97

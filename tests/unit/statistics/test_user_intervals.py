"""Intervals over users: against closed forms, and by simulation where one user in twenty is odd."""

import math
from functools import partial

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import binom, ttest_1samp
from scipy.stats import t as student

from fieldwork.statistics.arrays import Floats
from fieldwork.statistics.intervals import (
    BoundedValue,
    Interval,
    difference_interval,
    p_value_with_interval,
    student_interval,
    wilson_interval,
)
from fieldwork.statistics.user_intervals import (
    interval_or_reason,
    item_share_interval,
    likelihood_interval,
    sample_needed,
    too_few_users,
    unit_interval,
    variance_share_interval,
)


@pytest.mark.parametrize(("rarest", "n"), [(0.05, 100), (0.125, 39), (0.23, 20), (0.25, 18)])
def test_so_many_users_seldom_miss_a_rare_group(rarest: float, n: int) -> None:
    assert sample_needed(rarest) == n
    assert binom.pmf(0, n, rarest) <= 0.006 < binom.pmf(0, n - 1, rarest)
    assert too_few_users(n, rarest) is None


def test_an_interval_or_the_reason_why_there_is_none() -> None:
    rest = 0.5 + np.linspace(-0.01, 0.01, 40)
    interval, reason = interval_or_reason(0.5, rest, 0.125)
    assert interval is not None
    assert interval.low < 0.5 < interval.high
    assert reason is None
    for values, words in (
        (rest[:38], "38 users answer, and 39 are needed"),
        (np.where(np.arange(40) == 3, np.nan, rest), "without one of the users there is no value"),
        (np.full(40, 0.5), "leaving out a user changes nothing"),
    ):
        interval, reason = interval_or_reason(0.5, values, 0.125)
        assert interval is None
        assert words in (reason or "")


@pytest.mark.parametrize("n_ones", [1, 4, 40, 79])
def test_of_shares_it_is_the_likelihood_ratio_of_the_binomial(n_ones: int) -> None:
    n, quantile = 80, 1.99045
    values = (np.arange(n) < n_ones).astype(float)
    share = n_ones / n

    def surplus(p: float) -> float:
        log_ratio = n_ones * math.log(share / p) + (n - n_ones) * math.log((1 - share) / (1 - p))
        return 2 * log_ratio - quantile**2

    interval = likelihood_interval(values)
    assert interval is not None
    assert interval.low == pytest.approx(brentq(surplus, 1e-12, share), abs=1e-4)
    assert interval.high == pytest.approx(brentq(surplus, share, 1 - 1e-12), abs=1e-4)


@pytest.mark.parametrize("n", [2, 3, 6, 400])
def test_any_confidence_has_an_interval(n: int) -> None:
    values = np.random.default_rng(n).exponential(size=n)
    no, all_but_all = (likelihood_interval(values, confidence=c) for c in (1e-15, 1 - 1e-12))
    assert no == pytest.approx((values.mean(), values.mean()), abs=1e-6)
    assert all_but_all is not None
    assert values.min() <= all_but_all.low < values.mean() < all_but_all.high <= values.max()


def test_responses_have_students_interval_however_few() -> None:
    # four units: error sqrt(3/4 * 4 * 0.01) = 0.1732, t of 3 degrees of freedom 3.1824
    moves = np.array([0.1, -0.1, 0.1, -0.1])
    interval = unit_interval(0.5, moves, rarest_users=None)
    assert interval == pytest.approx((0.5 - 3.1824 * 0.17321, 0.5 + 3.1824 * 0.17321), abs=1e-4)
    assert unit_interval(0.5, moves, rarest_users=0.05) is None


@pytest.mark.parametrize(("rarest", "n"), [(0.05, 100), (0.125, 40), (0.23, 20)])
def test_users_hold_the_mean_of_the_rarest_kind_and_students_t_holds_fewer(
    rarest: float, n: int
) -> None:
    random = np.random.default_rng(3)
    held: dict[float | None, int] = {rarest: 0, None: 0}
    for _ in range(800):
        values = (random.random(n) < rarest) + random.normal(0, 0.05, size=n)
        moves = (values.mean() - values) / (n - 1)
        for kind in held:
            interval = unit_interval(float(values.mean()), moves, rarest_users=kind)
            assert interval is not None
            held[kind] += interval.low <= rarest <= interval.high
    assert held[rarest] / 800 > 0.93
    if n == 100:
        assert held[rarest] / 800 < 0.98
        assert held[None] < held[rarest] - 8


def test_items_that_users_carry_together_count_as_fewer() -> None:
    n_users, n_items = 80, 60
    independent = np.zeros((n_users, n_items))
    independent[np.arange(30), np.arange(30)] = 1
    narrow = item_share_interval(independent, 0.5)
    assert narrow == pytest.approx(wilson_interval(30, 60), abs=3e-3)
    together = np.zeros((n_users, n_items))
    together[0, :30] = 1
    wide = item_share_interval(together, 0.5)
    assert wide.high - wide.low > 3 * (narrow.high - narrow.low)
    assert item_share_interval(together, 1.0).low > 0


def test_a_difference_reaches_as_far_as_its_sides_do() -> None:
    first = BoundedValue(0.5, Interval(0.2, 0.9))
    second = BoundedValue(0.1, Interval(0.1 - 0.3, 0.1 + 0.4))
    assert difference_interval(first, [second]) == pytest.approx((0.4 - 0.5, 0.4 + 0.5))
    # two others count by half each
    low, high = difference_interval(first, [second, second])
    assert (low, high) == pytest.approx((0.4 - (0.09 + 0.08) ** 0.5, 0.4 + (0.16 + 0.045) ** 0.5))


def test_a_share_of_variance_between_users_has_its_interval_on_the_log_scale() -> None:
    left_out = np.random.default_rng(5).uniform(0.3, 0.5, size=80)
    interval = variance_share_interval(0.6, left_out)
    pseudo = 80 * math.log(0.4) - 79 * np.log(left_out)
    plain = likelihood_interval(pseudo)
    assert interval is not None
    assert plain is not None
    assert interval.high == pytest.approx(max(1 - math.exp(plain.low), 0.6))
    assert interval.low == pytest.approx(min(1 - math.exp(plain.high), 0.6))
    assert variance_share_interval(0.6, np.append(left_out, 0.0)) is None
    assert variance_share_interval(0.6, np.full(80, 0.4)) is None


def test_the_p_value_of_an_interval_is_where_it_reaches_zero() -> None:
    """Of Student's interval it is that of the t test; a smaller one of the test gives way."""
    interval_at = partial(student_interval, 0.5, 0.2, 12)
    p_value = 2 * student.sf(2.5, 12)
    assert p_value_with_interval(1e-4, lambda c: interval_at(c)) == pytest.approx(p_value, rel=1e-4)
    assert p_value_with_interval(0.3, lambda c: interval_at(c)) == 0.3
    assert p_value_with_interval(1e-4, lambda _: None) == 1e-4


def test_of_few_odd_users_a_mean_of_zero_is_rarely_rejected() -> None:
    """One user in twenty at -19, the others near 1: Student's t alone rejects in more than 9 %."""
    random, by_t, by_both = np.random.default_rng(6), 0, 0
    for _ in range(400):
        values = 1 - 20.0 * (random.random(100) < 0.05) + random.normal(0, 0.2, size=100)
        moves = (values.mean() - values) / 99
        p_value = float(ttest_1samp(values, 0).pvalue)
        interval_at = partial(_interval_of_users, float(values.mean()), moves)
        by_t += p_value <= 0.05
        by_both += p_value_with_interval(p_value, interval_at) <= 0.05
    assert by_t > 36
    assert by_both < 30


def _interval_of_users(mean: float, moves: Floats, confidence: float) -> Interval | None:
    return unit_interval(mean, moves, rarest_users=0.05, confidence=confidence)

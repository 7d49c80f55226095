"""Intervals over users: against closed forms, and by simulation where one user in twenty is odd."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import binom

from fieldwork.statistics.intervals import Interval, difference_interval, wilson_interval
from fieldwork.statistics.user_intervals import (
    MIN_USERS,
    RARE_SHARE,
    item_share_interval,
    likelihood_interval,
    too_few_users,
    unit_interval,
)


def test_so_many_users_seldom_miss_a_rare_group() -> None:
    assert binom.pmf(0, MIN_USERS, RARE_SHARE) <= 0.025 < binom.pmf(0, MIN_USERS - 1, RARE_SHARE)
    assert too_few_users(MIN_USERS) is None
    assert too_few_users(MIN_USERS - 1) == (
        "no interval: 71 users answer; fewer than 72 may miss the kind of one user in 20"
    )


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


def test_of_symmetric_values_it_is_near_students() -> None:
    values = np.random.default_rng(1).normal(size=400)
    interval = likelihood_interval(values)
    half = 1.966 * values.std(ddof=1) / 20
    assert interval == pytest.approx((values.mean() - half, values.mean() + half), abs=0.01)


def test_the_unit_of_values_and_their_order_do_not_matter() -> None:
    values = np.random.default_rng(2).exponential(size=90)
    interval, turned = likelihood_interval(values), likelihood_interval(7 - 1e6 * values[::-1])
    assert interval is not None
    assert turned == pytest.approx((7 - 1e6 * interval.high, 7 - 1e6 * interval.low))


@pytest.mark.parametrize("has_users", [True, False])
def test_units_that_change_nothing_have_no_interval(has_users: bool) -> None:
    moves = np.full(100, 0.25)
    assert unit_interval(0.5, moves, has_users=has_users) is None
    assert unit_interval(0.5, moves[:1], has_users=has_users) is None


def test_responses_have_students_interval_however_few() -> None:
    # four units: error sqrt(3/4 * 4 * 0.01) = 0.1732, t of 3 degrees of freedom 3.1824
    moves = np.array([0.1, -0.1, 0.1, -0.1])
    interval = unit_interval(0.5, moves, has_users=False)
    assert interval == pytest.approx((0.5 - 3.1824 * 0.17321, 0.5 + 3.1824 * 0.17321), abs=1e-4)
    assert unit_interval(0.5, moves, has_users=True) is None


def test_users_hold_the_mean_where_one_in_twenty_is_odd() -> None:
    """800 samples of 80 users; Student's t, whose reach is the same both ways, holds fewer."""
    random = np.random.default_rng(3)
    held = {True: 0, False: 0}
    for _ in range(800):
        values = (random.random(80) < 0.05) + random.normal(0, 0.05, size=80)
        moves = (values.mean() - values) / 79
        for has_users in held:
            interval = unit_interval(float(values.mean()), moves, has_users=has_users)
            assert interval is not None
            held[has_users] += interval.low <= 0.05 <= interval.high
    assert 0.93 < held[True] / 800 < 0.98
    assert held[False] < held[True] - 8


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
    interval = difference_interval(0.5, Interval(0.2, 0.9), 0.1, Interval(0.1 - 0.3, 0.1 + 0.4))
    assert interval == pytest.approx((0.4 - 0.5, 0.4 + 0.5))

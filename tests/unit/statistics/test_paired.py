"""Paired items: against counts by hand, McNemar's table, and coverage with a known truth."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from fieldwork.statistics.arrays import Floats
from fieldwork.statistics.paired import paired_interval, paired_ratio_interval, paired_test


def p_of(differences: list[float]) -> float:
    random = np.random.default_rng(1)
    return paired_test(np.array(differences), n_permutations=999, random=random).p_value


@pytest.mark.parametrize(
    ("n_down", "n_up", "p_value"),
    [(0, 0, 1.0), (1, 0, 1.0), (2, 2, 1.0), (6, 0, 2 / 64), (5, 1, 14 / 64), (1, 5, 14 / 64)],
)
def test_with_one_answer_an_item_it_is_mcnemars_exact_test(
    n_down: int, n_up: int, p_value: float
) -> None:
    differences = [-1.0] * n_down + [1.0] * n_up + [0.0] * 7
    assert p_of(differences) == pytest.approx(p_value)


def test_sizes_count_where_they_differ() -> None:
    differences = np.array([-1.0, -0.5, -0.5, 0.25])
    sums = np.abs(np.array([*product((-1, 1), repeat=4)]) @ np.abs(differences))
    assert p_of([*differences, 0.0]) == pytest.approx(np.mean(sums >= 1.75 - 1e-9))


@pytest.mark.parametrize(
    ("differences", "p_least"),
    [([0.0] * 4, 1.0), ([1.0], 1.0), ([1.0, 0.0, -1.0, 1.0], 0.25), ([0.5, 1.0, 1.0], 0.25)],
)
def test_the_smallest_p_value_depends_on_how_many_items_differ(
    differences: list[float], p_least: float
) -> None:
    test = paired_test(np.array(differences), n_permutations=99, random=np.random.default_rng(1))
    assert (test.p_least, test.n_permutations) == (pytest.approx(p_least), 0)


def test_an_interval_is_students_of_two_more_items() -> None:
    differences = np.array([-1.0, 0.0, 0.0, 1.0, -1.0, 0.0])
    expected = ttest_1samp([*differences, 1.0, -1.0], 0.0).confidence_interval(0.95)
    assert paired_interval(differences, 1) == pytest.approx(tuple(expected))
    # so items without a difference do not seem certain: three in a hundred could change in one way
    # alone without a trace in 5 % of studies
    low, high = paired_interval(np.zeros(100), 1)
    assert high == -low
    assert 0.02 < high < 0.04
    assert paired_interval(np.zeros(100), 9).high == pytest.approx(high / 3)


def items_of(n: int, random: np.random.Generator) -> tuple[Floats, Floats]:
    """Right answers now and before: 70 % before, a fifth of these is lost."""
    before = random.random(n) < 0.7
    now = before & (random.random(n) >= 0.2)
    return now.astype(np.float64), before.astype(np.float64)


@pytest.mark.parametrize("n_items", [10, 25, 120])
def test_intervals_hold_the_truth(n_items: int) -> None:
    random, n_sets = np.random.default_rng(7), 400
    hits, ratios = 0, []
    for _ in range(n_sets):
        now, before = items_of(n_items, random)
        low, high = paired_interval(now - before, 1)
        hits += low <= -0.14 <= high
        ratio = paired_ratio_interval(now, before, 1)
        if ratio is not None:
            ratios.append(ratio.low <= 0.8 <= ratio.high)
    assert hits >= 367
    # few items do not always tell the accuracy before from 0
    assert len(ratios) >= 0.9 * n_sets
    assert sum(ratios) >= 0.917 * len(ratios)


def test_a_ratio_is_fiellers() -> None:
    """The ends are the ratios that Student's t does not tell from the data, found by trying."""
    now, before = items_of(40, np.random.default_rng(3))
    interval = paired_ratio_interval(now, before, 1)
    assert interval is not None
    more = np.append(now, [1.0, 0.0]), np.append(before, [0.0, 1.0])
    tried = np.arange(0, 2, 1e-3)
    held = [ratio for ratio in tried if ttest_1samp(more[0] - ratio * more[1], 0).pvalue > 0.05]
    assert interval == pytest.approx((min(held), max(held)), abs=2e-3)

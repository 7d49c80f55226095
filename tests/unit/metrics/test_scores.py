"""Differences and spreads of scores against closed forms, and the level of their tests."""

import statistics
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from scipy.stats import f_oneway, ttest_ind

from fieldwork.metrics.accuracy import READERS, count_runs
from fieldwork.metrics.scores import share_between
from fieldwork.records.metrics import RunAccuracy
from unit.metrics.metric_frames import former_table, runs_of

HERE, THERE = [0.60, 0.64, 0.61, 0.70, 0.58], [0.66, 0.67, 0.665, 0.66, 0.672, 0.668]


def compared(here: list[RunAccuracy], offline: Sequence[float]) -> Any:
    """Strict scores of a condition beside the baseline's."""
    runs = count_runs(here + runs_of(offline, "offline"))
    rows = former_table("score_comparisons", runs, n_permutations=199, rarest_users=0.05)
    return next(r for r in rows if (r.condition, r.metric) == ("c", "em_strict"))


def test_the_difference_is_welchs() -> None:
    row = compared(runs_of(HERE), THERE)
    reference = ttest_ind(HERE, THERE, equal_var=False).confidence_interval(0.95)
    assert (row.ci_low, row.ci_high) == pytest.approx((reference.low, reference.high))
    assert row.difference == pytest.approx(statistics.mean(HERE) - statistics.mean(THERE))
    assert row.sd_ratio == pytest.approx(statistics.stdev(HERE) / statistics.stdev(THERE))
    assert (row.n_units, row.n_units_baseline, row.unit) == (5, 6, "rerun")
    # few units are counted out: of C(6, 3) = 20 splits two are as far apart
    row = compared(runs_of([0.9, 0.8, 0.85], replicates=1), [0.1, 0.2, 0.15])
    assert (row.p_value, row.n_permutations) == (pytest.approx(0.1), 0)


@pytest.mark.parametrize("wide", [True, False])
def test_spread_is_tested_on_one_side(wide: bool) -> None:
    far, near = [0.5, 0.6, 0.7, 0.8, 0.9, 0.4], [0.650, 0.651, 0.652, 0.653, 0.654, 0.649]
    here, there = (far, near) if wide else (near, far)
    row = compared(runs_of(here, replicates=1), there)
    assert row.p_spread is not None
    assert (row.p_spread < 0.01) == wide
    assert (row.p_spread > 0.9) != wide


@pytest.mark.parametrize(
    ("here", "there", "why", "kept"),
    [
        ([0.5], [0.5, 0.6], "no test: there is one run here, or under offline", True),
        ([0.5, 0.6], [], "no difference: no run counts both here and under offline", False),
        ([0.5, 0.6], [0.5, 0.5], "no sd_ratio: all runs of the baseline score alike", True),
    ],
)
def test_what_there_is_not_is_null_with_a_reason(
    here: Any, there: Any, why: str, kept: bool
) -> None:
    row = compared(runs_of(here), there)
    assert (row.difference is not None) == kept
    assert why in (row.reason or "")
    assert all(value == value for value in vars(row).values()), "NaN"


def test_share_between_puppets_is_the_intra_class_correlation() -> None:
    pairs = [(0.60, 0.62), (0.70, 0.71), (0.55, 0.52), (0.66, 0.66)]
    runs = count_runs(runs_of(sum(pairs, ()), replicates=2))
    share = share_between(runs, READERS["em_strict"])
    ratio = f_oneway(*pairs).statistic
    assert share.value == pytest.approx((ratio - 1) / (ratio + 1))
    assert share.interval is None
    assert "4 users run the task twice, and 39 are needed" in (share.reason or "")


def test_the_interval_of_the_share_holds_it_where_one_user_in_ten_is_odd() -> None:
    """Users of 80 have .05 between them, odd ones .3 below; reruns .02: the truth is by the variances."""
    truth = 0.0106 / (0.0106 + 0.0004)
    random = np.random.default_rng(2)
    held = 0
    for _ in range(100):
        levels = random.normal(0.6, 0.05, 80) - 0.3 * (random.random(80) < 0.1)
        scores = levels[:, None] + random.normal(0, 0.02, (80, 2))
        runs = count_runs(runs_of(scores.ravel().tolist(), replicates=2))
        interval = share_between(runs, READERS["em_strict"], 0.1).interval
        assert interval is not None
        held += interval.low <= truth <= interval.high
    assert held > 88


@pytest.mark.parametrize(
    ("scores", "replicates", "why"),
    [
        ([0.5, 0.6], 0, "no two puppets ask"),
        ([0.5] * 4, 2, "all their runs score alike"),
        ([0.5, 0.5, 0.6, 0.6], 2, "no puppet's runs differ"),
    ],
)
def test_no_share_between_puppets_says_why(scores: list[float], replicates: int, why: str) -> None:
    share = share_between(count_runs(runs_of(scores, replicates=replicates)), READERS["em_strict"])
    assert share.interval is None
    assert why in (share.reason or "")


def test_level_and_coverage_at_ten_and_ten() -> None:
    """Ten reruns and ten more: 514 items, each right with .67."""
    scores = np.random.default_rng(5).binomial(514, 0.67, size=(50, 20)) / 514
    rows = [compared(runs_of(s[:10]), s[10:]) for s in scores.tolist()]
    assert np.mean([(r.ci_low or 9) <= 0 <= (r.ci_high or -9) for r in rows]) >= 0.9
    assert np.mean([(r.p_value or 0) <= 0.05 for r in rows]) <= 0.1
    assert np.mean([(r.p_spread or 0) <= 0.05 for r in rows]) <= 0.1

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
from unit.metrics.metric_frames import former_table

Scores = Sequence[float]


def arm(
    scores: Scores, condition: str = "c", *, replicates: int = 0, n_items: int = 500
) -> list[RunAccuracy]:
    """Reruns, or with `replicates` puppets of that many runs each."""
    return [
        RunAccuracy(
            "m",
            "t",
            condition,
            run,
            f"p{run // replicates:03}" if replicates else None,
            run % replicates if replicates else run,
            score,
            min(1.0, score + 0.1),
            0.0,
            n_items,
            5,
            False,
        )
        for run, score in enumerate(scores)
    ]


def compared(
    *arms: list[RunAccuracy], n_permutations: int = 199, rarest_users: float = 0.05
) -> list[Any]:
    runs = count_runs([run for of in arms for run in of])
    settings = {"n_permutations": n_permutations, "rarest_users": rarest_users}
    return former_table("score_comparisons", runs, **settings)


def strict(*arms: list[RunAccuracy], condition: str = "c", rarest_users: float = 0.05) -> Any:
    rows = compared(*arms, rarest_users=rarest_users)
    return next(r for r in rows if (r.condition, r.metric) == (condition, "em_strict"))


HERE, THERE = [0.60, 0.64, 0.61, 0.70, 0.58], [0.66, 0.67, 0.665, 0.66, 0.672, 0.668]


def test_the_difference_is_welchs() -> None:
    row = strict(arm(HERE), arm(THERE, "offline"))
    reference = ttest_ind(HERE, THERE, equal_var=False).confidence_interval(0.95)
    assert (row.ci_low, row.ci_high) == pytest.approx((reference.low, reference.high))
    assert row.difference == pytest.approx(statistics.mean(HERE) - statistics.mean(THERE))
    assert row.sd_ratio == pytest.approx(statistics.stdev(HERE) / statistics.stdev(THERE))
    assert (row.n_units, row.n_units_baseline, row.unit) == (5, 6, "rerun")


def test_few_units_are_counted_out() -> None:
    row = strict(arm([0.9, 0.8, 0.85], replicates=1), arm([0.1, 0.2, 0.15], "offline"))
    # of C(6, 3) = 20 splits two are as far apart
    assert (row.p_value, row.n_permutations) == (pytest.approx(0.1), 0)


@pytest.mark.parametrize("wide", [True, False])
def test_spread_is_tested_on_one_side(wide: bool) -> None:
    far, near = [0.5, 0.6, 0.7, 0.8, 0.9, 0.4], [0.650, 0.651, 0.652, 0.653, 0.654, 0.649]
    here, there = (far, near) if wide else (near, far)
    row = strict(arm(here, replicates=1), arm(there, "offline"))
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
    here: Scores, there: Scores, why: str, kept: bool
) -> None:
    row = strict(arm(here), arm(there, "offline"))
    assert (row.difference is not None) == kept
    assert why in (row.reason or "")
    for value in vars(row).values():
        assert value == value, "NaN"


def test_share_between_puppets_is_the_intra_class_correlation() -> None:
    pairs = [(0.60, 0.62), (0.70, 0.71), (0.55, 0.52), (0.66, 0.66)]
    runs = count_runs(arm([score for pair in pairs for score in pair], replicates=2))
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
        own = random.normal(0.6, 0.05, 80) - 0.3 * (random.random(80) < 0.1)
        scores = own[:, None] + random.normal(0, 0.02, (80, 2))
        runs = count_runs(arm(scores.ravel().tolist(), replicates=2))
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
def test_no_share_between_puppets_says_why(scores: Scores, replicates: int, why: str) -> None:
    found = share_between(count_runs(arm(scores, replicates=replicates)), READERS["em_strict"])
    assert found.interval is None
    assert why in (found.reason or "")


def test_level_and_coverage_at_ten_and_ten() -> None:
    """Ten reruns and ten more: 514 items, each right with .67."""
    random = np.random.default_rng(5)
    sets = 50
    scores = random.binomial(514, 0.67, size=(sets, 20)) / 514
    found = [strict(arm(s[:10]), arm(s[10:], "offline")) for s in scores.tolist()]
    held = [
        r.ci_low is not None and r.ci_high is not None and r.ci_low <= 0 <= r.ci_high for r in found
    ]
    assert np.mean(held) >= 0.9
    assert np.mean([(r.p_value or 0) <= 0.05 for r in found]) <= 0.1
    assert np.mean([(r.p_spread or 0) <= 0.05 for r in found]) <= 0.1

"""How far the scores of runs spread: beside the baseline's, and between users with several runs each.

Owns the test of the spread over units, and the share of variance between users. A unit is a puppet, with
its counted run, or a rerun: it answers all items, so that its score is one draw. The scores themselves
are measures (`fieldwork/measures/accuracy.py`).
"""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from fieldwork.estimates.answer_sets import ROUNDING
from fieldwork.estimates.quantity import Quantity
from fieldwork.metrics.accuracy import (
    NOTHING,
    READERS,
    counted_scores,
    runs_by_arm,
    unit_of,
)
from fieldwork.records.metrics import RunAccuracy, ScoreSpread
from fieldwork.statistics.arrays import Floats
from fieldwork.statistics.permutation import (
    UnitSplits,
    p_value_of_first,
    require_permutations,
    unit_splits,
)
from fieldwork.statistics.seeds import generator
from fieldwork.statistics.user_intervals import (
    MIN_UNITS,
    RAREST_USERS,
    too_few_users,
    variance_share_interval,
)


def measure_score_spreads(
    runs: Sequence[RunAccuracy],
    *,
    baseline: str,
    n_permutations: int,
    seed: int,
    rarest_users: float = RAREST_USERS,
) -> list[ScoreSpread]:
    """A row for each metric and each arm, in order of arm and metric; the baseline's has no test.

    Args:
        rarest_users: share of users of the rarest kind that intervals cover.

    Raises:
        StudyError: no permutations.
    """
    require_permutations(n_permutations)
    arms = runs_by_arm(runs)
    rows: list[ScoreSpread] = []
    for arm, arm_runs in arms.items():
        offline = arms.get(arm._replace(condition=baseline), [])
        n_units, n_offline = (sum(run.is_counted for run in side) for side in (arm_runs, offline))
        splits = None
        if min(n_units, n_offline) >= MIN_UNITS and arm.condition != baseline:
            # the same splits for every metric, so that equal scores have equal p-values
            splits = unit_splits(
                n_units,
                n_offline,
                n_permutations=n_permutations,
                random=generator(seed, "scores", *arm.columns.values()),
            )
        for metric, read in sorted(_readers([*arm_runs, *offline]).items()):
            scores, offline_scores = (counted_scores(side, read) for side in (arm_runs, offline))
            share = share_between(arm_runs, read, rarest_users)
            sd, sd_baseline = _sd(scores), _sd(offline_scores)
            rows.append(
                ScoreSpread(
                    **arm.columns,
                    baseline=baseline,
                    metric=metric,
                    sd=sd,
                    sd_baseline=sd_baseline,
                    sd_ratio=sd / sd_baseline if sd is not None and sd_baseline else None,
                    p_value=_spread_test(scores, offline_scores, splits) if splits else None,
                    n_permutations=splits.n_drawn if splits else None,
                    **share.columns("share_between"),
                    n_units=n_units,
                    n_units_baseline=n_offline,
                    unit=unit_of(arm_runs),
                    reason=_reason(sd, sd_baseline, baseline, share),
                )
            )
    return rows


def _readers(runs: Sequence[RunAccuracy]) -> Mapping[str, Callable[[RunAccuracy], float]]:
    """What is read of runs, by metric: scores to expect, too, where all their answers state some."""
    is_stated = all(run.n_stated == run.n_items for run in runs if run.is_counted)
    return {**READERS, "expected_score": _expected_score} if is_stated else READERS


def _expected_score(run: RunAccuracy) -> float:
    assert run.expected_score is not None
    return run.expected_score


def _sd(scores: Sequence[float]) -> float | None:
    """Zero, not rounding, where all are equal; None for fewer than two."""
    if len(scores) < MIN_UNITS:
        return None
    sd = statistics.stdev(scores)
    return sd if sd > NOTHING else 0.0


def _spread_test(scores: Sequence[float], offline: Sequence[float], splits: UnitSplits) -> float:
    """One-sided: distances from the side's median, dealt anew (Brown and Forsythe 1974).

    Distances that rounding may have made are none.
    """
    sides = [np.array(side) for side in (scores, offline)]
    distances = np.concatenate([np.abs(side - np.median(side)) for side in sides])
    distances[distances <= ROUNDING] = 0
    means = [(side @ distances) / side.sum(axis=1) for side in (splits.first, ~splits.first)]
    return p_value_of_first(means[0] - means[1])


def _reason(
    sd: float | None, sd_baseline: float | None, baseline: str, share: Quantity
) -> str | None:
    sides = {"here": sd, f"under the baseline condition {baseline}": sd_baseline}
    reasons = [
        f"no test: fewer than {MIN_UNITS} runs are counted {place}"
        for place, side in sides.items()
        if side is None
    ]
    if sd_baseline == 0:
        reasons.append("no sd_ratio: all runs of the baseline score alike")
    return "; ".join([*reasons, *([share.reason] if share.reason else [])]) or None


def share_between(
    runs: Sequence[RunAccuracy],
    read: Callable[[RunAccuracy], float],
    rarest_users: float = RAREST_USERS,
) -> Quantity:
    """Share of the variance of a run's score that lies between puppets.

    Intra-class correlation of complete runs by puppet: one-way analysis of variance.

    Of each puppet as many runs as the puppet with the fewest, those with two or more; others are left
    out. The interval is that of `share_who`: empirical likelihood of the jackknife over puppets.

    Args:
        rarest_users: share of users of the rarest kind that the interval covers.
    """
    by_puppet = _repeat_scores(runs, read)
    if len(by_puppet) < MIN_UNITS:
        puppets = (
            "puppets have two complete runs each" if unit_of(runs) == "puppet" else "puppets ask"
        )
        return Quantity(reason=f"no share between puppets: no two {puppets}")
    n_repeats = min(map(len, by_puppet))
    scores = np.array([puppet_scores[:n_repeats] for puppet_scores in by_puppet])
    n_puppets, spread = len(scores), _mean_squares(scores)
    if spread.ms_between + spread.ms_within < NOTHING**2:
        return Quantity(reason="no share between puppets: all their runs score alike")
    share = 1 - spread.rerun_part(n_repeats)
    if spread.ms_within < NOTHING**2:
        return Quantity(share, reason="no interval of share_between: no puppet's runs differ")
    shortage = too_few_users(n_puppets, rarest_users, "run the task twice")
    if shortage:
        return Quantity(share, reason=f"share_between has {shortage}")
    left_out = [
        _mean_squares(np.delete(scores, place, axis=0)).rerun_part(n_repeats)
        for place in range(n_puppets)
    ]
    interval = variance_share_interval(share, np.array(left_out))
    reason = None if interval else "no interval of share_between: one puppet makes all differences"
    return Quantity(share, interval, reason=reason)


class _MeanSquares(NamedTuple):
    """Of scores between puppets and within them."""

    ms_between: float
    ms_within: float

    def rerun_part(self, n_repeats: int) -> float:
        """Share of a run's variance that lies within puppets; NaN where nothing varies."""
        total = self.ms_between + (n_repeats - 1) * self.ms_within
        return n_repeats * self.ms_within / total if total > 0 else math.nan


def _mean_squares(scores: Floats) -> _MeanSquares:
    """One-way analysis of variance of scores of shape (puppets, runs)."""
    n_puppets, n_repeats = scores.shape
    means = scores.mean(axis=1)
    ms_within = float(((scores - means[:, None]) ** 2).sum()) / (n_puppets * (n_repeats - 1))
    return _MeanSquares(n_repeats * float(means.var(ddof=1)), ms_within)


def _repeat_scores(
    runs: Sequence[RunAccuracy], read: Callable[[RunAccuracy], float]
) -> list[list[float]]:
    """Scores of the puppets with two complete runs or more, in order of puppet and replicate."""
    if unit_of(runs) != "puppet":
        return []  # one puppet's runs, or reruns
    size = max((run.n_items for run in runs if run.is_counted), default=0)
    scores: dict[str, list[float]] = {}
    for run in sorted(runs, key=lambda r: (r.puppet_id or "", r.replicate)):
        if run.n_items == size:
            scores.setdefault(run.puppet_id or "", []).append(read(run))
    return [puppet_scores for puppet_scores in scores.values() if len(puppet_scores) > 1]

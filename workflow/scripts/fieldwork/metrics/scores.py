"""Scores under a condition beside the baseline's: their difference, and how much they vary.

Owns the tests over units. A unit is a puppet, with its counted run, or a rerun: it answers all items,
so that its score is one draw. Promises that an arm whose contexts change nothing is exchangeable with
the baseline: one run a unit on either side, however many replicates there are.
"""

import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from fieldwork.metrics.accuracy import (
    NOTHING,
    READERS,
    counted_scores,
    full_sizes,
    mean,
    runs_by_arm,
    unit_of,
)
from fieldwork.metrics.distributions import ChoiceArm
from fieldwork.records.metrics import RunAccuracy, ScoreComparison
from fieldwork.statistics.arrays import Floats
from fieldwork.statistics.families import correct_rows
from fieldwork.statistics.intervals import (
    CONFIDENCE,
    Interval,
    p_value_with_interval,
)
from fieldwork.statistics.permutation import (
    UnitSplits,
    p_value_of_first,
    require_permutations,
    unit_splits,
)
from fieldwork.statistics.seeds import generator
from fieldwork.statistics.user_intervals import (
    RAREST_USERS,
    mean_difference_interval,
    too_few_users,
    variance_share_interval,
)

MIN_UNITS = 2


class _ScoreTests(NamedTuple):
    """P-values of the difference and of the spread."""

    difference: float
    spread: float
    n_drawn: int


class PuppetShare(NamedTuple):
    """Share of the variance of a run's score that lies between puppets, and its interval."""

    value: float | None
    interval: Interval | None
    reason: str | None


def measure_score_comparisons(
    runs: Sequence[RunAccuracy],
    *,
    baseline: str,
    n_permutations: int,
    seed: int,
    rarest_users: float = RAREST_USERS,
) -> list[ScoreComparison]:
    """A row for each metric and each arm but the baseline, in order of arm and metric.

    P-values are corrected over the conditions of a model, task and metric.

    Args:
        rarest_users: share of users of the rarest kind that intervals cover.

    Raises:
        StudyError: no permutations.
    """
    require_permutations(n_permutations)
    arms, sizes = runs_by_arm(runs), full_sizes(runs)
    rows: list[ScoreComparison] = []
    for arm, arm_runs in arms.items():
        if arm.condition != baseline:
            offline = arms.get(arm._replace(condition=baseline), [])
            splits = _splits(arm, arm_runs, offline, n_permutations, seed)
            n_items = sizes[arm.model, arm.task]
            rows += _compare(
                arm, arm_runs, offline, splits, rarest_users, baseline=baseline, n_items=n_items
            )
    rows = correct_rows(rows, _family)
    rows = correct_rows(rows, _family, p_value="p_spread", p_holm="p_spread_holm")
    return sorted(rows, key=lambda r: (r.model, r.task, r.condition, r.metric))


def _family(row: ScoreComparison) -> tuple[str, str, str]:
    return row.model, row.task, row.metric


def _compare(
    arm: ChoiceArm,
    runs: Sequence[RunAccuracy],
    offline: Sequence[RunAccuracy],
    splits: UnitSplits | None,
    rarest_users: float,
    *,
    baseline: str,
    n_items: int,
) -> Iterator[ScoreComparison]:
    rarest = rarest_users if unit_of(runs) == "puppet" else None
    for metric, read in READERS.items():
        scores, offline_scores = (counted_scores(side, read) for side in (runs, offline))
        tests = _score_tests(scores, offline_scores, splits, rarest) if splits else None
        interval = score_difference_interval(scores, offline_scores, rarest)
        share = share_between(runs, read, rarest_users)
        sd, sd_baseline = _sd(scores), _sd(offline_scores)
        mean_score, mean_baseline = (mean(s) if s else None for s in (scores, offline_scores))
        is_compared = mean_score is not None and mean_baseline is not None
        yield ScoreComparison(
            model=arm.model,
            task=arm.task,
            condition=arm.condition,
            baseline=baseline,
            metric=metric,
            mean=mean_score,
            mean_baseline=mean_baseline,
            difference=(mean_score or 0.0) - (mean_baseline or 0.0) if is_compared else None,
            ci_low=interval.low if interval else None,
            ci_high=interval.high if interval else None,
            p_value=tests.difference if tests else None,
            p_holm=None,
            sd=sd,
            sd_baseline=sd_baseline,
            sd_ratio=sd / sd_baseline if sd is not None and sd_baseline else None,
            p_spread=tests.spread if tests else None,
            p_spread_holm=None,
            n_permutations=tests.n_drawn if tests else None,
            share_between=share.value,
            share_low=share.interval.low if share.interval else None,
            share_high=share.interval.high if share.interval else None,
            n_units=len(scores),
            n_units_baseline=len(offline_scores),
            n_items=n_items,
            unit=unit_of(runs),
            reason=_reason(scores, offline_scores, baseline, interval, share, rarest),
        )


def _sd(scores: Sequence[float]) -> float | None:
    """Zero, not rounding, where all are equal; None for fewer than two."""
    if len(scores) < MIN_UNITS:
        return None
    sd = statistics.stdev(scores)
    return sd if sd > NOTHING else 0.0


def score_difference_interval(
    scores: Sequence[float],
    offline: Sequence[float],
    rarest_users: float | None,
    confidence: float = CONFIDENCE,
) -> Interval | None:
    """Interval of the difference of two mean scores, as `mean_difference_interval` gives it.

    Args:
        scores: of users, or (`rarest_users` is None) of reruns.
        offline: of reruns.
    """
    interval = mean_difference_interval(scores, offline, (rarest_users, None), confidence)
    return interval.clip(-1.0, 1.0) if interval else None


def _splits(
    arm: ChoiceArm,
    runs: Sequence[RunAccuracy],
    offline: Sequence[RunAccuracy],
    n_permutations: int,
    seed: int,
) -> UnitSplits | None:
    """The same splits for every metric, so that equal scores have equal p-values."""
    n_units, n_offline = (sum(run.is_counted for run in side) for side in (runs, offline))
    if min(n_units, n_offline) < MIN_UNITS:
        return None
    random = generator(seed, "scores", *arm)
    return unit_splits(n_units, n_offline, n_permutations=n_permutations, random=random)


def _score_tests(
    scores: Sequence[float],
    offline: Sequence[float],
    splits: UnitSplits,
    rarest_users: float | None,
) -> _ScoreTests:
    difference = p_value_of_first(welch_statistic(np.array([*scores, *offline]), splits))
    if rarest_users is not None:
        difference = p_value_with_interval(
            difference, partial(score_difference_interval, scores, offline, rarest_users)
        )
    deviations = [np.array(side) - np.median(side) for side in (scores, offline)]
    return _ScoreTests(
        difference=difference,
        spread=p_value_of_first(_mean_difference(np.abs(np.concatenate(deviations)), splits)),
        n_drawn=splits.n_drawn,
    )


def welch_statistic(scores: Floats, splits: UnitSplits) -> Floats:
    """|difference of means| / its standard error, of each split: shape (splits,)."""
    # centred first: differences of large squares would lose digits
    deviations = scores - scores.mean()
    moments = [
        (side @ deviations, side @ deviations**2, side.sum(axis=1))
        for side in (splits.first, ~splits.first)
    ]
    means = [total / n for total, _, n in moments]
    variances = [
        np.maximum(squares - n * centre**2, 0.0) / (n - 1) / n
        for (_, squares, n), centre in zip(moments, means, strict=True)
    ]
    error, difference = np.sqrt(sum(variances)), np.abs(means[0] - means[1])
    difference = np.where(difference < NOTHING, 0.0, difference)
    # two arms without any spread that differ are as far apart as can be
    statistic: Floats = difference / np.maximum(error, 1e-9)
    return statistic


def _mean_difference(values: Floats, splits: UnitSplits) -> Floats:
    first, second = splits.first, ~splits.first
    means = [(side @ values) / side.sum(axis=1) for side in (first, second)]
    difference: Floats = means[0] - means[1]
    return difference


def share_between(
    runs: Sequence[RunAccuracy],
    read: Callable[[RunAccuracy], float],
    rarest_users: float = RAREST_USERS,
) -> PuppetShare:
    """Intra-class correlation of complete runs by puppet: one-way analysis of variance.

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
        return PuppetShare(None, None, f"no share between puppets: no two {puppets}")
    n_repeats = min(map(len, by_puppet))
    scores = np.array([puppet_scores[:n_repeats] for puppet_scores in by_puppet])
    n_puppets, spread = len(scores), _mean_squares(scores)
    if spread.ms_between + spread.ms_within < NOTHING**2:
        return PuppetShare(None, None, "no share between puppets: all their runs score alike")
    share = 1 - spread.rerun_part(n_repeats)
    if spread.ms_within < NOTHING**2:
        return PuppetShare(share, None, "no interval of share_between: no puppet's runs differ")
    shortage = too_few_users(n_puppets, rarest_users, "run the task twice")
    if shortage:
        return PuppetShare(share, None, f"share_between has {shortage}")
    left_out = [
        _mean_squares(np.delete(scores, place, axis=0)).rerun_part(n_repeats)
        for place in range(n_puppets)
    ]
    interval = variance_share_interval(share, np.array(left_out))
    reason = None if interval else "no interval of share_between: one puppet makes all differences"
    return PuppetShare(share, interval, reason)


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


def _reason(
    scores: Sequence[float],
    offline: Sequence[float],
    baseline: str,
    interval: Interval | None,
    share: PuppetShare,
    rarest_users: float | None,
) -> str | None:
    sides = {"here": scores, f"under the baseline condition {baseline}": offline}
    empty = [f"no run is counted {place}" for place, side in sides.items() if not side]
    single = [
        f"no interval, no tests: one run {place}" for place, side in sides.items() if len(side) == 1
    ]
    reasons = empty or single
    if not reasons and interval is None:
        shortage = too_few_users(len(scores), rarest_users) if rarest_users is not None else None
        reasons = [shortage or "no interval: all runs of either side score alike"]
    if not empty and not single and _sd(offline) == 0:
        reasons.append("no sd_ratio: all runs of the baseline score alike")
    return "; ".join([*reasons, *([share.reason] if share.reason else [])]) or None

"""Scores under a condition beside the baseline's: their difference, and how far they spread.

Owns the tests over units. A unit is a puppet, with its counted run, or a rerun: it answers all items,
so that its score is one draw. Promises that an arm whose contexts change nothing is exchangeable with
the baseline: one run a unit on either side, however many replicates there are.
"""

import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import f as snedecor

from fieldwork.errors import StudyError
from fieldwork.metrics.accuracy import (
    NOTHING,
    READERS,
    RunArm,
    full_sizes,
    runs_by_arm,
    unit_of,
)
from fieldwork.records.metrics import RunAccuracy, ScoreComparison
from fieldwork.statistics.arrays import Floats
from fieldwork.statistics.families import holm
from fieldwork.statistics.intervals import Interval, student_quantile
from fieldwork.statistics.permutation import UnitSplits, p_value_of_first, unit_splits
from fieldwork.statistics.seeds import generator

MIN_UNITS = 2


class _Plan(NamedTuple):
    baseline: str
    n_permutations: int
    seed: int


class _Tested(NamedTuple):
    """P-values of the difference and of the spread."""

    difference: float
    spread: float
    n_drawn: int


class Between(NamedTuple):
    """Share of the variance of a run's score that lies between puppets, and its interval."""

    share: float | None
    interval: Interval | None
    reason: str | None


def measure_score_comparisons(
    runs: Sequence[RunAccuracy], *, baseline: str, n_permutations: int, seed: int
) -> list[ScoreComparison]:
    """A row for each metric and each arm but the baseline, in order of arm and metric.

    P-values are corrected over the conditions of a model, task and metric.

    Raises:
        StudyError: no permutations.
    """
    if n_permutations < 1:
        raise StudyError(
            f"metrics.permutations is {n_permutations}: a test needs at least 1; raise it"
        )
    plan = _Plan(baseline, n_permutations, seed)
    arms, full = runs_by_arm(runs), full_sizes(runs)
    rows = [
        row
        for arm in arms
        if arm.condition != baseline
        for row in _compare(
            arm,
            arms[arm],
            arms.get(arm._replace(condition=baseline), []),
            full[arm.model, arm.task],
            plan,
        )
    ]
    rows = _corrected(_corrected(rows, "p_value", "p_holm"), "p_spread", "p_spread_holm")
    return sorted(rows, key=lambda r: (r.model, r.task, r.condition, r.metric))


def _compare(
    arm: RunArm,
    runs: Sequence[RunAccuracy],
    offline: Sequence[RunAccuracy],
    n_items: int,
    plan: _Plan,
) -> Iterator[ScoreComparison]:
    for metric, read in READERS.items():
        here, there = ([read(run) for run in of if run.is_counted] for of in (runs, offline))
        tested = _test(here, there, arm, plan)
        interval = welch_interval(here, there)
        between = share_between(runs, read)
        sd, sd_baseline = _sd(here), _sd(there)
        mean, mean_baseline = (_mean(of) for of in (here, there))
        known = mean is not None and mean_baseline is not None
        yield ScoreComparison(
            model=arm.model,
            task=arm.task,
            condition=arm.condition,
            baseline=plan.baseline,
            metric=metric,
            mean=mean,
            mean_baseline=mean_baseline,
            difference=(mean or 0.0) - (mean_baseline or 0.0) if known else None,
            ci_low=interval.low if interval else None,
            ci_high=interval.high if interval else None,
            p_value=tested.difference if tested else None,
            p_holm=None,
            sd=sd,
            sd_baseline=sd_baseline,
            sd_ratio=sd / sd_baseline if sd is not None and sd_baseline else None,
            p_spread=tested.spread if tested else None,
            p_spread_holm=None,
            n_permutations=tested.n_drawn if tested else None,
            share_between=between.share,
            share_low=between.interval.low if between.interval else None,
            share_high=between.interval.high if between.interval else None,
            n_units=len(here),
            n_units_baseline=len(there),
            n_items=n_items,
            unit=unit_of(runs),
            reason=_reason(here, there, plan.baseline, interval, between),
        )


def _mean(scores: Sequence[float]) -> float | None:
    return math.fsum(scores) / len(scores) if scores else None


def _sd(scores: Sequence[float]) -> float | None:
    """Zero, not rounding, where all are equal; None for fewer than two."""
    if len(scores) < MIN_UNITS:
        return None
    spread = statistics.stdev(scores)
    return spread if spread > NOTHING else 0.0


def welch_interval(here: Sequence[float], there: Sequence[float]) -> Interval | None:
    """Of the difference of two means, by Welch 1947; None without spread or two units a side."""
    if min(len(here), len(there)) < MIN_UNITS:
        return None
    # squared errors of the two means; Satterthwaite's degrees of freedom need not be whole
    parts = [(_sd(side) or 0.0) ** 2 / len(side) for side in (here, there)]
    if not sum(parts) > 0:
        return None
    sizes = (len(here), len(there))
    freedom = sum(parts) ** 2 / sum(
        part**2 / (size - 1) for part, size in zip(parts, sizes, strict=True)
    )
    centre = math.fsum(here) / len(here) - math.fsum(there) / len(there)
    half = student_quantile(freedom) * math.sqrt(sum(parts))
    return Interval(max(-1.0, centre - half), min(1.0, centre + half))


def _test(
    here: Sequence[float], there: Sequence[float], arm: RunArm, plan: _Plan
) -> _Tested | None:
    if min(len(here), len(there)) < MIN_UNITS:
        return None
    splits = unit_splits(
        len(here),
        len(there),
        n_permutations=plan.n_permutations,
        # the same splits for every metric: equal scores have equal p-values
        random=generator(plan.seed, "scores", *arm),
    )
    centred = [np.array(side) - np.median(side) for side in (here, there)]
    return _Tested(
        difference=p_value_of_first(welch_statistic(np.array([*here, *there]), splits)),
        spread=p_value_of_first(_mean_difference(np.abs(np.concatenate(centred)), splits)),
        n_drawn=splits.n_drawn,
    )


def welch_statistic(scores: Floats, splits: UnitSplits) -> Floats:
    """|difference of means| / its standard error, of each split: shape (splits,)."""
    first, second = splits.first, ~splits.first
    centred = scores - scores.mean()
    # nobody's score has a distance of rounding from all others
    moments = [(side @ centred, side @ centred**2, side.sum(axis=1)) for side in (first, second)]
    means = [total / n for total, _, n in moments]
    errors = [
        np.maximum(squares - n * mean**2, 0.0) / (n - 1) / n
        for (_, squares, n), mean in zip(moments, means, strict=True)
    ]
    error, apart = np.sqrt(sum(errors)), np.abs(means[0] - means[1])
    apart = np.where(apart < NOTHING, 0.0, apart)
    # two arms without any spread that differ are as far apart as can be
    statistic: Floats = apart / np.maximum(error, 1e-9)
    return statistic


def _mean_difference(values: Floats, splits: UnitSplits) -> Floats:
    first, second = splits.first, ~splits.first
    difference: Floats = (first @ values) / first.sum(axis=1) - (second @ values) / second.sum(
        axis=1
    )
    return difference


def share_between(runs: Sequence[RunAccuracy], read: Callable[[RunAccuracy], float]) -> Between:
    """Intra-class correlation of complete runs by puppet: one-way analysis of variance.

    The interval turns Snedecor's F, which takes scores for normal. Of each puppet as many runs as the
    puppet with the fewest, those with two or more; others are left out.
    """
    by_puppet = _repeated(runs, read)
    if len(by_puppet) < MIN_UNITS:
        who = "puppets have two complete runs each" if unit_of(runs) == "puppet" else "puppets ask"
        return Between(None, None, f"no share between puppets: no two {who}")
    repeats = min(len(of) for of in by_puppet)
    scores = np.array([of[:repeats] for of in by_puppet])
    puppets = len(scores)
    means = scores.mean(axis=1)
    among = repeats * float(means.var(ddof=1))
    within = float(((scores - means[:, None]) ** 2).sum()) / (puppets * (repeats - 1))
    if among + within < NOTHING**2:
        return Between(None, None, "no share between puppets: all their runs score alike")
    share = _correlation(among, within, repeats)
    if within < NOTHING**2:
        return Between(share, None, "no interval of share_between: no puppet's runs differ")
    ratio, ends = among / within, []
    for tail in (0.975, 0.025):
        quantile = float(snedecor.ppf(tail, puppets - 1, puppets * (repeats - 1)))
        ends.append(_correlation(ratio / quantile, 1.0, repeats))
    return Between(share, Interval(*ends), None)


def _correlation(among: float, within: float, repeats: int) -> float:
    return (among - within) / (among + (repeats - 1) * within)


def _repeated(
    runs: Sequence[RunAccuracy], read: Callable[[RunAccuracy], float]
) -> list[list[float]]:
    """Scores of the puppets with two complete runs or more, in order of puppet and replicate."""
    if unit_of(runs) != "puppet":
        return []  # one puppet's runs, or reruns
    full = max((run.n_items for run in runs if run.is_counted), default=0)
    scores: dict[str, list[float]] = {}
    for run in sorted(runs, key=lambda r: (r.puppet_id or "", r.replicate)):
        if run.n_items == full:
            scores.setdefault(run.puppet_id or "", []).append(read(run))
    return [of for of in scores.values() if len(of) > 1]


def _reason(
    here: Sequence[float],
    there: Sequence[float],
    baseline: str,
    interval: Interval | None,
    between: Between,
) -> str | None:
    sides = {"here": here, f"under the baseline condition {baseline}": there}
    none = [f"no run is counted {where}" for where, side in sides.items() if not side]
    one = [f"no interval, no tests: one run {w}" for w, side in sides.items() if len(side) == 1]
    parts = none or one
    if not parts and interval is None:
        parts = ["no interval: all runs of either side score alike"]
    if not none and not one and _sd(there) == 0:
        parts.append("no sd_ratio: all runs of the baseline score alike")
    return "; ".join([*parts, *([between.reason] if between.reason else [])]) or None


def _corrected(
    rows: Sequence[ScoreComparison], tested: str, corrected: str
) -> list[ScoreComparison]:
    """Holm's correction over the conditions of a model, task and metric."""
    families: dict[tuple[str, str, str], list[ScoreComparison]] = {}
    for row in rows:
        families.setdefault((row.model, row.task, row.metric), []).append(row)
    done: list[ScoreComparison] = []
    for family in families.values():
        known = [row for row in family if getattr(row, tested) is not None]
        values = holm([float(getattr(row, tested)) for row in known])
        done += [_with(row, corrected, p) for row, p in zip(known, values, strict=True)]
        done += [row for row in family if getattr(row, tested) is None]
    return done


def _with(row: ScoreComparison, column: str, value: float) -> ScoreComparison:
    changes: Mapping[str, Any] = {column: value}
    return replace(row, **changes)

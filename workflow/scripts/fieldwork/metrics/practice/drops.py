"""What each variant of asking contributes to the drop from the offline score to the harshest way.

Owns Shapley's value over the variants of the harshest way, for each model and for their mean. It needs
the score with every combination of them: where one was not asked, nothing is said. Promises that the
parts sum to the whole drop.
"""

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from fieldwork.estimates.quantity import Quantity
from fieldwork.metrics.practice.ways import ModelScores, WayScores
from fieldwork.records.practice import PracticeDrop
from fieldwork.statistics.intervals import Interval, student_test
from fieldwork.statistics.shapley import Combination, missing_combinations, shapley_weights

MAX_VARIANTS = 6
"""2^6 = 64 ways of asking are needed for so many; a study with more has a mistake in its plan."""

NOTHING = 1e-9
"""Drops below this are rounding."""

OFFLINE: Combination = frozenset()

Combinations = Mapping[Combination, ModelScores]
"""Scores by the variants that are put together, by model; the empty combination is offline."""


def explain_drop(
    combinations: Combinations, *, task: str = "", metric: str = ""
) -> list[PracticeDrop]:
    """Shapley's value (Shapley 1953) of each variant of the harshest way; empty without any way.

    Rows for the mean over the models come first. The harshest way has the lowest mean score over the
    models that have an offline score. Of equally harsh ones it has the fewest variants.
    """
    harshest = _harshest(combinations)
    if harshest is None:
        return []
    shortage = _shortage(harshest, combinations)
    scores = {c: s for c, s in combinations.items() if c <= harshest}
    models: list[str] = []
    if shortage is None:
        models = sorted(set.intersection(*(set(side) for side in scores.values())))
    names = {
        "task": task,
        "metric": metric,
        "harshest": " + ".join(sorted(harshest)),
        "n_models": len(models),
        "n_combinations": 2 ** len(harshest),
    }
    if shortage:
        nothing = Quantity(reason=shortage)
        return [_part(names, None, variant, drop=nothing) for variant in sorted(harshest)]
    rows = _parts(harshest, scores, models, None, names)
    for model in models:
        rows += _parts(harshest, scores, [model], model, names)
    return rows


def _part(
    names: Mapping[str, Any],
    model: str | None,
    variant: str,
    *,
    total_drop: float | None = None,
    drop: Quantity,
) -> PracticeDrop:
    share = None if drop.value is None or total_drop is None else drop.value / total_drop
    return PracticeDrop(
        **names,
        model=model,
        variant=variant,
        total_drop=total_drop,
        **drop.columns("drop"),
        share=share,
        reason=drop.reason,
    )


def _harshest(combinations: Combinations) -> Combination | None:
    """The combination of the lowest mean, among those that the most models have."""
    offline = combinations.get(OFFLINE, {})
    candidates = [
        (
            -len(both_sides),
            round(math.fsum(scores[m].mean for m in both_sides), 9),
            len(c),
            sorted(c),
            c,
        )
        for c, scores in combinations.items()
        if c and (both_sides := sorted(scores.keys() & offline.keys()))
    ]
    ways = [c for c in combinations if c]
    if not candidates:
        return min(ways, key=lambda c: (-len(c), sorted(c))) if ways else None
    return min(candidates)[-1]


def _shortage(harshest: Combination, combinations: Combinations) -> str | None:
    """Why the drop cannot be divided among the variants."""
    if len(harshest) > MAX_VARIANTS:
        return (
            f"no parts: the harshest way has {len(harshest)} variants, at most {MAX_VARIANTS} count"
        )
    scores = {c: s for c, s in combinations.items() if s}
    gaps = missing_combinations(harshest, scores)
    if gaps:
        names = " + ".join(sorted(gaps[0])) or "offline"
        return (
            f"no parts: no score for {len(gaps)} of {2 ** len(harshest)} combinations, as {names}"
        )
    if not set.intersection(*(set(s) for c, s in scores.items() if c <= harshest)):
        return "no parts: no model has a score for all combinations"
    return None


def _parts(
    harshest: Combination,
    scores: Combinations,
    models: Sequence[str],
    name: str | None,
    names: Mapping[str, Any],
) -> list[PracticeDrop]:
    """The parts of the mean drop of some models."""
    samples = {c: [side[model] for model in models] for c, side in scores.items()}
    total_drop = _mean(samples[OFFLINE]) - _mean(samples[harshest])
    if not total_drop > NOTHING:
        nothing = Quantity(reason="no parts: no way scores lower than offline")
        return [
            _part(names, name, variant, total_drop=total_drop, drop=nothing)
            for variant in sorted(harshest)
        ]
    rows = []
    for variant, weights in shapley_weights(harshest).items():
        drop = -math.fsum(weight * _mean(samples[c]) for c, weight in weights.items())
        interval = _interval(drop, weights, samples)
        part = Quantity(drop, interval, reason=None if interval else _no_interval(samples))
        rows.append(_part(names, name, variant, total_drop=total_drop, drop=part))
    return rows


def _mean(samples: Sequence[WayScores]) -> float:
    return math.fsum(sample.mean for sample in samples) / len(samples)


def _interval(
    drop: float,
    weights: Mapping[Combination, float],
    samples: Mapping[Combination, Sequence[WayScores]],
) -> Interval | None:
    """Over reruns, which are independent from one combination and model to the next (Welch 1947)."""
    if _no_interval(samples):
        return None
    variances, freedoms = [], []
    for combination, weight in weights.items():
        for sample in samples[combination]:
            scale = weight / len(samples[combination])
            n = len(sample.scores)
            variances.append(scale**2 * statistics.variance(sample.scores) / n)
            freedoms.append(n - 1)
    test = student_test(drop, variances, freedoms)
    return test.interval if test else None


def _no_interval(samples: Mapping[Combination, Sequence[WayScores]]) -> str | None:
    sides = [sample for side in samples.values() for sample in side]
    if any(sample.unit != "rerun" for sample in sides):
        return "no interval: users, or items, are behind several ways"
    if min(len(sample.scores) for sample in sides) < 2:
        return "no interval: a way was asked once"
    if any(len(set(sample.scores)) == 1 for sample in sides):
        return "no interval: all reruns of one way score alike"
    return None

"""How far the answers under a condition are from the baseline's, item by item.

Owns Jensen-Shannon divergence and total variation distance at equal n, what chance alone makes of
them, and the permutation tests, corrected over the items of a task. Independent answers only: of a
puppet that answers an item several times, the first counts, so that what is permuted is what was drawn.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from fieldwork.errors import StudyError
from fieldwork.metrics.answer_sets import Arm, ItemAnswers, Options, independent, read_answer_sets
from fieldwork.metrics.permutation import Statistic, Tested, holm, permutation_test
from fieldwork.metrics.resampling import Counts, Floats, generator
from fieldwork.records.metrics import Comparison

METRICS = ("js_bits", "total_variation")
N_SUBSAMPLES = 200


class _Plan(NamedTuple):
    baseline: str
    n_permutations: int
    seed: int
    metrics: Sequence[str]


class _Sides(NamedTuple):
    """Two samples over kinds of answers: how often each kind, and which options it names.

    `first` and `second` have shape (kinds,), `names` (kinds, options) with 0 and 1.
    """

    first: Counts
    second: Counts
    names: Counts


class _Distance(NamedTuple):
    value: float
    expected_same: float
    tested: Tested


def measure_comparisons(
    answers: pd.DataFrame,
    *,
    baseline: str,
    n_permutations: int,
    seed: int,
    metrics: Sequence[str] = METRICS,
) -> list[Comparison]:
    """Two metrics, or those of them asked for, for each cell of every condition but the baseline.

    Distances are at the smallest number of independent answers among all conditions of the item
    that have any; p-values use all of them. In order of model, task, condition, item and metric.

    Raises:
        StudyError: no permutations.
    """
    if n_permutations < 1:
        raise StudyError(
            f"metrics.permutations is {n_permutations}: a test needs at least 1; raise it"
        )
    plan = _Plan(baseline, n_permutations, seed, metrics)
    arms = read_answer_sets(answers)
    rows: list[Comparison] = []
    for arm, items in arms.items():
        if arm.condition != baseline:
            siblings = [
                arms[a] for a in arms if a._replace(condition="") == arm._replace(condition="")
            ]
            offline = arms.get(arm._replace(condition=baseline), {})
            rows += _measure_arm(arm, items, offline, siblings, plan)
    return sorted(rows, key=lambda r: (r.model, r.task, r.condition, r.item_id, r.metric))


def _measure_arm(
    arm: Arm,
    items: Mapping[str, ItemAnswers],
    offline: Mapping[str, ItemAnswers],
    siblings: Sequence[Mapping[str, ItemAnswers]],
    plan: _Plan,
) -> list[Comparison]:
    empty = ItemAnswers([], 0)
    rows: list[Comparison] = []
    for item in items:
        sizes = [len(independent(s[item])) for s in siblings if item in s and s[item].given]
        n_equal = min(sizes, default=0)
        rows += _compare(arm, item, (items[item], offline.get(item, empty)), n_equal, plan)
    return _corrected(rows)


def _compare(
    arm: Arm, item: str, answers: tuple[ItemAnswers, ItemAnswers], n_equal: int, plan: _Plan
) -> Iterator[Comparison]:
    here, there = (independent(side) for side in answers)
    missing = _why_none(here, there, item, plan.baseline)
    for metric in plan.metrics:
        found = None
        if missing is None:
            names = (arm.model, arm.task, arm.condition, item)
            found = _distance(_sides(here, there), metric, n_equal, names, plan)
        yield Comparison(
            model=arm.model,
            task=arm.task,
            condition=arm.condition,
            baseline=plan.baseline,
            item_id=item,
            metric=metric,
            distance=found.value if found else None,
            expected_same=found.expected_same if found else None,
            excess=found.value - found.expected_same if found else None,
            p_value=found.tested.p_value if found else None,
            p_holm=None,
            n_permutations=found.tested.n_permutations if found else None,
            n_units=len(here),
            n_units_baseline=len(there),
            n_equal=n_equal,
            n_unread=answers[0].n_unread,
            n_unread_baseline=answers[1].n_unread,
            unit="puppet" if any(a.puppet for a in answers[0].given) else "response",
            reason=missing,
        )


def _why_none(
    here: Sequence[Options], there: Sequence[Options], item: str, baseline: str
) -> str | None:
    if not here:
        return f"no answer to {item} can be read"
    if not there:
        return f"no answer to {item} can be read under the baseline condition {baseline}"
    return None


def _sides(here: Sequence[Options], there: Sequence[Options]) -> _Sides:
    kinds = sorted({*here, *there})
    options = sorted({option for kind in kinds for option in kind})
    place = {kind: number for number, kind in enumerate(kinds)}
    names = np.array([[option in kind for option in options] for kind in kinds], dtype=np.int64)
    first, second = (
        np.bincount([place[kind] for kind in side], minlength=len(kinds)) for side in (here, there)
    )
    return _Sides(first, second, names)


def _distance(
    sides: _Sides, metric: str, n_equal: int, names: Sequence[str], plan: _Plan
) -> _Distance:
    statistic = option_distance(metric, sides.names)
    value, expected = _at_equal_n(
        sides, statistic, n_equal, generator(plan.seed, "subsample", metric, *names)
    )
    tested = permutation_test(
        sides.first,
        sides.second,
        statistic,
        n_permutations=plan.n_permutations,
        random=generator(plan.seed, "permute", metric, *names),
    )
    return _Distance(value, expected, tested)


def option_distance(metric: str, names: Counts) -> Statistic:
    """Distance of two samples' shares of mentions, from their tables over kinds of answers."""
    measure = {"js_bits": jensen_shannon_bits, "total_variation": total_variation}[metric]

    def statistic(first: Counts, second: Counts) -> Floats:
        return measure(_shares(first @ names), _shares(second @ names))

    return statistic


def _shares(counts: Counts) -> Floats:
    shares: Floats = counts / counts.sum(axis=1, keepdims=True)
    return shares


def jensen_shannon_bits(first: Floats, second: Floats) -> Floats:
    """H((p + q) / 2) - (H(p) + H(q)) / 2 in bits, 0 to 1, along the last axis: Lin 1991."""
    middle = (first + second) / 2
    bits = _entropy(middle) - (_entropy(first) + _entropy(second)) / 2
    clipped: Floats = np.clip(bits, 0.0, 1.0)
    return clipped


def _entropy(shares: Floats) -> Floats:
    entropy: Floats = -(shares * np.log2(np.where(shares > 0, shares, 1.0))).sum(axis=-1)
    return entropy


def total_variation(first: Floats, second: Floats) -> Floats:
    """Half the sum of absolute differences of shares, 0 to 1, along the last axis."""
    distance: Floats = np.abs(first - second).sum(axis=-1) / 2
    return distance


def _at_equal_n(
    sides: _Sides, statistic: Statistic, n_equal: int, random: np.random.Generator
) -> tuple[float, float]:
    """Mean distance of subsamples of `n_equal` answers, and of the same answers dealt out anew."""
    first, second = (_subsamples(side, n_equal, random) for side in (sides.first, sides.second))
    pooled = first + second
    if (pooled == pooled[0]).all():
        dealt = _subsamples(pooled[0], n_equal, random)
    else:
        dealt = np.concatenate([_subsamples(row, n_equal, random, n_samples=1) for row in pooled])
    return float(statistic(first, second).mean()), float(statistic(dealt, pooled - dealt).mean())


def _subsamples(
    side: Counts, size: int, random: np.random.Generator, *, n_samples: int = N_SUBSAMPLES
) -> Counts:
    if size == side.sum():
        return np.repeat(side[None, :], n_samples, axis=0)
    return random.multivariate_hypergeometric(side, size, size=n_samples, method="marginals")


def _corrected(rows: Sequence[Comparison]) -> list[Comparison]:
    """Holm's correction over the items of an arm, for each metric by itself."""
    done: list[Comparison] = []
    for metric in METRICS:
        tested = [row for row in rows if row.metric == metric and row.p_value is not None]
        corrected = holm([row.p_value for row in tested if row.p_value is not None])
        done += [replace(row, p_holm=p) for row, p in zip(tested, corrected, strict=True)]
        done += [row for row in rows if row.metric == metric and row.p_value is None]
    return done

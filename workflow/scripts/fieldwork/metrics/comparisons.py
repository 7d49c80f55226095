"""How far the answers under a condition are from the baseline's, item by item.

Owns Jensen-Shannon divergence and total variation distance at equal n, their value by chance alone,
and the permutation tests, corrected over the items of a task. A puppet's first answer to an item
counts, so that the answers that are exchanged are independent.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from fieldwork.estimates.answer_sets import (
    Arm,
    ItemAnswers,
    ItemName,
    Options,
    equal_sizes,
    read_answer_sets,
)
from fieldwork.estimates.samples import indicator_of
from fieldwork.records.metrics import Comparison
from fieldwork.statistics.arrays import Counts, Floats
from fieldwork.statistics.entropy import jensen_shannon_bits
from fieldwork.statistics.equal_n import subsampled_tables
from fieldwork.statistics.families import LEVEL, correct_rows
from fieldwork.statistics.permutation import (
    PermutationTest,
    Statistic,
    permutation_test,
    permutations_to_resolve,
    require_permutations,
)
from fieldwork.statistics.seeds import generator

METRICS = ("js_bits", "total_variation")


class _ComparisonSettings(NamedTuple):
    baseline: str
    n_permutations: int
    n_most: int
    seed: int
    metrics: Sequence[str]


class SampleTables(NamedTuple):
    """Two samples over kinds of answers: how often each kind, and which options it names.

    `condition` and `baseline` have shape (kinds,), `names` (kinds, options) with 0 and 1.
    """

    condition: Counts
    baseline: Counts
    names: Counts


class EqualDistance(NamedTuple):
    """A distance at equal n, and what it is on average where both samples are from one source."""

    value: float
    expected_same: float


class _DistanceTest(NamedTuple):
    value: float
    expected_same: float
    test: PermutationTest


def measure_comparisons(
    answers: pd.DataFrame,
    *,
    baseline: str,
    n_permutations: int,
    seed: int,
    metrics: Sequence[str] = METRICS,
) -> list[Comparison]:
    """The `metrics` of each item under every condition but the baseline.

    Distances are at the smallest number of independent answers among all conditions of the item
    that have any; p-values use all of them, and as many permutations as would show one difference
    among all of the comparisons. In order of model, task, condition, item and metric.

    Raises:
        StudyError: no permutations.
    """
    require_permutations(n_permutations)
    arms = read_answer_sets(answers)
    n_tests = sum(len(items) for arm, items in arms.items() if arm.condition != baseline)
    n_most = permutations_to_resolve(n_tests, LEVEL)
    settings = _ComparisonSettings(baseline, n_permutations, n_most, seed, metrics)
    sizes = equal_sizes(arms)
    rows: list[Comparison] = []
    for arm, items in arms.items():
        if arm.condition != baseline:
            offline = arms.get(arm._replace(condition=baseline), {})
            rows += _measure_arm(arm, items, offline, sizes, settings)
    return sorted(rows, key=lambda r: (r.model, r.task, r.condition, r.item_id, r.metric))


def _measure_arm(
    arm: Arm,
    items: Mapping[str, ItemAnswers],
    offline: Mapping[str, ItemAnswers],
    sizes: Mapping[ItemName, int],
    settings: _ComparisonSettings,
) -> list[Comparison]:
    empty = ItemAnswers([], 0)
    rows = [
        row
        for item, answers in items.items()
        for row in _compare(
            arm,
            item,
            answers,
            offline.get(item, empty),
            n_equal=sizes.get(arm.item(item), 0),
            settings=settings,
        )
    ]
    # the items of an arm are one family, for each metric by itself
    return correct_rows(rows, lambda row: row.metric)


def _compare(
    arm: Arm,
    item: str,
    answers: ItemAnswers,
    offline: ItemAnswers,
    *,
    n_equal: int,
    settings: _ComparisonSettings,
) -> Iterator[Comparison]:
    sides = answers.independent(), offline.independent()
    reason = _no_distance(*sides, item, settings.baseline)
    for metric in settings.metrics:
        distance = None
        if reason is None:
            names = (arm.model, arm.task, arm.condition, item)
            distance = _distance(sample_tables(*sides), metric, n_equal, names, settings)
        yield Comparison(
            model=arm.model,
            task=arm.task,
            condition=arm.condition,
            baseline=settings.baseline,
            item_id=item,
            metric=metric,
            distance=distance.value if distance else None,
            expected_same=distance.expected_same if distance else None,
            excess=distance.value - distance.expected_same if distance else None,
            p_value=distance.test.p_value if distance else None,
            p_holm=None,
            p_least=distance.test.p_least if distance else None,
            n_permutations=distance.test.n_permutations if distance else None,
            n_units=len(sides[0]),
            n_units_baseline=len(sides[1]),
            n_equal=n_equal,
            n_unread=answers.n_unread,
            n_unread_baseline=offline.n_unread,
            unit=answers.unit,
            reason=reason,
        )


def _no_distance(
    answers: Sequence[Options], offline: Sequence[Options], item: str, baseline: str
) -> str | None:
    if not answers:
        return f"no answer to {item} can be read"
    if not offline:
        return f"no answer to {item} can be read under the baseline condition {baseline}"
    return None


def sample_tables(answers: Sequence[Options], offline: Sequence[Options]) -> SampleTables:
    """Two samples of answers, none of them empty, counted by kind."""
    kinds = sorted({*answers, *offline})
    place = {kind: number for number, kind in enumerate(kinds)}
    condition_table, baseline_table = (
        np.bincount([place[kind] for kind in side], minlength=len(kinds))
        for side in (answers, offline)
    )
    return SampleTables(condition_table, baseline_table, indicator_of(kinds))


def _distance(
    samples: SampleTables,
    metric: str,
    n_equal: int,
    names: Sequence[str],
    settings: _ComparisonSettings,
) -> _DistanceTest:
    statistic = option_distance(metric, samples.names)
    value, expected_same = distance_at_equal_n(
        samples, metric, n_equal, generator(settings.seed, "subsample", metric, *names)
    )
    test = permutation_test(
        samples.condition,
        samples.baseline,
        statistic,
        n_permutations=settings.n_permutations,
        n_most=settings.n_most,
        random=generator(settings.seed, "permute", metric, *names),
    )
    return _DistanceTest(value, expected_same, test)


def option_distance(metric: str, names: Counts) -> Statistic:
    """Distance of two samples' shares of mentions, from their tables over kinds of answers."""
    measure = {"js_bits": jensen_shannon_bits, "total_variation": total_variation}[metric]

    def statistic(first: Counts, second: Counts) -> Floats:
        return measure(_shares(first @ names), _shares(second @ names))

    return statistic


def _shares(counts: Counts) -> Floats:
    shares: Floats = counts / counts.sum(axis=1, keepdims=True)
    return shares


def total_variation(first: Floats, second: Floats) -> Floats:
    """Half the sum of absolute differences of shares, 0 to 1, along the last axis."""
    distance: Floats = np.abs(first - second).sum(axis=-1) / 2
    return distance


def distance_at_equal_n(
    samples: SampleTables, metric: str, n_equal: int, random: np.random.Generator
) -> EqualDistance:
    """Mean distance of subsamples of `n_equal` answers, and of the same answers dealt at random."""
    statistic = option_distance(metric, samples.names)
    first, second = (
        subsampled_tables(sample, n_equal, random)
        for sample in (samples.condition, samples.baseline)
    )
    both_sides = first + second
    if (both_sides == both_sides[0]).all():
        half = subsampled_tables(both_sides[0], n_equal, random)
    else:
        half = np.concatenate(
            [subsampled_tables(table, n_equal, random, n_subsamples=1) for table in both_sides]
        )
    expected_same = statistic(half, both_sides - half)
    return EqualDistance(float(statistic(first, second).mean()), float(expected_same.mean()))

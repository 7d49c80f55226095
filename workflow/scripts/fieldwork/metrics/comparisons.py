"""How far the answers under a condition are from the baseline's, item by item.

Owns Jensen-Shannon divergence and total variation distance at equal n, their value by chance alone,
and the permutation tests. A puppet's first answer to an item counts, so that the answers that are
exchanged are independent. Where all answers to an item by letter state probabilities, it is the distance
of their means over users, which has no chance of a draw.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from fieldwork.estimates.answer_sets import ItemAnswers, Options, StatedShares, read_answer_sets
from fieldwork.estimates.pairs import Pair, pairs, unread_side
from fieldwork.estimates.prompts import equal_sizes
from fieldwork.estimates.reasons import ASKED_ONCE
from fieldwork.estimates.samples import OptionSample, indicator_of, option_samples
from fieldwork.estimates.stated import letter_differences, p_of_letters, stated_sides
from fieldwork.records.metrics import Comparison
from fieldwork.statistics.arrays import Counts, Floats
from fieldwork.statistics.entropy import jensen_shannon_bits
from fieldwork.statistics.equal_n import subsampled_tables
from fieldwork.statistics.families import LEVEL
from fieldwork.statistics.permutation import (
    Statistic,
    permutation_test,
    permutations_to_resolve,
    require_permutations,
)
from fieldwork.statistics.seeds import generator
from fieldwork.statistics.user_intervals import RAREST_USERS

METRICS = ("js_bits", "total_variation")


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


def measure_comparisons(
    answers: pd.DataFrame,
    *,
    baseline: str,
    n_permutations: int,
    seed: int,
    metrics: Sequence[str] = METRICS,
    rarest_users: float = RAREST_USERS,
) -> list[Comparison]:
    """The `metrics` of each item under every condition but the baseline.

    Distances are at the smallest number of independent answers among all conditions of the item
    that have any; p-values use all of them, and as many permutations as would show one difference
    among all of the comparisons. In order of model, task, condition, item and metric.

    Raises:
        StudyError: no permutations.
    """
    require_permutations(n_permutations)
    arms = option_samples(answers)
    sizes = equal_sizes(arms)
    compared_items = [*pairs(arms, baseline, OptionSample([], [], 0))]
    n_most = permutations_to_resolve(len(compared_items), LEVEL)
    sides_of = {
        (pair.arm._replace(kind=None), pair.item): sides
        for pair in pairs(read_answer_sets(answers), baseline, ItemAnswers([], 0))
        if (sides := stated_sides(pair))
    }
    rows: list[Comparison] = []
    for pair in compared_items:
        sides = sides_of.get((pair.arm, pair.item))
        if sides:
            rows += _compare_stated(pair, sides, metrics, rarest_users)
            continue
        rows += _compare(
            pair,
            metrics,
            sizes.get((*pair.arm.family, pair.item), 0),
            seed=seed,
            n_permutations=n_permutations,
            n_most=n_most,
        )
    return sorted(rows, key=lambda r: (r.model, r.task, r.condition, r.item_id, r.metric))


def _compare(
    pair: Pair[str, OptionSample],
    metrics: Sequence[str],
    n_equal: int,
    *,
    seed: int,
    n_permutations: int,
    n_most: int,
) -> Iterator[Comparison]:
    arm, first, second = pair.arm, pair.first, pair.second
    reason = unread_side(pair.item, len(first.options), len(second.options), pair.versus)
    samples = None if reason else sample_tables(first.options, second.options)
    for metric in metrics:
        distance = test = None
        if samples:
            names = (metric, arm.model, arm.task, arm.condition, pair.item)
            distance = distance_at_equal_n(
                samples, metric, n_equal, generator(seed, "subsample", *names)
            )
            test = permutation_test(
                samples.condition,
                samples.baseline,
                option_distance(metric, samples.names),
                n_permutations=n_permutations,
                n_most=n_most,
                random=generator(seed, "permute", *names),
            )
        yield Comparison(
            model=arm.model,
            task=arm.task,
            condition=arm.condition,
            baseline=pair.versus,
            item_id=pair.item,
            metric=metric,
            distance=distance.value if distance else None,
            expected_same=distance.expected_same if distance else None,
            excess=distance.value - distance.expected_same if distance else None,
            p_value=test.p_value if test else None,
            p_least=test.p_least if test else None,
            n_permutations=test.n_permutations if test else None,
            n_units=len(first.options),
            n_units_baseline=len(second.options),
            n_equal=n_equal,
            n_unread=first.n_unread,
            n_unread_baseline=second.n_unread,
            unit="puppet" if any(first.users) else "response",
            is_stated=False,
            reason=reason,
        )


def _compare_stated(
    pair: Pair[str, OptionSample],
    sides: tuple[StatedShares, StatedShares],
    metrics: Sequence[str],
    rarest_users: float,
) -> Iterator[Comparison]:
    p_value = p_of_letters(letter_differences(*sides, rarest_users))
    first, second = (side.shares.mean(axis=0) for side in sides)
    for metric in metrics:
        distance = float(DISTANCES[metric](first, second))
        yield Comparison(
            model=pair.arm.model,
            task=pair.arm.task,
            condition=pair.arm.condition,
            baseline=pair.versus,
            item_id=pair.item,
            metric=metric,
            distance=distance,
            expected_same=0.0,
            excess=distance,
            p_value=p_value,
            p_least=None,
            n_permutations=None,
            n_units=len(sides[0].users),
            n_units_baseline=len(sides[1].users),
            n_equal=len(sides[0].users),
            n_unread=pair.first.n_unread,
            n_unread_baseline=pair.second.n_unread,
            unit="puppet" if sides[0].has_users else "response",
            is_stated=True,
            reason=None if p_value is not None else ASKED_ONCE,
        )


def sample_tables(answers: Sequence[Options], offline: Sequence[Options]) -> SampleTables:
    """Two samples of answers, none of them empty, counted by kind."""
    kinds = sorted({*answers, *offline})
    place = {kind: number for number, kind in enumerate(kinds)}
    condition_table, baseline_table = (
        np.bincount([place[kind] for kind in side], minlength=len(kinds))
        for side in (answers, offline)
    )
    return SampleTables(condition_table, baseline_table, indicator_of(kinds))


def option_distance(metric: str, names: Counts) -> Statistic:
    """Distance of two samples' shares of mentions, from their tables over kinds of answers."""
    measure = DISTANCES[metric]

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


DISTANCES: Mapping[str, Callable[[Floats, Floats], Floats]] = {
    "js_bits": jensen_shannon_bits,
    "total_variation": total_variation,
}
"""Of shares, along the last axis."""


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

"""Values under a condition beside the baseline's and the field's: differences, tests and distances.

Owns the permutation test of the superiority of one sample over another, and what answers without a value
could change. A user's first answer counts, so that the answers that are exchanged are independent. Scales
are compared by their means, numbers by their ranks and medians, which a few huge answers do not move.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd

from fieldwork.estimates.answer_sets import Arm
from fieldwork.metrics.scores import welch_statistic
from fieldwork.metrics.values.answers import (
    ItemRanges,
    ItemValues,
    read_battery,
    read_ranges,
    read_values,
)
from fieldwork.metrics.values.estimates import (
    ValueSample,
    battery_sample,
    item_sample,
    no_interval_reason,
    scale_names,
)
from fieldwork.records.field import FIELD
from fieldwork.records.values import ValueComparison
from fieldwork.statistics.arrays import Counts, Floats
from fieldwork.statistics.families import LEVEL, correct_rows
from fieldwork.statistics.intervals import (
    CONFIDENCE,
    NO_ERROR,
    Interval,
    p_value_with_interval,
)
from fieldwork.statistics.permutation import (
    PermutationTest,
    p_value_of_first,
    permutation_test,
    permutations_to_resolve,
    require_permutations,
    unit_splits,
)
from fieldwork.statistics.seeds import generator
from fieldwork.statistics.user_intervals import (
    RAREST_USERS,
    mean_difference_interval,
    median_difference_interval,
    too_few_users,
)

_HALF = 0.5

N_DEALS = 200
"""Random deals behind the distance that chance alone makes."""


class _Settings(NamedTuple):
    baseline: str
    n_permutations: int
    n_most: int
    seed: int
    rarest_users: float


class _Pair(NamedTuple):
    """Two samples of one item, or of the scales together (`item` is None)."""

    arm: Arm
    versus: str
    item: str | None
    sides: tuple[ValueSample, ValueSample]

    @property
    def span(self) -> float | None:
        """Length of the scale; None for a number."""
        scale = self.sides[0].scale
        return scale.span if scale else None


def measure_value_comparisons(
    answers: pd.DataFrame,
    items: pd.DataFrame,
    *,
    baseline: str,
    n_permutations: int,
    seed: int,
    rarest_users: float = RAREST_USERS,
) -> list[ValueComparison]:
    """Each condition beside the baseline and, where there is one, beside the field.

    P-values are corrected over the items of a model, task, kind and pair of conditions; the scales
    together are a family of their own over the conditions. In order of the table.

    Raises:
        StudyError: no permutations.
    """
    require_permutations(n_permutations)
    arms = read_values(answers)
    ranges = read_ranges(items, sorted({arm.task for arm in arms}))
    pairs = list(_pairs(arms, ranges, baseline))
    n_most = permutations_to_resolve(len(pairs), LEVEL)
    settings = _Settings(baseline, n_permutations, n_most, seed, rarest_users)
    rows = correct_rows([_compare(pair, settings) for pair in pairs], _family)
    return sorted(
        rows, key=lambda r: (r.model, r.task, r.condition, r.versus, r.kind, r.item_id or "")
    )


def _family(row: ValueComparison) -> tuple[str | None, ...]:
    together = row.item_id is None
    return (row.model, row.task, row.kind, row.versus, None if together else row.condition)


def _pairs(
    arms: Mapping[Arm, Mapping[str, ItemValues]], ranges: ItemRanges, baseline: str
) -> Iterator[_Pair]:
    empty = ItemValues([], [])
    for arm, items in arms.items():
        for versus in (baseline, FIELD):
            versus_items = arms.get(arm._replace(condition=versus))
            if versus_items is None or arm.condition in (versus, FIELD):
                continue
            if names := scale_names(arms, arm.model, arm.task) if arm.kind == "scale" else []:
                first, second = (
                    battery_sample(read_battery(arm, side, names, ranges))
                    for side in (items, versus_items)
                )
                yield _Pair(arm, versus, None, (first, second))
            for item, values in items.items():
                scale = ranges.get((arm.task, item))
                first, second = (
                    item_sample(side, scale) for side in (values, versus_items.get(item, empty))
                )
                yield _Pair(arm, versus, item, (first, second))


def _compare(pair: _Pair, settings: _Settings) -> ValueComparison:
    arm, (first, second) = pair.arm, pair.sides
    missing = _missing(pair)
    test = None if missing else _test(pair, settings)
    interval = None if missing else _interval(pair, settings.rarest_users)
    difference = None if missing else _centre(pair, first) - _centre(pair, second)
    rank = None if missing else superiority_interval(first.values, second.values)
    p_value = _held_p(pair, test, settings.rarest_users) if test else None
    tables = None if missing else value_tables(first.values, second.values)
    distance = _distance(tables, pair, settings) if tables else None
    reason = missing or (None if interval else _no_interval(pair, settings.rarest_users))
    return ValueComparison(
        model=arm.model,
        task=arm.task,
        condition=arm.condition,
        versus=pair.versus,
        kind=arm.kind,
        item_id=pair.item,
        difference=difference,
        ci_low=interval.low if interval else None,
        ci_high=interval.high if interval else None,
        superiority=float(superiority(*tables.rows())[0]) if tables else None,
        superiority_low=rank.low if rank else None,
        superiority_high=rank.high if rank else None,
        p_value=p_value,
        p_holm=None,
        p_least=test.p_least if test else None,
        n_permutations=test.n_permutations if test else None,
        distance=distance[0] if distance else None,
        distance_same=distance[1] if distance else None,
        p_worst=_p_worst(pair, settings) if test else None,
        n_units=len(first.values),
        n_units_versus=len(second.values),
        n_missing=first.n_missing,
        n_missing_versus=second.n_missing,
        unit=first.unit,
        reason=reason,
    )


def _missing(pair: _Pair) -> str | None:
    """Why there is nothing to compare."""
    places = ("here", f"under {pair.versus}")
    empty = [place for side, place in zip(pair.sides, places, strict=True) if not side.values]
    subject = "answer has a value" if pair.item else "user or rerun has a value on all scales"
    return f"no {subject} {' and '.join(empty)}" if empty else None


def _no_interval(pair: _Pair, rarest_users: float) -> str:
    """The shortage of the first side that has one."""
    if pair.span is None:
        return "no interval of the difference: a median has one from six answers on"
    for side in pair.sides:
        n = len(side.values)
        if n < 2 or (side.has_users and too_few_users(n, rarest_users)):
            return no_interval_reason(side, rarest_users)
    return "no interval: all answers have the same value"


def _centre(pair: _Pair, sample: ValueSample) -> float:
    """The mean of a scale, the median of a number."""
    if pair.span is None:
        return float(np.median(sample.values))
    return math.fsum(sample.values) / len(sample.values)


def _interval(pair: _Pair, rarest_users: float, confidence: float = CONFIDENCE) -> Interval | None:
    first, second = pair.sides
    if pair.span is None:
        return median_difference_interval(first.values, second.values, confidence)
    rarest = first.rarest(rarest_users), second.rarest(rarest_users)
    interval = mean_difference_interval(first.values, second.values, rarest, confidence)
    return interval and interval.clip(-pair.span, pair.span)


def _held_p(pair: _Pair, test: PermutationTest, rarest_users: float) -> float:
    """The p-value, no smaller than that of the interval.

    A test of ranks alone says nothing of means, and of two samples that spread unequally nothing of which
    one is higher.
    """
    if pair.span is not None:
        return p_value_with_interval(test.p_value, partial(_interval, pair, rarest_users))
    return p_value_of_ranks(test.p_value, *(side.values for side in pair.sides))


def _p_worst(pair: _Pair, settings: _Settings) -> float | None:
    """The p-value where those without a value had answered as far against the difference as they can.

    Their answers are put at the end of the scale, or beyond all numbers, that makes the difference
    smaller (after Manski 1990); 1 where that turns it round. None where nobody is without a value.
    """
    if not any(side.gaps for side in pair.sides):
        return None
    sign = _sign(pair)
    first, second = pair.sides
    worst = pair._replace(sides=(_complete(first, -sign), _complete(second, sign)))
    if _sign(worst) != sign:
        return 1.0
    test = _test(worst, settings)
    return _held_p(worst, test, settings.rarest_users) if test else None


def _sign(pair: _Pair) -> int:
    """1 where the first side is higher, -1 where it is lower: on average, or a number in more pairs."""
    first, second = pair.sides
    if pair.span is None:
        tables = value_tables(first.values, second.values)
        tendency = float(superiority(*tables.rows())[0]) - _HALF
    else:
        tendency = _centre(pair, first) - _centre(pair, second)
    return 0 if abs(tendency) < NO_ERROR else 1 if tendency > 0 else -1


def _complete(side: ValueSample, sign: int) -> ValueSample:
    """The side where those without a value had answered as high as they can, or (-1) as low."""
    ends = [gap.high if sign > 0 else gap.low for gap in side.gaps]
    return side._replace(values=[*side.values, *ends], gaps=[])


# ---- samples as tables over their values -------------------------------------------------------------


class ValueTables(NamedTuple):
    """How often each side has each value: `values` ascending, all of shape (values,)."""

    values: Floats
    first: Counts
    second: Counts

    def rows(self) -> tuple[Counts, Counts]:
        """The two counts as tables of one row."""
        return self.first[None, :], self.second[None, :]


def value_tables(first: Sequence[float], second: Sequence[float]) -> ValueTables:
    """Two samples, none of them empty, counted by value."""
    values, places = np.unique([*first, *second], return_inverse=True)
    counts = [
        np.bincount(part, minlength=len(values))
        for part in (places[: len(first)], places[len(first) :])
    ]
    return ValueTables(values, counts[0], counts[1])


def superiority(first: Counts, second: Counts) -> Floats:
    """Chance that a value of the first is above one of the second, ties counted half.

    The statistic of Mann and Whitney (1947) as a share (Vargha and Delaney 2000).

    Args:
        first, second: counts by ascending value, of shape (tables, values).
    """
    below = np.cumsum(second, axis=1) - second / 2
    chance: Floats = (first * below).sum(axis=1) / (first.sum(axis=1) * second.sum(axis=1))
    return chance


def superiority_interval(
    first: Sequence[float], second: Sequence[float], confidence: float = CONFIDENCE
) -> Interval | None:
    """Interval of the superiority of independent values (Brunner and Munzel 2000).

    Welch's interval of the places that values of each side take among the other's. None with fewer than
    two values a side, or where no place varies: all of one side lie above the other, or all are alike.
    """
    tables = value_tables(first, second)
    shares = [side / side.sum() for side in (tables.first, tables.second)]
    places = [np.cumsum(side) - side / 2 for side in reversed(shares)]
    own_places = [
        np.repeat(place, side).tolist()
        for place, side in zip(places, (tables.first, tables.second), strict=True)
    ]
    interval = mean_difference_interval(own_places[0], own_places[1], (None, None), confidence)
    if interval is None:
        return None
    value = math.fsum(own_places[0]) / len(own_places[0])
    # places of the first have the mean `value`, those of the second 1 - `value`
    shift = value - (2 * value - 1)
    return Interval(interval.low + shift, interval.high + shift).clip(0.0, 1.0)


def p_value_of_ranks(p_value: float, first: Sequence[float], second: Sequence[float]) -> float:
    """A test's p-value, no smaller than that of the interval of the superiority."""

    def above_half(confidence: float) -> Interval | None:
        interval = superiority_interval(first, second, confidence)
        return interval and Interval(interval.low - _HALF, interval.high - _HALF)

    return p_value_with_interval(p_value, above_half)


def earth_movers(values: Floats, first: Counts, second: Counts) -> Floats:
    """Area between two cumulative distributions (Wasserstein's distance of order 1): shape (tables,)."""
    shares = [np.cumsum(side, axis=1) / side.sum(axis=1, keepdims=True) for side in (first, second)]
    distance: Floats = np.abs(shares[0] - shares[1])[:, :-1] @ np.diff(values)
    return distance


def _test(pair: _Pair, settings: _Settings) -> PermutationTest | None:
    random = generator(
        settings.seed, "values", *pair.arm.names, pair.versus, pair.item or "scales together"
    )
    first, second = (side.values for side in pair.sides)
    if pair.item is None:
        return _test_of_scores(first, second, settings, random)
    tables = value_tables(first, second)
    return permutation_test(
        tables.first,
        tables.second,
        lambda one, other: np.abs(superiority(one, other) - 0.5),
        n_permutations=settings.n_permutations,
        n_most=settings.n_most,
        random=random,
    )


def _test_of_scores(
    first: Sequence[float],
    second: Sequence[float],
    settings: _Settings,
    random: np.random.Generator,
) -> PermutationTest | None:
    """Means over many scales hardly tie, so that whole units are exchanged, as scores are."""
    if min(len(first), len(second)) < 2:
        return None
    splits = unit_splits(
        len(first), len(second), n_permutations=settings.n_permutations, random=random
    )
    statistic = welch_statistic(np.array([*first, *second]), splits)
    p_least = p_value_of_first(np.sort(statistic)[::-1])
    return PermutationTest(p_value_of_first(statistic), splits.n_drawn, p_least)


def _distance(tables: ValueTables, pair: _Pair, settings: _Settings) -> tuple[float, float]:
    """The earth mover's distance, and its mean where the answers are dealt to the sides at random."""
    random = generator(
        settings.seed, "distance", *pair.arm.names, pair.versus, pair.item or "scales together"
    )
    pooled_counts, size = tables.first + tables.second, int(tables.first.sum())
    deals = random.multivariate_hypergeometric(pooled_counts, size, size=N_DEALS)
    values = tables.values / (pair.span or 1.0)
    distance = float(earth_movers(values, *tables.rows())[0])
    return distance, float(earth_movers(values, deals, pooled_counts - deals).mean())

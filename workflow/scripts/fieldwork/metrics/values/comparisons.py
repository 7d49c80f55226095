"""Values under a condition beside the baseline's and the field's: differences, tests and distances.

Owns the permutation test of the superiority of one sample over another, and what answers without a value
could change. A user's first answer counts, so that the answers that are exchanged are independent. Scales
are compared by their means, numbers by their ranks and medians, which a few huge answers do not move.
"""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from fieldwork.estimates.pairs import Pair, pairs
from fieldwork.metrics.values.estimates import no_interval_reason
from fieldwork.metrics.values.samples import ValueSample, read_value_samples
from fieldwork.records.field import FIELD
from fieldwork.records.values import ValueComparison
from fieldwork.statistics.arrays import Counts, Floats
from fieldwork.statistics.families import LEVEL
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
    welch_statistic,
)
from fieldwork.statistics.seeds import generator
from fieldwork.statistics.user_intervals import (
    RAREST_USERS,
    mean_difference_interval,
    median_difference_interval,
    too_few_users,
)

_HALF = 0.5
_NOTHING = ValueSample(np.empty((0, 1)), False, 0, [], None)

N_DEALS = 200
"""Random deals behind the distance that chance alone makes."""

ValuePair = Pair[str | None, ValueSample]
"""Two samples of one item, or of the scales together (`item` is None)."""


class _Settings(NamedTuple):
    n_permutations: int
    n_most: int
    seed: int
    rarest_users: float

    def random(self, purpose: str, pair: ValuePair) -> np.random.Generator:
        item = pair.item or "scales together"
        return generator(self.seed, purpose, *pair.arm.names, pair.versus, item)


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

    In order of the table.

    Raises:
        StudyError: no permutations.
    """
    require_permutations(n_permutations)
    samples = read_value_samples(answers, items)
    value_pairs = [
        pair
        for versus in (baseline, FIELD)
        for pair in pairs(samples, versus, _NOTHING)
        if pair.arm.condition != FIELD and pair.arm._replace(condition=versus) in samples
    ]
    n_most = permutations_to_resolve(len(value_pairs), LEVEL)
    settings = _Settings(n_permutations, n_most, seed, rarest_users)
    rows = [_compare(pair, settings) for pair in value_pairs]
    return sorted(
        rows, key=lambda r: (r.model, r.task, r.condition, r.versus, r.kind, r.item_id or "")
    )


def _compare(pair: ValuePair, settings: _Settings) -> ValueComparison:
    missing = _missing(pair)
    numbers = {} if missing else _numbers(pair, settings)
    return ValueComparison(
        model=pair.arm.model,
        task=pair.arm.task,
        condition=pair.arm.condition,
        versus=pair.versus,
        kind=pair.arm.kind,
        item_id=pair.item,
        **(_NULLS | numbers),
        n_units=len(pair.first.parts),
        n_units_versus=len(pair.second.parts),
        n_missing=len(pair.first.gaps),
        n_missing_versus=len(pair.second.gaps),
        unit=pair.first.unit,
        reason=missing
        or (None if "ci_low" in numbers else _no_interval(pair, settings.rarest_users)),
    )


_NULLS: dict[str, Any] = dict.fromkeys(
    (
        *("difference", "ci_low", "ci_high", "superiority", "superiority_low", "superiority_high"),
        *("p_value", "p_least", "n_permutations", "distance", "distance_same", "p_worst"),
    )
)


def _numbers(pair: ValuePair, settings: _Settings) -> dict[str, Any]:
    """The columns of a pair whose sides both have values, those that are NULL left out."""
    first, second = pair.first.values, pair.second.values
    tables, test = value_tables(first, second), _test(pair, settings)
    distance, distance_same = _distance(tables, pair, settings)
    numbers: dict[str, Any] = {
        "difference": _centre(pair, pair.first) - _centre(pair, pair.second),
        "superiority": float(superiority(*tables.rows())[0]),
        "distance": distance,
        "distance_same": distance_same,
    }
    if interval := _interval(pair, settings.rarest_users):
        numbers |= {"ci_low": interval.low, "ci_high": interval.high}
    if rank := superiority_interval(first, second):
        numbers |= {"superiority_low": rank.low, "superiority_high": rank.high}
    if test:
        numbers |= test._asdict() | {
            "p_value": _held_p(pair, test, settings.rarest_users),
            "p_worst": _p_worst(pair, settings),
        }
    return numbers


def _missing(pair: ValuePair) -> str | None:
    """Why there is nothing to compare."""
    sides = {"here": pair.first, f"under {pair.versus}": pair.second}
    empty = [place for place, side in sides.items() if not len(side.parts)]
    subject = "answer has a value" if pair.item else "user or rerun has a value on all scales"
    return f"no {subject} {' and '.join(empty)}" if empty else None


def _no_interval(pair: ValuePair, rarest_users: float) -> str:
    """The shortage of the first side that has one."""
    if pair.first.scale is None:
        return "no interval of the difference: a median has one from six answers on"
    for side in (pair.first, pair.second):
        n = len(side.parts)
        if n < 2 or (side.has_users and too_few_users(n, rarest_users)):
            return no_interval_reason(side, rarest_users)
    return "no interval: all answers have the same value"


def _centre(pair: ValuePair, sample: ValueSample) -> float:
    """The mean of a scale, the median of a number."""
    if pair.first.scale is None:
        return float(np.median(sample.values))
    return math.fsum(sample.values) / len(sample.values)


def _interval(
    pair: ValuePair, rarest_users: float, confidence: float = CONFIDENCE
) -> Interval | None:
    first, second = pair.first, pair.second
    if first.scale is None:
        return median_difference_interval(first.values, second.values, confidence)
    rarest = first.rarest(rarest_users), second.rarest(rarest_users)
    interval = mean_difference_interval(first.values, second.values, rarest, confidence)
    span = first.scale.high - first.scale.low
    return interval and interval.clip(-span, span)


def _held_p(pair: ValuePair, test: PermutationTest, rarest_users: float) -> float:
    """The p-value, no smaller than that of the interval.

    A test of ranks alone says nothing of means, and of two samples that spread unequally nothing of which
    one is higher.
    """
    if pair.first.scale is None:
        return p_value_of_ranks(test.p_value, pair.first.values, pair.second.values)
    return p_value_with_interval(test.p_value, partial(_interval, pair, rarest_users))


def _p_worst(pair: ValuePair, settings: _Settings) -> float | None:
    """The p-value where those without a value had answered as far against the difference as they can.

    Their answers are put at the end of the scale, or beyond all numbers, that makes the difference
    smaller (after Manski 1990); 1 where that turns it round. None where nobody is without a value.
    """
    if not (pair.first.gaps or pair.second.gaps):
        return None
    sign = _sign(pair)
    worst = pair._replace(first=_complete(pair.first, -sign), second=_complete(pair.second, sign))
    if _sign(worst) != sign:
        return 1.0
    test = _test(worst, settings)
    return _held_p(worst, test, settings.rarest_users) if test else None


def _sign(pair: ValuePair) -> int:
    """1 where the first side is higher, -1 where it is lower: on average, or a number in more pairs."""
    if pair.first.scale is None:
        tables = value_tables(pair.first.values, pair.second.values)
        tendency = float(superiority(*tables.rows())[0]) - _HALF
    else:
        tendency = _centre(pair, pair.first) - _centre(pair, pair.second)
    return 0 if abs(tendency) < NO_ERROR else 1 if tendency > 0 else -1


def _complete(side: ValueSample, sign: int) -> ValueSample:
    """The side where those without a value had answered as high as they can, or (-1) as low."""
    ends = [gap.high if sign > 0 else gap.low for gap in side.gaps]
    return side._replace(parts=np.array([*side.values, *ends])[:, None], gaps=[])


def _test(pair: ValuePair, settings: _Settings) -> PermutationTest | None:
    first, second = pair.first.values, pair.second.values
    random = settings.random("values", pair)
    if pair.item is not None:
        return superiority_test(
            first,
            second,
            n_permutations=settings.n_permutations,
            n_most=settings.n_most,
            random=random,
        )
    # means over many scales hardly tie, so that whole units are exchanged, as scores are
    if min(len(first), len(second)) < 2:
        return None
    splits = unit_splits(
        len(first), len(second), n_permutations=settings.n_permutations, random=random
    )
    statistic = welch_statistic(np.array([*first, *second]), splits)
    p_least = p_value_of_first(np.sort(statistic)[::-1])
    return PermutationTest(p_value_of_first(statistic), splits.n_drawn, p_least)


def _distance(tables: "ValueTables", pair: ValuePair, settings: _Settings) -> tuple[float, float]:
    """The earth mover's distance, and its mean where the answers are dealt to the sides at random."""
    pooled_counts, size = tables.first + tables.second, int(tables.first.sum())
    random = settings.random("distance", pair)
    deals = random.multivariate_hypergeometric(pooled_counts, size, size=N_DEALS)
    low, high = pair.first.scale or (0.0, 1.0)
    values = tables.values / (high - low)
    distance = float(earth_movers(values, *tables.rows())[0])
    return distance, float(earth_movers(values, deals, pooled_counts - deals).mean())


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


def superiority_test(
    first: Sequence[float],
    second: Sequence[float],
    *,
    n_permutations: int,
    n_most: int,
    random: np.random.Generator,
) -> PermutationTest:
    """Permutation test that neither of two samples is superior."""
    tables = value_tables(first, second)
    return permutation_test(
        tables.first,
        tables.second,
        lambda one, other: np.abs(superiority(one, other) - _HALF),
        n_permutations=n_permutations,
        n_most=n_most,
        random=random,
    )


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

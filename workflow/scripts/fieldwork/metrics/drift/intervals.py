"""Intervals of the change of a share or of a length between two waves.

Owns what is taken as independent: calls to the same item of the same user, where both waves have two or
more of each; else items, which are then a sample of items like these. Promises None with a reason where
neither says how uncertain a change is.
"""

import math
from typing import NamedTuple

import numpy as np

from fieldwork.metrics.drift.calls import WavePair
from fieldwork.statistics.arrays import Floats
from fieldwork.statistics.intervals import (
    NO_ERROR,
    BoundedValue,
    Interval,
    difference_interval,
    student_interval,
    welch_freedom,
    wilson_interval,
)
from fieldwork.statistics.paired import paired_interval

LEAST_ITEMS = 5
"""Items below which they say too little of items like them."""


class ChangeInterval(NamedTuple):
    """An interval, or why there is none."""

    interval: Interval | None
    reason: str | None = None


class _Strata(NamedTuple):
    """What a variance over strata is made of, arrays of shape (strata, 2), the first wave first.

    Attributes:
        squares: sums of squared distances from the mean of the stratum and wave.
        weights: share of the mean over items that comes from a stratum.
    """

    sizes: Floats
    sums: Floats
    squares: Floats
    weights: Floats

    def means(self) -> Floats:
        """Mean over items in both waves, shape (2,)."""
        means: Floats = (self.weights * self.sums / self.sizes).sum(axis=0)
        return means


def change_interval(pair: WavePair, values: Floats, *, is_share: bool) -> ChangeInterval:
    """The 95 % interval of the mean over items of the later wave less that of the first.

    Args:
        values: of the calls, 0 or 1 where they are a share's.
    """
    strata = _strata(pair, values)
    if strata.sizes.min() >= 2:
        return _share_interval(strata) if is_share else _mean_interval(strata)
    if pair.n_items < LEAST_ITEMS:
        return ChangeInterval(
            None, f"no interval: fewer than {LEAST_ITEMS} items, and some answers are single ones"
        )
    changes = np.diff(pair.item_means(values), axis=1)[:, 0]
    if is_share:
        item_sizes = np.zeros((pair.n_items, 2), dtype=np.int64)
        np.add.at(item_sizes, (pair.items, pair.is_later.astype(np.int64)), 1)
        return ChangeInterval(paired_interval(changes, int(item_sizes.min())))
    error = math.sqrt(float(changes.var(ddof=1)) / len(changes))
    if error < NO_ERROR:
        return ChangeInterval(None, "no interval: all items changed alike")
    return ChangeInterval(student_interval(float(changes.mean()), error, len(changes) - 1))


def _share_interval(strata: _Strata) -> ChangeInterval:
    """Newcombe's (1998, method 10) from as many answers as would vary as the strata do together.

    Each wave's share has Wilson's interval of *p*(1 - *p*) / variance answers; the variance is that
    within strata, of both waves pooled, and at least as if one answer of one stratum differed. It is
    less than that of answers drawn from all items, since the items stay what they are. Of a true change
    the pooled variance is a little too large.
    """
    totals, successes = strata.sizes.sum(axis=1), strata.sums.sum(axis=1)
    within_strata = successes * (totals - successes) / (totals * (totals - 1))
    # what one answer that differs from all others of a stratum would add
    least_variances = strata.weights**2 / strata.sizes / totals[:, None]
    variances = np.maximum(
        (strata.weights**2 * within_strata[:, None] / strata.sizes).sum(axis=0),
        least_variances.max(axis=0),
    )
    numbers = strata.sizes.sum(axis=0)
    sides = []
    for share, variance, n in zip(strata.means(), variances, numbers, strict=True):
        inner_share = (share * n + 0.5) / (n + 1)
        n_effective = max(float(n), float(inner_share * (1 - inner_share) / variance))
        bounded_share = min(1.0, max(0.0, float(share)))
        # the formula takes any number of trials, not whole ones alone
        interval = wilson_interval(bounded_share * n_effective, n_effective)
        sides.append(BoundedValue(bounded_share, interval))
    low, high = difference_interval(sides[1], [sides[0]])
    return ChangeInterval(Interval(max(-1.0, low), min(1.0, high)))


def _mean_interval(strata: _Strata) -> ChangeInterval:
    """Student's t with the variances within strata and waves (Welch 1947, Satterthwaite 1946)."""
    within_strata = strata.squares / (strata.sizes - 1)
    parts = (strata.weights**2 * within_strata / strata.sizes).ravel()
    if math.sqrt(float(parts.sum())) < NO_ERROR:
        return ChangeInterval(None, "no interval: answers to an item are always equally long")
    freedom = welch_freedom(parts.tolist(), (strata.sizes - 1).ravel().tolist())
    first_mean, mean = strata.means().tolist()
    return ChangeInterval(
        student_interval(mean - first_mean, math.sqrt(math.fsum(parts.tolist())), freedom)
    )


def _strata(pair: WavePair, values: Floats) -> _Strata:
    sizes = pair.stratum_sizes().astype(np.float64)
    sums, squares = np.zeros_like(sizes), np.zeros_like(sizes)
    places = (pair.strata, pair.is_later.astype(np.int64))
    np.add.at(sums, places, values)
    np.add.at(squares, places, (values - (sums / sizes)[places]) ** 2)
    item_of = np.zeros(len(sizes), dtype=np.int64)
    item_of[pair.strata] = pair.items
    item_sizes = np.zeros((pair.n_items, 2))
    np.add.at(item_sizes, item_of, sizes)
    weights = sizes / item_sizes[item_of] / pair.n_items
    return _Strata(sizes, sums, squares, weights)

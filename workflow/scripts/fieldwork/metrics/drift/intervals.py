"""Intervals of the change of a share or of a length between two waves.

Owns what is taken as independent: calls to the same item of the same user, where both waves have two or
more of each; else items, which are then a sample of items like these. Promises None with a reason where
neither says how uncertain a change is.
"""

import math
from typing import NamedTuple

import numpy as np

from fieldwork.estimates.quantity import Quantity
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


def change_interval(pair: WavePair, values: Floats, *, is_share: bool) -> Quantity:
    """The mean over items of the later wave less that of the first, with its 95 % interval.

    Args:
        values: of the calls, 0 or 1 where they are a share's.
    """
    strata, item_means = _strata(pair, values), pair.item_means(values)
    first_mean, mean = item_means.mean(axis=0).tolist()
    change = Quantity(mean - first_mean)
    if strata.sizes.min() >= 2 and is_share:
        return change._replace(interval=_share_interval(strata))
    if strata.sizes.min() >= 2:
        interval = _mean_interval(strata)
        reason = None if interval else "no interval: answers to an item are always equally long"
        return change._replace(interval=interval, reason=reason)
    if pair.n_items < LEAST_ITEMS:
        return change.because(
            f"no interval: fewer than {LEAST_ITEMS} items, and some answers are single ones"
        )
    changes = np.diff(item_means, axis=1)[:, 0]
    if is_share:
        return change._replace(interval=paired_interval(changes, int(pair.item_sizes().min())))
    error = math.sqrt(float(changes.var(ddof=1)) / len(changes))
    if error < NO_ERROR:
        return change.because("no interval: all items changed alike")
    interval = student_interval(float(changes.mean()), error, len(changes) - 1)
    return change._replace(interval=interval)


def _share_interval(strata: _Strata) -> Interval:
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
    return difference_interval(sides[1], [sides[0]]).clip(-1.0, 1.0)


def _mean_interval(strata: _Strata) -> Interval | None:
    """Student's t with the variances within strata and waves (Welch 1947, Satterthwaite 1946).

    None where nothing varies there.
    """
    within_strata = strata.squares / (strata.sizes - 1)
    parts = (strata.weights**2 * within_strata / strata.sizes).ravel()
    if math.sqrt(float(parts.sum())) < NO_ERROR:
        return None
    freedom = welch_freedom(parts.tolist(), (strata.sizes - 1).ravel().tolist())
    first_mean, mean = strata.means().tolist()
    return student_interval(mean - first_mean, math.sqrt(math.fsum(parts.tolist())), freedom)


def _strata(pair: WavePair, values: Floats) -> _Strata:
    sizes, sums = pair.sums(pair.strata), pair.sums(pair.strata, values)
    means = (sums / sizes)[pair.strata, pair.is_later.astype(np.int64)]
    squares = pair.sums(pair.strata, (values - means) ** 2)
    item_of = np.zeros(len(sizes), dtype=np.int64)
    item_of[pair.strata] = pair.items
    weights = sizes / pair.item_sizes()[item_of] / pair.n_items
    return _Strata(sizes, sums, squares, weights)

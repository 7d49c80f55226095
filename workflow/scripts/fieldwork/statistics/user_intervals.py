"""Intervals over users, of whom a few may carry the whole effect.

Owns how many users, or prompts, an interval needs, and the jackknife empirical likelihood, whose ends
follow a skewed sample. Nothing tells a sample without its rare users from a world without any: so a
study names the rarest kind of user that its intervals must cover. Promises that equal arguments give
equal bits.
"""

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import bdtr

from fieldwork.statistics.arrays import Floats
from fieldwork.statistics.intervals import (
    CONFIDENCE,
    BoundedValue,
    Interval,
    difference_interval,
    jackknife_variance,
    student_interval,
    student_quantile,
    welch_freedom,
    wilson_interval,
)

RAREST_USERS = 0.125
"""Share of users of the rarest kind that intervals cover, where a study does not say."""

CHANCE_TO_MISS = 0.006
"""How often the users of a study may all miss a kind that its intervals cover (docs/methods.md)."""

MIN_UNITS = 2
"""Units of a side from which there is an interval of a difference."""

_NOTHING = 1e-9
"""Differences below this are rounding; an interval of no width would say that nothing is uncertain."""

_FAR = 300.0
"""Logarithm of a reach beyond which the likelihood ratio is 0 or infinite up to rounding."""


RAREST_PROMPTS = 0.45
"""Share of prompts of the rarest kind that intervals for prompts like these cover, as above."""


def sample_needed(rarest_share: float) -> int:
    """So many users, or prompts, all miss a kind of this share with no more than `CHANCE_TO_MISS`."""
    return math.ceil(math.log(CHANCE_TO_MISS) / math.log1p(-rarest_share))


def too_few_users(n_users: int, rarest_users: float, role: str = "answer") -> str | None:
    """Why there is no interval over so many users, who have this role; None where there are enough."""
    n_needed = sample_needed(rarest_users)
    if n_users >= n_needed:
        return None
    return (
        f"no interval: {n_users} users {role}, and {n_needed} are needed to cover kinds of users as rare "
        f"as {rarest_users:.3g} (metrics.rarest_users)"
    )


def too_few_prompts(n_prompts: int, rarest_prompts: float) -> str | None:
    """Why nothing is said of prompts like so many; None where there are enough."""
    n_needed = sample_needed(rarest_prompts)
    if n_prompts >= n_needed:
        return None
    noun = "prompt" if n_prompts == 1 else "prompts"
    return (
        f"no interval for prompts like these: {n_prompts} {noun}, and {n_needed} are needed to cover "
        f"kinds of prompts as rare as {rarest_prompts:.3g} (metrics.rarest_prompts)"
    )


def likelihood_interval(
    pseudo_values: Floats, freedom: float | None = None, confidence: float = CONFIDENCE
) -> Interval | None:
    """Means of the jackknife's pseudo-values that are not too unlikely: shape (units,).

    Empirical likelihood (Owen 1988) of pseudo-values (Jing, Yuan and Zhou 2009). The ratio is held
    against the square of Student's t at `freedom` degrees of freedom, units less 1 by default. None
    where no unit makes a difference.
    """
    freedom = len(pseudo_values) - 1 if freedom is None else freedom
    if not float(np.ptp(pseudo_values)) > _NOTHING:
        return None
    ratio = student_quantile(freedom, confidence) ** 2
    return Interval(-_likely_end(-pseudo_values, ratio), _likely_end(pseudo_values, ratio))


def _likely_end(values: Floats, ratio: float) -> float:
    """The largest mean whose weights have this likelihood ratio, -2 sum log(n w).

    Weights that maximise the likelihood at a mean above the sample's are as 1 / (reach - value), with
    some reach above all values: one unknown instead of a search within a search.
    """
    # takes a third of a second to import, and small studies have no such intervals
    from scipy.optimize import brentq

    gaps = (values.max() - values) / np.ptp(values)

    def weights(log_reach: float) -> Floats:
        inverse = 1 / (math.exp(log_reach) + gaps)
        shares: Floats = inverse / inverse.sum()
        return shares

    def surplus(log_reach: float) -> float:
        return float(-2 * np.log(len(values) * weights(log_reach)).sum()) - ratio

    # up to rounding, hardly any confidence gives the sample's mean, and nearly all the largest value
    if surplus(_FAR) >= 0:
        return math.fsum(values.tolist()) / len(values)
    if surplus(-_FAR) <= 0:
        return float(values.max())
    end = weights(brentq(surplus, -_FAR, _FAR)) * values
    return math.fsum(end.tolist())


def unit_interval(
    value: float,
    moves: Floats,
    *,
    rarest_users: float | None,
    freedom: float | None = None,
    confidence: float = CONFIDENCE,
) -> Interval | None:
    """Jackknife interval of an estimate: empirical likelihood over users, Student's t over responses.

    None with too few users or one unit, or where no unit makes a difference.

    Args:
        moves: how far leaving out each unit moves the value, shape (units,).
        rarest_users: share of users of the rarest kind to cover; None where the units are responses.
        freedom: units less 1 by default.
    """
    n = len(moves)
    freedom = n - 1 if freedom is None else freedom
    if freedom < 1 or (rarest_users is not None and n < sample_needed(rarest_users)):
        return None
    deviations = moves - moves.mean()
    if rarest_users is not None:
        return likelihood_interval(value - (n - 1) * deviations, freedom, confidence)
    error = math.sqrt(float((deviations**2).sum()) * freedom / n)
    if not error > _NOTHING:
        return None
    return student_interval(value, error, freedom, confidence)


def mean_interval(
    values: Sequence[float], rarest_users: float | None, confidence: float = CONFIDENCE
) -> Interval | None:
    """Interval of a mean: empirical likelihood over users, Student's t over responses.

    None with too few users or fewer than two responses, or no spread.

    Args:
        rarest_users: share of users of the rarest kind to cover; None where the values are responses'.
    """
    array = np.array(values)
    moves = (array.mean() - array) / max(1, len(array) - 1)
    mean = math.fsum(values) / len(values)
    return unit_interval(mean, moves, rarest_users=rarest_users, confidence=confidence)


def mean_difference_interval(
    first: Sequence[float],
    second: Sequence[float],
    rarest_users: tuple[float | None, float | None],
    confidence: float = CONFIDENCE,
) -> Interval | None:
    """Interval of the difference of two independent means.

    From the intervals of the two (`mean_interval`); where both sides are responses, Welch's. None with
    too few users, without two units a side, or without spread.

    Args:
        rarest_users: of each side, as for `mean_interval`.
    """
    sides = (first, second)
    if min(map(len, sides)) < MIN_UNITS or not any(float(np.ptp(s)) > _NOTHING for s in sides):
        return None
    means = [math.fsum(side) / len(side) for side in sides]
    if rarest_users == (None, None):
        variances = [float(np.var(side, ddof=1)) / len(side) for side in sides]
        freedom = welch_freedom(variances, [len(side) - 1 for side in sides])
        error = math.sqrt(sum(variances))
        return student_interval(means[0] - means[1], error, freedom, confidence)
    values = []
    for side, mean, rarest in zip(sides, means, rarest_users, strict=True):
        if rarest is not None and too_few_users(len(side), rarest):
            return None
        # values that are all alike have no interval of their own
        interval = mean_interval(side, rarest, confidence) or Interval(mean, mean)
        values.append(BoundedValue(mean, interval))
    return difference_interval(values[0], values[1:])


def median_interval(values: Sequence[float], confidence: float = CONFIDENCE) -> Interval | None:
    """Interval of a median between two of the values, whatever their distribution is.

    The r-th smallest and the r-th largest, with the largest r at which fewer than r of n values lie below
    the median with a chance of at most (1 - confidence) / 2 (Thompson 1936). None with too few values.
    """
    n = len(values)
    ranks = np.arange(n // 2)
    # of r = 1, 2, ...: the chance that no more than r - 1 values lie below the median
    r = int((bdtr(ranks, n, 0.5) <= (1 - confidence) / 2).sum())
    if not r:
        return None
    ascending = sorted(values)
    return Interval(ascending[r - 1], ascending[n - r])


def median_difference_interval(
    first: Sequence[float], second: Sequence[float], confidence: float = CONFIDENCE
) -> Interval | None:
    """Interval of the difference of two medians, from those of each; None with too few values."""
    sides = []
    for side in (first, second):
        interval = median_interval(side, confidence)
        if interval is None:
            return None
        sides.append(BoundedValue(float(np.median(side)), interval))
    return difference_interval(sides[0], sides[1:])


def interval_or_reason(
    value: float, rest: Floats, rarest_users: float
) -> tuple[Interval | None, str | None]:
    """The interval of an estimate over users, or why there is none.

    Args:
        rest: the value without each user, NaN where there is none then; shape (users,).
    """
    if shortage := too_few_users(len(rest), rarest_users):
        return None, shortage
    if not np.isfinite(rest).all():
        return None, "no interval: without one of the users there is no value"
    interval = unit_interval(value, rest - value, rarest_users=rarest_users)
    return interval, None if interval else "no interval: leaving out a user changes nothing"


def variance_share_interval(
    share: float, left_out: Floats, freedom: float | None = None
) -> Interval | None:
    """Interval of a share of variance between users, on the scale of log(1 - share).

    Empirical likelihood of the jackknife's pseudo-values on that scale (Arvesen and Schmitz 1970),
    widened where needed to hold the share. None where no user makes a difference, or all of the variance
    is between users as soon as one of them is left out.

    Args:
        left_out: 1 - share without each user, shape (users,).
        freedom: users less 1 by default.
    """
    if not np.all(left_out > 0):
        return None
    n = len(left_out)
    pseudo_values = n * math.log1p(-share) - (n - 1) * np.log(left_out)
    interval = likelihood_interval(pseudo_values, freedom)
    if interval is None:
        return None
    low, high = -math.expm1(interval.high), -math.expm1(interval.low)
    return Interval(min(low, share), max(high, share))


def item_share_interval(losses: Floats, share: float) -> Interval:
    """Interval of a share of items that users answer: `losses` has shape (users, items).

    A loss is how far an item's value falls without a user. What the jackknife over users finds beyond
    independent items makes the items fewer: Wilson's interval at the effective number of items (Kish
    1965), less by Student's t squared (Korn and Graubard 1998).
    """
    n_users, n_items = losses.shape
    of_mean = float(jackknife_variance(losses.mean(axis=1)))
    of_items = float(jackknife_variance(losses).sum()) / n_items**2
    binomial = share * (1 - share) / n_items
    design = 1 + max(0.0, of_mean - of_items) / binomial if binomial > 0 else 1.0
    t = student_quantile(n_users - 1) / student_quantile(math.inf)
    n_effective = n_items / (design * t * t)
    return wilson_interval(share * n_effective, n_effective)

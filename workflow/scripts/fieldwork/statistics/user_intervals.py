"""Intervals over users, of whom a few may carry the whole effect.

Owns how many users an interval needs, and the jackknife empirical likelihood, whose ends follow a skewed
sample. Nothing tells a sample without its rare users from a world without any, so no formula helps
below `MIN_USERS`. Promises that equal arguments give equal bits.
"""

import math

import numpy as np
from scipy.optimize import brentq

from fieldwork.statistics.arrays import Floats
from fieldwork.statistics.intervals import (
    CONFIDENCE,
    Interval,
    jackknife_variance,
    student_interval,
    student_quantile,
    wilson_interval,
)

RARE_SHARE = 0.05
"""Smallest share of users whose absence from a sample an interval guards against."""

MIN_USERS = math.ceil(math.log((1 - CONFIDENCE) / 2) / math.log1p(-RARE_SHARE))
"""72: so many users all miss a group of `RARE_SHARE` no more often than an interval misses on a side."""

_NOTHING = 1e-9
"""Differences below this are rounding; an interval of no width would say that nothing is uncertain."""

_FAR = 300.0
"""Logarithm of a reach beyond which the likelihood ratio is 0 or infinite up to rounding."""


def too_few_users(n_users: int, role: str = "answer") -> str | None:
    """Why there is no interval over so many users, who have this role; None from `MIN_USERS` on."""
    if n_users >= MIN_USERS:
        return None
    return (
        f"no interval: {n_users} users {role}; fewer than {MIN_USERS} may miss the kind of one user "
        f"in {round(1 / RARE_SHARE)}"
    )


def likelihood_interval(pseudo_values: Floats, freedom: float | None = None) -> Interval | None:
    """Means of the jackknife's pseudo-values that are not too unlikely: shape (units,).

    Empirical likelihood (Owen 1988) of pseudo-values (Jing, Yuan and Zhou 2009). The ratio is held
    against the square of Student's t at `freedom` degrees of freedom, units less 1 by default. None
    where no unit makes a difference.
    """
    freedom = len(pseudo_values) - 1 if freedom is None else freedom
    if not float(np.ptp(pseudo_values)) > _NOTHING:
        return None
    ratio = student_quantile(freedom) ** 2
    return Interval(-_likely_end(-pseudo_values, ratio), _likely_end(pseudo_values, ratio))


def _likely_end(values: Floats, ratio: float) -> float:
    """The largest mean whose weights have this likelihood ratio, -2 sum log(n w).

    Weights that maximise the likelihood at a mean above the sample's are as 1 / (reach - value), with
    some reach above all values: one unknown instead of a search within a search.
    """
    gaps = (values.max() - values) / np.ptp(values)

    def weights(log_reach: float) -> Floats:
        inverse = 1 / (math.exp(log_reach) + gaps)
        shares: Floats = inverse / inverse.sum()
        return shares

    def surplus(log_reach: float) -> float:
        return float(-2 * np.log(len(values) * weights(log_reach)).sum()) - ratio

    end = weights(brentq(surplus, -_FAR, _FAR)) * values
    return math.fsum(end.tolist())


def unit_interval(
    value: float, moves: Floats, *, has_users: bool, freedom: float | None = None
) -> Interval | None:
    """Jackknife interval of an estimate: empirical likelihood over users, Student's t over responses.

    `moves`, shape (units,), are how far leaving out each unit moves the value; `freedom` is units less 1
    by default. None with too few users or one unit, or where no unit makes a difference.
    """
    n = len(moves)
    freedom = n - 1 if freedom is None else freedom
    if freedom < 1 or (has_users and too_few_users(n)):
        return None
    deviations = moves - moves.mean()
    if has_users:
        return likelihood_interval(value - (n - 1) * deviations, freedom)
    error = math.sqrt(float((deviations**2).sum()) * freedom / n)
    return student_interval(value, error, freedom) if error > _NOTHING else None


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

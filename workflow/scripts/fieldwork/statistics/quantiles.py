"""Quantiles, and intervals of them that assume no distribution.

An interval lies between two order statistics. Values that come in groups count as fewer independent ones.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.stats import binom

from fieldwork.statistics.arrays import Floats, Indices
from fieldwork.statistics.intervals import CONFIDENCE, Interval, student_quantile

MIN_CLUSTERS = 2


class OrderPlaces(NamedTuple):
    """Places of two order statistics, from 1."""

    low: int
    high: int


def quantile(values: Floats, share: float) -> float:
    """The value below which a share of `values` lies, linear between two of them.

    Type 7 of Hyndman and Fan 1996.

    Raises:
        ValueError: there are no values.
    """
    if not len(values):
        raise ValueError("no values have no quantile")
    return float(np.quantile(values, share))


def quantile_interval(
    values: Floats, share: float, clusters: Indices | None = None
) -> Interval | None:
    """Distribution-free interval of a quantile, between two of the values.

    Without clusters the order statistics of independent values. With them as for so many fewer values as
    the clusters are worth (Woodruff 1952; Korn and Graubard 1998). None where values are too few.

    Args:
        clusters: number of the cluster of each value, from 0.
    """
    n_independent = _independent_values(values, share, clusters)
    places = order_places(n_independent, share)
    if places is None:
        return None
    sorted_values, n = np.sort(values), len(values)
    low = math.floor(places.low * n / n_independent)
    high = math.ceil(places.high * n / n_independent)
    return Interval(float(sorted_values[low - 1]), float(sorted_values[high - 1]))


def order_places(n: int, share: float) -> OrderPlaces | None:
    """Places of the narrowest order statistics with no more than half the error on each side.

    None where the lowest and the highest of `n` values do not reach so far.
    """
    if n < 1:
        return None
    error = (1 - CONFIDENCE) / 2
    low = int(binom.ppf(error, n, share))
    high = int(binom.ppf(1 - error, n, share)) + 1
    return OrderPlaces(low, high) if low >= 1 and high <= n else None


def values_needed(share: float) -> int:
    """The fewest independent values of which a quantile has an interval."""
    tail = max(share, 1 - share)
    return math.ceil(math.log((1 - CONFIDENCE) / 2) / math.log(tail))


def _independent_values(values: Floats, share: float, clusters: Indices | None) -> int:
    """How many independent values would say as much of the share below the quantile; rounded down."""
    n = len(values)
    if clusters is None or n == 0:
        return n
    sizes = np.bincount(clusters)
    n_clusters = int(np.count_nonzero(sizes))
    if n_clusters < MIN_CLUSTERS:
        return 0
    is_below = values <= quantile(values, share)
    share_below = float(is_below.mean())
    # counts are exact in any order
    residuals = np.bincount(clusters, weights=is_below) - share_below * sizes
    variance = n_clusters / (n_clusters - 1) * float((residuals**2).sum()) / n**2
    of_independent = share_below * (1 - share_below) / n
    design = max(1.0, variance / of_independent) if of_independent > 0 else 1.0
    t = student_quantile(n_clusters - 1) / student_quantile(math.inf)
    return math.floor(n / (design * t * t))

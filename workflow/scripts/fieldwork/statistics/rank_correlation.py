"""How far two orders of the same objects agree: rank correlations, their test and their intervals.

Owns Spearman's rho, Kendall's tau-b, the pairs behind it, the permutation test of either, and the
bootstrap over the objects. Ties share their mean rank, and are pairs of neither order. Promises that
the tests go through all orders of at most 9 objects.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

from fieldwork.statistics.arrays import Floats, Indices
from fieldwork.statistics.intervals import Interval, percentile_interval
from fieldwork.statistics.permutation import TIE, random_p_value

MAX_EXACT = 9
"""The tests are exact for at most so many objects: 9! = 362,880 orders."""
MIN_BOOTSTRAP = 9
"""Fewer objects have no interval: docs/methods.md says what the bootstrap does with them."""
N_BOOTSTRAP = 1999

Values = Sequence[float] | Floats


class PairCounts(NamedTuple):
    """Pairs of objects: in opposite order, tied by at least one side, and all."""

    discordant: int
    n_tied: int
    total: int


class RankTest(NamedTuple):
    """Chance of a correlation as far from 0, the least of any order, and the random orders used."""

    p_value: float
    p_least: float
    n_permutations: int


class RankCorrelation(NamedTuple):
    """The two rank correlations; None where one side ties everything."""

    rho: float | None
    tau_b: float | None
    pairs: PairCounts


def correlate_ranks(first: Values, second: Values) -> RankCorrelation:
    """Rank correlations of two sets of values of the same objects.

    Spearman 1904, American Journal of Psychology 15:72-101, on mean ranks; Kendall 1945, Biometrika
    33:239-251 (tau-b). Values closer than rounding are ties.
    """
    x, y = (_round(values) for values in (first, second))
    tau_b, pairs = _tau_of_pairs(x, y)
    rho = None if tau_b is None else float(_rho(x[None, :], y[None, :])[0])
    return RankCorrelation(rho, tau_b, pairs)


def kendall_tau_b(first: Values, second: Values) -> float | None:
    """The tau-b of `correlate_ranks` alone, which takes a fifth of the time."""
    return _tau_of_pairs(_round(first), _round(second))[0]


def _tau_of_pairs(x: Floats, y: Floats) -> tuple[float | None, PairCounts]:
    x_signs, y_signs = _signs(x), _signs(y)
    product = x_signs * y_signs
    total = len(x) * (len(x) - 1) // 2
    # each pair stands there twice; pairs in the same order less those in opposite order
    n_tied = total - int(np.count_nonzero(product)) // 2
    excess = int(product.sum()) // 2
    pairs = PairCounts((total - n_tied - excess) // 2, n_tied, total)
    bound = math.sqrt(float(_count_without_ties(x_signs)) * float(_count_without_ties(y_signs)))
    return excess / bound if bound > 0 else None, pairs


def discordant_pairs(first: Values, second: Values) -> list[tuple[int, int]]:
    """Places of the pairs in opposite order: first the object that is ahead on the first side."""
    x_signs, y_signs = (_signs(_round(values)) for values in (first, second))
    leaders, followers = np.nonzero((x_signs > 0) & (y_signs < 0))
    return list(zip(leaders.tolist(), followers.tolist(), strict=True))


def descending_ranks(values: Values) -> Floats:
    """Ranks from the highest value, 1 the first; ties share their mean rank."""
    ranks: Floats = rankdata(-_round(values))
    return ranks


def _round(values: Values) -> Floats:
    """Values without their last bits, which differ between sums in another order."""
    array = np.array(values, dtype=np.float64)
    np.round(array, 9, out=array)
    return array


def _signs(values: Floats) -> Indices:
    return np.sign(values[:, None] - values[None, :]).astype(np.int64)


def _count_without_ties(signs: Indices) -> int:
    return int(np.count_nonzero(signs)) // 2


def _rho(x: Floats, y: Floats) -> Floats:
    """Pearson's correlation of mean ranks, row by row; NaN where a row ties everything."""
    ranks = (rankdata(values, axis=1) for values in (x, y))
    x_ranks, y_ranks = (r - r.mean(axis=1, keepdims=True) for r in ranks)
    bound = np.sqrt((x_ranks**2).sum(axis=1) * (y_ranks**2).sum(axis=1))
    rho = np.full(len(x), np.nan)
    np.divide((x_ranks * y_ranks).sum(axis=1), bound, out=rho, where=bound > 0)
    return rho


def mean_rho(first: Floats, second: Floats) -> float | None:
    """Mean of Spearman's rho over rows; None where no row has one."""
    rho = _rho(np.round(first, 9), np.round(second, 9))
    rho = rho[np.isfinite(rho)]
    return float(rho.mean()) if len(rho) else None


def tau_permutation_test(
    first: Values,
    second: Values,
    *,
    n_permutations: int,
    random: np.random.Generator,
) -> RankTest:
    """Two-sided permutation test of tau-b: ties keep its bound, so that the sum of signs decides.

    Exact over all orders of at most `MAX_EXACT` objects; else (hits + 1) / (n_permutations + 1)
    (Phipson and Smyth 2010).
    """
    x, y = (_signs(_round(values)) for values in (first, second))

    def sums_of(orders: Indices) -> Indices:
        return _sign_sums(x, y, orders)

    return _test_orders(sums_of, len(x), n_permutations, random)


def rho_permutation_test(
    first: Values,
    second: Values,
    *,
    n_permutations: int,
    random: np.random.Generator,
) -> RankTest:
    """Two-sided permutation test of rho: mean ranks keep its bound, so that the sum of products decides.

    Exact, or from random orders, as `tau_permutation_test` is.
    """
    x, y = (_whole_ranks(_round(values)) for values in (first, second))

    def sums_of(orders: Indices) -> Indices:
        sums: Indices = y[orders] @ x
        return sums

    return _test_orders(sums_of, len(x), n_permutations, random)


def _whole_ranks(values: Floats) -> Indices:
    """Twice the mean ranks less their mean: whole numbers, whose sums have no rounding."""
    ranks: Indices = np.rint(2 * rankdata(values)).astype(np.int64) - (len(values) + 1)
    return ranks


def _test_orders(
    sums_of: Callable[[Indices], Indices],
    n: int,
    n_permutations: int,
    random: np.random.Generator,
) -> RankTest:
    """How many orders of the second side have a sum as far from 0 as the observed one."""
    observed_sum = abs(int(sums_of(np.arange(n)[None, :])[0]))
    if n <= MAX_EXACT:
        sums = np.abs(sums_of(all_orders(n)))
        p_value, p_least = float((sums >= observed_sum).mean()), float((sums == sums.max()).mean())
        return RankTest(p_value, p_least, 0)
    orders = np.argsort(random.random((n_permutations, n)), axis=1, kind="stable")
    hits = int((np.abs(sums_of(orders)) >= observed_sum).sum())
    p_value, p_least = (random_p_value(n, n_permutations) for n in (hits, 0))
    return RankTest(p_value, p_least, n_permutations)


def all_orders(n: int) -> Indices:
    """Every order of n objects: shape (n!, n)."""
    orders: Indices = np.zeros((1, 0), dtype=np.int64)
    for k in range(n):
        orders = np.concatenate([np.insert(orders, place, k, axis=1) for place in range(k + 1)])
    return orders


def _sign_sums(x: Indices, y: Indices, orders: Indices) -> Indices:
    """Concordant less discordant pairs, for each order of the second side."""
    flat, n = y.ravel(), len(x)
    sums = np.zeros(len(orders), dtype=np.int64)
    # column by column, each in one piece of memory
    places = np.ascontiguousarray(orders.T)
    starts = places * n
    for i, j in itertools.combinations(range(n), 2):
        if x[i, j]:
            sums += x[i, j] * flat[starts[i] + places[j]]
    return sums


class CorrelationIntervals(NamedTuple):
    """Intervals of rho and tau-b; None where there is none."""

    rho: Interval | None
    tau_b: Interval | None


def bootstrap_intervals(
    first: Values,
    second: Values,
    *,
    random: np.random.Generator,
) -> CorrelationIntervals:
    """Percentile bootstrap over the objects, from `MIN_BOOTSTRAP` objects on."""
    if len(first) < MIN_BOOTSTRAP:
        return CorrelationIntervals(None, None)
    return percentile_intervals(first, second, random=random)


def percentile_intervals(
    first: Values, second: Values, *, random: np.random.Generator
) -> CorrelationIntervals:
    """Percentile bootstrap over the objects, of any number of them.

    No interval of width zero: where all samples have one order, nothing shows the uncertainty.
    """
    x, y = (_round(values) for values in (first, second))
    samples = random.integers(0, len(x), size=(N_BOOTSTRAP, len(x)))
    intervals = (
        percentile_interval(correlations)
        for correlations in (_rho(x[samples], y[samples]), _taus(x, y, samples))
    )
    return CorrelationIntervals(*(i if i and i.high - i.low > TIE else None for i in intervals))


def _taus(x: Floats, y: Floats, samples: Indices) -> Floats:
    """Tau-b of each sample of the objects."""
    x_signs, y_signs = (_signs(values).astype(np.float64) for values in (x, y))
    counts = np.stack([np.bincount(row, minlength=len(x)) for row in samples]).astype(np.float64)

    def sum_over_pairs(weights: Floats) -> Floats:
        sums: Floats = ((counts @ weights) * counts).sum(axis=1)
        return sums

    bound = np.sqrt(sum_over_pairs(np.abs(x_signs)) * sum_over_pairs(np.abs(y_signs)))
    taus = np.full(len(samples), np.nan)
    np.divide(sum_over_pairs(x_signs * y_signs), bound, out=taus, where=bound > 0)
    return taus

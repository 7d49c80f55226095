"""Permutation tests: of two samples of answers, over kinds of answers, and of two arms of units.

Owns the null distribution of a statistic when labels of two samples are exchanged at random, counted
out where the distinct tables or splits are few and drawn otherwise, and Holm's correction. Equal
answers are one kind; exchanging two of them changes nothing, so a permutation is a table of how many
answers of each kind the first sample gets, with its hypergeometric probability. A unit is a puppet or
a rerun with all it answered, and moves as a whole.
"""

import math
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from fieldwork.metrics.resampling import Counts, Floats

MAX_TABLES = 20_000
_TIE = 1e-9
"""Equal statistics come out of sums in another order; closer than this is a tie."""

Statistic = Callable[[Counts, Counts], Floats]
"""Of tables of the two samples, each of shape (tables, kinds), one value a table."""


class Tested(NamedTuple):
    """A p-value and the number of random permutations behind it, 0 where all were counted out."""

    p_value: float
    n_permutations: int


def permutation_test(
    first: Counts,
    second: Counts,
    statistic: Statistic,
    *,
    n_permutations: int,
    random: np.random.Generator,
) -> Tested:
    """Chance of a statistic as large as the observed one if both samples are from one source.

    `first` and `second` count answers by kind, shape (kinds,). Exact if at most `MAX_TABLES` tables
    are possible; else (hits + 1) / (n_permutations + 1), which is never too small (Phipson and
    Smyth 2010).
    """
    pooled, size = first + second, int(first.sum())
    observed = float(statistic(first[None, :], second[None, :])[0])
    if count_tables(pooled, size) <= MAX_TABLES:
        tables = all_tables(pooled, size)
        hit = statistic(tables, pooled - tables) >= observed - _TIE
        return Tested(min(1.0, float(table_chances(tables, pooled)[hit].sum())), 0)
    tables = random.multivariate_hypergeometric(
        pooled, size, size=n_permutations, method="marginals"
    )
    hits = int((statistic(tables, pooled - tables) >= observed - _TIE).sum())
    return Tested((hits + 1) / (n_permutations + 1), n_permutations)


def count_tables(pooled: Counts, size: int) -> int:
    """Ways to take `size` answers by kind from `pooled`, up to 1e15."""
    ways = np.zeros(size + 1)
    ways[0] = 1
    for available in pooled:
        ways = np.minimum(np.convolve(ways, np.ones(int(available) + 1))[: size + 1], 1e15)
    return int(ways[size])


def all_tables(pooled: Counts, size: int) -> Counts:
    """Every way to take `size` answers from `pooled`, shape (tables, kinds)."""
    taken: Counts = np.zeros((1, 0), dtype=np.int64)
    left = np.array([size])
    later = int(pooled.sum())
    for available in pooled:
        later -= int(available)
        lowest, highest = np.maximum(left - later, 0), np.minimum(left, int(available))
        repeats = highest - lowest + 1
        rows = np.repeat(np.arange(len(left)), repeats)
        within = np.arange(len(rows)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
        number = lowest[rows] + within
        taken = np.column_stack([taken[rows], number])
        left = left[rows] - number
    return taken


def table_chances(tables: Counts, pooled: Counts) -> Floats:
    """Multivariate hypergeometric probability of each table."""
    size, total = int(tables[0].sum()), int(pooled.sum())
    log_ways: Floats = _log_choose(pooled[None, :], tables).sum(axis=1) - _log_choose(
        np.array(total), np.array(size)
    )
    chances: Floats = np.exp(log_ways)
    return chances


def _log_choose(n: NDArray[np.int64], k: NDArray[np.int64]) -> Floats:
    ways: Floats = gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)
    return ways


class Splits(NamedTuple):
    """Ways to deal units to two arms: shape (splits, units), true for the first arm.

    The first row is the split as it was observed. `n_drawn` is 0 where all splits are there.
    """

    first: NDArray[np.bool_]
    n_drawn: int


def unit_splits(
    n_first: int, n_second: int, *, n_permutations: int, random: np.random.Generator
) -> Splits:
    """All splits of the units if at most `MAX_TABLES`, else the observed one and random ones."""
    total = n_first + n_second
    observed = np.arange(total) < n_first
    if math.comb(total, n_first) <= MAX_TABLES:
        chosen = np.array(list(combinations(range(total), n_first)), dtype=np.int64)
        every = np.zeros((len(chosen), total), dtype=np.bool_)
        np.put_along_axis(every, chosen, True, axis=1)
        # combinations come in order, the observed split first
        return Splits(every, 0)
    order = np.argsort(random.random((n_permutations, total)), axis=1, kind="stable")
    return Splits(np.vstack([observed[None, :], order < n_first]), n_permutations)


def split_chance(values: Floats) -> float:
    """Share of splits with a statistic of at least that of the first one, the observed.

    Over all splits this is the exact p-value; over random ones, with the observed among them, it is
    (hits + 1) / (n_permutations + 1).
    """
    return float((values >= values[0] - _TIE).mean())


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm 1979: p-values that hold for all hypotheses together, in the order given."""
    order = np.argsort(p_values, kind="stable")
    corrected = [0.0] * len(order)
    highest = 0.0
    for rank, place in enumerate(order):
        highest = max(highest, min(1.0, (len(order) - rank) * p_values[place]))
        corrected[place] = highest
    return corrected

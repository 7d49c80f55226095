"""Permutation tests: all permutations where they are few, random ones where they are many.

Owns three of them. Two samples of answers exchange answers; equal answers are one kind, and swapping
two of them changes nothing, so that a permutation is a table of how many answers of each kind the
first sample has. Two groups of units exchange whole units: a puppet or a rerun with all its answers.
Paired differences change their signs.
"""

import math
from collections.abc import Callable
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from fieldwork.errors import StudyError
from fieldwork.statistics.arrays import Counts, Flags, Floats

MAX_TABLES = 20_000
"""Up to so many permutations all of them are counted; beyond, random ones are drawn."""

TIE = 1e-9
"""Equal statistics differ by rounding when sums have another order; closer than this is a tie."""

Statistic = Callable[[Counts, Counts], Floats]
"""Of tables of the two samples, each of shape (tables, kinds), one value a table."""


class PermutationTest(NamedTuple):
    """A p-value and the number of random permutations behind it, 0 where all were counted."""

    p_value: float
    n_permutations: int


def require_permutations(n_permutations: int) -> None:
    """Raise StudyError where a study has no random permutations for its tests."""
    if n_permutations < 1:
        raise StudyError(
            f"metrics.permutations is {n_permutations}: a test needs at least 1; raise it"
        )


def random_p_value(n_hits: int, n_drawn: int) -> float:
    """P-value from random permutations, `n_hits` of them as extreme as the observed one.

    (hits + 1) / (drawn + 1): the observed one is a permutation too, so that the p-value is never too
    small (Phipson and Smyth 2010).
    """
    return (n_hits + 1) / (n_drawn + 1)


def permutation_test(
    first: Counts,
    second: Counts,
    statistic: Statistic,
    *,
    n_permutations: int,
    random: np.random.Generator,
) -> PermutationTest:
    """Chance of a statistic as large as the observed one if both samples are from one source.

    `first` and `second` count answers by kind, shape (kinds,). Exact if at most `MAX_TABLES` tables
    are possible; else from `n_permutations` random ones.
    """
    pooled_counts, size = first + second, int(first.sum())
    observed_value = float(statistic(first[None, :], second[None, :])[0])
    if count_tables(pooled_counts, size) <= MAX_TABLES:
        tables = all_tables(pooled_counts, size)
        is_hit = statistic(tables, pooled_counts - tables) >= observed_value - TIE
        return PermutationTest(
            min(1.0, float(table_chances(tables, pooled_counts)[is_hit].sum())), 0
        )
    tables = random.multivariate_hypergeometric(
        pooled_counts, size, size=n_permutations, method="marginals"
    )
    n_hits = int((statistic(tables, pooled_counts - tables) >= observed_value - TIE).sum())
    return PermutationTest(random_p_value(n_hits, n_permutations), n_permutations)


def count_tables(pooled_counts: Counts, size: int) -> int:
    """Ways to take `size` answers by kind from `pooled_counts`, up to 1e15."""
    ways = np.zeros(size + 1)
    ways[0] = 1
    for available in pooled_counts:
        ways = np.minimum(np.convolve(ways, np.ones(int(available) + 1))[: size + 1], 1e15)
    return int(ways[size])


def all_tables(pooled_counts: Counts, size: int) -> Counts:
    """Every way to take `size` answers from `pooled_counts`, shape (tables, kinds)."""
    tables: Counts = np.zeros((1, 0), dtype=np.int64)
    n_left = np.array([size])
    n_later = int(pooled_counts.sum())
    for available in pooled_counts:
        n_later -= int(available)
        lowest, highest = np.maximum(n_left - n_later, 0), np.minimum(n_left, int(available))
        repeats = highest - lowest + 1
        rows = np.repeat(np.arange(len(n_left)), repeats)
        steps = np.arange(len(rows)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
        number = lowest[rows] + steps
        tables = np.column_stack([tables[rows], number])
        n_left = n_left[rows] - number
    return tables


def table_chances(tables: Counts, pooled_counts: Counts) -> Floats:
    """Multivariate hypergeometric probability of each table."""
    total, size = pooled_counts.sum(keepdims=True), tables[:1].sum(axis=1, keepdims=True)
    chances: Floats = np.exp(log_ways(tables, pooled_counts) - log_ways(size, total))
    return chances


def log_ways(tables: Counts, pooled_counts: Counts) -> Floats:
    """Logarithm of the ways to take each table from `pooled_counts`: shape (tables,)."""
    by_kind = (
        gammaln(pooled_counts + 1.0) - gammaln(tables + 1.0) - gammaln(pooled_counts - tables + 1.0)
    )
    ways: Floats = by_kind.sum(axis=1)
    return ways


class UnitSplits(NamedTuple):
    """Ways to split units into two groups: shape (splits, units), true for the first group.

    The first row is the observed split. `n_drawn` is 0 where all splits are there.
    """

    first: Flags
    n_drawn: int


def unit_splits(
    n_first: int, n_second: int, *, n_permutations: int, random: np.random.Generator
) -> UnitSplits:
    """All splits of the units if at most `MAX_TABLES`, else the observed one and random ones."""
    total = n_first + n_second
    observed_split = np.arange(total) < n_first
    if math.comb(total, n_first) <= MAX_TABLES:
        members = np.array(list(combinations(range(total), n_first)), dtype=np.int64)
        splits = np.zeros((len(members), total), dtype=np.bool_)
        np.put_along_axis(splits, members, True, axis=1)
        # combinations come in order, the observed split first
        return UnitSplits(splits, 0)
    order = np.argsort(random.random((n_permutations, total)), axis=1, kind="stable")
    return UnitSplits(np.vstack([observed_split[None, :], order < n_first]), n_permutations)


def p_value_of_first(values: Floats) -> float:
    """P-value of the first value, the observed one, among the values of all splits.

    Exact over all splits; over random ones and the observed one it is `random_p_value`.
    """
    return float((values >= values[0] - TIE).mean())


def sign_flips(
    differences: Floats, *, n_permutations: int, random: np.random.Generator
) -> PermutationTest:
    """Two-sided test that differences are as likely of either sign (Fisher 1935).

    Exact if there are at most `MAX_TABLES` ways to sign them, else from random signs.
    """
    n = len(differences)
    observed_value = abs(float(differences.sum())) - 1e-12
    if 2**n <= MAX_TABLES:
        signs = np.array(list(product((-1.0, 1.0), repeat=n)))
        return PermutationTest(float((np.abs(signs @ differences) >= observed_value).mean()), 0)
    signs = random.choice((-1.0, 1.0), size=(n_permutations, n))
    n_hits = int((np.abs(signs @ differences) >= observed_value).sum())
    return PermutationTest(random_p_value(n_hits, n_permutations), n_permutations)

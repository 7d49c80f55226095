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

_NOTHING = 1e-12
"""Differences of means below this are rounding."""

Statistic = Callable[[Counts, Counts], Floats]
"""Of tables of the two samples, each of shape (tables, kinds), one value a table."""


ENOUGH_HITS = 20
"""Permutations as extreme as the observed one after which a p-value is exact enough: a fifth of it."""

MOST_PERMUTATIONS = 1_000_000
"""Random permutations of one test, however many tests are made."""

CHUNK = 10_000
"""Random permutations drawn at once, for the sake of memory."""


class PermutationTest(NamedTuple):
    """A p-value and the number of random permutations behind it, 0 where all were counted.

    Attributes:
        p_least: the smallest p-value that the test could have had with these answers.
    """

    p_value: float
    n_permutations: int
    p_least: float


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
    n_most: int = 0,
) -> PermutationTest:
    """Chance of a statistic as large as the observed one if both samples are from one source.

    `first` and `second` count answers by kind, shape (kinds,). Exact if at most `MAX_TABLES` tables
    are possible; else from `n_permutations` random ones, and up to `n_most` where p is small.
    """
    pooled_counts, size = first + second, int(first.sum())
    observed_value = float(statistic(first[None, :], second[None, :])[0])
    if count_tables(pooled_counts, size) <= MAX_TABLES:
        tables = all_tables(pooled_counts, size)
        values, chances = (
            statistic(tables, pooled_counts - tables),
            table_chances(tables, pooled_counts),
        )
        p_value, p_least = (
            min(1.0, float(chances[values >= value - TIE].sum()))
            for value in (observed_value, float(values.max()))
        )
        return PermutationTest(p_value, 0, p_least)

    def count_hits(n: int) -> int:
        tables = random.multivariate_hypergeometric(pooled_counts, size, size=n, method="marginals")
        return int((statistic(tables, pooled_counts - tables) >= observed_value - TIE).sum())

    return staged_test(count_hits, n_permutations, n_most)


def permutations_to_resolve(n_tests: int, level: float) -> int:
    """Permutations with which one test alone can be shown at a level corrected for `n_tests`."""
    return min(MOST_PERMUTATIONS, math.ceil(n_tests / level))


def staged_test(
    count_hits: Callable[[int], int], n_permutations: int, n_most: int
) -> PermutationTest:
    """A test that draws ten times as many permutations while few are as extreme as the observed one.

    It ends with `ENOUGH_HITS` or with `n_most`, and then takes (hits + 1) / (drawn + 1). Going on can
    only help a p-value that was already small, so that p keeps its level: to be at most a level that the
    first draws resolve, it had to be there at once; below, it is the p-value of all draws (a sequential
    Monte Carlo test after Besag and Clifford 1991).

    Args:
        count_hits: draws so many permutations and says how many are as extreme.
    """
    n_hits, n_drawn = count_hits(n_permutations), n_permutations
    while n_hits < ENOUGH_HITS and n_drawn < n_most:
        n_stage = min(9 * n_drawn, n_most - n_drawn)
        for start in range(0, n_stage, CHUNK):
            n_hits += count_hits(min(CHUNK, n_stage - start))
        n_drawn += n_stage
    p_least = random_p_value(0, max(n_permutations, n_most))
    return PermutationTest(random_p_value(n_hits, n_drawn), n_drawn, p_least)


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


def welch_statistic(scores: Floats, splits: UnitSplits) -> Floats:
    """|difference of means| / its standard error, of each split: shape (splits,)."""
    # centred first: differences of large squares would lose digits
    deviations = scores - scores.mean()
    moments = [
        (side @ deviations, side @ deviations**2, side.sum(axis=1))
        for side in (splits.first, ~splits.first)
    ]
    means = [total / n for total, _, n in moments]
    variances = [
        np.maximum(squares - n * centre**2, 0.0) / (n - 1) / n
        for (_, squares, n), centre in zip(moments, means, strict=True)
    ]
    error, difference = np.sqrt(sum(variances)), np.abs(means[0] - means[1])
    difference = np.where(difference < _NOTHING, 0.0, difference)
    # two arms without any spread that differ are as far apart as can be
    statistic: Floats = difference / np.maximum(error, 1e-9)
    return statistic


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
        p_value = float((np.abs(signs @ differences) >= observed_value).mean())
        return PermutationTest(p_value, 0, 2 / 2**n)
    signs = random.choice((-1.0, 1.0), size=(n_permutations, n))
    n_hits = int((np.abs(signs @ differences) >= observed_value).sum())
    p_least = random_p_value(0, n_permutations)
    return PermutationTest(random_p_value(n_hits, n_permutations), n_permutations, p_least)

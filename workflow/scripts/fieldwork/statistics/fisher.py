"""Fisher's exact test: of two shares with a correction of its own, and of the shares of several groups.

A p-value of two shares can only be one of a few, which the margins of their table fix. The correction
makes use of that: an option that two of eighty answers name cannot have a p-value below .49, so it
costs the other options less than Holm's correction would.
"""

import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from fieldwork.statistics.arrays import Counts, Floats
from fieldwork.statistics.permutation import all_tables, count_tables, log_ways, random_p_value

MAX_GROUP_TABLES = 200_000
"""Tables of several groups that are all counted; where more are possible, random ones are drawn."""

N_DRAWS = 9_999
"""Random tables where there are too many to count."""

_LOG_TIE = 1e-7
"""Logarithms of equal probabilities differ by rounding; closer than this is a tie."""

_TIE = 1 + _LOG_TIE


class Margins(NamedTuple):
    """Fixed sums of a table of two shares: answers that give the option, answers of each side."""

    n_named: int
    n_answers: int
    n_baseline: int


@lru_cache(maxsize=4096)
def p_of_tables(margins: Margins) -> Floats:
    """Two-sided p-values by how many of the `named` are the first side's: shape (named + 1,).

    The sum of the probabilities of all tables that are no more probable (Fisher 1935; two-sided as in
    R and scipy). Impossible tables have NaN.
    """
    n_named, n_own, n_other = margins
    first = np.arange(n_named + 1)
    is_possible = (first <= n_own) & (n_named - first <= n_other)
    sides = np.column_stack([first, n_named - first])[is_possible]
    ways = log_ways(sides, np.array([n_own, n_other]))
    all_ways = log_ways(np.array([[n_named]]), np.array([n_own + n_other]))[0]
    chances = np.zeros(n_named + 1)
    chances[is_possible] = np.exp(ways - all_ways)
    ascending = np.sort(chances)
    p_values = np.cumsum(ascending)[np.searchsorted(ascending, chances * _TIE, side="right") - 1]
    possible: Floats = np.where(is_possible, np.minimum(p_values, 1.0), np.nan)
    return possible


def fisher_p(n_named: int, margins: Margins) -> float:
    """Two-sided p-value of equal shares, where `n_named` of the first side give the option."""
    return float(p_of_tables(margins)[n_named])


@lru_cache(maxsize=4096)
def least_fisher_p(margins: Margins) -> float:
    """The smallest p-value that tables with these margins can have."""
    return float(np.nanmin(p_of_tables(margins)))


Support = Margins | float
"""The p-values that a test can have: those of a table's margins, or all from a smallest one."""


def least_p(support: Support) -> float:
    """The smallest p-value that a test could have had; 0 where nothing limits it."""
    return least_fisher_p(support) if isinstance(support, Margins) else support


def holm_of_discrete(p_values: Sequence[float], supports: Sequence[Support]) -> list[float]:
    """Holm's step-down correction with the p-values that each test can have: Westfall and Wolfinger 1997.

    Where Holm 1979 adds up p once for each hypothesis left, this adds up the chance that each of them
    to have a p-value of p or below: its largest possible p-value that is not above p. It is never
    larger than Holm's and holds, as his, however the tests depend on each other.
    """
    order = np.argsort(p_values, kind="stable")
    n_left = Counter(supports)
    steps = {support: _possible_p_values(support) for support in n_left}
    p_holms = [1.0] * len(order)
    highest = 0.0
    for place in order:
        p = p_values[place] * _TIE
        total = math.fsum(n * _chance_up_to(p, steps[table]) for table, n in n_left.items() if n)
        highest = max(highest, min(1.0, total))
        p_holms[place] = highest
        n_left[supports[place]] -= 1
        if highest == 1.0:
            # so are all that follow
            break
    return p_holms


@lru_cache(maxsize=4096)
def _possible_p_values(support: Support) -> Floats | float:
    if isinstance(support, float):
        return support
    p_values = p_of_tables(support)
    return np.unique(p_values[~np.isnan(p_values)])


def _chance_up_to(p: float, p_values: Floats | float) -> float:
    """Chance of a p-value up to `p`: the largest possible one that is not above it."""
    if isinstance(p_values, float):
        return min(p, 1.0) if p >= p_values else 0.0
    place = int(np.searchsorted(p_values, p, side="right"))
    return float(p_values[place - 1]) if place else 0.0


class GroupsTest(NamedTuple):
    """A test of the shares of several groups, and the smallest p-value that its margins allow."""

    p_value: float
    p_least: float


def fisher_test_of_groups(
    counts: Counts, sizes: Counts, *, random: np.random.Generator
) -> GroupsTest:
    """Test that groups of these sizes have one share: both arguments have shape (groups,).

    Fisher's exact test of a table of two rows (Freeman and Halton 1951): the sum of the probabilities
    of all tables that are no more probable. All tables are counted up to `MAX_GROUP_TABLES`; beyond,
    `N_DRAWS` random ones are drawn.
    """
    total = int(counts.sum())
    highest = log_ways(counts[None, :], sizes)[0]
    if count_tables(sizes, total) <= MAX_GROUP_TABLES:
        ways = log_ways(all_tables(sizes, total), sizes)
        shares = np.exp(ways - log_ways(np.array([[total]]), sizes.sum(keepdims=True))[0])
        p_value, p_least = (
            min(1.0, math.fsum(shares[ways <= bound + _LOG_TIE])) for bound in (highest, ways.min())
        )
        return GroupsTest(p_value, p_least)
    tables = random.multivariate_hypergeometric(sizes, total, size=N_DRAWS, method="marginals")
    n_hits = int((log_ways(tables, sizes) <= highest + _LOG_TIE).sum())
    return GroupsTest(random_p_value(n_hits, N_DRAWS), random_p_value(0, N_DRAWS))

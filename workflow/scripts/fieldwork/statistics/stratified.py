"""Two samples compared within strata: what of a stratum came in which sample is left to chance.

Owns the exact test of two shares over strata, random permutations within strata, and aligned ranks.
Answers of one stratum may be exchanged between the samples where nothing changed; strata may differ as
they like. Promises that equal arguments give equal bits.
"""

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln
from scipy.stats import rankdata

from fieldwork.statistics.arrays import Counts, Flags, Floats, Indices
from fieldwork.statistics.permutation import (
    ENOUGH_HITS,
    TIE,
    PermutationTest,
    random_p_value,
    staged_test,
)

FIRST_DRAWS = 1_999
"""Random permutations of every test."""

MOST_DRAWS = 200_000
"""Random permutations of one test at most."""

_TIMES_LEVEL = 10
"""Times the level below which a p-value of the first draws is looked at again."""

_CELLS_AT_ONCE = 4_000_000
"""Random numbers drawn at once, for the sake of memory."""

_ROUNDING = 1 + 1e-7
"""Probabilities that differ by less are equal."""


class StratumCounts(NamedTuple):
    """Successes and answers of both samples, each of shape (strata, 2), the first sample first."""

    successes: Counts
    answers: Counts


def exact_share_test(counts: StratumCounts) -> PermutationTest:
    """Two-sided test that the chance of success is alike in both samples of each stratum.

    Given the successes of a stratum, those of the second sample are hypergeometric; their sum over
    strata has the convolution of these distributions. p is the chance of all sums that are no more
    probable than the observed one (Gart 1970; computed as by Mehta, Patel and Gray 1985). With one
    answer of each sample a stratum it is McNemar's exact test (1947), with one stratum Fisher's. Without
    a stratum that has both successes and failures p is 1.
    """
    pooled_successes, totals = counts.successes.sum(axis=1), counts.answers.sum(axis=1)
    is_mixed = (pooled_successes > 0) & (pooled_successes < totals)
    chances, lowest = np.ones(1), 0
    for successes, total, size in zip(
        pooled_successes[is_mixed].tolist(),
        totals[is_mixed].tolist(),
        counts.answers[is_mixed, 1].tolist(),
        strict=True,
    ):
        chances = np.convolve(chances, _hypergeometric(successes, total, size))
        lowest += max(0, size + successes - total)
    place = int(counts.successes[is_mixed, 1].sum()) - lowest
    p_value, p_least = (
        float(chances[chances <= chance * _ROUNDING].sum()) / float(chances.sum())
        for chance in (chances[place], chances.min())
    )
    # far tails are smaller than a number can be
    tiny = float(np.finfo(float).tiny)
    return PermutationTest(min(1.0, max(tiny, p_value)), 0, min(1.0, max(tiny, p_least)))


def _hypergeometric(successes: int, total: int, size: int) -> Floats:
    """Chances of each number of successes among `size` answers of `total`, from the smallest on."""
    k = np.arange(max(0, size + successes - total), min(size, successes) + 1, dtype=np.float64)
    log_chances = (
        _log_binomial(successes, k)
        + _log_binomial(total - successes, size - k)
        - _log_binomial(total, np.array([float(size)]))
    )
    chances: Floats = np.exp(log_chances)
    return chances


def _log_binomial(n: int, k: Floats) -> Floats:
    ways: Floats = gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)
    return ways


class StratumShuffles:
    """Random permutations of which answers of a stratum are in the second sample.

    Args:
        strata: number of the stratum of each answer, shape (answers,).
        is_second: whether it is in the second sample, shape (answers,).
    """

    def __init__(self, strata: Indices, is_second: Flags) -> None:
        self._is_second = is_second
        order = np.argsort(strata, kind="stable")
        _, starts, sizes = np.unique(strata[order], return_index=True, return_counts=True)
        shapes: dict[tuple[int, int], list[Indices]] = {}
        for start, size in zip(starts, sizes, strict=True):
            members = order[start : start + size]
            shapes.setdefault((int(size), int(is_second[members].sum())), []).append(members)
        self._blocks = [
            (np.stack(members), n) for (_, n), members in sorted(shapes.items(), key=lambda s: s[0])
        ]

    def draw(self, n_draws: int, random: np.random.Generator) -> Iterator[Floats]:
        """Chunks of shape (draws, answers): 1 for an answer that is dealt to the second sample."""
        n_answers = len(self._is_second)
        chunk = max(1, _CELLS_AT_ONCE // max(1, n_answers))
        for start in range(0, n_draws, chunk):
            n = min(chunk, n_draws - start)
            dealt_second = np.zeros((n, n_answers))
            for members, n_second in self._blocks:
                size = members.shape[1]
                if not 0 < n_second < size:
                    dealt_second[:, members.ravel()] = float(n_second > 0)
                    continue
                samples = np.broadcast_to(np.arange(size) < n_second, (n, *members.shape))
                dealt_second[:, members] = random.permuted(samples, axis=2)
            yield dealt_second


class ShuffleTest(NamedTuple):
    """A test by permutations, and what the statistic is on average where nothing changed.

    Attributes:
        is_capped: more draws would have been needed to show a change at the level.
    """

    test: PermutationTest
    mean: float
    is_capped: bool


class DrawPlan(NamedTuple):
    """How many permutations a test draws.

    Attributes:
        n_tests: tests that share the level.
        n_first: draws of the first set.
    """

    level: float
    n_tests: int
    n_first: int = FIRST_DRAWS

    @property
    def n_wanted(self) -> int:
        """Draws of the second set that resolve the level of one test of all."""
        return max(self.n_first, math.ceil(ENOUGH_HITS * self.n_tests / self.level))

    @property
    def n_most(self) -> int:
        """As many as are drawn."""
        return min(self.n_wanted, max(self.n_first, MOST_DRAWS))

    @property
    def highest_unclear(self) -> float:
        """The first p-value below which a second set decides: ten times the level, and ten hits."""
        return max(_TIMES_LEVEL * self.level, _TIMES_LEVEL / (self.n_first + 1))


def shuffle_test(
    shuffles: StratumShuffles,
    statistic: Callable[[Floats], Floats],
    observed_value: float,
    *,
    least_chance: float,
    plan: DrawPlan,
    generators: tuple[np.random.Generator, np.random.Generator],
) -> ShuffleTest:
    """Chance of a statistic as large as the observed one where samples are dealt anew within strata.

    A p-value of the first draws counts unless it is small. Then a second set, independent of the first,
    decides alone: `staged_test` draws it, up to as many as leave 20 as extreme ones at level / tests. The
    one that counts is a p-value as both are: for a bound t among the small ones it is at most t only if
    the second is; above, the chances of a first p-value in between and of a small one sum up to t.

    Args:
        statistic: of samples dealt anew, shape (draws, answers), a value a draw.
        least_chance: of any way to deal the samples (`least_chance`).
        generators: of the first and of the second draws.
    """
    bound = observed_value - TIE * max(1.0, abs(observed_value))

    def draw(n: int, random: np.random.Generator) -> tuple[int, float]:
        n_hits, sums = 0, []
        for dealt_second in shuffles.draw(n, random):
            values = statistic(dealt_second)
            n_hits += int((values >= bound).sum())
            sums.append(float(values.sum()))
        return n_hits, math.fsum(sums) / n

    n_hits, mean = draw(plan.n_first, generators[0])
    p_value, n_draws = random_p_value(n_hits, plan.n_first), plan.n_first
    if p_value < plan.highest_unclear:
        second = staged_test(lambda n: draw(n, generators[1])[0], plan.n_first, plan.n_most)
        p_value, n_draws = second.p_value, second.n_permutations
    p_least = max(random_p_value(0, plan.n_most), least_chance)
    return ShuffleTest(
        PermutationTest(p_value, n_draws, p_least), mean, plan.n_most < plan.n_wanted
    )


def least_chance(kinds: Indices, strata: Indices, is_second: Flags) -> float:
    """A chance that no way to deal the answers falls below: no p-value over all of them is smaller.

    It is that of the rarest ways of all strata together. Answers of one kind are alike, so that a stratum
    of two kinds has few ways; with more kinds, each answer is taken for one of its own.

    Args:
        kinds: number of the kind of each answer, shape (answers,), as `strata` and `is_second`.
    """
    order = np.argsort(strata, kind="stable")
    _, starts = np.unique(strata[order], return_index=True)
    log_chance = 0.0
    for members in np.split(order, starts[1:]):
        n, n_second = len(members), int(is_second[members].sum())
        n_of_first = int((kinds[members] == kinds[members[0]]).sum())
        if n_of_first == n:
            continue
        if len(np.unique(kinds[members])) == 2:
            log_chance += math.log(float(_hypergeometric(n_of_first, n, n_second).min()))
        else:
            log_chance -= float(_log_binomial(n, np.array([float(n_second)]))[0])
    return math.exp(log_chance)


def aligned_ranks(values: Floats, strata: Indices) -> Floats:
    """Ranks of values less their stratum's median, less their mean there (Hodges and Lehmann 1962).

    The sum of the second sample's is 0 on average where samples are dealt anew. Strata with few values
    are compared with one another this way, which ranks within each would not. One value far off has the
    last rank, however far it is.
    """
    order = np.argsort(strata, kind="stable")
    _, starts = np.unique(strata[order], return_index=True)
    groups = np.split(order, starts[1:])
    deviations = values.astype(np.float64)
    for members in groups:
        deviations[members] -= np.median(values[members])
    # equal differences of unequal numbers may differ by rounding
    ranks: Floats = rankdata(np.round(deviations, 9))
    for members in groups:
        ranks[members] -= ranks[members].mean()
    return ranks

"""The tests of one prompt in simulated studies: of an option's share, and of the distance of all answers.

Owns p-values of `shifts` and of `comparisons` for a prompt in which one answer's share is moved. Fisher's
test is that of `shifts`, and answers of two kinds go through the permutation test of `comparisons`
itself. For lists its random tables are drawn as splits that studies share, which has the same
distribution.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import count

import numpy as np
from numpy.typing import NDArray

from fieldwork.metrics.comparisons import option_distance
from fieldwork.metrics.power.effects import AnswerSource, LetterSource, ListSource, ShareChange
from fieldwork.metrics.power.lists import draw_moved_lists
from fieldwork.metrics.power.outcomes import SimulatedStudies, SimulatedTest, confirmed_p
from fieldwork.metrics.power.shuffles import SharedSplits, blocks, count_all_hits
from fieldwork.statistics.arrays import Counts, Floats
from fieldwork.statistics.entropy import k_log_k
from fieldwork.statistics.families import LEVEL
from fieldwork.statistics.fisher import Margins, fisher_p, least_fisher_p
from fieldwork.statistics.permutation import (
    TIE,
    PermutationTest,
    permutation_test,
    staged_test,
)


def option_tests(
    first: Counts, second: Counts, n: int, controls: Sequence[Counts] = ()
) -> list[tuple[float, Margins]]:
    """Fisher's tests of options that `n` answers on each side name so often, of those that can count.

    An option is left out where even the most extreme table would not have a p-value below the level.

    Args:
        controls: the counts of the baseline asked again, which confirm those of the second.
    """
    return [
        (max(fisher_p(a, Margins(a + other, n, n)) for other in (b, *asked_again)), margins)
        for a, b, *asked_again in zip(
            *(side.tolist() for side in (first, second, *controls)), strict=True
        )
        if least_fisher_p(margins := Margins(a + b, n, n)) < LEVEL
    ]


def share_tests(
    change: ShareChange, source: AnswerSource, studies: SimulatedStudies
) -> Iterator[SimulatedTest]:
    """The tests of the moved option, and of the other options of its prompt."""
    n = studies.n_users
    for _ in range(studies.n_studies):
        condition, *baselines = _moved_counts(change, source, studies)
        margins = [Margins(int(condition[0] + baseline[0]), n, n) for baseline in baselines]
        rest, *controls = [baseline[1:] for baseline in baselines]
        yield SimulatedTest(
            confirmed_p([fisher_p(int(condition[0]), table) for table in margins]),
            margins[0],
            tuple(option_tests(condition[1:], rest, n, controls)),
        )


def _moved_counts(
    change: ShareChange, source: AnswerSource, studies: SimulatedStudies
) -> list[Counts]:
    """How often each option is named under the condition and each baseline, the moved one first."""
    shares = (change.condition, *[change.baseline] * studies.n_baselines)
    n, random = studies.n_users, studies.random
    if isinstance(source, ListSource):
        return [draw_moved_lists(share, source, n, random).sum(axis=0) for share in shares]
    ones = [int(random.binomial(n, share)) for share in shares]
    return [np.array([k, n - k]) for k in ones]


def distance_tests(
    change: ShareChange, source: AnswerSource, studies: SimulatedStudies
) -> Iterator[SimulatedTest]:
    """The test of the distance between both sides of the moved prompt."""
    if isinstance(source, LetterSource):
        yield from _letter_distances(change, studies)
        return
    n, random = studies.n_users, studies.random
    for n_block in blocks(studies.n_studies):
        splits = SharedSplits(n, random.spawn(1)[0])
        for _ in range(n_block):
            users, *baselines = [
                draw_moved_lists(share, source, n, random)
                for share in (change.condition, *[change.baseline] * studies.n_baselines)
            ]
            tests = [
                list_distance_test(np.concatenate([users, side]), splits, studies)
                for side in baselines
            ]
            yield _confirmed_test(tests)


def _letter_distances(change: ShareChange, studies: SimulatedStudies) -> Iterator[SimulatedTest]:
    n, random = studies.n_users, studies.random
    statistic = option_distance("js_bits", np.eye(2, dtype=np.int64))
    shares = [change.condition, *[change.baseline] * studies.n_baselines]
    ones = random.binomial(n, shares, size=(studies.n_studies, len(shares)))

    @cache
    def test_of(first: int, second: int) -> PermutationTest:
        one, other = (np.array([k, n - k]) for k in (first, second))
        # all tables are counted, so that nothing is random
        return permutation_test(one, other, statistic, n_permutations=1, random=random)

    for first, *seconds in ones.tolist():
        yield _confirmed_test([test_of(first, second) for second in seconds])


def _confirmed_test(tests: Sequence[PermutationTest]) -> SimulatedTest:
    return SimulatedTest(confirmed_p([test.p_value for test in tests]), tests[0].p_least)


def list_distance_test(
    lists: Counts, splits: SharedSplits, studies: SimulatedStudies
) -> PermutationTest:
    """The permutation test of lists of equal length, the condition's before as many of the baseline.

    Given how often each option is named in all, the divergence rises with sum k log k over both
    sides' counts k.
    """
    n = len(lists) // 2
    indicator = lists[:, lists.any(axis=0)].astype(np.float32)
    totals = indicator.sum(axis=0)
    bits = k_log_k(2 * n)

    def statistic(first: NDArray[np.float32]) -> Floats:
        sides = (side.astype(np.int64) for side in (first, totals - first))
        sums: Floats = sum(bits[side].sum(axis=1) for side in sides)
        return sums

    observed_value = float(statistic(indicator[None, :n].sum(axis=1))[0])
    stages = count()

    def count_hits(n_splits: int) -> int:
        stage = splits.stage(next(stages), n_splits)

        def count_between(start: int, stop: int) -> int:
            # float32 holds whole numbers below 2**24 exactly
            values = statistic(stage.part(start, stop) @ indicator)
            return int((values >= observed_value * (1 - TIE)).sum())

        return count_all_hits(count_between, n_splits)

    return staged_test(count_hits, studies.n_permutations, studies.n_most)

"""The tests of one prompt in simulated studies: of an option's share, and of the distance of all answers.

Owns p-values of `shifts` and of `comparisons` for a prompt in which one answer's share is moved. Fisher's
test is that of `shifts`, and answers of two kinds go through the permutation test of `comparisons`
itself. For lists its random tables are drawn as splits that studies share, which has the same
distribution.
"""

from collections.abc import Iterator
from itertools import count

import numpy as np
from numpy.typing import NDArray

from fieldwork.metrics.comparisons import option_distance
from fieldwork.metrics.power.effects import AnswerSource, LetterSource, ListSource, ShareChange
from fieldwork.metrics.power.lists import draw_moved_lists
from fieldwork.metrics.power.outcomes import SimulatedStudies, SimulatedTest
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


def option_tests(first: Counts, second: Counts, n: int) -> list[tuple[float, Margins]]:
    """Fisher's tests of options that `n` answers on each side name so often, of those that can count.

    An option is left out where even the most extreme table would not have a p-value below the level.
    """
    return [
        (fisher_p(a, margins), margins)
        for a, b in zip(first.tolist(), second.tolist(), strict=True)
        if least_fisher_p(margins := Margins(a + b, n, n)) < LEVEL
    ]


def share_tests(
    change: ShareChange, source: AnswerSource, studies: SimulatedStudies
) -> Iterator[SimulatedTest]:
    """The tests of the moved option, and of the other options of its prompt."""
    n, random = studies.n_users, studies.random
    for _ in range(studies.n_studies):
        condition, baseline = _moved_counts(change, source, n, random)
        margins = Margins(int(condition[0] + baseline[0]), n, n)
        yield SimulatedTest(
            fisher_p(int(condition[0]), margins),
            margins,
            tuple(option_tests(condition[1:], baseline[1:], n)),
        )


def _moved_counts(
    change: ShareChange, source: AnswerSource, n: int, random: np.random.Generator
) -> list[Counts]:
    """How often each option is named under the condition and the baseline, the moved one first."""
    shares = (change.condition, change.baseline)
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
            sides = [
                draw_moved_lists(share, source, n, random)
                for share in (change.condition, change.baseline)
            ]
            test = list_distance_test(np.concatenate(sides), splits, studies)
            yield SimulatedTest(test.p_value, test.p_least)


def _letter_distances(change: ShareChange, studies: SimulatedStudies) -> Iterator[SimulatedTest]:
    n, random = studies.n_users, studies.random
    statistic = option_distance("js_bits", np.eye(2, dtype=np.int64))
    ones = random.binomial(n, [change.condition, change.baseline], size=(studies.n_studies, 2))
    tests: dict[tuple[int, int], SimulatedTest] = {}
    for first, second in ones.tolist():
        if (first, second) not in tests:
            sides = (np.array([k, n - k]) for k in (first, second))
            # all tables are counted, so that nothing is random
            test = permutation_test(
                next(sides), next(sides), statistic, n_permutations=1, random=random
            )
            tests[first, second] = SimulatedTest(test.p_value, test.p_least)
        yield tests[first, second]


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

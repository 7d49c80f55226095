"""The tests of one prompt in simulated studies: of an option's share, and of the distance of all answers.

Owns p-values of `shifts` and of `comparisons` for a prompt in which one answer's share is moved. Fisher's
test is that of `shifts`, and answers of two kinds go through the permutation test of `comparisons`
itself. For lists its random tables are drawn as splits that studies share, which has the same
distribution.
"""

from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import count

import numpy as np
from numpy.typing import NDArray

from fieldwork.metrics.comparisons import option_distance
from fieldwork.metrics.power.effects import ListSource, Scenario
from fieldwork.metrics.power.lists import draw_moved_lists
from fieldwork.metrics.power.outcomes import SimulatedStudies, SimulatedTest, Simulation
from fieldwork.metrics.power.shuffles import SharedSplits, count_all_hits
from fieldwork.statistics.arrays import Counts, Floats
from fieldwork.statistics.entropy import k_log_k
from fieldwork.statistics.fisher import Margins, Support, fisher_p
from fieldwork.statistics.permutation import (
    TIE,
    PermutationTest,
    permutation_test,
    staged_test,
)


def share_simulation(scenario: Scenario) -> Simulation:
    """The tests of the moved option, and of the other options of its prompt."""
    return partial(share_tests, scenario)


def distance_simulation(scenario: Scenario) -> Simulation:
    """The test of the distance between both sides of the moved prompt."""
    is_list = isinstance(scenario.source, ListSource)
    return partial(list_distances if is_list else letter_distances, scenario)


def option_tests(first: Counts, second: Counts, n: int) -> list[tuple[float, Support]]:
    """Fisher's tests of options that `n` answers on each side name so often."""
    return [
        (fisher_p(a, Margins(a + b, n, n)), Margins(a + b, n, n))
        for a, b in zip(first.tolist(), second.tolist(), strict=True)
    ]


def _shares(scenario: Scenario, studies: SimulatedStudies) -> list[float]:
    """The moved answer's, of users and of each baseline."""
    return [scenario.effect.size, *[scenario.effect.baseline] * studies.n_baselines]


def share_tests(scenario: Scenario, studies: SimulatedStudies) -> Iterator[SimulatedTest]:
    """Fisher's test of the moved option, the others of its prompt as companions."""
    n, random, source = studies.n_users, studies.random, scenario.source

    def draw() -> list[Counts]:
        shares = _shares(scenario, studies)
        if isinstance(source, ListSource):
            return [draw_moved_lists(share, source, n, random).sum(axis=0) for share in shares]
        ones = [int(random.binomial(n, share)) for share in shares]
        return [np.array([k, n - k]) for k in ones]

    def test(users: Counts, baseline: Counts) -> SimulatedTest:
        moved_option, *companions = option_tests(users, baseline, n)
        return SimulatedTest(*moved_option, tuple(companions))

    return studies.tests(draw, lambda: test)


def letter_distances(scenario: Scenario, studies: SimulatedStudies) -> Iterator[SimulatedTest]:
    """The distance of letters: all tables are counted."""
    n, random = studies.n_users, studies.random
    statistic = option_distance("js_bits", np.eye(2, dtype=np.int64))
    shares = _shares(scenario, studies)
    ones = iter(random.binomial(n, shares, size=(studies.n_studies, len(shares))).tolist())

    @cache
    def test(first: int, second: int) -> SimulatedTest:
        one, other = (np.array([k, n - k]) for k in (first, second))
        # nothing is random where all tables are counted
        return _test_of(permutation_test(one, other, statistic, n_permutations=1, random=random))

    return studies.tests(lambda: next(ones), lambda: test)


def list_distances(scenario: Scenario, studies: SimulatedStudies) -> Iterator[SimulatedTest]:
    """The distance of lists."""
    n, random, source = studies.n_users, studies.random, scenario.source
    assert isinstance(source, ListSource)

    def new_test() -> Callable[[Counts, Counts], SimulatedTest]:
        splits = SharedSplits(n, random.spawn(1)[0])
        return lambda users, baseline: _test_of(
            list_distance_test(np.concatenate([users, baseline]), splits, studies)
        )

    return studies.tests(
        lambda: [draw_moved_lists(s, source, n, random) for s in _shares(scenario, studies)],
        new_test,
    )


def _test_of(test: PermutationTest) -> SimulatedTest:
    return SimulatedTest(test.p_value, test.p_least)


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
        stage = next(stages)
        splits.draw(stage, n_splits)

        def count_between(start: int, stop: int) -> int:
            # float32 holds whole numbers below 2**24 exactly
            values = statistic(splits.part(stage, start, stop) @ indicator)
            return int((values >= observed_value * (1 - TIE)).sum())

        return count_all_hits(count_between, n_splits)

    return staged_test(count_hits, studies.n_permutations, studies.n_most)

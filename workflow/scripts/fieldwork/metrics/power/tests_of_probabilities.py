"""The tests of letters in simulated studies whose answers state probabilities.

Owns p-values of `shifts`, `comparisons` and `variance` where a call states what its letter was drawn
from. A baseline that states the same twice is known; what is left of chance is which users are asked.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np

from fieldwork.estimates.answer_sets import StatedShares
from fieldwork.estimates.stated import letter_differences, p_of_letters
from fieldwork.metrics.power.effects import ProbabilitySource, Scenario
from fieldwork.metrics.power.outcomes import SimulatedStudies, SimulatedTest, Simulation
from fieldwork.metrics.power.tests_of_arms import own_shares
from fieldwork.statistics.arrays import Floats


def stated_simulation(scenario: Scenario) -> Simulation:
    """The test of one letter, of the distance of all, or of who asks."""
    return partial(who_tests if scenario.measure == "share_who" else letter_tests, scenario)


def letter_tests(scenario: Scenario, studies: SimulatedStudies) -> Iterator[SimulatedTest]:
    """The test of the moved letter, the other one as companion, or that of both letters.

    A user's probability is Beta with the correlation `share_who` around the mean of those who
    carry the effect, or of the others.
    """
    assert isinstance(scenario.source, ProbabilitySource)
    effect, correlation, odd = scenario.effect, scenario.source.share_who, scenario.odd_users
    shape, random = (studies.n_users,), studies.random
    odd_mean = min(1.0, max(0.0, (effect.size - (1 - odd) * effect.baseline) / odd))
    baseline = StatedShares(["", ""], [_two_letters(np.array([effect.baseline]))] * 2, np.zeros(2))
    names = [f"{k:05}" for k in range(studies.n_users)]
    for _ in range(studies.n_studies):
        shares = np.where(
            studies.odd_users(scenario, shape),
            own_shares(correlation, odd_mean, shape, random),
            own_shares(correlation, effect.baseline, shape, random),
        )
        calls = [_two_letters(shares[k : k + 1]) for k in range(len(names))]
        users = StatedShares(names, calls, np.zeros(len(names)))
        letters = letter_differences(users, baseline, studies.rarest_users)
        if scenario.measure == "distance":
            yield SimulatedTest(p_of_letters(letters))
            continue
        of_moved, of_other = (x.of_both.p_value if x.is_compared else None for x in letters)
        yield SimulatedTest(of_moved, 0.0, () if of_other is None else ((of_other, 0.0),))


def _two_letters(shares: Floats) -> Floats:
    """Calls of shape (calls, letters) from the probabilities of the first of two letters."""
    return np.column_stack([shares, 1 - shares])


def who_tests(scenario: Scenario, studies: SimulatedStudies) -> Iterator[SimulatedTest]:
    """Whether contexts differ, which their probabilities say by themselves."""
    yield from [SimulatedTest(float(scenario.effect.size == 0))] * studies.n_studies

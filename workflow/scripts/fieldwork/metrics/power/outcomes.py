"""What simulated studies find of a supposed effect, before their tests are corrected.

Owns the loop that all simulations share: a study draws the answers of its users, of the baseline and of
its controls, and tests users beside each.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from fieldwork.metrics.power.effects import Scenario
from fieldwork.statistics.arrays import Flags
from fieldwork.statistics.fisher import Support

_BLOCK = 40

Side = TypeVar("Side")


class SimulatedTest(NamedTuple):
    """The test of a supposed effect in one simulated study.

    Attributes:
        p_value: None where the study could not test.
        support: the p-values that the test could have had, as in `claims`.
        companions: tests of the other options of the same prompt, with p-value and support.
    """

    p_value: float | None
    support: Support = 0.0
    companions: tuple[tuple[float, Support], ...] = ()


class SimulatedStudies(NamedTuple):
    """Studies of one size that are simulated together.

    Attributes:
        n_users: users of the condition, and reruns of the baseline.
        n_permutations: random permutations of a test.
        n_most: most permutations of a distance, or of a question for a point or a number, where p is
            small.
        rarest_users: share of users of the rarest kind that intervals cover.
        n_controls: conditions that ask the baseline again, and have to confirm a difference.
    """

    n_users: int
    n_studies: int
    n_permutations: int
    n_most: int
    rarest_users: float
    random: np.random.Generator
    n_controls: int = 0

    @property
    def n_baselines(self) -> int:
        """Samples without a user that users are compared with: the baseline first."""
        return 1 + self.n_controls

    def odd_users(self, scenario: Scenario, shape: tuple[int, ...]) -> Flags:
        """Which users carry the effect."""
        is_odd: Flags = self.random.random(shape) < scenario.odd_users
        return is_odd

    def blocks(self) -> Iterator[int]:
        """Numbers of studies that share their permutations."""
        n_blocks = math.ceil(self.n_studies / _BLOCK)
        return (len(block) for block in np.array_split(np.arange(self.n_studies), n_blocks))

    def tests(
        self,
        draw: Callable[[], Sequence[Side]],
        new_test: Callable[[], Callable[[Side, Side], SimulatedTest]],
    ) -> Iterator[SimulatedTest]:
        """The test of each study, confirmed by its controls.

        Args:
            draw: the sides of one study: users, the baseline, its controls.
            new_test: the test of two sides, made anew for studies that share permutations.
        """
        for n_block in self.blocks():
            test = new_test()
            for _ in range(n_block):
                users, *baselines = draw()
                yield confirm([test(users, baseline) for baseline in baselines])


Simulation = Callable[[SimulatedStudies], Iterator[SimulatedTest]]


def confirm(tests: Sequence[SimulatedTest]) -> SimulatedTest:
    """The test against the baseline with the largest p-value of all, as in `claims`.

    The companions' too, which stand in one order; without a p-value against the baseline there is none.
    """
    first = tests[0]
    p_values = [test.p_value for test in tests if test.p_value is not None]
    companions = tuple(
        (max(p_value for p_value, _ in options), options[0][1])
        for options in zip(*(test.companions for test in tests), strict=True)
    )
    p_value = None if first.p_value is None else max(p_values)
    return SimulatedTest(p_value, first.support, companions)

"""What a simulated study finds of a supposed effect, before its tests are corrected."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fieldwork.statistics.fisher import Support


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


def confirmed_p(p_values: Sequence[float | None]) -> float | None:
    """The largest p-value, as in `claims`; None where the first, against the baseline, is not there."""
    if p_values[0] is None:
        return None
    return max(p_value for p_value in p_values if p_value is not None)

"""Simulated tests of points and numbers are those of the study, of the difference that is supposed."""

import numpy as np
import pytest
from power_plans import value_difference

from fieldwork.metrics.power import tests_of_values
from fieldwork.metrics.power.effects import Scenario, ValueSource
from fieldwork.metrics.power.outcomes import SimulatedStudies
from fieldwork.metrics.power.tests_of_values import latent_shift, round_values
from fieldwork.metrics.values.comparisons import measure_value_comparisons
from unit.metrics.values.value_frames import answer, frame, scale_items

POINTS = ValueSource(5)
RAREST = 0.31
"""Ten users are enough for intervals, which tests of means take into account."""


def test_one_question_has_the_p_value_of_the_study(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[np.ndarray] = []

    def record(latent: np.ndarray, n_points: int) -> np.ndarray:
        drawn.append(round_values(latent, n_points))
        return drawn[-1]

    monkeypatch.setattr(tests_of_values, "round_values", record)
    studies = SimulatedStudies(12, 12, 999, 999, RAREST, np.random.default_rng(3))
    scenario = Scenario("value", value_difference(1.0), POINTS)
    tests = [*tests_of_values.question_tests(1.0, scenario, POINTS, studies)]
    for sides, test in zip(drawn, tests, strict=True):
        rows = [
            *(answer("c", f"p{k}", value) for k, value in enumerate(sides[0])),
            *(answer("offline", None, value, replicate=k) for k, value in enumerate(sides[1])),
        ]
        (row,) = measure_value_comparisons(
            frame(rows), scale_items("q"), baseline="offline", n_permutations=999, seed=1,
            rarest_users=RAREST,
        )  # fmt: skip
        assert test.p_value == pytest.approx(row.p_value, abs=0.05)


@pytest.mark.parametrize("n_points", [0, 2, 5, 7])
@pytest.mark.parametrize("difference", [0.0, 0.3, 0.9])
def test_the_mean_moves_as_far_as_supposed(difference: float, n_points: int) -> None:
    shift = latent_shift(difference, n_points)
    assert shift is not None
    latent = np.random.default_rng(1).standard_normal((2, 200_000))
    latent[0] += shift
    moved, flat = round_values(latent, n_points)
    assert moved.mean() - flat.mean() == pytest.approx(difference * flat.std(), abs=0.015)
    if n_points:
        assert set(np.unique(flat)) <= set(range(1, n_points + 1))

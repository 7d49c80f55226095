"""The tests of points and numbers in simulated studies: of one question, and of several scales together.

Owns p-values of `value_comparisons` under one condition. Those of one question go through the permutation
test of `values` itself. Means of several scales are compared as scores are, as they hardly tie.
"""

import math
from collections.abc import Iterator
from functools import lru_cache, partial

import numpy as np
from scipy.special import ndtr

from fieldwork.metrics.power.effects import Effect, Scenario, ValueSource
from fieldwork.metrics.power.lists import bisect
from fieldwork.metrics.power.outcomes import SimulatedStudies, SimulatedTest, Simulation
from fieldwork.metrics.power.tests_of_arms import p_value_of_means, unit_tests
from fieldwork.metrics.values.comparisons import p_value_of_ranks, superiority_test
from fieldwork.statistics.arrays import Floats
from fieldwork.statistics.families import LEVEL

_NUMBER_STEP = 0.25
"""Numbers are rounded to a quarter of their standard deviation, as people and models round."""

_BISECTION_STEPS = 40


def value_simulation(scenario: Scenario) -> Simulation | None:
    """The test of means, of one question or of several scales; None where a scale is too short."""
    effect, source = scenario.effect, scenario.source
    assert isinstance(source, ValueSource)
    shift = latent_shift(effect.size / scenario.odd_users, source.n_points)
    if shift is None:
        return None
    if effect.n_together == 1:
        return partial(question_tests, shift, scenario, source)
    of_user = battery_spread(effect, scenario.likeness)
    return partial(unit_tests, of_user, battery_spread(effect, 0.0), scenario)


def battery_spread(effect: Effect, likeness: float) -> float:
    """Standard deviation of one user's mean over scales, each with a standard deviation of 1.

    A user's answers correlate by `likeness`, so that the variance of their mean over k scales is
    (1 + (k - 1) likeness) / k. Those of a rerun do not: nobody gives them.
    """
    return math.sqrt((1 + (effect.n_together - 1) * likeness) / effect.n_together)


def question_tests(
    shift: float, scenario: Scenario, source: ValueSource, studies: SimulatedStudies
) -> Iterator[SimulatedTest]:
    """The test of the difference of means of one question, held as `value_comparisons` holds it.

    Args:
        shift: how far the normal values of odd users move, as `latent_shift` has it.
    """
    random, n = studies.random, studies.n_users

    def draw() -> list[Floats]:
        latent = random.standard_normal((1 + studies.n_baselines, n))
        latent[0] += shift * studies.odd_users(scenario, (n,))
        return [*round_values(latent, source.n_points)]

    def test(users: Floats, reruns: Floats) -> SimulatedTest:
        test_of_ranks = superiority_test(
            users.tolist(),
            reruns.tolist(),
            n_permutations=studies.n_permutations,
            n_most=studies.n_most,
            random=random,
        )
        p_value = test_of_ranks.p_value
        if p_value < LEVEL and source.n_points:
            p_value = p_value_of_means(p_value, users, reruns, studies.rarest_users)
        elif p_value < LEVEL:
            p_value = p_value_of_ranks(p_value, users.tolist(), reruns.tolist())
        return SimulatedTest(p_value, test_of_ranks.p_least)

    return studies.tests(draw, lambda: test)


def round_values(latent: Floats, n_points: int) -> Floats:
    """Points 1, 2, … nearest to normal values around the middle of the scale; or rounded numbers."""
    if not n_points:
        numbers: Floats = np.round(latent / _NUMBER_STEP) * _NUMBER_STEP
        return numbers
    points: Floats = np.clip(np.round(latent + (n_points + 1) / 2), 1.0, float(n_points))
    return points


@lru_cache(maxsize=64)
def latent_shift(difference: float, n_points: int) -> float | None:
    """How far normal values move where the mean of the points moves by this many standard deviations.

    Of the points where nothing moves. Those at the ends of a scale can go no further, so that points move
    less than what they are rounded from. None where the scale is too short.
    """
    if not n_points:
        return difference
    points = np.arange(1.0, n_points + 1)
    bounds = points[:-1] + 0.5 - (n_points + 1) / 2

    def chances_at(shift: float) -> Floats:
        chances: Floats = np.diff(np.concatenate([[0.0], ndtr(bounds - shift), [1.0]]))
        return chances

    mean = float(chances_at(0.0) @ points)
    sd = math.sqrt(float(chances_at(0.0) @ (points - mean) ** 2))
    target = mean + difference * sd
    if float(chances_at(float(n_points)) @ points) < target:
        return None
    return bisect(
        lambda shift: float(chances_at(shift) @ points) < target, float(n_points), _BISECTION_STEPS
    )

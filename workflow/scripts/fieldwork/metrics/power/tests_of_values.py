"""The tests of points and numbers in simulated studies: of one question, and of several scales together.

Owns p-values of `value_comparisons` under one condition. Those of one question go through the permutation
test of `values` itself. Means of several scales are compared as scores are, as they hardly tie.
"""

import math
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from scipy.special import ndtr

from fieldwork.metrics.power.effects import Scenario, ValueDifference, ValueSource
from fieldwork.metrics.power.outcomes import SimulatedStudies, SimulatedTest, confirmed_p
from fieldwork.metrics.power.tests_of_arms import (
    UnitSpreads,
    odd_users,
    p_value_of_means,
    unit_tests,
)
from fieldwork.metrics.values.comparisons import p_value_of_ranks, superiority_test
from fieldwork.statistics.arrays import Floats
from fieldwork.statistics.families import LEVEL

_NUMBER_STEP = 0.25
"""Numbers are rounded to a quarter of their standard deviation, as people and models round."""

_BISECTION_STEPS = 40


def battery_spreads(effect: ValueDifference, likeness: float) -> UnitSpreads:
    """Spreads of means over scales, each scale with a standard deviation of 1.

    A user's answers correlate by `likeness`, so that the variance of their mean over k scales is
    (1 + (k - 1) likeness) / k. Those of a rerun do not: nobody gives them.
    """
    k = effect.n_together
    of_user = math.sqrt((1 + (k - 1) * likeness) / k)
    return UnitSpreads(effect.difference, of_user, math.sqrt(1 / k))


def battery_tests(
    effect: ValueDifference, scenario: Scenario, studies: SimulatedStudies
) -> Iterator[SimulatedTest]:
    """The test of the difference of means over several scales together."""
    return unit_tests(battery_spreads(effect, scenario.likeness), scenario, studies)


def question_tests(
    shift: float, source: ValueSource, scenario: Scenario, studies: SimulatedStudies
) -> Iterator[SimulatedTest]:
    """The test of the difference of means of one question.

    Args:
        shift: how far the normal values of odd users move, as `latent_shift` has it.
    """
    random, n = studies.random, studies.n_users
    for _ in range(studies.n_studies):
        latent = random.standard_normal((1 + studies.n_baselines, n))
        latent[0] += shift * odd_users(scenario, (n,), random)
        users, *baselines = round_values(latent, source.n_points).tolist()
        tests = [_question_test((users, side), source, studies) for side in baselines]
        yield SimulatedTest(confirmed_p([p_value for p_value, _ in tests]), tests[0][1])


def _question_test(
    sides: tuple[list[float], list[float]], source: ValueSource, studies: SimulatedStudies
) -> tuple[float, float]:
    """The p-value, and the smallest that there could be; held as `value_comparisons` holds it."""
    test = superiority_test(
        *sides,
        n_permutations=studies.n_permutations,
        n_most=studies.n_most,
        random=studies.random,
    )
    p_value = test.p_value
    if p_value < LEVEL and source.n_points:
        p_value = p_value_of_means(p_value, sides, studies.rarest_users)
    elif p_value < LEVEL:
        p_value = p_value_of_ranks(p_value, *sides)
    return p_value, test.p_least


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
    low, high = 0.0, float(n_points)
    if float(chances_at(high) @ points) < target:
        return None
    for _ in range(_BISECTION_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if float(chances_at(middle) @ points) < target else (low, middle)
    return (low + high) / 2

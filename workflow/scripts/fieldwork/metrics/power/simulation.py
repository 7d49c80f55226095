"""How often a study of a given size claims a supposed effect, by simulation.

A simulated study draws answers with the effect, makes the study's own test and corrects it with the other
tests of its family, in which nothing differs. Promises that a number depends on the seed and on its own
effect and size alone: another effect or size in the config changes none.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from fieldwork.metrics.power import tests_of_arms, tests_of_shares, tests_of_values
from fieldwork.metrics.power.effects import (
    EntropyRise,
    LetterSource,
    ListSource,
    Scenario,
    ScoreDifference,
    ShareChange,
    UserShare,
    ValueDifference,
    ValueSource,
)
from fieldwork.metrics.power.family import Family, OptionPool, count_claims
from fieldwork.metrics.power.lists import taste_strength, varied_exponent
from fieldwork.metrics.power.outcomes import SimulatedStudies, SimulatedTest
from fieldwork.statistics.intervals import wilson_interval
from fieldwork.statistics.seeds import generator

POWER_CEILING = 0.995
"""Once a size reaches this power, larger sizes are not simulated."""


class SimulationSettings(NamedTuple):
    """What all simulations share.

    Attributes:
        sizes: numbers of users or puppets to try, rising. The baseline is asked as often.
        n_permutations: random permutations of a test.
        n_most: most permutations of a distance, where p is small.
        n_most_values: as many of a question for a point or a number.
        rarest_users: share of users of the rarest kind that intervals cover.
        n_controls: conditions that ask the baseline again.
    """

    sizes: Sequence[int]
    simulations: int
    n_permutations: int
    n_most: int
    n_most_values: int
    rarest_users: float
    seed: int
    n_controls: int = 0


class PowerEstimate(NamedTuple):
    """Power at one size; None, with a reason, where it was not simulated.

    Attributes:
        n_tests: tests corrected together, this one and the mean of others; None where not simulated.
    """

    n_users: int
    power: float | None
    low: float | None
    high: float | None
    n_simulations: int
    n_tests: int | None
    reason: str | None


Simulate = Callable[[SimulatedStudies], Iterable[SimulatedTest]]


def power_curve(
    scenario: Scenario,
    families: Iterable[Family],
    settings: SimulationSettings,
    sizes_at: Callable[[int], Mapping[str, int]],
    pool: OptionPool,
) -> Iterator[dict[Family, PowerEstimate]]:
    """Power at each size, one after another, in each of the families that the test may be in.

    Args:
        sizes_at: users of each task of a study in which the effect's task has so many.
    """
    families, reason = [*families], scenario.impossible()
    simulate = None if reason else simulation_of(scenario)
    if simulate is None:
        reason = f"no such source: {reason or 'even the most different users would not do'}"
    for n in settings.sizes:
        if simulate is None or reason:
            yield {
                family: PowerEstimate(n, None, None, None, 0, None, reason) for family in families
            }
            continue
        random = generator(settings.seed, "power", *scenario.seed_names, str(n))
        studies = SimulatedStudies(
            n,
            settings.simulations,
            settings.n_permutations,
            settings.n_most_values if scenario.measure == "value" else settings.n_most,
            settings.rarest_users,
            random,
            settings.n_controls,
        )
        simulated_tests = [*simulate(studies)]
        estimates = {
            family: _estimate(simulated_tests, family, n, settings, sizes_at(n), pool)
            for family in families
        }
        yield estimates
        lowest_power = min(estimate.power or 0.0 for estimate in estimates.values())
        if lowest_power >= POWER_CEILING:
            reason = f"not simulated: power is {lowest_power:.3f} with {n}"


def _estimate(
    simulated_tests: Sequence[SimulatedTest],
    family: Family,
    n: int,
    settings: SimulationSettings,
    sizes: Mapping[str, int],
    pool: OptionPool,
) -> PowerEstimate:
    random = generator(settings.seed, "power family", *map(repr, family), str(n))
    claims = count_claims(simulated_tests, family, sizes, pool, random)
    n_studies = len(simulated_tests)
    low, high = wilson_interval(claims.n_claimed, n_studies)
    power = claims.n_claimed / n_studies
    return PowerEstimate(n, power, low, high, n_studies, claims.n_tests, None)


def simulation_of(scenario: Scenario) -> Simulate | None:
    """What simulates the tests of a scenario; None where no users are different enough for its effect."""
    source, odd_users, open_share = scenario.source, scenario.odd_users, _open_share(scenario)
    match scenario.effect, source:
        case ShareChange() as change, LetterSource() | ListSource() as options:
            is_distance = scenario.measure == "distance"
            tests = tests_of_shares.distance_tests if is_distance else tests_of_shares.share_tests
            return lambda studies: tests(change, options, studies)
        case UserShare(share_who), LetterSource() as letters:
            return lambda studies: tests_of_arms.letter_user_tests(
                share_who, letters, scenario, studies
            )
        case UserShare(share_who), ListSource() as lists:
            taste = taste_strength(share_who, lists, odd_users)
            likeness = tests_of_arms.liking_likeness(scenario.likeness, share_who)
            if taste is not None:
                return lambda studies: tests_of_arms.list_user_tests(
                    taste, lists, scenario, studies, likeness
                )
        case EntropyRise(bits), ListSource() as lists:
            # settled prompts take no part, so that the others must be so much more varied
            exponent = varied_exponent(bits / open_share, lists, odd_users)
            if exponent is not None:
                return lambda studies: tests_of_arms.entropy_tests(
                    exponent, lists, scenario, studies
                )
        case ScoreDifference() as scores, _:
            return lambda studies: tests_of_arms.score_tests(scores, scenario, studies)
        case ValueDifference() as values, ValueSource() as points:
            shift = tests_of_values.latent_shift(values.difference / odd_users, points.n_points)
            if shift is not None and values.n_together > 1:
                return lambda studies: tests_of_values.battery_tests(values, scenario, studies)
            if shift is not None:
                return lambda studies: tests_of_values.question_tests(
                    shift, points, scenario, studies
                )
    return None


def _open_share(scenario: Scenario) -> float:
    return scenario.n_open / scenario.n_items

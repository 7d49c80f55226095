"""How often a study of a given size claims a supposed effect, by simulation.

A simulated study draws answers with the effect, makes the study's own test and corrects it with the other
tests of its family, in which nothing differs. Promises that a number depends on the seed and on its own
effect and size alone: another effect or size in the config changes none.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from fieldwork.measures import measures
from fieldwork.metrics.claims.keys import ClaimKey
from fieldwork.metrics.power.effects import LetterProbabilities, ProbabilitySource, Scenario
from fieldwork.metrics.power.family import Family, PowerEstimate, effect_family, estimate_power
from fieldwork.metrics.power.outcomes import Simulation
from fieldwork.metrics.power.study import PlannedStudy
from fieldwork.metrics.power.tests_of_arms import (
    declared_simulation,
    score_simulation,
    who_simulation,
)
from fieldwork.metrics.power.tests_of_probabilities import entropy_simulation, stated_simulation
from fieldwork.metrics.power.tests_of_shares import distance_simulation, share_simulation
from fieldwork.metrics.power.tests_of_values import value_simulation
from fieldwork.progress import Progress
from fieldwork.records.field import FIELD

POWER_CEILING = 0.995
"""Once a size reaches this power, larger sizes are not simulated."""

SIMULATIONS: Mapping[str, Callable[[Scenario], Simulation | None]] = {
    "option_share": share_simulation,
    "distance": distance_simulation,
    "share_who": who_simulation,
    "score": score_simulation,
    "value": value_simulation,
}
"""What simulates the tests of a measure, None where no users are different enough. Others: declared."""


class PowerCurve(NamedTuple):
    """Power of one effect at rising sizes in one of the families of tests that its test may be in.

    Attributes:
        arms: models and conditions whose tests are in this family.
    """

    scenario: Scenario
    family: Family
    arms: Sequence[tuple[str, str]]
    estimates: Sequence[PowerEstimate]


def simulate_effects(study: PlannedStudy) -> list[PowerCurve]:
    """Every effect of the config's section `power`, in the order of tasks and measures."""
    curves, scenarios = [], [*study.scenarios()]
    n_sizes = len(scenarios) * len(study.settings.sizes)
    with Progress("Power", n_sizes, "sizes") as progress:
        for scenario in scenarios:
            arms_of_families = effect_families(scenario, study)
            sizes = []
            for size in power_curve(scenario, arms_of_families, study):
                sizes.append(size)
                progress.update(note=f"{scenario.measure} {scenario.effect.label}")
            curves += [
                PowerCurve(scenario, family, arms, [size[family] for size in sizes])
                for family, arms in arms_of_families.items()
            ]
    return curves


def effect_families(scenario: Scenario, study: PlannedStudy) -> dict[Family, list[tuple[str, str]]]:
    """The models and conditions by the family that the effect's test is in for them."""
    families: dict[Family, list[tuple[str, str]]] = {}
    detail = "scale" if scenario.effect.n_together > 1 else None
    # real users' points and numbers are compared in other tests, of `field_value`
    field = [] if scenario.measure == "value" else [FIELD]
    for model in study.models:
        for condition in (*study.conditions, *field):
            place = ClaimKey(scenario.measure, model, scenario.task, condition, None, detail)
            families.setdefault(effect_family(place, study), []).append((model, condition))
    return families


def power_curve(
    scenario: Scenario, families: Iterable[Family], study: PlannedStudy
) -> Iterator[dict[Family, PowerEstimate]]:
    """Power at each size, one after another, in each of the families that the test may be in."""
    families, reason = [*families], scenario.impossible()
    simulate = None if reason else simulation_of(scenario)
    if simulate is None:
        reason = f"no such source: {reason or 'even the most different users would not do'}"
    for n in sorted(study.settings.sizes):
        if simulate is None or reason:
            yield {family: PowerEstimate(n, reason=reason) for family in families}
            continue
        simulated_tests, sizes = (
            [*simulate(study.studies(scenario, n))],
            study.sizes(scenario.task, n),
        )
        estimates = {
            family: estimate_power(simulated_tests, family, sizes, study, n) for family in families
        }
        yield estimates
        lowest_power = min((estimate.power or 0.0 for estimate in estimates.values()), default=0.0)
        if lowest_power >= POWER_CEILING:
            reason = f"not simulated: power is {lowest_power:.3f} with {n}"


def simulation_of(scenario: Scenario) -> Simulation | None:
    """What simulates the tests of a scenario; None where no users are different enough for its effect."""
    if isinstance(scenario.source, ProbabilitySource) and scenario.effect.kind != "scores":
        return stated_simulation(scenario)
    if isinstance(scenario.source, LetterProbabilities):
        return entropy_simulation(measures()[scenario.measure], scenario, scenario.source)
    if scenario.measure in SIMULATIONS:
        return SIMULATIONS[scenario.measure](scenario)
    return declared_simulation(measures()[scenario.measure], scenario)


def find_smallest_size(estimates: Sequence[PowerEstimate], target: float) -> PowerEstimate:
    """The smallest size from which on every simulated size reaches the target, as `n_needed`.

    It is read off a straight line between two simulated sizes, of which the larger one is returned; the
    largest simulated, without `n_needed` and with a reason, where none reaches the target.
    """
    simulations = [estimate for estimate in estimates if estimate.power is not None]
    if not simulations:
        return estimates[0]
    first = len(simulations)
    while first and (simulations[first - 1].power or 0.0) >= target:
        first -= 1
    if first == len(simulations):
        last = simulations[-1]
        reason = f"not reached with {last.n_users}: power is {last.power:.2f}"
        return last._replace(reason=reason)
    estimate = simulations[first]
    if first == 0:
        reason = f"{estimate.n_users} is the smallest size tried: fewer may do"
        return estimate._replace(n_needed=estimate.n_users, reason=reason)
    smaller = simulations[first - 1]
    low, high = smaller.power or 0.0, estimate.power or 0.0
    part = (target - low) / (high - low)
    n_users = smaller.n_users + part * (estimate.n_users - smaller.n_users)
    return estimate._replace(n_needed=math.ceil(n_users - 1e-9), reason=None)

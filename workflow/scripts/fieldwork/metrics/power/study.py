"""The simulations that `snakemake power` makes of a study's settings, and the sizes they lead to.

Owns which effect is simulated for which task, by which of the study's tests it is to be seen, and the
smallest size that reaches the target power.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from fieldwork.metrics.claims.families import ClaimRules
from fieldwork.metrics.power.effects import (
    EntropyRise,
    LetterSource,
    ListSource,
    Scenario,
    ScoreDifference,
    ShareChange,
    UserShare,
)
from fieldwork.metrics.power.family import (
    EffectPlace,
    Family,
    OptionPool,
    PlannedTask,
    PlannedTests,
)
from fieldwork.metrics.power.simulation import PowerEstimate, SimulationSettings, power_curve
from fieldwork.progress import Progress
from fieldwork.records.field import FIELD
from fieldwork.statistics.families import LEVEL
from fieldwork.statistics.permutation import permutations_to_resolve
from fieldwork.statistics.user_intervals import RAREST_USERS


class StudyShape(NamedTuple):
    """What the study asks and tests.

    Attributes:
        items: number of prompts of each task.
        lists: tasks whose answers are lists.
        runs: users or reruns of each task.
        score_task: task whose scores are compared, None where the study has none.
        conditions: those with simulated users.
        n_comparisons: conditions that are compared with the baseline, with users or without.
        values: questions for a point of a scale or a number, of each task that has some.
        scales: those of them for a point.
    """

    models: Sequence[str]
    items: Mapping[str, int]
    lists: Collection[str]
    runs: Mapping[str, int]
    score_task: str | None
    conditions: Sequence[str]
    n_comparisons: int
    rules: ClaimRules
    values: Mapping[str, int] = {}
    scales: Mapping[str, int] = {}


class ArmPower(NamedTuple):
    """Power at rising sizes in one family of tests.

    Attributes:
        arms: models and conditions whose tests are in this family.
    """

    family: Family
    arms: Sequence[tuple[str, str]]
    estimates: Sequence[PowerEstimate]


class EffectCurve(NamedTuple):
    """Power of one effect in one task, for each family that its test may be in."""

    scenario: Scenario
    task: str
    arm_powers: Sequence[ArmPower]


class SmallestSize(NamedTuple):
    """The smallest size that reaches a target.

    Attributes:
        n_users: read off a straight line between two simulated sizes; None if the target is not
            reached.
        estimate: power at the next larger size that was simulated, or at the largest if none
            reaches the target.
    """

    n_users: int | None
    estimate: PowerEstimate
    reason: str | None


def simulate_effects(
    power: Mapping[str, Any],
    outline: StudyShape,
    *,
    n_permutations: int,
    seed: int,
    rarest_users: float = RAREST_USERS,
) -> list[EffectCurve]:
    """Every effect of the config's section `power`, in the order of measures and tasks."""
    tests = planned_tests(power, outline)
    n_tests = len(outline.models) * outline.n_comparisons * sum(outline.items.values())
    settings = SimulationSettings(
        sorted(power["sizes"]),
        power["simulations"],
        n_permutations,
        permutations_to_resolve(n_tests, LEVEL),
        rarest_users,
        seed,
    )
    pool = OptionPool(tests, seed)
    pairs = [*_scenarios(power, outline, tests)]
    curves = []
    with Progress("Power", len(pairs) * len(settings.sizes), "sizes") as progress:
        for task, scenario in pairs:
            families = _families(task, scenario, outline, tests)
            estimates: dict[Family, list[PowerEstimate]] = {family: [] for family in families}
            for size in power_curve(scenario, families, settings, tests.sizes_with(task), pool):
                for family, estimate in size.items():
                    estimates[family].append(estimate)
                progress.update(note=f"{scenario.measure} {scenario.effect.label}")
            powers = [ArmPower(f, arms, estimates[f]) for f, arms in families.items()]
            curves.append(EffectCurve(scenario, task, powers))
    return curves


def planned_tests(power: Mapping[str, Any], outline: StudyShape) -> PlannedTests:
    """The study's tasks with the sources that the config supposes."""
    lists = ListSource(*(power["lists"][key] for key in ("named", "options", "exponent")))
    letters = LetterSource(float(power["answer_share"]))
    tasks = {}
    for task, n_items in outline.items.items():
        source, n_tested = lists if task in outline.lists else letters, power["prompts"] or n_items
        tasks[task] = PlannedTask(
            source,
            n_tested,
            _n_settled(power, n_tested),
            outline.runs[task],
            outline.values.get(task, 0),
            outline.scales.get(task, 0),
        )
    return PlannedTests(outline.models, outline.conditions, tasks, outline.rules)


def _n_settled(power: Mapping[str, Any], n_items: int) -> int:
    """Prompts that everybody answers alike; one is always open."""
    return min(round(float(power["settled_items"]) * n_items), n_items - 1)


def _families(
    task: str, scenario: Scenario, outline: StudyShape, tests: PlannedTests
) -> dict[Family, list[tuple[str, str]]]:
    """The models and conditions by the family that the effect's test is in for them."""
    families: dict[Family, list[tuple[str, str]]] = {}
    for model in outline.models:
        for condition in (*outline.conditions, FIELD):
            place = EffectPlace(scenario.measure, model, task, condition)
            families.setdefault(tests.family(place), []).append((model, condition))
    return families


def _scenarios(
    power: Mapping[str, Any], outline: StudyShape, tests: PlannedTests
) -> Iterator[tuple[str, Scenario]]:
    effects, odd_users = power["effects"], float(power["odd_users"])
    spreads = float(power["sd_users"]), float(power["sd_reruns"])
    for task, n_items in outline.items.items():
        source = tests.tasks[task].source
        shape = (source, n_items, _n_settled(power, n_items), odd_users)
        for effect in effects["shares"]:
            change = ShareChange(float(effect["baseline"]), float(effect["condition"]))
            yield task, Scenario("option_share", change, *shape)
            yield task, Scenario("distance", change, *shape)
        for share in map(float, effects["who"]):
            for replicates in sorted(power["replicates"]):
                yield task, Scenario("share_who", UserShare(share), *shape, replicates)
        if isinstance(source, ListSource):
            for bits in map(float, effects["entropy"]):
                yield task, Scenario("entropy_bits", EntropyRise(bits), *shape)
        if task == outline.score_task:
            for difference in map(float, effects["scores"]):
                yield task, Scenario("score", ScoreDifference(difference, *spreads), *shape)


def find_smallest_size(estimates: Sequence[PowerEstimate], target: float) -> SmallestSize:
    """The smallest size from which on every simulated size reaches the target."""
    simulations = [estimate for estimate in estimates if estimate.power is not None]
    if not simulations:
        return SmallestSize(None, estimates[0], estimates[0].reason)
    first = len(simulations)
    while first and (simulations[first - 1].power or 0.0) >= target:
        first -= 1
    if first == len(simulations):
        last = simulations[-1]
        reason = f"not reached with {last.n_users}: power is {last.power:.2f}"
        return SmallestSize(None, last, reason)
    estimate = simulations[first]
    if first == 0:
        reason = f"{estimate.n_users} is the smallest size tried: fewer may do"
        return SmallestSize(estimate.n_users, estimate, reason)
    smaller = simulations[first - 1]
    low, high = smaller.power or 0.0, estimate.power or 0.0
    part = (target - low) / (high - low)
    n_users = smaller.n_users + part * (estimate.n_users - smaller.n_users)
    return SmallestSize(math.ceil(n_users - 1e-9), estimate, None)

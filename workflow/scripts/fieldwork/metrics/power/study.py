"""The simulations that `snakemake power` makes of a study's settings, and the sizes they lead to.

Owns which effect is simulated for which task, and the smallest size that reaches the target power.
Tasks with equal numbers of prompts share a simulation.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from fieldwork.metrics.power.lists import ListSource
from fieldwork.metrics.power.simulation import (
    ListUserEffect,
    PowerEstimate,
    Scenario,
    ScoreDifference,
    ShareChange,
    SimulationSettings,
    UserEffect,
    power_curve,
)
from fieldwork.progress import Progress


class EffectCurve(NamedTuple):
    """Power of one effect in one task, at rising sizes."""

    scenario: Scenario
    task: str
    n_items: int
    estimates: Sequence[PowerEstimate]


class StudyShape(NamedTuple):
    """What the study tests, as far as the correction of its tests depends on it.

    Attributes:
        items: number of prompts of each task.
        lists: tasks whose answers are lists.
        score_task: task whose scores are compared, None where the study has none.
        n_conditions: conditions other than the baseline.
    """

    items: Mapping[str, int]
    lists: Collection[str]
    score_task: str | None
    n_conditions: int


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
    power: Mapping[str, Any], outline: StudyShape, *, n_permutations: int, seed: int
) -> list[EffectCurve]:
    """Every effect of the config's section `power`, in the order of its designs and tasks."""
    settings = SimulationSettings(
        sorted(power["sizes"]), power["simulations"], power["alpha"], n_permutations, seed
    )
    pairs = [
        (task, scenario)
        for scenarios in (_share_scenarios, _user_scenarios, _score_scenarios)
        for task, scenario in scenarios(power, outline)
    ]
    estimates: dict[Scenario, list[PowerEstimate]] = {scenario: [] for _, scenario in pairs}
    with Progress("Power", len(estimates) * len(settings.sizes), "sizes") as progress:
        for scenario in estimates:
            for estimate in power_curve(scenario, settings):
                estimates[scenario].append(estimate)
                progress.update(note=f"{scenario.design} {scenario.effect.label}")
    return [
        EffectCurve(scenario, task, outline.items[task], estimates[scenario])
        for task, scenario in pairs
    ]


def _share_scenarios(
    power: Mapping[str, Any], outline: StudyShape
) -> Iterator[tuple[str, Scenario]]:
    for task, n_items in outline.items.items():
        for effect in power["effects"]["shares"]:
            change = ShareChange(float(effect["baseline"]), float(effect["condition"]))
            yield task, Scenario(change, n_tests=power["prompts"] or n_items)


def _user_scenarios(
    power: Mapping[str, Any], outline: StudyShape
) -> Iterator[tuple[str, Scenario]]:
    source = ListSource(*(power["lists"][key] for key in ("named", "options", "exponent")))
    for task, n_items in outline.items.items():
        for share in map(float, power["effects"]["who"]):
            for replicates in sorted(power["replicates"]):
                effect = (
                    ListUserEffect(share, source)
                    if task in outline.lists
                    else UserEffect(share, float(power["answer_share"]))
                )
                yield task, Scenario(effect, replicates, n_items)


def _score_scenarios(
    power: Mapping[str, Any], outline: StudyShape
) -> Iterator[tuple[str, Scenario]]:
    if outline.score_task is None:
        return
    spreads = float(power["sd_users"]), float(power["sd_reruns"])
    for difference in power["effects"]["scores"]:
        scores = ScoreDifference(float(difference), *spreads)
        yield outline.score_task, Scenario(scores, n_tests=max(outline.n_conditions, 1))


def find_smallest_size(estimates: Sequence[PowerEstimate], target: float) -> SmallestSize:
    """The smallest size from which on every simulated size reaches the target."""
    simulations = [estimate for estimate in estimates if estimate.power is not None]
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

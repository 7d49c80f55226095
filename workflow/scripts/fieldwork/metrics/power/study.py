"""The simulations that `snakemake power` makes of a study's settings, and the sizes they lead to.

Owns which effect is simulated for which task, and the smallest size that reaches the target. Tasks
with equal numbers of prompts share a simulation.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from fieldwork.metrics.power.lists import Lists
from fieldwork.metrics.power.simulation import (
    Moved,
    Point,
    Scores,
    Settings,
    Setup,
    Who,
    WhoLists,
    power_curve,
)
from fieldwork.progress import Progress


class Curve(NamedTuple):
    """Power of one effect in one task, at rising sizes."""

    setup: Setup
    task: str
    n_items: int
    points: Sequence[Point]


class Family(NamedTuple):
    """What of the study decides how its tests are corrected.

    Attributes:
        items: prompts of each task.
        lists: tasks whose answers are lists.
        score_task: task whose scores are compared, None where the study has none.
        n_conditions: conditions beside the baseline.
    """

    items: Mapping[str, int]
    lists: Collection[str]
    score_task: str | None
    n_conditions: int


class Reached(NamedTuple):
    """The smallest size that reaches a target.

    Attributes:
        n_users: between two sizes by a straight line; None where the target is not reached.
        point: the next larger size that was simulated, or the largest if none reaches it.
    """

    n_users: int | None
    point: Point
    reason: str | None


def simulate(
    power: Mapping[str, Any], family: Family, *, n_permutations: int, seed: int
) -> list[Curve]:
    """Every effect of the config's section `power`, in the order of its designs and tasks."""
    settings = Settings(
        sorted(power["sizes"]), power["simulations"], power["alpha"], n_permutations, seed
    )
    planned = [
        (task, setup)
        for design in (_shares, _who, _scores)
        for task, setup in design(power, family)
    ]
    done: dict[Setup, list[Point]] = {}
    distinct = list(dict.fromkeys(setup for _, setup in planned))
    with Progress("Power", len(distinct) * len(settings.sizes), "sizes") as progress:
        for setup in distinct:
            done[setup] = []
            for point in power_curve(setup, settings):
                done[setup].append(point)
                progress.update(note=f"{setup.design} {setup.effect.label}")
    return [Curve(setup, task, family.items[task], done[setup]) for task, setup in planned]


def _shares(power: Mapping[str, Any], family: Family) -> Iterator[tuple[str, Setup]]:
    for task, n_items in family.items.items():
        for effect in power["effects"]["shares"]:
            moved = Moved(float(effect["baseline"]), float(effect["condition"]))
            yield task, Setup(moved, n_tests=power["prompts"] or n_items)


def _who(power: Mapping[str, Any], family: Family) -> Iterator[tuple[str, Setup]]:
    for task, n_items in family.items.items():
        for share in power["effects"]["who"]:
            for replicates in sorted(power["replicates"]):
                who = (
                    WhoLists(float(share), Lists(**power["lists"]))
                    if task in family.lists
                    else Who(float(share), float(power["answer_share"]))
                )
                yield task, Setup(who, replicates, n_items)


def _scores(power: Mapping[str, Any], family: Family) -> Iterator[tuple[str, Setup]]:
    if family.score_task is None:
        return
    for difference in power["effects"]["scores"]:
        scores = Scores(float(difference), float(power["sd_users"]), float(power["sd_reruns"]))
        yield family.score_task, Setup(scores, n_tests=max(family.n_conditions, 1))


def smallest(points: Sequence[Point], target: float) -> Reached:
    """The smallest size from which on every simulated size reaches the target."""
    known = [point for point in points if point.power is not None]
    first = len(known)
    while first and (known[first - 1].power or 0.0) >= target:
        first -= 1
    if first == len(known):
        last = known[-1]
        return Reached(None, last, f"not reached with {last.n_users}: power is {last.power:.2f}")
    point = known[first]
    if first == 0:
        reason = f"{point.n_users} is the smallest size tried: fewer may do"
        return Reached(point.n_users, point, reason)
    before = known[first - 1]
    low, high = before.power or 0.0, point.power or 0.0
    part = (target - low) / (high - low)
    between = before.n_users + part * (point.n_users - before.n_users)
    return Reached(math.ceil(between - 1e-9), point, None)

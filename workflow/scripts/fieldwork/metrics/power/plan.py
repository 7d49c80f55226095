"""The power of a planned study: simulated, priced, and said in sentences."""

from collections.abc import Collection
from typing import NamedTuple, Protocol

from fieldwork.metrics.claims.families import ClaimRules
from fieldwork.metrics.power.page import render
from fieldwork.metrics.power.study import StudyShape, simulate_effects
from fieldwork.metrics.power.table import ArmPrices, PlannedStudy, advice_rows, power_rows
from fieldwork.records.power import PowerAdvice, PowerRow


class StudyArms(ArmPrices, Protocol):
    """The study's tasks, and its arms at any size."""

    def n_items(self, task: str) -> int:
        """Prompts of a task."""

    def is_list(self, task: str) -> bool:
        """Whether the answers to most prompts of a task are lists."""

    def n_of_kinds(self, task: str, kinds: Collection[str]) -> int:
        """Prompts of a task that are of one of these kinds."""


class StudyPower(NamedTuple):
    """Power at every size, the smallest sizes that will do, and the page about them."""

    rows: list[PowerRow]
    advice: list[PowerAdvice]
    page: str


def plan_power(planned_study: PlannedStudy, tasks: list[str], arms: StudyArms) -> StudyPower:
    """Simulate every effect of the config, and price every size."""
    shape = StudyShape(
        models=[*planned_study.models],
        items={task: arms.n_items(task) for task in tasks},
        lists={task for task in tasks if arms.is_list(task)},
        runs=planned_study.runs,
        score_task=planned_study.score_task,
        conditions=[*planned_study.conditions],
        n_comparisons=planned_study.n_comparisons,
        rules=ClaimRules.of_study(planned_study.rules),
        values={task: arms.n_of_kinds(task, ("scale", "number")) for task in tasks},
        scales={task: arms.n_of_kinds(task, ("scale",)) for task in tasks},
    )
    curves = simulate_effects(
        planned_study.settings,
        shape,
        n_permutations=planned_study.n_permutations,
        seed=planned_study.seed,
        rarest_users=planned_study.rarest_users,
    )
    advice = [*advice_rows(curves, planned_study, arms)]
    page = render(advice, planned_study, shape.items)
    return StudyPower([*power_rows(curves, planned_study, arms)], advice, page)

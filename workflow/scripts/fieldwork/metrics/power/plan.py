"""The power of a planned study: simulated, priced, and said in sentences."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from fieldwork.metrics.claims.families import ClaimRules
from fieldwork.metrics.power.family import TaskQuestions
from fieldwork.metrics.power.likeness import TaskLikeness
from fieldwork.metrics.power.page import render
from fieldwork.metrics.power.study import StudyShape, simulate_effects
from fieldwork.metrics.power.table import ArmPrices, PlannedStudy, advice_rows, power_rows
from fieldwork.records.power import PowerAdvice, PowerRow
from fieldwork.records.tasks import ItemKind


class StudyArms(ArmPrices, Protocol):
    """The study's tasks, and its arms at any size."""

    def n_items(self, task: str) -> int:
        """Prompts of a task."""

    def n_of_kind(self, task: str, kind: ItemKind) -> int:
        """Prompts of a task that are of a kind."""

    def n_graded(self, task: str) -> int:
        """Choices of a task that have a right answer."""


class StudyPower(NamedTuple):
    """Power at every size, the smallest sizes that will do, and the page about them."""

    rows: list[PowerRow]
    advice: list[PowerAdvice]
    page: str


def plan_power(
    planned_study: PlannedStudy,
    tasks: Sequence[str],
    arms: StudyArms,
    pilot: TaskLikeness | None = None,
) -> StudyPower:
    """Simulate every effect of the config, and price every size.

    Args:
        pilot: how alike a user's answers to two prompts are, where stored answers show it.
    """
    shape = StudyShape(
        models=[*planned_study.models],
        items={task: arms.n_items(task) for task in tasks},
        questions={task: _count_questions(task, arms) for task in tasks},
        runs=planned_study.runs,
        score_task=planned_study.score_task,
        conditions=[*planned_study.conditions],
        n_comparisons=planned_study.n_comparisons,
        rules=ClaimRules.of_study(planned_study.rules),
        asked_again=planned_study.asked_again,
        nests=planned_study.nests,
        pilot=pilot or {},
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


def _count_questions(task: str, arms: StudyArms) -> TaskQuestions:
    return TaskQuestions(
        lists=arms.n_of_kind(task, "list"),
        choices=arms.n_of_kind(task, "choice"),
        scales=arms.n_of_kind(task, "scale"),
        numbers=arms.n_of_kind(task, "number"),
        n_graded=arms.n_graded(task),
    )

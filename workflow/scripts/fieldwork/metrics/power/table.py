"""The tables of `snakemake power`: power and cost at every size, and the smallest size that will do.

Owns their rows. The caller prices the arms, so that nothing here knows of providers.
"""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Protocol, get_args

from fieldwork.estimates.reasons import join_reasons
from fieldwork.metrics.claims.families import correction_of
from fieldwork.metrics.power.effects import Scenario
from fieldwork.metrics.power.likeness import NO_PILOT, TaskLikeness
from fieldwork.metrics.power.simulation import PowerCurve, find_smallest_size
from fieldwork.metrics.power.study import PlannedStudy, PlannedTask
from fieldwork.records.field import FIELD
from fieldwork.records.power import PowerAdvice, PowerRow
from fieldwork.records.tasks import ItemKind


class ArmCost(Protocol):
    """Calls and dollars of an arm."""

    @property
    def n_calls(self) -> int:
        """Answers asked for."""

    @property
    def cost_usd(self) -> float | None:
        """US dollars, None with a reason."""

    @property
    def basis(self) -> str:
        """What the tokens are counted from."""

    @property
    def reason(self) -> str | None:
        """Why there is no cost, or what it leaves out."""


class StudyArms(Protocol):
    """The study's tasks, and the prices of its arms at any size."""

    def n_items(self, task: str) -> int:
        """Prompts of a task."""

    def n_of_kind(self, task: str, kind: ItemKind) -> int:
        """Prompts of a task that are of a kind."""

    def n_graded(self, task: str) -> int:
        """Choices of a task that have a right answer."""

    def at(
        self, model: str, task: str, condition: str, *, n_users: int, replicates: int
    ) -> ArmCost:
        """Cost of one arm; without users, `n_users` is the number of reruns."""


def with_tasks(
    study: PlannedStudy,
    tasks: Sequence[str],
    arms: StudyArms,
    pilot: TaskLikeness = NO_PILOT,
    share_who: Mapping[str, float] = MappingProxyType({}),
) -> PlannedStudy:
    """A study with what its tasks ask.

    Args:
        pilot: how alike a user's answers to two prompts are, where stored answers show it.
        share_who: of the variance of letters between users, by task, where stored answers show it.
    """
    planned_tasks = {
        task: PlannedTask(
            {kind: arms.n_of_kind(task, kind) for kind in get_args(ItemKind)}, arms.n_graded(task)
        )
        for task in tasks
    }
    return study._replace(tasks=planned_tasks, pilot=pilot, share_who=share_who)


def power_rows(
    curves: Sequence[PowerCurve], study: PlannedStudy, prices: StudyArms
) -> Iterator[PowerRow]:
    """A row for each size of each curve, for each model and condition."""
    for curve, columns in _arms(curves):
        for estimate in curve.estimates:
            cost = _comparison_cost(curve.scenario, columns, estimate.n_users, study, prices)
            reason = join_reasons(estimate.reason, cost.pop("reason"))
            yield PowerRow(
                **columns,
                **cost,
                n_users=estimate.n_users,
                n_items=study.tasks[curve.scenario.task].count(),
                n_tests=estimate.n_tests,
                power=estimate.power,
                ci_low=estimate.low,
                ci_high=estimate.high,
                n_simulations=estimate.n_simulations,
                reason=reason,
            )


def advice_rows(
    curves: Sequence[PowerCurve], study: PlannedStudy, prices: StudyArms
) -> Iterator[PowerAdvice]:
    """One row for each curve, model and condition, in this order."""
    target = study.settings.target
    for curve, columns in _arms(curves):
        size = find_smallest_size(curve.estimates, target)
        cost: dict[str, Any] = {}
        if size.n_needed is not None:
            cost = _comparison_cost(curve.scenario, columns, size.n_needed, study, prices)
        prices_usd = (cost.get("cost_usd"), cost.get("cost_baseline_usd"))
        yield PowerAdvice(
            **columns,
            likeness_basis=curve.scenario.basis or None,
            n_tests=size.n_tests,
            target=target,
            n_users=size.n_needed,
            n_simulated=size.n_users if cost else None,
            power=size.power,
            ci_low=size.low,
            ci_high=size.high,
            n_calls=cost.get("n_calls"),
            n_calls_baseline=cost.get("n_calls_baseline"),
            cost_usd=None if None in prices_usd else sum(filter(None, prices_usd)),
            reason=join_reasons(size.reason, cost.get("reason")),
        )


def _arms(curves: Sequence[PowerCurve]) -> Iterator[tuple[PowerCurve, dict[str, Any]]]:
    """Each curve with what both tables say of each of its models and conditions."""
    for curve in curves:
        scenario = curve.scenario
        for model, condition in curve.arms:
            yield (
                curve,
                {
                    "measure": scenario.measure,
                    "effect": scenario.effect.label,
                    "source": scenario.source_label,
                    "odd_users": scenario.odd_users,
                    "likeness": scenario.supposed_likeness,
                    "task": scenario.task,
                    "model": model,
                    "condition": condition,
                    "replicates": scenario.replicates,
                    "n_settled": scenario.n_settled,
                    "family": curve.family.name,
                    "correction": correction_of(curve.family.name),
                },
            )


def _comparison_cost(
    scenario: Scenario,
    columns: Mapping[str, Any],
    n_users: int,
    study: PlannedStudy,
    prices: StudyArms,
) -> dict[str, Any]:
    """Cost of a condition's arm, and of the baseline's with which it is compared, by column."""
    model, condition, replicates = columns["model"], columns["condition"], scenario.replicates
    if condition == FIELD:
        n_calls = n_users * study.tasks[scenario.task].count() * replicates
        unit_usd = study.settings.field_cost_usd
        has_no_price = "no cost of participants: power.field_cost_usd is not set"
        cost: dict[str, Any] = {
            "n_calls": n_calls,
            "cost_usd": None if unit_usd is None else n_users * unit_usd,
            "basis": "participants",
            "reason": has_no_price if unit_usd is None else None,
        }
    else:
        arm = prices.at(model, scenario.task, condition, n_users=n_users, replicates=replicates)
        cost = {name: getattr(arm, name) for name in ("n_calls", "cost_usd", "basis", "reason")}
    if scenario.measure == "share_who":
        return cost | {"n_calls_baseline": 0, "cost_baseline_usd": 0.0}
    baseline = prices.at(model, scenario.task, study.baseline, n_users=n_users, replicates=1)
    return cost | {
        "n_calls_baseline": baseline.n_calls,
        "cost_baseline_usd": baseline.cost_usd,
        "reason": join_reasons(cost["reason"], baseline.reason),
    }

"""Supposed effects and planned studies, written shortly, and a plan as the script makes it."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from fieldwork.metrics.claims.families import ClaimRules
from fieldwork.metrics.claims.keys import ClaimKey
from fieldwork.metrics.power.effects import Effect
from fieldwork.metrics.power.page import render
from fieldwork.metrics.power.simulation import simulate_effects
from fieldwork.metrics.power.study import PlannedStudy, PlannedTask
from fieldwork.metrics.power.table import advice_rows, power_rows, with_tasks
from fieldwork.records.power import PowerAdvice, PowerRow
from fieldwork.records.tasks import ItemKind
from fieldwork.sections.power import PowerSection
from fieldwork.sections.study import PrimaryEntry

RULES = ClaimRules(
    [PrimaryEntry(measure=name) for name in ("share_who", "entropy_bits", "score")],
    ["history"],
    [],
    {"share_who": 0.05, "entropy_bits": 0.25, "score": 0.02, "share": 0.1},
)
POWER: dict[str, Any] = {
    **{"target": 0.8, "simulations": 40, "sizes": [12, 6], "replicates": [3, 2], "prompts": None},
    "effects": {
        "shares": [{"baseline": 0.9, "condition": 0.2}],
        "who": [0.5, 1],
        "entropy": [0.1],
        "scores": [0.02],
        "values": [0.5],
    },
    **{"answer_share": 0.5, "scale_points": 5, "likeness": None, "settled_items": 0.0},
    **{"odd_users": 1.0, "lists": {"named": 2, "options": 6, "exponent": 1.0}},
    **{"sd_users": 0.01, "sd_reruns": 0.01, "field_cost_usd": None},
}


def planned_study(
    tasks: Mapping[str, PlannedTask], power: Mapping[str, Any] = MappingProxyType({}), **more: Any
) -> PlannedStudy:
    """A study of one model and condition that asks each user twice; `power` are further settings."""
    runs = dict.fromkeys(tasks, 12)
    plain: dict[str, Any] = {
        **{
            "name": "s",
            "models": {"m": "m"},
            "conditions": {"history": "SP-History"},
            "runs": runs,
        },
        **{"baseline": "offline", "n_comparisons": 3, "score_task": None, "nests": {}, "seed": 1},
        **{
            "asked_again": ["history"],
            "settings": PowerSection(**POWER | dict(power)),
            "rules": RULES,
            "n_permutations": 199,
        },
        **{"rarest_users": 0.05, "tasks": tasks},
    }
    return PlannedStudy(**plain | more)


def with_power(study: PlannedStudy, **changes: Any) -> PlannedStudy:
    """The study with other settings of `power`."""
    settings = study.settings.model_dump() | changes
    return study._replace(settings=PowerSection(**settings))


def place(
    measure: str, model: str, task: str, condition: str, detail: str | None = None
) -> ClaimKey:
    """Where an effect is."""
    return ClaimKey(measure, model, task, condition, None, detail)


def share_change(baseline: float, condition: float) -> Effect:
    """An answer's share moves."""
    return Effect("shares", condition, baseline)


def score_difference(difference: float, sd_users: float, sd_reruns: float) -> Effect:
    """Mean scores differ."""
    return Effect("scores", difference, sd_users=sd_users, sd_reruns=sd_reruns)


def value_difference(difference: float, n_together: int = 1) -> Effect:
    """Means of points or numbers differ."""
    return Effect("values", difference, n_together=n_together)


class FakeCost(NamedTuple):
    n_calls: int
    cost_usd: float | None
    basis: str
    reason: str | None


class FakePrices:
    """A dollar a call; one model without a price."""

    def at(
        self, model: str, task: str, condition: str, *, n_users: int, replicates: int
    ) -> FakeCost:
        assert task == "t"
        n = n_users * replicates * (10 if condition == "offline" else 1)
        price = (None, "tables", "no price") if model == "free" else (float(n), "tables", None)
        return FakeCost(n, *price)


class FakeArms(FakePrices):
    """A task with four prompts of a kind; no choice has a right answer, but for `graded`."""

    def __init__(self, kind: ItemKind = "list", graded: int = 0) -> None:
        self.kind = kind
        self.graded = graded

    def n_items(self, task: str) -> int:
        return len(task) * 4

    def n_of_kind(self, task: str, kind: ItemKind) -> int:
        return self.n_items(task) if kind == self.kind else 0

    def n_graded(self, task: str) -> int:  # noqa: ARG002
        return self.graded


class Planned(NamedTuple):
    rows: list[PowerRow]
    advice: list[PowerAdvice]
    page: str


def plan_power(design: PlannedStudy, tasks: Sequence[str], arms: FakeArms) -> Planned:
    """As the script makes it."""
    study = with_tasks(design, tasks, arms)
    curves = simulate_effects(study)
    advice = [*advice_rows(curves, study, arms)]
    return Planned([*power_rows(curves, study, arms)], advice, render(advice, study))

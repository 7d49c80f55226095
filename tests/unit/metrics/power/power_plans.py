"""Supposed effects and planned studies, written shortly."""

from collections.abc import Mapping
from typing import Any

from fieldwork.metrics.claims.measures import ClaimKey
from fieldwork.metrics.power.effects import Effect
from fieldwork.metrics.power.study import PlannedStudy, PlannedTask

RULES: dict[str, Any] = {
    "primary": [{"measure": name} for name in ("share_who", "entropy_bits", "score")],
    "users": ["history"],
    "controls": [],
    "margins": {"share_who": 0.05, "entropy_bits": 0.25, "score": 0.02, "share": 0.1},
}
POWER: dict[str, Any] = {
    "target": 0.8,
    "simulations": 40,
    "sizes": [12, 6],
    "replicates": [3, 2],
    "prompts": None,
    "effects": {
        "shares": [{"baseline": 0.9, "condition": 0.2}],
        "who": [0.5, 1],
        "entropy": [0.1],
        "scores": [0.02],
        "values": [0.5],
    },
    "answer_share": 0.5,
    "scale_points": 5,
    "likeness": None,
    "settled_items": 0.0,
    "odd_users": 1.0,
    "lists": {"named": 2, "options": 6, "exponent": 1.0},
    "sd_users": 0.01,
    "sd_reruns": 0.01,
    "field_cost_usd": None,
}


def planned_study(tasks: Mapping[str, PlannedTask], **more: Any) -> PlannedStudy:
    """A study of one model and condition that asks each user twice."""
    study = PlannedStudy(
        name="s",
        models={"m": "m"},
        conditions={"history": "SP-History"},
        baseline="offline",
        n_comparisons=3,
        runs=dict.fromkeys(tasks, 12),
        score_task=None,
        asked_again=["history"],
        nests={},
        settings=POWER,
        rules=RULES,
        n_permutations=199,
        seed=1,
        rarest_users=0.05,
        tasks=tasks,
    )
    return study._replace(**more)


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

"""What an arm would take at another size: calls and dollars, by the code and the prices of the plan.

An arm of n users is made of the study's own: its users over and over where n is larger, the first of
them where it is smaller, as if nothing were answered yet. Promises that at the study's own size and
replicates calls and dollars are those of `snakemake plan` before anything is answered.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from fieldwork.generation.planning.loads import Dispatch, Learnt, Load
from fieldwork.generation.planning.rows import Arm, arm_load, load_costs
from fieldwork.generation.planning.tables import (
    Asked,
    Prompts,
    Study,
    read_arms,
    read_learnt,
    read_prompts,
)
from fieldwork.generation.pricing import Price, price_of


class Sized(NamedTuple):
    """An arm of some size.

    Attributes:
        n_calls: answers asked for.
        cost_usd: expected, as the config dispatches them; None with a reason.
        basis: what the tokens are counted from.
    """

    n_calls: int
    cost_usd: float | None
    basis: str
    reason: str | None


class _Asking(NamedTuple):
    """A model, and what is known of its tokens."""

    entry: Mapping[str, Any]
    price: Price | None
    learnt: Learnt

    @property
    def dispatch(self) -> Dispatch:
        chosen: Dispatch = self.entry.get("dispatch", "live")
        return chosen


class ArmSizes:
    """The arms of a study, to be asked for at any size."""

    def __init__(self, study: Study, models: Mapping[str, Any], prices: Mapping[str, Any]) -> None:
        self._study = study
        self._prompts = {
            (task, condition): read_prompts(study, task, condition)
            for task in study.tasks
            for condition in study.conditions
        }
        self._models = {
            name: _Asking(
                entry,
                price_of(prices, entry.get("model", "")),
                read_learnt(study, name, self._prompts),
            )
            for name, entry in models.items()
        }
        self._arms: dict[tuple[str, str, int, int], Arm] = {}
        self._loads: dict[tuple[str, str, str, int, int], Load] = {}

    def n_items(self, task: str) -> int:
        """Prompts of a task."""
        first = next(iter(self._study.conditions))
        return len(_questions(self._arm(task, first, 1, 1)))

    def is_list(self, task: str) -> bool:
        """Whether the answers to most prompts of a task are lists."""
        return self._prompts[task, next(iter(self._study.conditions))].list_share > 0.5

    def at(self, model: str, task: str, condition: str, *, n_users: int, replicates: int) -> Sized:
        """The arm with so many users, each asked each prompt `replicates` times.

        Where nobody asks, `n_users` is the number of reruns.
        """
        asking = self._models[model]
        whole = self._whole(task, condition)
        times, rest = divmod(n_users, whole)
        load = Load(*(times * n for n in self._load(model, task, condition, whole, replicates)))
        if rest:
            more = self._load(model, task, condition, rest, replicates)
            load = Load(*(a + b for a, b in zip(load, more, strict=True)))
        arm = self._arm(task, condition, whole, replicates)
        seen = asking.learnt.output_tokens.get(task)
        told = arm if seen is None else arm._replace(output_tokens=seen)
        costs = load_costs(load, told, asking.entry, asking.price, asking.dispatch)
        return Sized(load.requests, costs.expected, arm.basis, costs.reason)

    def _whole(self, task: str, condition: str) -> int:
        """Users, or reruns, of the study's own arm."""
        prompts = self._prompts[task, condition]
        runs: int = self._study.tasks[task]["runs"]
        return len(_users(prompts)) if prompts.basis == "tables" else runs

    def _load(self, model: str, task: str, condition: str, n: int, replicates: int) -> Load:
        key = (model, task, condition, n, replicates)
        if key not in self._loads:
            asking = self._models[model]
            arm = self._arm(task, condition, n, replicates)
            self._loads[key] = arm_load(
                arm, asking.entry, asking.price, asking.learnt, asking.dispatch
            )
        return self._loads[key]

    def _arm(self, task: str, condition: str, n: int, replicates: int) -> Arm:
        """The arm of the first `n` users, at most all, with nothing answered."""
        key = (task, condition, n, replicates)
        if key not in self._arms:
            prompts = self._prompts[task, condition]
            if prompts.basis == "tables":
                sized = prompts._replace(asked=_first(prompts, n, replicates))
            else:
                sized = read_prompts(_resized(self._study, n, replicates), task, condition)
            (self._arms[key],) = read_arms(
                self._study, "", {(task, condition): sized}, {(task, condition): set()}
            )
        return self._arms[key]


def _questions(arm: Arm) -> list[Any]:
    return [question for group in arm.groups for question in group.questions]


def _users(prompts: Prompts) -> list[Any]:
    """Puppets in their order, or reruns where nobody asks."""
    return [*dict.fromkeys(asked.puppet_id or asked.replicate for asked in prompts.asked)]


def _first(prompts: Prompts, n: int, replicates: int) -> list[Asked]:
    """The requests of the first `n` users; a user's context stays what it is."""
    kept = set(_users(prompts)[:n])
    own = dict.fromkeys(
        asked._replace(replicate=0) if asked.puppet_id else asked
        for asked in prompts.asked
        if (asked.puppet_id or asked.replicate) in kept
    )
    return [
        asked._replace(replicate=k) if asked.puppet_id else asked
        for asked in own
        for k in range(replicates if asked.puppet_id else 1)
    ]


def _resized(study: Study, n: int, replicates: int) -> Study:
    return study._replace(
        tasks={name: {**task, "runs": n} for name, task in study.tasks.items()},
        conditions={
            name: {**condition, "replicates": replicates}
            for name, condition in study.conditions.items()
        },
    )

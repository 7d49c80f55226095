"""What an arm would take at another size: calls and dollars, by the code and the prices of the plan.

An arm of n users is made of the study's own. Where n is larger, its users are counted several times;
where it is smaller, only the first are. Nothing counts as answered yet. Promises that at the study's own
size and replicates calls and dollars are those of `snakemake plan` before anything is answered.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from fieldwork import tables
from fieldwork.conditions import has_user
from fieldwork.errors import StudyError
from fieldwork.generation.planning.loads import Dispatch, Load, ObservedTokens, add_loads
from fieldwork.generation.planning.rows import PlannedArm, arm_load, load_costs
from fieldwork.generation.planning.tables import (
    PlanInputs,
    PlannedRequests,
    read_all_requests,
    read_arms,
    read_observed_tokens,
    read_requests,
)
from fieldwork.generation.pricing import Price
from fieldwork.records.generation import Request
from fieldwork.records.tasks import Item, ItemKind


class ArmSize(NamedTuple):
    """What an arm of some size takes.

    Attributes:
        n_calls: answers asked for.
        cost_usd: expected, as the config dispatches them; None with a reason.
        basis: what the tokens are counted from.
    """

    n_calls: int
    cost_usd: float | None
    basis: str
    reason: str | None


class _PlannedModel(NamedTuple):
    """A model, its price, and what its answers showed."""

    entry: Mapping[str, Any]
    price: Price | None
    observed_tokens: ObservedTokens

    @property
    def dispatch(self) -> Dispatch:
        dispatch: Dispatch = self.entry.get("dispatch", "live")
        return dispatch


class ArmSizes:
    """The arms of a study, at any size.

    Raises:
        StudyError: no model of the study is asked.
    """

    def __init__(self, study: PlanInputs) -> None:
        if not study.models:
            raise StudyError(
                "study.models: every selected model is recorded, so no study of another size can be "
                "planned; select a model that is asked"
            )
        self._study = study
        self._requests = read_all_requests(study)
        self._models = {
            name: _PlannedModel(
                entry, study.price(name), read_observed_tokens(study, name, self._requests)
            )
            for name, entry in study.models.items()
        }
        self._arms: dict[tuple[str, str, int, int], PlannedArm] = {}
        self._loads: dict[tuple[str, str, str, int, int], Load] = {}

    def n_items(self, task: str) -> int:
        """Prompts of a task."""
        first = next(iter(self._study.conditions))
        return sum(len(group.questions) for group in self._arm(task, first, 1, 1).groups)

    def n_of_kind(self, task: str, kind: ItemKind) -> int:
        """Prompts of a task that are of a kind; by its sources where the items are not here."""
        path = self._study.table("tasks", task)
        if path in self._study.files:
            return sum(
                item_kind == kind for (item_kind,) in tables.read_columns(path, Item, ["kind"])
            )
        sources = self._study.tasks[task]["sources"]
        n_items = self.n_items(task)
        n_named = [len(source["item_ids"]) for source in sources]
        # sources that do not name their questions are taken to be equally long
        parts = n_named if all(n_named) else [n_items / len(sources)] * len(sources)
        shares = (_kind_share(source, kind) for source in sources)
        return round(sum(n * share for n, share in zip(parts, shares, strict=True)))

    def n_graded(self, task: str) -> int:
        """Choices with a right answer; where the items are not here, all of them."""
        path = self._study.table("tasks", task)
        if path not in self._study.files:
            return self.n_of_kind(task, "choice")
        rows = tables.read_columns(path, Item, ["kind", "gold"])
        return sum(kind == "choice" and gold is not None for kind, gold in rows)

    def at(
        self, model: str, task: str, condition: str, *, n_users: int, replicates: int
    ) -> ArmSize:
        """The arm with so many users, each asked each prompt `replicates` times.

        In a condition without users, `n_users` is the number of reruns. Where a study takes
        probabilities, questions with options are asked once after each context, and twice without a user.
        """
        planned_model = self._models[model]
        n_own = n_users if self._is_capped(condition) else self._n_own_users(task, condition)
        times, rest = divmod(n_users, n_own)
        load = Load(*(times * n for n in self._load(model, task, condition, n_own, replicates)))
        if rest:
            load = add_loads(load, self._load(model, task, condition, rest, replicates))
        arm = self._arm(task, condition, n_own, replicates).expecting(planned_model.observed_tokens)
        costs = load_costs(
            load, arm, planned_model.entry, planned_model.price, planned_model.dispatch
        )
        return ArmSize(load.n_requests, costs.expected_usd, arm.basis, costs.reason)

    def _is_capped(self, condition: str) -> bool:
        """Whether more reruns do not ask every question more often."""
        return self._study.is_by_probabilities and not has_user(self._study.conditions[condition])

    def _n_own_users(self, task: str, condition: str) -> int:
        """Users, or reruns, of the study's own arm."""
        arm_requests = self._requests[task, condition]
        runs: int = self._study.tasks[task]["runs"]
        return len(_users(arm_requests)) if arm_requests.basis == "tables" else runs

    def _load(self, model: str, task: str, condition: str, n: int, replicates: int) -> Load:
        key = (model, task, condition, n, replicates)
        if key not in self._loads:
            planned_model = self._models[model]
            arm = self._arm(task, condition, n, replicates)
            self._loads[key] = arm_load(
                arm,
                planned_model.entry,
                planned_model.price,
                planned_model.observed_tokens,
                planned_model.dispatch,
            )
        return self._loads[key]

    def _arm(self, task: str, condition: str, n: int, replicates: int) -> PlannedArm:
        """The arm of the first `n` users, at most all, or of `n` reruns, with nothing answered."""
        key = (task, condition, n, replicates)
        if key not in self._arms:
            arm_requests = self._requests[task, condition]
            if arm_requests.basis == "tables":
                choose = _reruns if self._is_capped(condition) else _first_users
                sized_requests = arm_requests._replace(requests=choose(arm_requests, n, replicates))
            else:
                sized_requests = read_requests(_resize(self._study, n, replicates), task, condition)
            (self._arms[key],) = read_arms(
                self._study, "", {(task, condition): sized_requests}, {(task, condition): set()}
            )
        return self._arms[key]


def _kind_share(source: Mapping[str, Any], kind: ItemKind) -> float:
    """Share of a source's questions that are of a kind; a mixed file is taken to be half lists."""
    if source["kind"] == "mixed":
        return 0.5 if kind in ("list", "choice") else 0.0
    return float(source["kind"] == kind)


def _users(arm_requests: PlannedRequests) -> list[str | int]:
    """Puppets in their order, or reruns in a condition without users."""
    return [*dict.fromkeys(_user(request) for request in arm_requests.requests)]


def _user(request: Request) -> str | int:
    return request.puppet_id or request.replicate


def _first_users(arm_requests: PlannedRequests, n: int, replicates: int) -> list[Request]:
    """The requests of the first `n` users; a user's context stays what it is."""
    users = set(_users(arm_requests)[:n])
    # one of each user's replicates: they are counted anew
    singles = dict.fromkeys(
        _replicate(request, 0) if request.puppet_id else request
        for request in arm_requests.requests
        if _user(request) in users
    )
    return [
        _replicate(request, k) if request.puppet_id else request
        for request in singles
        for k in range(_n_times(request, arm_requests, replicates))
    ]


def _n_times(request: Request, arm_requests: PlannedRequests, replicates: int) -> int:
    """How often a user is asked a question."""
    is_once = not request.puppet_id or request.item_id in arm_requests.with_options
    return 1 if is_once else replicates


def _reruns(arm_requests: PlannedRequests, n: int, _: int) -> list[Request]:
    """So many reruns, and at most two of a question whose options have probabilities."""
    items = dict.fromkeys(_replicate(request, 0) for request in arm_requests.requests)
    return [
        _replicate(request, k)
        for request in items
        for k in range(min(n, 2) if request.item_id in arm_requests.with_options else n)
    ]


def _replicate(request: Request, number: int) -> Request:
    return Request(request.item_id, request.context_id, request.puppet_id, number)


def _resize(study: PlanInputs, n: int, replicates: int) -> PlanInputs:
    return study._replace(
        tasks={name: {**task, "runs": n} for name, task in study.tasks.items()},
        conditions={
            name: {**condition, "replicates": replicates}
            for name, condition in study.conditions.items()
        },
    )

"""Which of a plan's requests the ledger answers already: looked up under the keys they are sent with.

Answers of a job that did not finish are in its ledger and in no table. Bodies and keys are made by the
code that sends; no key of an account is needed, nothing is sent, and no ledger is made. Contexts are
read a few at a time, so that memory stays bounded however large a study's table of them is.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from fieldwork import tables
from fieldwork.encoder import ANSWER_VECTORS
from fieldwork.generation.agenda import Agenda
from fieldwork.generation.ledger import Entry, Ledger, open_ledger
from fieldwork.generation.planning.tables import Asked, Study
from fieldwork.generation.providers.base import Provider
from fieldwork.generation.providers.registry import make_provider
from fieldwork.generation.responses import groups_of
from fieldwork.generation.rows import GenerationArm
from fieldwork.records.generation import Request
from fieldwork.records.puppets import Context
from fieldwork.records.tasks import Item

# of contexts held at once, by their estimate
TOKENS_HELD = 8_000_000


def ledger_of(model: str) -> str:
    """Path of a model's ledger."""
    return f"resources/ledger/{model}.sqlite"


def answered_by_ledger(
    study: Study, model: str, entry: Mapping[str, Any], arms: Collection[tuple[str, str]]
) -> dict[tuple[str, str], set[Asked]]:
    """The answered requests of a model's arms, by task and condition.

    An arm is left out where it has no tables to make bodies from.

    Args:
        entry: entry of `models`, defaults filled in.
        arms: task and condition of each; none where the model has no ledger.

    Raises:
        StudyError: a file cannot be read, or a request cannot be made of the tables.
    """
    if ledger_of(model) not in study.ledgers:
        return {}
    # bodies and keys are the same without a key to the account
    provider = make_provider({**entry, "api_key_env": None}, ANSWER_VECTORS)
    with open_ledger(Path(ledger_of(model))) as ledger:
        return {
            (task, condition): _answered(study, provider, ledger, model, task, condition)
            for task, condition in arms
            if {study.table("tasks", task), study.table("requests", task, condition)}
            <= set(study.files)
        }


def _answered(
    study: Study, provider: Provider, ledger: Ledger, model: str, task: str, condition: str
) -> set[Asked]:
    items = tables.read_rows(study.table("tasks", task), Item)
    requests = tables.read_rows(study.table("requests", task, condition), Request)
    contexts = _Contexts(study.table("contexts", task, condition), requests)
    arm = GenerationArm(
        model=model,
        task=task,
        condition=condition,
        temperature=study.conditions[condition]["temperature"],
        max_tokens=study.tasks[task]["max_tokens"],
        seed=study.seed,
    )
    groups = groups_of(requests, {item.item_id: item for item in items}, contexts, arm)
    known = _Known(ledger)
    agenda = Agenda(groups, provider, cast(Ledger, known), cache=None)
    for _ in agenda.all_calls():
        pass
    return {
        Asked(request.item_id, request.context_id, request.puppet_id, request.replicate)
        for request, key in zip(requests, agenda.keys, strict=True)
        if key in known.found
    }


class _Known:
    """The part of a ledger that an agenda asks; remembers what it knew.

    Answers of other models are none here: whether they count is for the run to say.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self.found: set[bytes] = set()

    def known(self, keys: Sequence[bytes]) -> set[bytes]:
        found = self._ledger.known(keys)
        self.found |= found
        return found

    def quarantined(self, keys: Sequence[bytes]) -> list[Entry]:  # noqa: ARG002
        return []


class _Contexts(Mapping[str, Context]):
    """The contexts of a table, read in the order in which the requests come to them."""

    def __init__(self, path: str, requests: Sequence[Request]) -> None:
        self._path = path
        self._order = [*dict.fromkeys(r.context_id for r in requests if r.context_id is not None)]
        self._tokens: dict[str, int] = {}
        if self._order:
            self._tokens = dict(tables.read_columns(path, Context, ["context_id", "n_tokens"]))
        self._place = {name: place for place, name in enumerate(self._order)}
        self._held: dict[str, Context] = {}

    def __getitem__(self, context_id: str) -> Context:
        if context_id not in self._held:
            # let go of the old ones before the new ones come
            self._held = {}
            found = tables.read_lookup(
                self._path, Context, "context_id", self._next(self._place[context_id])
            )
            self._held = {context.context_id: context for context in found}
        return self._held[context_id]

    def _next(self, place: int) -> Iterator[str]:
        tokens = 0
        for name in self._order[place:]:
            yield name
            tokens += self._tokens.get(name, 0)
            if tokens >= TOKENS_HELD:
                return

    def __iter__(self) -> Iterator[str]:
        return iter(self._order)

    def __len__(self) -> int:
        return len(self._order)

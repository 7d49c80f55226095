"""Which of a plan's requests the ledger answers already: looked up under the keys they are sent with.

Answers of a job that did not finish are in its ledger and in no table. Bodies and keys are made by the
code that sends; no key of an account is needed, nothing is sent, and no ledger is made. Contexts are
read a few at a time, so that memory stays bounded however large a study's table of them is.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from fieldwork import tables
from fieldwork.encoder import ANSWER_VECTORS
from fieldwork.generation.agenda import Agenda
from fieldwork.generation.ledger import LEDGERS, Entry, Ledger, open_ledger
from fieldwork.generation.planning.tables import PlanInputs, PlannedRequests
from fieldwork.generation.providers.base import Provider
from fieldwork.generation.providers.registry import make_provider
from fieldwork.generation.responses import groups_of
from fieldwork.generation.rows import GenerationArm
from fieldwork.records.generation import Request
from fieldwork.records.puppets import Context
from fieldwork.records.tasks import Item

CONTEXT_TOKENS_AT_ONCE = 8_000_000
"""Estimated tokens of the contexts that are in memory at once."""


def ledger_answers(
    study: PlanInputs,
    model: str,
    entry: Mapping[str, Any],
    requests: Mapping[tuple[str, str], PlannedRequests],
) -> dict[tuple[str, str], set[Request]]:
    """The answered requests of a model's arms, by task and condition.

    An arm is left out where it has no tables to make bodies from, and every arm where the model has no
    ledger.

    Args:
        entry: entry of `models`, defaults filled in.
        requests: by task and condition.

    Raises:
        StudyError: a file cannot be read, or a request cannot be made of the tables.
    """
    path = LEDGERS / f"{model}.sqlite"
    if str(path) not in study.ledgers:
        return {}
    # bodies and keys are the same without a key to the account
    provider = make_provider({**entry, "api_key_env": None}, ANSWER_VECTORS)
    with open_ledger(path) as ledger:
        return {
            (task, condition): _answered_requests(
                study, provider, ledger, study.arm(model, task, condition), arm_requests.requests
            )
            for (task, condition), arm_requests in requests.items()
            if arm_requests.basis == "tables"
        }


def _answered_requests(
    study: PlanInputs,
    provider: Provider,
    ledger: Ledger,
    arm: GenerationArm,
    requests: Sequence[Request],
) -> set[Request]:
    items = tables.read_rows(study.table("tasks", arm.task), Item)
    contexts = _StreamedContexts(study.table("contexts", arm.task, arm.condition), requests)
    groups = groups_of(requests, {item.item_id: item for item in items}, contexts, arm)
    look_up = _RecordedLookUp(ledger)
    agenda = Agenda(groups, provider, cast(Ledger, look_up), cache=None)
    for _ in agenda.all_calls():
        pass
    return {
        request for request, key in zip(requests, agenda.keys, strict=True) if key in look_up.hits
    }


class _RecordedLookUp:
    """The part of a ledger that an agenda uses; remembers the keys that had an answer.

    Quarantined answers are not among them: whether they count is for the run to decide.

    Attributes:
        hits: keys that were looked up and have an answer.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self.hits: set[bytes] = set()

    def answered_keys(self, keys: Sequence[bytes]) -> set[bytes]:
        hits = self._ledger.answered_keys(keys)
        self.hits |= hits
        return hits

    def quarantined_entries(self, keys: Sequence[bytes]) -> list[Entry]:  # noqa: ARG002
        return []


class _StreamedContexts(Mapping[str, Context]):
    """The contexts of a table, read in the order in which the requests come to them."""

    def __init__(self, path: str, requests: Sequence[Request]) -> None:
        self._path = path
        self._names = [*dict.fromkeys(r.context_id for r in requests if r.context_id is not None)]
        self._tokens: dict[str, int] = {}
        if self._names:
            self._tokens = dict(tables.read_columns(path, Context, ["context_id", "n_tokens"]))
        self._place = {name: place for place, name in enumerate(self._names)}
        self._in_memory: dict[str, Context] = {}

    def __getitem__(self, context_id: str) -> Context:
        if context_id not in self._in_memory:
            # let go of the old ones before the new ones come
            self._in_memory = {}
            names = self._next_names(self._place[context_id])
            contexts = tables.read_lookup(self._path, Context, "context_id", names)
            self._in_memory = {context.context_id: context for context in contexts}
        return self._in_memory[context_id]

    def _next_names(self, place: int) -> Iterator[str]:
        tokens = 0
        for name in self._names[place:]:
            yield name
            tokens += self._tokens.get(name, 0)
            if tokens >= CONTEXT_TOKENS_AT_ONCE:
                return

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

"""The state of a running server, and the making of answers, which all of its APIs share."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from servers.batch_jobs import BatchRules, Job
from servers.bill import Bill, Spent, Tier
from servers.clock import Clock
from servers.faults import Fault
from servers.prefix_cache import (
    Count,
    Family,
    Lookup,
    PrefixCache,
    Prompt,
    count_tokens,
    family_named,
)

Answer = Callable[[Mapping[str, Any]], str]


class ModelSpec(NamedTuple):
    """A model that the server has.

    Attributes:
        family: how it caches; see `prefix_cache.family_named`.
        returns: the id its answers carry, if another than the one asked for.
        shutdown_date: as in OpenAI's list of models, 2027-01-14.
        reasoning: tokens it thinks before each answer.
        refuses: fields of a request that it does not take, such as temperature or max_tokens.
        enqueued_tokens: of all its unfinished batches together.
    """

    id: str
    family: str = "4o"
    returns: str | None = None
    shutdown_date: str | None = None
    reasoning: int = 0
    refuses: frozenset[str] = frozenset()
    enqueued_tokens: int | None = None


class ChatRequest(NamedTuple):
    """A request as the server saw it; `number` counts them from 1, header names are lower case."""

    number: int
    path: str
    authorization: str | None
    raw: bytes
    body: dict[str, Any]
    method: str = "POST"
    headers: Mapping[str, str] = {}
    query: Mapping[str, str] = {}

    @property
    def question(self) -> str:
        """The last message, in any API; empty where there is none."""
        return question_of(self.body)


def question_of(body: Mapping[str, Any]) -> str:
    """The text of a request's last message, in any API."""
    turns = body.get("messages") or body.get("contents")
    if not isinstance(turns, list) or not turns or not isinstance(turns[-1], dict):
        return ""
    said = turns[-1].get("content", turns[-1].get("parts"))
    if isinstance(said, list):
        return "".join(str(part.get("text", "")) for part in said)
    return str(said)


class StoredFile(NamedTuple):
    """An uploaded or made file."""

    id: str
    name: str
    purpose: str
    created: float
    data: bytes


class Call(NamedTuple):
    """A request for an answer, whichever API it came by.

    Attributes:
        key: `prompt_cache_key`.
        implicit: false where only explicit breakpoints are to be cached.
        held: tokens of an explicit cache, which stand before the prompt.
    """

    model: str
    prompt: Prompt
    body: Mapping[str, Any]
    tier: Tier = "live"
    key: str = ""
    implicit: bool = True
    held: int = 0


class Done(NamedTuple):
    """An answer that was made and billed."""

    text: str
    spent: Spent


@dataclass
class Chat:
    """A running server. What is public may be read, and set, at any time.

    Attributes:
        answer: computes the text from the request's body; None: every text is a new one.
        specs: the models it has; others are taken for `default_family`, or refused if `strict`.
        latency_s: real seconds before every answer.
        piece_s: real seconds before every further piece of a stream.
        api_key: the only key that is let in; None: any.
        credit_usd: the account is empty once the bill has reached it.
        count: tokens of a text.
        records: whether `requests` is kept.
        listen: false closes the door and every open connection, true opens it again.
        base_url: of OpenAI's API, up to /v1.
        gemini_url, azure_url, anthropic_url: hosts of the other APIs.
    """

    answer: Answer | None
    models: Sequence[Mapping[str, Any]]
    latency_s: float
    base_url: str = ""
    requests: list[ChatRequest] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    n_received: int = 0
    n_answered: int = 0
    n_under_way: int = 0
    most_under_way: int = 0
    gemini_url: str = ""
    azure_url: str = ""
    anthropic_url: str = ""
    specs: dict[str, ModelSpec] = field(default_factory=dict)
    default_family: str = "4o"
    strict: bool = False
    api_key: str | None = None
    credit_usd: float | None = None
    count: Count = count_tokens
    records: bool = True
    prices: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    clock: Clock = field(default_factory=Clock)
    batch: BatchRules = field(default_factory=BatchRules)
    cache: PrefixCache = field(init=False)
    bill: Bill = field(init=False)
    jobs: dict[str, Job] = field(default_factory=dict)
    files: dict[str, StoredFile] = field(default_factory=dict)
    listen: Callable[[bool], None] = field(init=False)
    caches: dict[str, Any] = field(default_factory=dict)
    piece_s: float = 0.0

    def __post_init__(self) -> None:
        self.cache = PrefixCache(self.clock)
        self.bill = Bill(self.prices, self.family)
        self._n_names = 0

    def questions(self) -> list[str]:
        """The last messages, in order of arrival."""
        return [request.question for request in self.requests]

    def take_fault(self, question: str, step: str = "answer") -> Fault | None:
        """The first fault that is left for a call."""
        return next((fault for fault in self.faults if fault.meets(step, question)), None)

    def spec(self, model: str) -> ModelSpec | None:
        """A model; None where it is not known and the server is strict."""
        if model in self.specs:
            return self.specs[model]
        return None if self.strict else ModelSpec(model, family=self.default_family)

    def answering_model(self, call: Call) -> str:
        """The id that an answer carries."""
        spec = self.spec(call.model)
        return (spec and spec.returns) or call.model

    def model_names(self) -> list[str]:
        """Ids of all models that are listed."""
        return [*self.specs, *(str(model["id"]) for model in self.models)]

    def family(self, model: str) -> Family:
        """How a model caches."""
        spec = self.specs.get(model)
        return family_named(spec.family if spec else self.default_family)

    def new_name(self, prefix: str) -> str:
        """A name that is not used yet."""
        self._n_names += 1
        return f"{prefix}{self._n_names:06d}"

    def store_file(self, data: bytes, *, name: str, purpose: str, prefix: str) -> StoredFile:
        """Keep a file."""
        stored = StoredFile(self.new_name(prefix), name, purpose, self.clock.now(), data)
        self.files[stored.id] = stored
        return stored

    @property
    def penniless(self) -> bool:
        """Whether the account is empty."""
        return self.credit_usd is not None and self.bill.usd >= self.credit_usd

    async def run(self, call: Call, unique: str, wait_s: float) -> Done:
        """Answer a live call and bill it."""
        self.n_under_way += 1
        self.most_under_way = max(self.most_under_way, self.n_under_way)
        try:
            lookup = self.cache.look_up(
                call.model,
                self.family(call.model),
                call.prompt,
                key=call.key,
                implicit=call.implicit,
            )
            await asyncio.sleep(self.latency_s + wait_s)
            return self.finish(call, lookup, unique)
        finally:
            self.n_under_way -= 1

    def finish(self, call: Call, lookup: Lookup, unique: str) -> Done:
        """Make the answer; from here on it is billed and its prefix can be read."""
        text = self.answer(call.body) if self.answer else f"answer {unique}"
        self.cache.keep(lookup)
        spec = self.spec(call.model)
        reasoning = spec.reasoning if spec else 0
        spent = Spent(
            input=call.held + call.prompt.n_tokens,
            cached=call.held + lookup.cached,
            cache_write=lookup.written,
            output=self.count(text) + reasoning,
            reasoning=reasoning,
        )
        self.bill.charge(call.model, call.tier, spent)
        return Done(text, spent)

"""Which call is sent when: groups of questions after one context, within a bound of memory.

A context is serialised and hashed once, when its group is open_group. Where the provider caches prompt
prefixes, the first question after a context is sent alone. The rest follow when it is answered, no faster
than the cache allows. A group is opened when nothing else is left to send, and only while the contexts in
memory stay within a bound.
"""

import asyncio
import hashlib
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from fieldwork.errors import StudyError
from fieldwork.generation.ledger import Ledger, ledger_key
from fieldwork.generation.limits import Hold
from fieldwork.generation.providers.base import Provider, Sampling, Wire
from fieldwork.records.puppets import Message
from fieldwork.records.tasks import Item
from fieldwork.token_estimate import BYTES_PER_TOKEN

MAX_PREFIX_BYTES = 64 * 1024 * 1024
MINUTE_S = 60.0
# calls arrive a little after they are sent, some later than others
MINUTE_MARGIN = 0.02


class PrefixCache(NamedTuple):
    """How a provider caches the beginning of prompts.

    Attributes:
        min_tokens: shorter prefixes are not cached.
        requests_per_minute: with more requests per prefix some miss the cache; None for no limit.
    """

    min_tokens: int
    requests_per_minute: int | None


class Ask(NamedTuple):
    """One request after a group's context.

    Attributes:
        draw: distinguishes equal requests.
        former_sampling: the same sampling in numbers as an earlier version sent them, whose answers
            count; None where they are the same.
    """

    item: Item
    sampling: Sampling
    draw: int
    former_sampling: Sampling | None = None


class ContextGroup(NamedTuple):
    """The requests that follow one context; `context_id` is None for blank calls."""

    context_id: str | None
    context: Sequence[Message]
    asks: Sequence[Ask]


@dataclass(eq=False)
class OpenGroup:
    """A group under way, with the calls that wait for its first answer or for their minute.

    `pace` is the limit of requests a minute for its prefix, None for all at once.
    """

    n_bytes: int
    pace: int | None = None
    waiting: deque["Call"] = field(default_factory=deque)
    under_way: int = 0
    is_warm: bool = False
    sent_at: float = 0.0


class Call(NamedTuple):
    """A request that has no answer yet."""

    key: bytes
    draw: int
    wire: Wire
    group: OpenGroup
    item: Item

    @property
    def tokens(self) -> int:
        """Estimated tokens of the prompt."""
        return (len(self.wire.prefix) + len(self.wire.question)) // BYTES_PER_TOKEN


def wrong_model_message(endpoint: str, returned_model: str) -> str:
    """The message for an answer from another model."""
    return (
        f"{endpoint}: an answer came from {returned_model}, which is not the model in the config; the "
        f"run stops, and the ledger keeps the answer in quarantine: set models.*.model to a model that "
        f"exists, or add {returned_model} to models.*.accept_models"
    )


Recall = Callable[[Mapping[bytes, Item]], None]
"""Takes answers of earlier runs: ledger key → item."""


class Agenda:
    """Hands out calls to workers until every group is answered or given up.

    Args:
        recall: called with the answers that a group already has, before its calls are handed out.

    Attributes:
        keys: the ledger key of each request of the groups opened so far, in order.
        n_known: how many of them the ledger already answers.
        is_stopped: no more calls are handed out.
    """

    def __init__(
        self,
        groups: Iterator[ContextGroup],
        provider: Provider,
        ledger: Ledger,
        cache: PrefixCache | None,
        recall: Recall | None = None,
    ) -> None:
        self._groups: Iterator[ContextGroup] | None = groups
        self._provider, self._ledger, self._cache = provider, ledger, cache
        self._recall = recall
        self._ready_calls: deque[Call] = deque()
        self._idle_workers: deque[asyncio.Future[Call | None]] = deque()
        self._keys_handled: set[bytes] = set()
        self._n_open = self._n_prefix_bytes = 0
        # when the groups go on that wait for their next minute
        self._turns: dict[OpenGroup, float] = {}
        self.keys: list[bytes] = []
        self.n_known = 0
        self.is_stopped = False

    async def next(self) -> Call | None:
        """The next call to send, as soon as there is one; None once there are no more."""
        self._feed()
        if self._ready_calls:
            return self._ready_calls.popleft()
        if self._is_finished():
            return None
        turn: asyncio.Future[Call | None] = asyncio.get_running_loop().create_future()
        self._idle_workers.append(turn)
        return await turn

    def all_calls(self) -> Iterator[Call]:
        """Every call without an answer, for batches; one context is in memory at a time."""
        for group in self._groups or ():
            prefix = self._provider.prefix(group.context)
            yield from self._missing(group, prefix, OpenGroup(len(prefix)))

    @staticmethod
    def note_sent(call: Call) -> None:
        """Note that a call is sent now: the provider counts its minute from this moment."""
        call.group.sent_at = asyncio.get_running_loop().time()

    def note_end(self, call: Call) -> None:
        """Note that a call is answered or given up."""
        group = call.group
        group.under_way -= 1
        if group.waiting and not group.under_way:
            wait = self._pause(group)
            if wait > 0:
                loop = asyncio.get_running_loop()
                self._turns[group] = loop.time() + wait
                loop.call_later(wait, self._follow, group)
            else:
                self._follow(group)
        elif not group.under_way:
            self._n_open -= 1
            self._n_prefix_bytes -= group.n_bytes
        self._serve()

    @property
    def hold(self) -> Hold | None:
        """Why no call is handed out, where the pace of the prefix cache is the reason."""
        if self._ready_calls or not self._turns:
            return None
        wait_s = min(self._turns.values()) - asyncio.get_running_loop().time()
        return Hold(
            max(wait_s, 0.0), "prefix_cache.requests_per_minute allows no more questions yet"
        )

    def stop(self) -> None:
        """Hand out no more calls. Those under way are the last."""
        self.is_stopped, self._groups = True, None
        self._ready_calls.clear()
        self._serve()

    def _is_finished(self) -> bool:
        return self.is_stopped or (
            self._groups is None and not self._ready_calls and not self._n_open
        )

    def _serve(self) -> None:
        """Give idle workers the calls that are ready, or tell them that there are no more."""
        if self._idle_workers:
            self._feed()
        while self._idle_workers and (self._ready_calls or self._is_finished()):
            turn = self._idle_workers.popleft()
            if not turn.done():
                turn.set_result(self._ready_calls.popleft() if self._ready_calls else None)

    def _feed(self) -> None:
        while (
            not self._ready_calls
            and self._groups is not None
            and self._n_prefix_bytes <= MAX_PREFIX_BYTES
        ):
            group = next(self._groups, None)
            if group is None:
                self._groups = None
            else:
                self._begin(group)

    def _begin(self, group: ContextGroup) -> None:
        prefix = self._provider.prefix(group.context)
        open_group = OpenGroup(len(prefix))
        calls = self._missing(group, prefix, open_group)
        if not calls:
            return
        self._n_open += 1
        self._n_prefix_bytes += open_group.n_bytes
        open_group.waiting.extend(calls)
        cache = self._cache if group.context_id is not None else None
        if cache is None or len(prefix) < cache.min_tokens * BYTES_PER_TOKEN:
            self._release(open_group, len(calls))
        else:
            open_group.pace = cache.requests_per_minute
            # the first call fills the cache, and the others wait for it
            self._release(open_group, 1)

    def _missing(self, group: ContextGroup, prefix: bytes, open_group: OpenGroup) -> list[Call]:
        prefix_hash = hashlib.sha256(prefix)
        former_keys = self._former_keys(group, prefix_hash)
        delivery = self._provider.delivery(group.context_id)
        calls: dict[bytes, tuple[Ask, bytes]] = {}
        for ask in group.asks:
            question = self._provider.question(ask.item, ask.sampling)
            key = self._key(prefix_hash, question, ask.draw)
            key = former_keys.get(key, key)
            self.keys.append(key)
            if key not in self._keys_handled:
                calls[key] = (ask, question)
        self._keys_handled.update(calls)
        answered_keys = self._ledger.answered_keys(list(calls))
        answered_keys |= self._accept([key for key in calls if key not in answered_keys])
        self.n_known += len(answered_keys)
        if self._recall is not None:
            self._recall({key: calls[key][0].item for key in calls if key in answered_keys})
        return [
            Call(key, ask.draw, Wire(prefix, question, delivery), open_group, ask.item)
            for key, (ask, question) in calls.items()
            if key not in answered_keys
        ]

    def _key(self, prefix_hash: "hashlib._Hash", question: bytes, draw: int) -> bytes:
        digest = prefix_hash.copy()
        digest.update(question + b"}")
        return ledger_key(
            digest.digest(),
            self._provider.endpoint,
            draw,
            context_digest=prefix_hash.digest(),
        )

    def _former_keys(self, group: ContextGroup, prefix_hash: "hashlib._Hash") -> dict[bytes, bytes]:
        """Of requests that only a call in former numbers answers: key → the key of that call."""
        former_keys: dict[bytes, bytes] = {}
        for ask in group.asks:
            if ask.former_sampling is not None:
                key, former_key = (
                    self._key(prefix_hash, self._provider.question(ask.item, sampling), ask.draw)
                    for sampling in (ask.sampling, ask.former_sampling)
                )
                former_keys[key] = former_key
        if not former_keys:
            return {}
        answered_keys = self._ledger.answered_keys([*former_keys, *former_keys.values()])
        return {
            key: former_key
            for key, former_key in former_keys.items()
            if former_key in answered_keys and key not in answered_keys
        }

    def _accept(self, keys: list[bytes]) -> set[bytes]:
        """Accept the quarantined answers to `keys` whose model the config now accepts.

        Raises:
            StudyError: one is still from another model; to ask again would only cost again.
        """
        entries = list(self._ledger.quarantined_entries(keys))
        for entry in entries:
            model = self._provider.read(entry.raw).returned_model
            if model and not self._provider.is_asked_for(model):
                raise StudyError(wrong_model_message(self._provider.endpoint, model))
        if entries:
            self._ledger.accept([entry.key for entry in entries])
        return {entry.key for entry in entries}

    def _follow(self, group: OpenGroup) -> None:
        """Release the questions after the first, as many as a minute allows."""
        self._turns.pop(group, None)
        if group.pace is None:
            self._release(group, len(group.waiting))
            return
        # the first question counts in the first minute
        self._release(group, max(group.pace - (not group.is_warm), 1))
        group.is_warm = True

    @staticmethod
    def _pause(group: OpenGroup) -> float:
        """Seconds until the next questions may follow."""
        if group.pace is None or not group.is_warm:
            return 0.0
        since = asyncio.get_running_loop().time() - group.sent_at
        return MINUTE_S * (1 + MINUTE_MARGIN) - since

    def _release(self, group: OpenGroup, at_most: int) -> None:
        n = 0 if self.is_stopped else min(len(group.waiting), at_most)
        group.under_way += n
        self._ready_calls.extend(group.waiting.popleft() for _ in range(n))
        self._serve()

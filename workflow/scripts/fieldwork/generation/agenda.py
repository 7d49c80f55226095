"""What is sent when: groups of questions after one context, warmed one by one, within a bound of memory.

A context is serialised and hashed once, when its group is opened. Where the provider caches prompt
prefixes, the first question after a context goes alone; the rest follow when it is answered, no faster
than the cache bears. Groups are opened when there is nothing else to send, and only while the contexts
held stay within a bound.
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

PREFIX_BYTES_HELD = 64 * 1024 * 1024
MINUTE_S = 60.0
# calls arrive a little after they are sent, and not all equally late
MINUTE_MARGIN = 0.02


class PrefixCache(NamedTuple):
    """How a provider caches the beginning of prompts.

    Attributes:
        min_tokens: shorter prefixes are not cached.
        requests_per_minute: requests a prefix bears before some miss the cache; None for no limit.
    """

    min_tokens: int
    requests_per_minute: int | None


class Ask(NamedTuple):
    """One request after a group's context; `draw` tells equal requests apart."""

    item: Item
    sampling: Sampling
    draw: int


class Group(NamedTuple):
    """The requests that follow one context; `context_id` is None for blank calls."""

    context_id: str | None
    context: Sequence[Message]
    asks: Sequence[Ask]


@dataclass(eq=False)
class _Open:
    """A group under way: what waits for its first answer, or for its turn at the cache.

    `pace` is how many requests a minute its prefix bears, None for all at once.
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
    group: _Open
    item: Item

    @property
    def tokens(self) -> int:
        """Estimated tokens of the prompt."""
        return (len(self.wire.prefix) + len(self.wire.question)) // BYTES_PER_TOKEN


def rerouted(endpoint: str, returned_model: str) -> str:
    """The sentence for an answer from another model."""
    return (
        f"{endpoint}: an answer came from {returned_model}, which is not the model asked for; it is "
        f"kept apart in the ledger and the run stops: set models.*.model to a model that exists, or "
        f"list {returned_model} in models.*.accept_models"
    )


Recall = Callable[[Mapping[bytes, Item]], None]
"""Looks at answers of earlier runs: ledger key → item."""


class Agenda:
    """Hands out calls to workers until every group is answered or given up.

    Args:
        recall: called with the answers that a group has already, before the group's calls are handed
            out.

    Attributes:
        keys: the ledger key of each request of the groups opened so far, in order.
        n_known: how many of them had an answer before.
        stopped: nothing more is handed out.
    """

    def __init__(
        self,
        groups: Iterator[Group],
        provider: Provider,
        ledger: Ledger,
        cache: PrefixCache | None,
        recall: Recall | None = None,
    ) -> None:
        self._groups: Iterator[Group] | None = groups
        self._provider, self._ledger, self._cache = provider, ledger, cache
        self._recall = recall
        self._ready: deque[Call] = deque()
        self._idle: deque[asyncio.Future[Call | None]] = deque()
        self._seen: set[bytes] = set()
        self._n_open = self._held = 0
        # when groups go on that wait for their turn at the cache
        self._turns: dict[_Open, float] = {}
        self.keys: list[bytes] = []
        self.n_known = 0
        self.stopped = False

    async def next(self) -> Call | None:
        """The next call to make, as soon as there is one; None when there will be no more."""
        self._feed()
        if self._ready:
            return self._ready.popleft()
        if self._finished():
            return None
        turn: asyncio.Future[Call | None] = asyncio.get_running_loop().create_future()
        self._idle.append(turn)
        return await turn

    def everything(self) -> Iterator[Call]:
        """Every call without an answer, one context in memory at a time; for batches."""
        for group in self._groups or ():
            prefix = self._provider.prefix(group.context)
            yield from self._missing(group, prefix, _Open(len(prefix)))

    @staticmethod
    def sent(call: Call) -> None:
        """Say that a call leaves now: the provider counts its minutes from there, not from its turn."""
        call.group.sent_at = asyncio.get_running_loop().time()

    def done(self, call: Call) -> None:
        """Say that a call is answered, or given up."""
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
            self._held -= group.n_bytes
        self._serve()

    @property
    def hold(self) -> Hold | None:
        """Why no question is handed out, where that is the pace of the prefix cache."""
        if self._ready or not self._turns:
            return None
        wait_s = min(self._turns.values()) - asyncio.get_running_loop().time()
        return Hold(max(wait_s, 0.0), "a prefix bears no more questions a minute (prefix_cache)")

    def stop(self) -> None:
        """Hand out nothing more: what is under way is the last."""
        self.stopped, self._groups = True, None
        self._ready.clear()
        self._serve()

    def _finished(self) -> bool:
        return self.stopped or (self._groups is None and not self._ready and not self._n_open)

    def _serve(self) -> None:
        """Give idle workers what is ready, or their leave."""
        if self._idle:
            self._feed()
        while self._idle and (self._ready or self._finished()):
            turn = self._idle.popleft()
            if not turn.done():
                turn.set_result(self._ready.popleft() if self._ready else None)

    def _feed(self) -> None:
        while not self._ready and self._groups is not None and self._held <= PREFIX_BYTES_HELD:
            group = next(self._groups, None)
            if group is None:
                self._groups = None
            else:
                self._begin(group)

    def _begin(self, group: Group) -> None:
        prefix = self._provider.prefix(group.context)
        opened = _Open(len(prefix))
        calls = self._missing(group, prefix, opened)
        if not calls:
            return
        self._n_open += 1
        self._held += opened.n_bytes
        opened.waiting.extend(calls)
        if self._cache is None or not self._is_cached(group, prefix, self._cache):
            self._release(opened, len(calls))
        else:
            opened.pace = self._cache.requests_per_minute
            # a cold cache: one goes ahead and the others wait for what it leaves behind
            self._release(opened, 1)

    @staticmethod
    def _is_cached(group: Group, prefix: bytes, cache: PrefixCache) -> bool:
        long_enough = len(prefix) >= cache.min_tokens * BYTES_PER_TOKEN
        return group.context_id is not None and long_enough

    def _missing(self, group: Group, prefix: bytes, opened: _Open) -> list[Call]:
        begun = hashlib.sha256(prefix)
        place = begun.digest()
        delivery = self._provider.delivery(group.context_id)
        calls: dict[bytes, tuple[Ask, bytes]] = {}
        for ask in group.asks:
            question = self._provider.question(ask.item, ask.sampling)
            digest = begun.copy()
            digest.update(question + b"}")
            key = ledger_key(
                digest.digest(), self._provider.endpoint, ask.draw, context_digest=place
            )
            self.keys.append(key)
            if key not in self._seen:
                calls[key] = (ask, question)
        self._seen.update(calls)
        known = self._ledger.known(list(calls))
        known |= self._accept([key for key in calls if key not in known])
        self.n_known += len(known)
        if self._recall is not None:
            self._recall({key: calls[key][0].item for key in calls if key in known})
        return [
            Call(key, ask.draw, Wire(prefix, question, delivery), opened, ask.item)
            for key, (ask, question) in calls.items()
            if key not in known
        ]

    def _accept(self, keys: list[bytes]) -> set[bytes]:
        """Quarantined answers to `keys` whose model is by now one that was asked for.

        Raises:
            StudyError: one is still from another model: asking again would only pay again.
        """
        apart = self._ledger.quarantined(keys) if keys else []
        for entry in apart:
            returned = self._provider.read(entry.raw).returned_model
            if returned and not self._provider.is_asked_for(returned):
                raise StudyError(rerouted(self._provider.endpoint, returned))
        if apart:
            self._ledger.accept([entry.key for entry in apart])
        return {entry.key for entry in apart}

    def _follow(self, group: _Open) -> None:
        """Let the next questions go after the first, as many as a minute bears."""
        self._turns.pop(group, None)
        if group.pace is None:
            self._release(group, len(group.waiting))
            return
        # the one that went ahead counts in the first minute
        self._release(group, max(group.pace - (not group.is_warm), 1))
        group.is_warm = True

    @staticmethod
    def _pause(group: _Open) -> float:
        """Seconds until the next questions may follow."""
        if group.pace is None or not group.is_warm:
            return 0.0
        since = asyncio.get_running_loop().time() - group.sent_at
        return MINUTE_S * (1 + MINUTE_MARGIN) - since

    def _release(self, group: _Open, at_most: int) -> None:
        n = 0 if self.stopped else min(len(group.waiting), at_most)
        group.under_way += n
        self._ready.extend(group.waiting.popleft() for _ in range(n))
        self._serve()

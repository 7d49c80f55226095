"""The loop of paid calls: look up, send what is missing, store, and only then count.

An answer counts when the ledger has it on disk, and no further call is begun in its place before it
does: a crash loses at most the calls in flight. Failures are never stored: they are counted by cause,
and the next run asks exactly those again. There is one layer of retries, and it is here.
"""

import asyncio
import logging
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from fieldwork.errors import StudyError
from fieldwork.generation.accounts import Account
from fieldwork.generation.agenda import Agenda, Call, Group, PrefixCache, rerouted
from fieldwork.generation.batches.files import BatchLimits
from fieldwork.generation.budget import BudgetReached, Reservation
from fieldwork.generation.ledger import Entry, Ledger, Tier
from fieldwork.generation.limits import Limits
from fieldwork.generation.pricing import Price
from fieldwork.generation.providers.base import (
    Exchange,
    Provider,
    RejectedError,
    Reply,
    TransientError,
)
from fieldwork.generation.providers.batch_base import BatchClient
from fieldwork.progress import Progress

logger = logging.getLogger(__name__)

# of one call, for the estimate that is held against a model's last day
ASSUMED_LATENCY_S = 2.0
FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 60.0
# a server that asks for more has a daily limit: the next run asks again, this one must not sleep
LONGEST_ASKED_WAIT_S = 600.0
# requests whose replies cannot be read, before a server of which none could be is asked no more
MOST_UNREADABLE = 5


class BatchDesk(NamedTuple):
    """How batches are handed in and waited for.

    Attributes:
        poll_s: seconds between looks at batches under way.
    """

    client: BatchClient
    journal_path: Path
    limits: BatchLimits
    poll_s: float


class Sender(NamedTuple):
    """Everything that sending needs besides the requests.

    Attributes:
        attempts: sends a request may take before it counts as failed.
        cache: None where the provider has no prefix cache.
        preflight: called once, with the seconds asking may take, before the first call is sent.
        batches: where the tier is `batch`, who takes them.
    """

    provider: Provider
    ledger: Ledger
    limits: Limits
    account: Account
    attempts: int
    cache: PrefixCache | None = None
    tier: Tier = "live"
    price: Price | None = None
    preflight: Callable[[float], Awaitable[None]] | None = None
    batches: BatchDesk | None = None


class Settled(NamedTuple):
    """What became of groups of requests.

    Attributes:
        keys: the ledger key of each request, in the order of the groups and their asks.
        n_asked: answers that were received now, not found in the ledger.
        failures: message → count, of requests that have no answer.
    """

    keys: list[bytes]
    n_asked: int
    failures: Counter[str]


def settle(groups: Iterable[Group], sender: Sender, *, total: int) -> Settled:
    """See to it that the ledger holds an answer to every request.

    Args:
        groups: taken one by one, as there is room for their contexts.
        total: requests in all groups, for the progress shown.

    Raises:
        StudyError: nothing will be answered until the user changes something; what had arrived is
            stored.
    """
    agenda = Agenda(iter(groups), sender.provider, sender.ledger, sender.cache)
    loop = _Loop(sender, agenda)
    asyncio.run(loop.run(total))
    logger.info("%d requests, %d of them answered before", len(agenda.keys), agenda.n_known)
    return Settled(agenda.keys, loop.n_stored, loop.failures)


class _Batch:
    """Answers that go to disk in one commit, and the event that they have."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.stored = asyncio.Event()


class _Loop:
    def __init__(self, sender: Sender, agenda: Agenda) -> None:
        self._sender, self._agenda = sender, agenda
        self._arrived, self._news, self._closing = _Batch(), asyncio.Event(), False
        self._jitter = random.Random(0)
        self._n_known_shown = 0
        self._sending: set[asyncio.Task[None] | None] = set()
        self._n_reserved, self._freed = 0, asyncio.Event()
        self._estimate_s = 0.0
        self._preflight: asyncio.Task[None] | None = None
        self.failures: Counter[str] = Counter()
        self.n_stored = 0
        self._n_read = self._n_unreadable = 0

    async def run(self, total: int) -> None:
        n_workers = min(self._sender.provider.concurrency, total)
        self._estimate_s = total / max(n_workers, 1) * ASSUMED_LATENCY_S
        with Progress("ask", total, "answers") as progress:
            recorder = asyncio.create_task(self._record(progress))
            workers = [asyncio.create_task(self._work()) for _ in range(n_workers)]
            try:
                await self._watch(workers, recorder)
            finally:
                await self._wind_down(workers, recorder)
                self._show(progress, 0)

    async def _watch(
        self, workers: list["asyncio.Task[None]"], recorder: "asyncio.Task[None]"
    ) -> None:
        """Wait for the workers; after a failure only for calls that are sent, and so may be billed."""
        failure: BaseException | None = None
        unfinished = {recorder, *workers}
        while unfinished - {recorder}:
            done, unfinished = await asyncio.wait(unfinished, return_when=asyncio.FIRST_COMPLETED)
            # the recorder only ends early when the disk refuses: then no answer can be kept
            if recorder in done:
                recorder.result()
            for task in done:
                if not task.cancelled() and task.exception() is not None and failure is None:
                    failure = task.exception()
                    self._agenda.stop()
                    for idle in set(workers) - self._sending:
                        idle.cancel()
        if failure is not None:
            raise failure

    async def _wind_down(
        self, workers: list["asyncio.Task[None]"], recorder: "asyncio.Task[None]"
    ) -> None:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
        self._closing = True
        self._news.set()
        try:
            await recorder
        finally:
            await self._sender.provider.close()

    async def _work(self) -> None:
        while (call := await self._agenda.next()) is not None:
            try:
                await self._answer(call)
            except (TransientError, RejectedError) as error:
                self.failures[str(error)] += 1
                self._stop_if_nothing_is_read(error)
            finally:
                self._sending.discard(asyncio.current_task())
                self._agenda.done(call)

    def _stop_if_nothing_is_read(self, error: Exception) -> None:
        """Replies that come and cannot be read may be billed, each as often as it is sent again."""
        if self._n_read or self._n_unreadable < MOST_UNREADABLE * self._sender.attempts:
            return
        raise StudyError(
            f"{self._sender.provider.endpoint}: none of {self._n_unreadable} replies can be read "
            f"({error}), and each may be billed, so nothing more is asked; check models.*.base_url and "
            f"models.*.provider, and run again"
        ) from error

    async def _check(self) -> None:
        """Look before the first call; the others wait for what that finds."""
        if self._sender.preflight is None:
            return
        if self._preflight is None:
            self._preflight = asyncio.ensure_future(self._sender.preflight(self._estimate_s))
        await asyncio.shield(self._preflight)

    async def _answer(self, call: Call) -> None:
        await self._check()
        exchange, reply, sends = await self._send(call)
        entry = Entry(
            key=call.key,
            endpoint=self._sender.provider.endpoint,
            replicate=call.draw,
            raw=exchange.raw,
            started_at=exchange.started_at,
            latency_s=exchange.latency_s,
            attempts=sends,
            request_id=exchange.request_id,
            tier=self._sender.tier,
        )
        if reply.returned_model and not self._sender.provider.is_asked_for(reply.returned_model):
            self._sender.ledger.quarantine([entry])
            raise StudyError(rerouted(self._sender.provider.endpoint, reply.returned_model))
        batch = self._arrived
        batch.entries.append(entry)
        self._news.set()
        await batch.stored.wait()

    async def _send(self, call: Call) -> tuple[Exchange, Reply, int]:
        wait = FIRST_WAIT_S
        for sends in range(1, self._sender.attempts + 1):
            try:
                exchange, reply = await self._send_once(call)
                return exchange, reply, sends
            except TransientError as error:
                asked = error.retry_after_s
                if asked is not None and asked > LONGEST_ASKED_WAIT_S:
                    raise self._come_back(error, asked) from error
                if sends == self._sender.attempts:
                    raise
                self._sender.account.n_retries += 1
                self._sending.discard(asyncio.current_task())
                if self._agenda.stopped:
                    raise
                await asyncio.sleep(asked if asked is not None else wait * self._jitter.random())
                wait = min(2 * wait, LONGEST_WAIT_S)
        raise AssertionError("attempts is at least 1")

    def _come_back(self, error: TransientError, asked_s: float) -> StudyError:
        """Every other call would be told the same, and be held up for it first."""
        return StudyError(
            f"{self._sender.provider.endpoint}: {error}; the server asks to wait for "
            f"{asked_s / 3600:.1f} hours: every answer that arrived is kept; run again then, and only "
            f"the missing ones are asked"
        )

    async def _send_once(self, call: Call) -> tuple[Exchange, Reply]:
        account, limits = self._sender.account, self._sender.limits
        await limits.acquire(call.tokens)
        exchange: Exchange | None = None
        reply: Reply | None = None
        reservation: Reservation | None = None
        fault: TransientError | None = None
        sure = True
        try:
            reservation = await self._reserve(call.tokens)
            self._sending.add(asyncio.current_task())
            self._agenda.sent(call)
            exchange = await self._sender.provider.send(call.wire.body())
            reply = self._read(exchange)
            return exchange, reply
        except TransientError as error:
            fault, sure = error, not error.maybe_billed
            raise
        except asyncio.CancelledError:
            sure = False
            raise
        finally:
            limits.release(error=fault, headers=exchange.headers if exchange else {})
            if reservation is not None:
                self._n_reserved -= 1
                self._freed.set()
            account.settle(reservation, reply.usage if reply else None, sure=sure)

    def _read(self, exchange: Exchange) -> Reply:
        try:
            reply = self._sender.provider.read(exchange.raw)
        except TransientError:
            self._n_unreadable += 1
            raise
        self._n_read += 1
        return reply

    async def _reserve(self, tokens: int) -> Reservation | None:
        """Set money aside; where calls under way hold the rest of it, wait for what they leave."""
        while True:
            try:
                reservation = self._sender.account.reserve(tokens)
            except BudgetReached:
                if not self._n_reserved:
                    raise
                self._freed.clear()
                await self._freed.wait()
                continue
            self._n_reserved += reservation is not None
            return reservation

    async def _record(self, progress: Progress) -> None:
        while self._arrived.entries or not self._closing:
            await self._news.wait()
            self._news.clear()
            batch, self._arrived = self._arrived, _Batch()
            if batch.entries:
                await asyncio.to_thread(self._sender.ledger.store, batch.entries)
                self.n_stored += len(batch.entries)
                self._show(progress, len(batch.entries))
            batch.stored.set()

    def _show(self, progress: Progress, n_answered: int) -> None:
        n_known = self._agenda.n_known - self._n_known_shown
        self._n_known_shown += n_known
        progress.update(n_answered + n_known, self._sender.account.note())

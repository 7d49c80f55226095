"""One call until it is answered or given up: its budget, its turn, its sends and its retries."""

import asyncio
import random
from typing import NamedTuple

from fieldwork.errors import StudyError
from fieldwork.generation.agenda import Agenda, Call
from fieldwork.generation.budget import BudgetReached, Reservation
from fieldwork.generation.outage import Outage
from fieldwork.generation.providers.base import Exchange, RejectedError, Reply, TransientError
from fieldwork.generation.sender import Sender
from fieldwork.generation.waiting import Waits
from fieldwork.retries import FIRST_WAIT_S, RetryPolicy


class Arrival(NamedTuple):
    """A call that was answered, after so many sends."""

    exchange: Exchange
    reply: Reply
    sends: int


class Caller:
    """Makes the calls of one job; several workers use it at once.

    Attributes:
        sending: tasks whose call is on the wire, and so may be billed.
    """

    def __init__(self, sender: Sender, agenda: Agenda, outage: Outage, waits: Waits) -> None:
        self._sender, self._agenda, self._outage, self._waits = sender, agenda, outage, waits
        self._retries = RetryPolicy(sender.attempts, first_s=FIRST_WAIT_S, jitter=random.Random(0))
        self._n_reserved, self._freed = 0, asyncio.Event()
        self.sending: set[asyncio.Task[None] | None] = set()

    async def answer(self, call: Call) -> Arrival:
        """Send until there is an answer.

        Raises:
            TransientError: as often as it may be sent.
            RejectedError: the server refuses the call.
            StudyError: no call will be answered until the user changes something.
        """
        await self._outage.admit()
        try:
            arrival = await self._send(call)
        except (TransientError, RejectedError) as error:
            self._outage.note_end(error)
            raise
        finally:
            self.sending.discard(asyncio.current_task())
        self._outage.note_answer()
        return arrival

    async def _send(self, call: Call) -> Arrival:
        waited_s, sends = 0.0, 0
        while True:
            sends += 1
            try:
                exchange, reply = await self._send_once(call)
                return Arrival(exchange, reply, sends)
            except TransientError as error:
                server_s = error.retry_after_s
                if server_s is not None and self._retries.is_too_long(server_s):
                    raise self._come_back(error, server_s) from error
                has_attempts = self._retries.has_attempts(sends)
                if not self._outage.may_try_again(
                    error, has_attempts=has_attempts, waited_s=waited_s
                ):
                    raise
                self._sender.account.n_retries += 1
                self.sending.discard(asyncio.current_task())
                if self._agenda.stopped:
                    raise
                own_s = self._retries.own_wait_s(sends)
                # what asks for no wait time and again is given some
                pause_s = own_s if server_s is None else server_s
                pause_s = pause_s if has_attempts else max(pause_s, own_s)
                with self._waits.nap(pause_s, str(error)):
                    await asyncio.sleep(pause_s)
                waited_s += pause_s

    def _come_back(self, error: TransientError, asked_s: float) -> StudyError:
        """Every other call would be told the same, and be held up for it first."""
        return StudyError(
            f"{self._sender.provider.endpoint}: {error}; the server asks to wait for "
            f"{asked_s / 3600:.1f} hours: every answer that arrived is kept; run again then, and only "
            f"the missing ones are asked"
        )

    async def _send_once(self, call: Call) -> tuple[Exchange, Reply]:
        account, limits, provider = self._sender.account, self._sender.limits, self._sender.provider
        await limits.acquire(call.tokens)
        exchange: Exchange | None = None
        reply: Reply | None = None
        reservation: Reservation | None = None
        fault: TransientError | None = None
        sure = True
        try:
            reservation = await self._reserve(call.tokens)
            self.sending.add(asyncio.current_task())
            self._agenda.sent(call)
            with self._waits.call():
                exchange = await provider.send(call.wire.body())
            reply = provider.read(exchange.raw)
            return exchange, reply
        except TransientError as error:
            fault, sure = error, not error.maybe_billed
            self._outage.note_failure(error, unreadable=exchange is not None)
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

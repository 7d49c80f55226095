"""One call until it is answered or given up: its budget, its turn, its sends and its retries.

A reply is read once, here. What it says travels on beside its bytes.
"""

import asyncio
import random
from typing import NamedTuple

from fieldwork.errors import StudyError
from fieldwork.generation.agenda import Agenda, Call
from fieldwork.generation.budget import BudgetReached, Reservation
from fieldwork.generation.outage import Outage
from fieldwork.generation.providers.base import Exchange, RejectedError, Reply, TransientError
from fieldwork.generation.reply_checks import require_end, require_whole_prompt
from fieldwork.generation.sending import Sender
from fieldwork.generation.waiting import CallWaits
from fieldwork.retries import FIRST_WAIT_S, RetryPolicy


class ReadReply(NamedTuple):
    """A reply and what it says.

    Attributes:
        reservation: what was set aside for it, until `Caller.settle`.
        sends: how many it took.
    """

    exchange: Exchange
    reply: Reply
    reservation: Reservation | None
    sends: int = 1


class Caller:
    """Makes the calls of one job; several workers use it at once.

    Attributes:
        sending: tasks whose call is on the wire, so that it may be billed.
    """

    def __init__(self, sender: Sender, agenda: Agenda, outage: Outage, waits: CallWaits) -> None:
        self._sender, self._agenda, self._outage, self._waits = sender, agenda, outage, waits
        self._retries = RetryPolicy(sender.attempts, first_s=FIRST_WAIT_S, jitter=random.Random(0))
        self._n_reservations, self._release = 0, asyncio.Event()
        self.sending: set[asyncio.Task[None] | None] = set()

    async def answer(self, call: Call) -> ReadReply:
        """Send until there is an answer, which the caller has to settle once it is stored.

        Raises:
            TransientError: the call failed as often as it may be sent.
            RejectedError: the server rejects the call.
            StudyError: no call will be answered until the user changes something.
        """
        await self._outage.admit()
        try:
            read_reply = await self._send(call)
        except (TransientError, RejectedError) as error:
            self._outage.note_end(error)
            raise
        finally:
            self.sending.discard(asyncio.current_task())
        self._outage.note_answer()
        return read_reply

    def settle(self, answer: ReadReply) -> None:
        """Count what an answer cost; not before it is stored, as the budget's disk may refuse.

        Raises:
            StudyError: it does.
        """
        reply = answer.reply
        self._free(answer.reservation)
        self._sender.account.settle(
            answer.reservation, reply.usage, service_tier=reply.service_tier
        )

    async def _send(self, call: Call) -> ReadReply:
        waited_s, sends = 0.0, 0
        while True:
            sends += 1
            try:
                answer = await self._send_once(call)
                return answer._replace(sends=sends)
            except TransientError as error:
                server_s = error.retry_after_s
                if server_s is not None and self._retries.is_too_long(server_s):
                    raise self._long_wait_error(error, server_s) from error
                has_attempts = self._retries.has_attempts(sends)
                if not self._outage.may_try_again(
                    error, has_attempts=has_attempts, waited_s=waited_s
                ):
                    raise
                self._sender.account.n_retries += 1
                self.sending.discard(asyncio.current_task())
                if self._agenda.is_stopped:
                    raise
                own_s = self._retries.own_wait_s(sends)
                # a server that throttles everybody and asks for no wait gets one all the same
                pause_s = own_s if server_s is None else server_s
                pause_s = pause_s if has_attempts else max(pause_s, own_s)
                with self._waits.before_retry(pause_s, str(error)):
                    await asyncio.sleep(pause_s)
                waited_s += pause_s

    def _long_wait_error(self, error: TransientError, asked_s: float) -> StudyError:
        """The error that ends the run: every other call would get the same reply."""
        return StudyError(
            f"{self._sender.provider.endpoint}: {error}; the server asks to wait for "
            f"{asked_s / 3600:.1f} hours; every answer so far is kept: run again after that time, and "
            f"only the missing answers are asked for"
        )

    async def _send_once(self, call: Call) -> ReadReply:
        limits, provider = self._sender.limits, self._sender.provider
        await limits.acquire(call.tokens)
        exchange: Exchange | None = None
        reply: Reply | None = None
        reservation: Reservation | None = None
        failure: TransientError | None = None
        is_answered, is_unbilled = False, True
        try:
            reservation = await self._reserve(call.tokens)
            self.sending.add(asyncio.current_task())
            self._agenda.note_sent(call)
            with self._waits.call_under_way():
                exchange = await provider.send(call.wire.body())
            reply = provider.read(exchange.raw)
            require_end(reply)
            require_whole_prompt(call.wire, reply.usage, self._sender.characters_per_token)
            is_answered = True
            return ReadReply(exchange, reply, reservation)
        except TransientError as error:
            failure, is_unbilled = error, not error.maybe_billed
            self._outage.note_failure(error, is_unreadable=exchange is not None)
            raise
        except asyncio.CancelledError:
            is_unbilled = False
            raise
        finally:
            limits.release(error=failure, headers=exchange.headers if exchange else {})
            if not is_answered:
                self._count_failure(reservation, reply, is_unbilled=is_unbilled)

    def _count_failure(
        self, reservation: Reservation | None, reply: Reply | None, *, is_unbilled: bool
    ) -> None:
        self._free(reservation)
        self._sender.account.settle(
            reservation,
            reply.usage if reply else None,
            service_tier=reply.service_tier if reply else None,
            is_unbilled=is_unbilled,
        )

    def _free(self, reservation: Reservation | None) -> None:
        """Let the calls go on that wait for what this one leaves of its reservation."""
        if reservation is not None:
            self._n_reservations -= 1
            self._release.set()

    async def _reserve(self, tokens: int) -> Reservation | None:
        """Set money aside. Where calls under way hold the rest of it, wait for what they leave."""
        while True:
            try:
                reservation = self._sender.account.reserve(tokens)
            except BudgetReached:
                if not self._n_reservations:
                    raise
                self._release.clear()
                await self._release.wait()
                continue
            self._n_reservations += reservation is not None
            return reservation

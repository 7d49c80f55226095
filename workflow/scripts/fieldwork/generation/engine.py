"""The loop of paid calls: look up what the ledger holds, send the rest, and store the answers.

An answer counts once it is on disk, and a worker sends no further call before that. So a crash loses at
most the calls in flight. Failures are never stored: they are counted by cause, and the next run sends
exactly those requests again.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from fieldwork.errors import StudyError
from fieldwork.generation.agenda import Agenda, Call, ContextGroup, wrong_model_message
from fieldwork.generation.calling import Caller, ReadReply
from fieldwork.generation.ledger import Entry
from fieldwork.generation.legibility import Legibility, LegibilityOfTasks
from fieldwork.generation.outage import Outage
from fieldwork.generation.providers.base import RejectedError, TransientError
from fieldwork.generation.sending import Sender
from fieldwork.generation.waiting import CallWaits
from fieldwork.progress import Progress

logger = logging.getLogger(__name__)

# of one call, to estimate whether a run ends before the model is shut down
ASSUMED_LATENCY_S = 2.0
# between two updates of the progress line
TICK_S = 1.0


class AnswerTally(NamedTuple):
    """How many requests were answered, and why others were not.

    Attributes:
        keys: the ledger key of each request, in the order of the groups and their asks.
        n_asked: answers that arrived now and were not in the ledger before.
        failures: message → number of requests without an answer.
    """

    keys: list[bytes]
    n_asked: int
    failures: Counter[str]


def settle(
    groups: Iterable[ContextGroup],
    sender: Sender,
    *,
    total: int,
    legibility: Legibility | LegibilityOfTasks | None = None,
    label: str = "ask",
) -> AnswerTally:
    """Bring an answer to every request into the ledger.

    Args:
        groups: taken one by one, while there is memory for their contexts.
        total: requests in all groups, for the progress bar.
        legibility: counts the answers that can be read, and stops the job where there are too few.
        label: of the progress bar.

    Raises:
        StudyError: nothing will be answered until the user changes something. The answers so far are
            stored.
    """
    recall = legibility.recall if legibility is not None else None
    agenda = Agenda(iter(groups), sender.provider, sender.ledger, sender.cache, recall)
    loop = _EngineLoop(sender, agenda, legibility)
    asyncio.run(loop.run(total, label))
    logger.info(
        "%d requests; the ledger already had %d of the answers", len(agenda.keys), agenda.n_known
    )
    return AnswerTally(agenda.keys, loop.n_stored, loop.failures)


class _CommitGroup:
    """Answers that go to disk in one commit, and the event that they are there."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.on_disk = asyncio.Event()


class _EngineLoop:
    def __init__(
        self, sender: Sender, agenda: Agenda, legibility: Legibility | LegibilityOfTasks | None
    ) -> None:
        self._sender, self._agenda, self._legibility = sender, agenda, legibility
        self._next_commit, self._news, self._closing = _CommitGroup(), asyncio.Event(), False
        self._n_known_shown = 0
        self._outage = Outage(sender.provider.endpoint)
        self._waits = CallWaits(sender.provider.timeout_s)
        self._caller = Caller(sender, agenda, self._outage, self._waits)
        self._looking_back = asyncio.Lock()
        self._estimate_s = 0.0
        self._preflight: asyncio.Task[None] | None = None
        self.failures: Counter[str] = Counter()
        self.n_stored = 0

    async def run(self, total: int, label: str) -> None:
        n_workers = min(self._sender.provider.concurrency, total)
        self._estimate_s = total / max(n_workers, 1) * ASSUMED_LATENCY_S
        with Progress(label, total, "answers") as progress:
            recorder = asyncio.create_task(self._record(progress))
            workers = [asyncio.create_task(self._work()) for _ in range(n_workers)]
            self._tick(progress)
            try:
                await self._watch(workers, recorder)
            finally:
                await self._wind_down(workers, recorder)
                self._show(progress, 0)

    async def _watch(
        self, workers: list["asyncio.Task[None]"], recorder: "asyncio.Task[None]"
    ) -> None:
        """Wait for the workers; after a failure only for those whose call is sent and may be billed."""
        failure: BaseException | None = None
        running_tasks = {recorder, *workers}
        while running_tasks - {recorder}:
            ended_tasks, running_tasks = await asyncio.wait(
                running_tasks, return_when=asyncio.FIRST_COMPLETED
            )
            # the recorder ends early only where the disk refuses: then no answer can be kept
            if recorder in ended_tasks:
                recorder.result()
            for task in ended_tasks:
                if not task.cancelled() and task.exception() is not None and failure is None:
                    failure = task.exception()
                    self._agenda.stop()
                    for idle in set(workers) - self._caller.sending:
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
                await self._check()
                answer = await self._caller.answer(call)
                try:
                    await self._keep(call, answer)
                finally:
                    self._caller.settle(answer)
            except (TransientError, RejectedError) as error:
                self.failures[str(error)] += 1
            finally:
                self._agenda.note_end(call)

    async def _check(self) -> None:
        """Check before each call that it is worth its price; before the first call check the model."""
        self._sender.ledger.require_place()
        if self._sender.require_time is not None:
            self._sender.require_time()
        if self._legibility is not None:
            async with self._looking_back:
                for _ in self._legibility.look_back():
                    await asyncio.sleep(0)
            self._legibility.check()
        if self._sender.preflight is None:
            return
        if self._preflight is None:
            self._preflight = asyncio.ensure_future(self._sender.preflight(self._estimate_s))
        await asyncio.shield(self._preflight)

    async def _keep(self, call: Call, answer: ReadReply) -> None:
        exchange, reply = answer.exchange, answer.reply
        entry = Entry(
            key=call.key,
            endpoint=self._sender.provider.endpoint,
            replicate=call.draw,
            raw=exchange.raw,
            started_at=exchange.started_at,
            latency_s=exchange.latency_s,
            attempts=answer.sends,
            request_id=reply.request_id or exchange.request_id,
            tier=self._sender.tier,
        )
        if reply.returned_model and not self._sender.provider.is_asked_for(reply.returned_model):
            self._sender.ledger.quarantine([entry])
            raise StudyError(
                wrong_model_message(self._sender.provider.endpoint, reply.returned_model)
            )
        commit = self._next_commit
        commit.entries.append(entry)
        self._news.set()
        if self._legibility is not None:
            self._legibility.add(entry, reply, call.item)
        await commit.on_disk.wait()

    async def _record(self, progress: Progress) -> None:
        while self._next_commit.entries or not self._closing:
            await self._news.wait()
            self._news.clear()
            commit, self._next_commit = self._next_commit, _CommitGroup()
            if commit.entries:
                await asyncio.to_thread(self._sender.ledger.store, commit.entries)
                self.n_stored += len(commit.entries)
                self._show(progress, len(commit.entries))
            commit.on_disk.set()

    def _show(self, progress: Progress, n_answered: int) -> None:
        n_known = self._agenda.n_known - self._n_known_shown
        self._n_known_shown += n_known
        progress.skip(n_known)
        progress.spend(self._sender.account.usd)
        progress.update(n_answered, self._note())

    def _note(self) -> str:
        unreadable = self._legibility.note() if self._legibility is not None else ""
        return ", ".join(filter(None, (unreadable, self._sender.account.note())))

    def _tick(self, progress: Progress) -> None:
        """Update the progress line once a second, even while no answer arrives."""
        if self._closing:
            return
        self._show(progress, 0)
        progress.tick(self._waiting())
        asyncio.get_running_loop().call_later(TICK_S, self._tick, progress)

    def _waiting(self) -> str:
        """What the job waits for and until when."""
        if self._preflight is not None and not self._preflight.done():
            return "waiting for the provider's list of models"
        holds = [self._sender.limits.hold, self._agenda.hold]
        waiting = self._waits.sentence(hold for hold in holds if hold is not None)
        n = self._outage.n_waiting
        return waiting + (f"; {n} more requests wait for the first answer" if n else "")

"""Processes that share the calls of a job, and the order in which they take them.

Calls after one context go to the process that has read it. A process without calls takes the context that
waited longest, and then shares the longest queue. Each has many calls at a time, and fewer towards the
end, so that all end together. Who answers a call, and beside which others, changes nothing in its answer.
"""

import asyncio
import json
import os
import sys
import tempfile
from collections import OrderedDict, deque
from contextlib import suppress
from pathlib import Path
from typing import IO, NamedTuple

from fieldwork.errors import StudyError
from fieldwork.generation.chat.frames import HEAD, NumberedMessage, numbered_frame

LIBRARY = Path(__file__).resolve().parents[3]
MODULE = "fieldwork.generation.chat.worker"
_ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "HF_HUB_OFFLINE": "1",
}

# calls that a process has at a time: enough to fill a pass with answers that grow by a few tokens
CALLS_AT_ONCE = 256
# and at least, when few are left
FEWEST_CALLS = 16


class WorkerJob(NamedTuple):
    """What a process is started for.

    Attributes:
        name: of the model, for messages.
        source: a file or folder to pack into `folder`; empty for a process that answers calls.
    """

    folder: str
    name: str
    source: str = ""


class _QueuedCall(NamedTuple):
    """A call, and who waits for its reply."""

    body: bytes
    reply: "asyncio.Future[bytes]"


class WorkerProcess:
    """One process of `chat.worker`."""

    def __init__(self, process: asyncio.subprocess.Process, job: WorkerJob, log: IO[bytes]) -> None:
        self._process, self._job, self._log = process, job, log

    @classmethod
    async def start(cls, job: WorkerJob) -> "WorkerProcess":
        """Start a process; it loads the model while the caller goes on.

        Raises:
            StudyError: the machine starts no further process.
        """
        path = os.pathsep.join(filter(None, [str(LIBRARY), os.environ.get("PYTHONPATH")]))
        log = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the process
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                MODULE,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                env={**os.environ, **_ENVIRONMENT, "PYTHONPATH": path},
            )
        except OSError as error:
            log.close()
            raise StudyError(
                f"{job.name}: no process for the model can be started ({error}); set "
                f"models.*.workers to 1"
            ) from error
        return cls(process, job, log)

    async def ready(self) -> None:
        """Send the job and wait until it is done, or until calls can be answered."""
        await self.send(0, json.dumps(self._job._asdict()).encode())
        await self.receive()

    async def send(self, number: int, message: bytes) -> None:
        """Send a call under a number.

        Raises:
            StudyError: the process ended.
        """
        stdin = self._process.stdin
        if stdin is None:
            raise ValueError("the process has no pipes")
        try:
            stdin.write(numbered_frame(number, message))
            await stdin.drain()
        except ConnectionError as error:
            raise await self._death() from error

    async def receive(self) -> NumberedMessage:
        """The next reply, of whatever call.

        Raises:
            StudyError: the process ended, or cannot do its job.
        """
        stdout = self._process.stdout
        if stdout is None:
            raise ValueError("the process has no pipes")
        try:
            n, number = HEAD.unpack(await stdout.readexactly(HEAD.size))
            content = await stdout.readexactly(n)
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            raise await self._death() from error
        if content.startswith(b'{"study_error"'):
            raise StudyError(json.loads(content)["study_error"])
        return NumberedMessage(number, content)

    async def _death(self) -> StudyError:
        status = await self._process.wait()
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").strip().splitlines()
        cause = f"killed by signal {-status}" if status < 0 else f"exit status {status}"
        last = f"; its last words: {lines[-1][:200]}" if lines else ""
        return StudyError(
            f"{self._job.name}: a process of the model ended by itself ({cause}{last}); every answer "
            f"so far is kept: if memory was too small, set models.*.workers to a smaller number, and run "
            f"again"
        )

    async def close(self) -> None:
        """End the process; it holds nothing that would be lost."""
        with suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()
        self._log.close()


class WorkerPool:
    """The processes of a model; made for one event loop and closed in it."""

    def __init__(self, job: WorkerJob, n_workers: int) -> None:
        self._job, self._n_workers = job, n_workers
        self._queues: OrderedDict[bytes, deque[_QueuedCall]] = OrderedDict()
        self._n_queued = 0
        self._owners: dict[bytes, WorkerProcess] = {}
        self._news = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._workers: list[WorkerProcess] = []
        self._failure: StudyError | None = None

    def open(self) -> None:
        """Start the processes."""
        self._tasks = [asyncio.create_task(self._work()) for _ in range(self._n_workers)]

    async def ask(self, head: bytes, body: bytes) -> bytes:
        """Have a call answered.

        Args:
            head: the part of the body that calls after one context share.

        Raises:
            StudyError: a process ended, or cannot load the model.
        """
        if self._failure is not None:
            raise self._failure
        reply: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._queues.setdefault(head, deque()).append(_QueuedCall(body, reply))
        self._n_queued += 1
        self._news.set()
        return await reply

    async def close(self) -> None:
        """End the processes, whatever they are doing."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for worker in self._workers:
            await worker.close()

    async def _work(self) -> None:
        """What one process does, from its start on."""
        calls: dict[int, _QueuedCall] = {}
        try:
            worker = await WorkerProcess.start(self._job)
            self._workers.append(worker)
            await worker.ready()
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._send(worker, calls))
                tasks.create_task(self._receive(worker, calls))
        except* StudyError as errors:
            self._fail(_first_of(errors), calls)

    async def _send(self, worker: WorkerProcess, calls: dict[int, _QueuedCall]) -> None:
        number = 0
        while True:
            call = await self._next(worker, calls)
            number += 1
            calls[number] = call
            await worker.send(number, call.body)

    async def _receive(self, worker: WorkerProcess, calls: dict[int, _QueuedCall]) -> None:
        while True:
            number, content = await worker.receive()
            reply = calls.pop(number).reply
            if not reply.done():
                reply.set_result(content)
            self._news.set()

    async def _next(self, worker: WorkerProcess, calls: dict[int, _QueuedCall]) -> _QueuedCall:
        """The next call for a process, once it has room for one."""
        while True:
            self._news.clear()
            share = self._n_queued // self._n_workers
            has_room = len(calls) < min(max(share, FEWEST_CALLS), CALLS_AT_ONCE)
            head = self._head_for(worker) if has_room else None
            if head is not None:
                call = self._queues[head].popleft()
                self._n_queued -= 1
                if not self._queues[head]:
                    del self._queues[head]
                if not call.reply.done():
                    return call
                continue
            await self._news.wait()

    def _head_for(self, worker: WorkerProcess) -> bytes | None:
        """The context whose calls a process takes next."""
        own_head = next((h for h in self._queues if self._owners.get(h) is worker), None)
        if own_head is not None:
            return own_head
        head = next((h for h in self._queues if h not in self._owners), None)
        if head is not None:
            self._owners[head] = worker
            return head
        # every context has a process: help with the longest queue
        return max(self._queues, key=lambda h: len(self._queues[h]), default=None)

    def _fail(self, error: StudyError, calls: dict[int, _QueuedCall]) -> None:
        self._failure = error
        waiting = [*calls.values(), *(call for queue in self._queues.values() for call in queue)]
        for call in waiting:
            if not call.reply.done():
                call.reply.set_exception(error)
        self._queues.clear()


def _first_of(errors: ExceptionGroup[StudyError]) -> StudyError:
    first = errors.exceptions[0]
    return _first_of(first) if isinstance(first, ExceptionGroup) else first


async def pack_in_process(job: WorkerJob) -> None:
    """Pack a model in a process of its own, whose memory is free again afterwards."""
    worker = await WorkerProcess.start(job)
    try:
        await worker.ready()
    finally:
        await worker.close()

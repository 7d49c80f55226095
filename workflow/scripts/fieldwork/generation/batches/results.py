"""A batch's results: from the provider into a temporary file, and row by row into the ledger.

A row that answers its request is stored, in group commits. A request without an answer stays missing,
with its cause; one without a row counts as billed, unless it certainly never ran. Of several rows for one
request the first counts. Rows for unknown requests and lines that cannot be read are counted and skipped.
Reading the same results again changes nothing.
"""

import logging
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from fieldwork.errors import StudyError
from fieldwork.generation.agenda import wrong_model_message
from fieldwork.generation.batches.patience import Patience
from fieldwork.generation.ledger import Entry, Ledger
from fieldwork.generation.providers.base import (
    Provider,
    RejectedError,
    Reply,
    TransientError,
    Usage,
)
from fieldwork.generation.providers.batch_base import BatchClient, BatchRow, BatchStatus
from fieldwork.generation.providers.jsontext import loads, well_formed
from fieldwork.generation.reply_checks import broken_off

logger = logging.getLogger(__name__)

DOWNLOADS = 3
ROWS_PER_COMMIT = 500
BYTES_PER_COMMIT = 8 * 1024 * 1024

CountUsage = Callable[[bytes, Usage | None], None]
"""Takes a request's key, and its usage; None where it was not billed, empty where nobody knows."""
NoteAnswer = Callable[[Entry, Reply], None]
"""Takes an answer that was stored, and the reply that was read from it."""


@contextmanager
def spool_file(folder: Path) -> Iterator[BinaryIO]:
    """A file for results on the disk of `folder`, deleted when it is closed.

    Raises:
        StudyError: the disk refuses.
    """
    try:
        with tempfile.TemporaryFile(dir=folder) as spool:
            yield cast(BinaryIO, spool)
    except OSError as error:
        raise StudyError(
            f"{folder}: the results of a batch cannot be written here ({error}). They stay with the "
            f"provider. Free disk space, and run again."
        ) from error


def download(
    client: BatchClient, patience: Patience, status: BatchStatus, spool: BinaryIO
) -> BatchStatus:
    """Write a batch's results into `spool`.

    Returns:
        The status, with an error where results are lost.
    """
    for file_id in status.files:
        try:
            _fetch_whole(client, patience, file_id, spool)
        except RejectedError as error:
            # providers keep results for some weeks only
            sentence = f"the provider no longer has results {file_id}: {error}"
            status = status._replace(error=sentence, is_lost=True)
            logger.warning("%s", status.error)
    spool.seek(0)
    return status


def _fetch_whole(client: BatchClient, patience: Patience, file_id: str, spool: BinaryIO) -> None:
    """Download a file, and again while lines cannot be read, as a proxy may have cut it."""
    start = spool.tell()
    for _ in range(DOWNLOADS):
        patience.run(partial(_fetch, client, file_id, spool, start), "downloading results")
        spool.seek(start)
        is_whole = all(_row(client, line) for line in spool if line.strip())
        spool.seek(0, os.SEEK_END)
        if is_whole:
            return


def _fetch(client: BatchClient, file_id: str, spool: BinaryIO, start: int) -> None:
    spool.seek(start)
    spool.truncate()
    client.download(file_id, spool)
    # two files must not meet in one line
    spool.write(b"\n")


def _row(client: BatchClient, line: bytes) -> BatchRow | None:
    """A line of results; None where it cannot be read."""
    try:
        return client.row(line)
    except ValueError:
        return None


@dataclass
class BatchResults:
    """What became of a batch's requests.

    Attributes:
        answered_keys: keys that the ledger now holds an answer to.
        causes: why each other key has none.
        defects: rows that are odd: "duplicate", "unknown", "unreadable" and "missing" → count.
        stop_reason: why no more should be asked, None where there is no such reason.
    """

    answered_keys: set[bytes] = field(default_factory=set)
    causes: dict[bytes, str] = field(default_factory=dict)
    defects: Counter[str] = field(default_factory=Counter)
    stop_reason: str | None = None


class ResultsReader:
    """Stores what answers a request of a batch.

    Args:
        draws: the batch's requests, key → draw.
        count_usage: called once for each request.
        note_answer: called for each answer, once it is stored; the reply is read only here.
    """

    def __init__(
        self,
        draws: Mapping[bytes, int],
        status: BatchStatus,
        provider: Provider,
        ledger: Ledger,
        count_usage: CountUsage,
        note_answer: NoteAnswer,
    ) -> None:
        self._draws, self._status = draws, status
        self._provider, self._ledger = provider, ledger
        self._count_usage, self._note_answer = count_usage, note_answer
        self._read_keys: set[bytes] = set()
        self._waiting: list[tuple[Entry, Reply]] = []
        self._n_bytes = 0
        self._results = BatchResults()

    def read(self, client: BatchClient, lines: Iterable[bytes]) -> BatchResults:
        """Store the answers in the lines of the result files; broken ones may be among them.

        Raises:
            StudyError: the disk refuses; what was stored stays.
        """
        for line in filter(bytes.strip, lines):
            row = _row(client, line)
            if row is None:
                self._results.defects["unreadable"] += 1
            else:
                self._take(row)
        self._commit()
        self._conclude()
        return self._results

    def _conclude(self) -> None:
        """Count requests without a row: as billed, unless the provider says that it did not run them."""
        missing_keys = self._draws.keys() - self._read_keys
        is_unbilled = self._status.ran_nothing or 0 < self._status.n_done <= len(self._read_keys)
        cause = self._status.error or (
            f"the batch ended as {self._status.state} and its results hold no row for it"
            + ("" if is_unbilled else ", so it counts as billed")
        )
        for key in missing_keys:
            self._results.causes[key] = cause
            self._count_usage(key, None if is_unbilled else Usage())
        if not is_unbilled:
            self._results.defects["missing"] = len(missing_keys)

    def _take(self, row: BatchRow) -> None:
        key = _key(row.custom_id)
        if key not in self._draws:
            self._results.defects["unknown"] += 1
        elif key in self._read_keys:
            self._results.defects["duplicate"] += 1
        else:
            self._read_keys.add(key)
            self._sort_in(key, row)

    def _sort_in(self, key: bytes, row: BatchRow) -> None:
        reply = _reply_or_gap(row, self._provider)
        if isinstance(reply, _Gap):
            self._results.causes[key] = reply.cause
            self._count_usage(key, reply.usage)
            return
        entry = Entry(
            key=key,
            endpoint=self._provider.endpoint,
            replicate=self._draws[key],
            raw=row.raw,
            started_at=self._status.created_at,
            latency_s=None,
            attempts=1,
            request_id=row.request_id,
            tier="batch",
        )
        returned_model = reply.returned_model
        if returned_model and not self._provider.is_asked_for(returned_model):
            sentence = wrong_model_message(self._provider.endpoint, returned_model)
            self._ledger.quarantine([entry])
            self._count_usage(key, reply.usage)
            self._results.causes[key] = sentence
            self._results.stop_reason = self._results.stop_reason or sentence
            return
        self._waiting.append((entry, reply))
        self._n_bytes += len(row.raw)
        if len(self._waiting) >= ROWS_PER_COMMIT or self._n_bytes >= BYTES_PER_COMMIT:
            self._commit()

    def _commit(self) -> None:
        if self._waiting:
            self._ledger.store([entry for entry, _ in self._waiting])
        for entry, reply in self._waiting:
            self._count_usage(entry.key, reply.usage)
            self._results.answered_keys.add(entry.key)
            self._note_answer(entry, reply)
        self._waiting, self._n_bytes = [], 0


def _key(custom_id: str) -> bytes:
    try:
        return bytes.fromhex(custom_id)
    except ValueError:
        return b""


class _Gap(NamedTuple):
    """Why a row answers no request, and what it was billed; None for nothing."""

    cause: str
    usage: Usage | None


def _reply_or_gap(row: BatchRow, provider: Provider) -> Reply | _Gap:
    """The reply that answers a request, or why a row has none."""
    is_answer = row.status == 200
    try:
        reply = provider.read(row.raw)
    except (TransientError, StudyError) as error:
        return _Gap(str(error), Usage()) if is_answer else _Gap(_error_text(row), None)
    if reply.outcome == "failed":
        return _Gap(broken_off(reply), reply.usage if is_answer else None)
    # a filter in front of the model answers with an error's status: that is an outcome all the same
    is_answer |= reply.outcome == "filtered"
    return reply if is_answer else _Gap(_error_text(row), None)


def _error_text(row: BatchRow) -> str:
    try:
        message = loads(row.raw)["error"]["message"]
    except (ValueError, KeyError, TypeError):
        message = row.raw[:120].decode("utf-8", "replace")
    text = " ".join(well_formed(str(message)).split())[:200] or "an empty body"
    return f"HTTP {row.status}: {text}" if row.status else text

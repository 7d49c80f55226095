"""A batch's results, row by row into the ledger.

A row that answers its request is stored, in group commits. A request without an answer stays missing,
with its cause. Of several rows for one request the first counts. Rows for unknown requests and lines that
cannot be read are counted and skipped. Reading the same results again changes nothing.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from fieldwork.errors import StudyError
from fieldwork.generation.agenda import wrong_model_message
from fieldwork.generation.ledger import Entry, Ledger
from fieldwork.generation.providers.base import Provider, Reply, TransientError, Usage
from fieldwork.generation.providers.batch_base import BatchRow, BatchStatus
from fieldwork.generation.providers.jsontext import loads, well_formed

ROWS_PER_COMMIT = 500
BYTES_PER_COMMIT = 8 * 1024 * 1024

CountUsage = Callable[[bytes, Usage | None], None]
"""Takes a request's key, and its usage; None where it was not billed."""
NoteAnswer = Callable[[Entry, Reply], None]
"""Takes an answer that was stored, and the reply that was read from it."""


class BatchResults(NamedTuple):
    """What became of a batch's requests.

    Attributes:
        answered_keys: keys that the ledger now holds an answer to.
        causes: why each other key has none.
        skips: skipped rows: "duplicate", "unknown" and "unreadable" → count.
        stop_reason: why no more should be asked, None where there is no such reason.
    """

    answered_keys: set[bytes]
    causes: dict[bytes, str]
    skips: Counter[str]
    stop_reason: str | None


class _RowVerdict(NamedTuple):
    """A row that answers (`cause` is None), or the cause why it does not."""

    cause: str | None
    reply: Reply | None = None


class _ResultsReader:
    def __init__(
        self,
        draws: Mapping[bytes, int],
        status: BatchStatus,
        provider: Provider,
        ledger: Ledger,
        count_usage: CountUsage,
        note_answer: NoteAnswer | None,
    ) -> None:
        self._draws, self._status = draws, status
        self._provider, self._ledger, self._count_usage = provider, ledger, count_usage
        self._note_answer = note_answer
        self._read_keys: set[bytes] = set()
        self._waiting: list[tuple[Entry, Reply]] = []
        self._n_bytes = 0
        self.results = BatchResults(set(), {}, Counter(), None)

    def take(self, row: BatchRow) -> None:
        key = _key(row.custom_id)
        if key not in self._draws:
            self.results.skips["unknown"] += 1
        elif key in self._read_keys:
            self.results.skips["duplicate"] += 1
        else:
            self._read_keys.add(key)
            self._sort_in(key, row)

    def _sort_in(self, key: bytes, row: BatchRow) -> None:
        cause, reply = _judge(row, self._provider)
        if reply is None:
            self.results.causes[key] = cause or "no answer"
            self._count_usage(key, None)
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
            self.results.causes[key] = sentence
            stop_reason = self.results.stop_reason or sentence
            self.results = self.results._replace(stop_reason=stop_reason)
            return
        self._waiting.append((entry, reply))
        self._n_bytes += len(row.raw)
        if len(self._waiting) >= ROWS_PER_COMMIT or self._n_bytes >= BYTES_PER_COMMIT:
            self.commit()

    def commit(self) -> None:
        if self._waiting:
            self._ledger.store([entry for entry, _ in self._waiting])
        for entry, reply in self._waiting:
            self._count_usage(entry.key, reply.usage)
            self.results.answered_keys.add(entry.key)
            if self._note_answer is not None:
                self._note_answer(entry, reply)
        self._waiting, self._n_bytes = [], 0

    def finish(self) -> BatchResults:
        self.commit()
        cause = self._status.error or (
            f"the batch ended as {self._status.state} and its results hold no row for it"
        )
        for key in self._draws.keys() - self._read_keys:
            self.results.causes[key] = cause
            self._count_usage(key, None)
        return self.results


def store_results(
    lines: Iterable[bytes],
    parse: Callable[[bytes], BatchRow],
    draws: Mapping[bytes, int],
    *,
    status: BatchStatus,
    provider: Provider,
    ledger: Ledger,
    count_usage: CountUsage,
    note_answer: NoteAnswer | None = None,
) -> BatchResults:
    """Store what answers a request of a batch.

    Args:
        lines: of the result files; broken ones may be among them.
        parse: reads a line; raises ValueError where it is not a row.
        draws: the batch's requests, key → draw.
        count_usage: called once for each request.
        note_answer: called for each answer, once it is stored; the reply is read only here.

    Raises:
        StudyError: the disk refuses; what was stored stays.
    """
    reader = _ResultsReader(draws, status, provider, ledger, count_usage, note_answer)
    for line in lines:
        if not line.strip():
            continue
        try:
            row = parse(line)
        except ValueError:
            reader.results.skips["unreadable"] += 1
            continue
        reader.take(row)
    return reader.finish()


def _key(custom_id: str) -> bytes:
    try:
        return bytes.fromhex(custom_id)
    except ValueError:
        return b""


def _judge(row: BatchRow, provider: Provider) -> _RowVerdict:
    try:
        reply = provider.read(row.raw)
    except (TransientError, StudyError) as error:
        return _RowVerdict(str(error) if row.status == 200 else _error_text(row))
    # a filter in front of the model answers with an error's status: that is an outcome all the same
    if row.status != 200 and reply.outcome != "filtered":
        return _RowVerdict(_error_text(row))
    return _RowVerdict(None, reply)


def _error_text(row: BatchRow) -> str:
    try:
        message = loads(row.raw)["error"]["message"]
    except (ValueError, KeyError, TypeError):
        message = row.raw[:120].decode("utf-8", "replace")
    text = " ".join(well_formed(str(message)).split())[:200] or "an empty body"
    return f"HTTP {row.status}: {text}" if row.status else text

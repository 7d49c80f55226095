"""A batch's results, row by row into the ledger.

What answers a request is stored, in group commits; what does not stays missing, with its cause. Of
several rows for one request the first counts. Rows nobody asked for, and lines that cannot be read, are
counted and passed over. Reading the same results again changes nothing.
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

Paid = Callable[[bytes, Usage | None], None]


class Results(NamedTuple):
    """What became of a batch's requests.

    Attributes:
        answered: keys that the ledger now holds an answer to.
        causes: why each other key has none.
        odd: what was passed over: "duplicate", "unknown" and "unreadable" → count.
        stop: why no more should be asked, None where there is no such reason.
    """

    answered: set[bytes]
    causes: dict[bytes, str]
    odd: Counter[str]
    stop: str | None


class _Judged(NamedTuple):
    """A row that answers (`cause` is None), or says why it does not."""

    cause: str | None
    reply: Reply | None = None


class _Reader:
    def __init__(
        self,
        draws: Mapping[bytes, int],
        status: BatchStatus,
        provider: Provider,
        ledger: Ledger,
        paid: Paid,
    ) -> None:
        self._draws, self._status = draws, status
        self._provider, self._ledger, self._paid = provider, ledger, paid
        self._seen: set[bytes] = set()
        self._waiting: list[tuple[Entry, Usage]] = []
        self._n_bytes = 0
        self.results = Results(set(), {}, Counter(), None)

    def take(self, row: BatchRow) -> None:
        key = _key(row.custom_id)
        if key not in self._draws:
            self.results.odd["unknown"] += 1
        elif key in self._seen:
            self.results.odd["duplicate"] += 1
        else:
            self._seen.add(key)
            self._sort(key, row)

    def _sort(self, key: bytes, row: BatchRow) -> None:
        cause, reply = _judge(row, self._provider)
        if reply is None:
            self.results.causes[key] = cause or "no answer"
            self._paid(key, None)
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
        returned = reply.returned_model
        if returned and not self._provider.is_asked_for(returned):
            sentence = wrong_model_message(self._provider.endpoint, returned)
            self._ledger.quarantine([entry])
            self._paid(key, reply.usage)
            self.results.causes[key] = sentence
            self.results = self.results._replace(stop=self.results.stop or sentence)
            return
        self._waiting.append((entry, reply.usage))
        self._n_bytes += len(row.raw)
        if len(self._waiting) >= ROWS_PER_COMMIT or self._n_bytes >= BYTES_PER_COMMIT:
            self.commit()

    def commit(self) -> None:
        if self._waiting:
            self._ledger.store([entry for entry, _ in self._waiting])
        for entry, usage in self._waiting:
            self._paid(entry.key, usage)
            self.results.answered.add(entry.key)
        self._waiting, self._n_bytes = [], 0

    def finish(self) -> Results:
        self.commit()
        why = self._status.error or (
            f"the batch ended as {self._status.state} and its results hold no row for it"
        )
        for key in self._draws.keys() - self._seen:
            self.results.causes[key] = why
            self._paid(key, None)
        return self.results


def store_results(
    lines: Iterable[bytes],
    parse: Callable[[bytes], BatchRow],
    draws: Mapping[bytes, int],
    *,
    status: BatchStatus,
    provider: Provider,
    ledger: Ledger,
    paid: Paid,
) -> Results:
    """Store what answers a request of a batch.

    Args:
        lines: of the result files; broken ones may be among them.
        parse: reads a line, ValueError where it is none.
        draws: the batch's requests, key → draw.
        paid: called once a request with its usage, None where it was not billed.

    Raises:
        StudyError: the disk refuses; what was stored stays.
    """
    reader = _Reader(draws, status, provider, ledger, paid)
    for line in lines:
        if not line.strip():
            continue
        try:
            row = parse(line)
        except ValueError:
            reader.results.odd["unreadable"] += 1
            continue
        reader.take(row)
    return reader.finish()


def _key(custom_id: str) -> bytes:
    try:
        return bytes.fromhex(custom_id)
    except ValueError:
        return b""


def _judge(row: BatchRow, provider: Provider) -> _Judged:
    try:
        reply = provider.read(row.raw)
    except (TransientError, StudyError) as error:
        return _Judged(str(error) if row.status == 200 else _said(row))
    # a filter in front of the model answers with an error's status: that is an outcome all the same
    if row.status != 200 and reply.outcome != "filtered":
        return _Judged(_said(row))
    return _Judged(None, reply)


def _said(row: BatchRow) -> str:
    try:
        message = loads(row.raw)["error"]["message"]
    except (ValueError, KeyError, TypeError):
        message = row.raw[:120].decode("utf-8", "replace")
    told = " ".join(well_formed(str(message)).split())[:200] or "an empty body"
    return f"HTTP {row.status}: {told}" if row.status else told

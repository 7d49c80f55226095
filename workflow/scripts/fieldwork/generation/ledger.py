"""The durable store of every answer ever received, one SQLite file a model.

An answer counts once its transaction is on disk (WAL, full sync). It is stored under a key made of the
exact wire body, the endpoint and the draw. It holds the raw reply, compressed, with a checksum over the
whole row. Nothing here expires. A damaged row is set aside and never served; its request is sent again.
An answer from another model than the one asked for is quarantined: kept, as it was paid for, and never
served.
"""

import fcntl
import hashlib
import logging
import sqlite3
import struct
import threading
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple

from fieldwork.errors import StudyError
from fieldwork.generation.durable import DatabasePlace, connect, is_damage
from fieldwork.generation.inventory import Inventory, refuse_lost

logger = logging.getLogger(__name__)

Tier = Literal["live", "flex", "batch"]
Table = Literal["answers", "quarantined", "damaged"]

LEDGERS = Path("resources/ledger")
"""The folder of the ledgers, a file a model."""

KEYS_PER_QUERY = 500
CACHE_KIB = 64 * 1024
# of a key: enough to keep a million contexts apart, and 24 bytes of hash are left
CONTEXT_BYTES = 8
# of the file's format: keys and checksums
VERSION = 1

_EIGHT_BYTES = struct.Struct(">Q").pack
_NAMES = (
    "key, endpoint, replicate, reply, checksum, started_at, latency_s, attempts, request_id, tier"
)
_COLUMNS = """(
    key BLOB PRIMARY KEY,
    endpoint TEXT NOT NULL,
    replicate INTEGER NOT NULL,
    reply BLOB NOT NULL,
    checksum BLOB NOT NULL,
    started_at TEXT,
    latency_s REAL,
    attempts INTEGER NOT NULL,
    request_id TEXT,
    tier TEXT NOT NULL
) WITHOUT ROWID;"""
_SCHEMA = f"""
CREATE TABLE IF NOT EXISTS answers {_COLUMNS}
CREATE TABLE IF NOT EXISTS quarantined {_COLUMNS}
CREATE TABLE IF NOT EXISTS damaged (
    key BLOB, endpoint TEXT, replicate INTEGER, reply BLOB, checksum BLOB,
    started_at TEXT, latency_s REAL, attempts INTEGER, request_id TEXT, tier TEXT
);
"""


class Entry(NamedTuple):
    """An answer as received.

    Attributes:
        replicate: the draw that the answer is.
        tier: how it was sent: it decides the price.
    """

    key: bytes
    endpoint: str
    replicate: int
    raw: bytes
    started_at: datetime | None
    latency_s: float | None
    attempts: int
    request_id: str | None = None
    tier: Tier = "live"


def ledger_key(
    body_digest: bytes, endpoint: str, replicate: int, *, context_digest: bytes = b""
) -> bytes:
    """32 bytes: sha256 over everything that can change the answer, and nothing else.

    Answers after one context lie side by side in the file: its digest leads the key.

    Args:
        body_digest: sha256 of the exact wire body, delivery fields left out. A digest, so that a
            context shared by many questions is hashed once.
        context_digest: of the part of the body that these questions share.
    """
    parts = (endpoint.encode(), b"%d" % replicate, body_digest)
    # each part after its length: no two calls give the same bytes
    digest = hashlib.sha256(b"".join(_EIGHT_BYTES(len(part)) + part for part in parts))
    context = context_digest[:CONTEXT_BYTES].ljust(CONTEXT_BYTES, b"\0")
    return context + digest.digest()[CONTEXT_BYTES:]


class Ledger:
    """An open ledger file, made by `open_ledger`; every method may raise StudyError for its disk."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path
        self._place = DatabasePlace(path, "ledger of answers")
        self._inventory = Inventory(path)
        self._n_counted = self._take_stock()
        self._n_written = self._n_counted
        # answers are stored from one thread while another looks up: a commit must be its own
        self._write_lock = threading.Lock()

    def require_place(self) -> None:
        """Raise StudyError where the ledger's file was removed or replaced since it was opened."""
        self._place.require()

    def close(self) -> None:
        """Close the file, and bring the count beside it up to date.

        Raises:
            StudyError: it was removed or replaced; its answers are written back.
        """
        # a count that is too low serves as well, and no trouble with it is to hide another
        with suppress(StudyError):
            self.write_inventory()
        self._place.close(self._connection)

    def answered_keys(self, keys: Sequence[bytes]) -> set[bytes]:
        """Those of `keys` that have an answer; `entries` finds out whether it is whole."""
        return {key for (key,) in self._select("key", keys, "answers")}

    def entries(self, keys: Sequence[bytes]) -> Iterator[Entry]:
        """The stored answers among `keys`, each once; damaged rows are set aside."""
        return self._whole_entries(keys, "answers")

    def quarantined_entries(self, keys: Sequence[bytes]) -> Iterator[Entry]:
        """The answers to `keys` that came from another model, as `entries`."""
        return self._whole_entries(keys, "quarantined")

    def keys(self, table: Table = "answers") -> list[bytes]:
        """All keys of a table, in order."""
        with _as_study_error(self._path):
            rows = self._connection.execute(f"SELECT key FROM {table} ORDER BY key").fetchall()
        return [key for (key,) in rows]

    def store(self, entries: Iterable[Entry]) -> None:
        """Write answers in one transaction; when this returns they are on disk."""
        self._insert(entries, "answers")

    def quarantine(self, entries: Iterable[Entry]) -> None:
        """Keep answers of another model apart from those that count."""
        self._insert(entries, "quarantined")

    def accept(self, keys: Sequence[bytes]) -> None:
        """Let quarantined answers count after all, in one transaction."""
        with self._write_lock, _as_study_error(self._path), self._connection:
            for key in keys:
                for statement in (
                    "INSERT OR IGNORE INTO answers SELECT * FROM quarantined WHERE key = ?",
                    "DELETE FROM quarantined WHERE key = ?",
                ):
                    self._connection.execute(statement, (key,))

    def _insert(self, entries: Iterable[Entry], table: str) -> None:
        rows = [_to_row(entry) for entry in entries]
        with self._write_lock, _as_study_error(self._path):
            with self._connection:
                cursor = self._connection.executemany(
                    f"INSERT OR IGNORE INTO {table} VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows
                )
            self._n_counted += cursor.rowcount
            if not self._n_written:
                self.write_inventory()

    def write_inventory(self) -> None:
        """Bring the count beside the ledger up to date."""
        if self._n_counted > self._n_written:
            with _as_study_error(self._path):
                self._inventory.write(self._n_counted)
            self._n_written = self._n_counted

    def _take_stock(self) -> int:
        """How many answers there are, by the file beside the ledger or, without it, counted.

        Raises:
            StudyError: there were some and there are none.
        """
        with _as_study_error(self._path):
            n_counted = self._inventory.count()
            if not has_rows(self._connection):
                if n_counted:
                    raise self._inventory.loss()
                return 0
            if n_counted is None:
                n_counted = sum(
                    self._connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
                    for table in ("answers", "quarantined")
                )
                if n_counted:
                    self._inventory.write(n_counted)
            return int(n_counted)

    def _whole_entries(self, keys: Sequence[bytes], table: str) -> Iterator[Entry]:
        in_order = sorted(set(keys))
        for start in range(0, len(in_order), KEYS_PER_QUERY):
            chunk = in_order[start : start + KEYS_PER_QUERY]
            entries = [(row[0], entry_of(row)) for row in self._select(_NAMES, chunk, table)]
            self._set_aside([key for key, entry in entries if entry is None], table)
            yield from (entry for _, entry in entries if entry is not None)

    def _select(self, columns: str, keys: Sequence[bytes], table: str) -> Iterator[tuple[Any, ...]]:
        for start in range(0, len(keys), KEYS_PER_QUERY):
            chunk = keys[start : start + KEYS_PER_QUERY]
            marks = ",".join("?" * len(chunk))
            with _as_study_error(self._path):
                yield from self._connection.execute(
                    f"SELECT {columns} FROM {table} WHERE key IN ({marks})", chunk
                ).fetchall()

    def _set_aside(self, keys: list[bytes], table: str) -> None:
        if not keys:
            return
        logger.warning(
            "%s: %d answers are damaged on disk; they are set aside and asked again",
            self._path,
            len(keys),
        )
        with self._write_lock, _as_study_error(self._path), self._connection:
            for key in keys:
                self._connection.execute(
                    f"INSERT INTO damaged SELECT * FROM {table} WHERE key = ?", (key,)
                )
                self._connection.execute(f"DELETE FROM {table} WHERE key = ?", (key,))


def has_rows(connection: sqlite3.Connection) -> bool:
    """Whether a ledger's file holds any answer, damaged ones included."""
    tables = ("answers", "quarantined", "damaged")
    return any(connection.execute(f"SELECT 1 FROM {t} LIMIT 1").fetchone() for t in tables)


def _to_row(entry: Entry) -> tuple[Any, ...]:
    started_at = entry.started_at.isoformat() if entry.started_at else None
    delivery = (started_at, entry.latency_s, entry.attempts, entry.request_id, entry.tier)
    return (
        entry.key,
        entry.endpoint,
        entry.replicate,
        zlib.compress(entry.raw, 1),
        _checksum(entry.key, entry.raw, (entry.endpoint, entry.replicate, *delivery)),
        *delivery,
    )


def entry_of(row: tuple[Any, ...]) -> Entry | None:
    """The entry, or None where any part of the row is not what was stored."""
    key, endpoint, replicate, reply, checksum, started_at, latency, attempts, request_id, tier = row
    try:
        raw = zlib.decompress(reply, bufsize=2048)
        endpoint, tier = endpoint.decode(), tier.decode()
        started_at = started_at.decode() if started_at is not None else None
        request_id = request_id.decode() if request_id is not None else None
        values = (endpoint, replicate, started_at, latency, attempts, request_id, tier)
        if _checksum(key, raw, values) != checksum:
            return None
        time = datetime.fromisoformat(started_at) if started_at is not None else None
    except (zlib.error, ValueError, TypeError, AttributeError):
        # damage can change a value's type, and bytes of text into none
        return None
    return Entry(key, endpoint, replicate, raw, time, latency, attempts, request_id, tier)


def _checksum(key: bytes, raw: bytes, values: tuple[Any, ...]) -> bytes:
    return hashlib.sha256(key + repr(values).encode() + raw).digest()


@contextmanager
def open_ledger(path: Path) -> Iterator[Ledger]:
    """Open the ledger at `path`, making it when absent.

    Raises:
        StudyError: the file is not a ledger, or the disk refuses.
    """
    with _as_study_error(path):
        refuse_lost(path)
        connection = connect(path, _prepare)
    # outside `_as_study_error`: an error in the caller's block is not the ledger's
    with closing(connection), closing(Ledger(connection, path)) as ledger:
        yield ledger


@contextmanager
def sole_asker(path: Path) -> Iterator[None]:
    """Be the only job that sends requests for the ledger at `path`; wait while another one does.

    Two jobs at once would both pay for what neither has stored yet, and two nodes of a cluster cannot
    share the file. To be held before the ledger is opened.

    Raises:
        StudyError: the file beside the ledger that is the lock cannot be made.
    """
    with _as_study_error(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = path.with_name(f"{path.name}.lock").open("ab")
    with lock:  # closed, or released by the kernel as for a job that is killed
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            logger.warning("%s: waiting because another run is using this ledger", path)
            fcntl.flock(lock, fcntl.LOCK_EX)
        except OSError as error:
            # some shared file systems have no locks; Snakemake's own still keeps runs apart
            logger.warning(
                "%s: this file system has no locks (%s); do not start another run for the same model "
                "now, or both may pay for the same answers",
                path,
                error,
            )
        yield


def _prepare(connection: sqlite3.Connection) -> None:
    # a damaged text must fail its row, not the query
    connection.text_factory = bytes
    # keys are hashes: each lookup lands on another page, and the default of 2 MiB holds few
    connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
    connection.executescript(_SCHEMA)
    # a file of other columns must be refused now, not in the middle of a run
    for table in ("answers", "quarantined", "damaged"):
        connection.execute(f"SELECT {_NAMES} FROM {table} LIMIT 0")
    _require_version(connection)


def _require_version(connection: sqlite3.Connection) -> None:
    """Refuse a file whose keys are made in another way: every answer would be paid for again."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    is_empty = connection.execute("SELECT 1 FROM answers LIMIT 1").fetchone() is None
    if version == 0 and is_empty:
        connection.execute(f"PRAGMA user_version = {VERSION}")
    elif version != VERSION:
        raise sqlite3.DatabaseError(
            f"it has format {version}, and this version of Fieldwork reads format {VERSION}"
        )


@contextmanager
def _as_study_error(path: Path) -> Iterator[None]:
    try:
        yield
    except (sqlite3.DatabaseError, OSError) as error:
        if is_damage(error):
            raise StudyError(
                f"{path}: the ledger of answers is damaged ({error}). Nothing more is sent, so that no "
                f"answer is paid for twice. Put a backup in its place, or run snakemake --cores 1 "
                f"recover_ledgers, which takes out every whole answer and keeps the damaged file."
            ) from error
        raise StudyError(
            f"{path}: the ledger of answers cannot be used ({error}). Every answer in it is safe. Make "
            f"its folder writable or free disk space, and run again. If the file is not a ledger of "
            f"Fieldwork, move it away."
        ) from error

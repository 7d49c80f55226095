"""What is submitted as batches: a SQLite file a model (WAL, full sync), written before each step.

A run is one batch: `intended` before its file goes up, `uploaded` when the file is on the server,
`submitted` when the batch's id is known, `settled` when its results are in the ledger, or `abandoned`.
Before a batch is made, `creating_at` is set: a run that is uploaded with it set may or may not exist at
the provider, which only the provider's listing can tell. Steps are taken under one lock for all
processes that use the file.
"""

import fcntl
import logging
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from fieldwork.errors import StudyError
from fieldwork.generation.durable import connect

logger = logging.getLogger(__name__)

KEYS_PER_QUERY = 500

_SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
    number INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL UNIQUE,
    endpoint TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN
        ('intended', 'uploaded', 'submitted', 'settled', 'abandoned')),
    tokens INTEGER NOT NULL,
    n_requests INTEGER NOT NULL,
    file_id TEXT,
    creating_at REAL,
    batch_id TEXT,
    note TEXT
);
CREATE TABLE IF NOT EXISTS requests (
    run INTEGER NOT NULL REFERENCES runs (number),
    key BLOB NOT NULL,
    draw INTEGER NOT NULL,
    cause TEXT,
    PRIMARY KEY (run, key)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS requests_by_key ON requests (key);
"""
_RUN = "number, run_id, state, tokens, n_requests, file_id, creating_at, batch_id"
_OPEN = "endpoint = ? AND state IN ('intended', 'uploaded', 'submitted')"


class Run(NamedTuple):
    """A batch and how far it got.

    Attributes:
        number: orders runs by when they were intended.
        tokens: estimated, of all its prompts.
        creating_at: seconds since 1970 at which the batch may have been made.
    """

    number: int
    run_id: str
    state: str
    tokens: int
    n_requests: int
    file_id: str | None
    creating_at: float | None
    batch_id: str | None


class Journal:
    """The open runs of one endpoint; made by `open_journal`. Every method is one transaction."""

    def __init__(self, connection: sqlite3.Connection, path: Path, endpoint: str) -> None:
        self._connection, self._path, self._endpoint = connection, path, endpoint

    def intend(self, run_id: str, draws: Mapping[bytes, int], tokens: int) -> Run:
        """Write down what is about to be submitted: key → draw."""
        with self._transaction():
            number = self._insert(run_id, "intended", tokens, len(draws), None)
            self._connection.executemany(
                "INSERT INTO requests VALUES (?, ?, ?, NULL)",
                ((number, key, draw) for key, draw in draws.items()),
            )
        return self.run(number)

    def renew(self, run: Run, run_id: str, note: str) -> Run:
        """Abandon a run of which nothing was done, for another one with the same file."""
        with self._transaction():
            self._end(run, "abandoned", note)
            number = self._insert(run_id, "uploaded", run.tokens, run.n_requests, run.file_id)
            self._connection.execute(
                "INSERT INTO requests SELECT ?, key, draw, NULL FROM requests WHERE run = ?",
                (number, run.number),
            )
        return self.run(number)

    def uploaded(self, run: Run, file_id: str) -> Run:
        """The file is on the server, and no batch was made of it."""
        return self._update(run, "state = 'uploaded', file_id = ?", file_id)

    def creating(self, run: Run, now: float) -> Run:
        """A batch is about to be made."""
        return self._update(run, "creating_at = ?", now)

    def not_created(self, run: Run) -> Run:
        """It was not made."""
        return self._update(run, "creating_at = ?", None)

    def submitted(self, run: Run, batch_id: str) -> Run:
        """The batch is known to be at the provider."""
        return self._update(run, "state = 'submitted', batch_id = ?", batch_id)

    def settle(self, run: Run, causes: Mapping[bytes, str], note: str) -> None:
        """All that came of a run is in the ledger; `causes` says why a key has no answer."""
        with self._transaction():
            self._explain(run, causes.items())
            self._end(run, "settled", note)

    def abandon(self, run: Run, cause: str) -> None:
        """Nothing will come of a run."""
        with self._transaction():
            self._connection.execute(
                "UPDATE requests SET cause = ? WHERE run = ?", (cause, run.number)
            )
            self._end(run, "abandoned", cause)

    def open_runs(self) -> list[Run]:
        """Those that are not settled or abandoned, oldest first."""
        rows = self._select(f"SELECT {_RUN} FROM runs WHERE {_OPEN} ORDER BY number")
        return [Run(*row) for row in rows]

    def open_keys(self) -> dict[bytes, int]:
        """Requests of open runs: key → the run's number."""
        return dict(
            self._select(
                f"SELECT key, run FROM requests JOIN runs ON run = number WHERE {_OPEN} ORDER BY run"
            )
        )

    def run(self, number: int) -> Run:
        """A run by its number."""
        with _explained(self._path):
            row = self._connection.execute(
                f"SELECT {_RUN} FROM runs WHERE number = ?", (number,)
            ).fetchone()
        return Run(*row)

    def draws(self, run: Run) -> dict[bytes, int]:
        """A run's requests: key → draw."""
        with _explained(self._path):
            return dict(
                self._connection.execute(
                    "SELECT key, draw FROM requests WHERE run = ?", (run.number,)
                )
            )

    def causes(self, keys: Sequence[bytes]) -> dict[bytes, str]:
        """Why keys have no answer, by the last run that held them."""
        found: dict[bytes, str] = {}
        for start in range(0, len(keys), KEYS_PER_QUERY):
            chunk = keys[start : start + KEYS_PER_QUERY]
            marks = ",".join("?" * len(chunk))
            with _explained(self._path):
                found.update(
                    self._connection.execute(
                        f"SELECT key, cause FROM requests WHERE key IN ({marks}) "
                        f"AND cause IS NOT NULL ORDER BY run",
                        chunk,
                    )
                )
        return found

    def _insert(
        self, run_id: str, state: str, tokens: int, n_requests: int, file_id: str | None
    ) -> int:
        cursor = self._connection.execute(
            "INSERT INTO runs (run_id, endpoint, state, tokens, n_requests, file_id) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (run_id, self._endpoint, state, tokens, n_requests, file_id),
        )
        assert cursor.lastrowid is not None
        return cursor.lastrowid

    def _explain(self, run: Run, causes: Iterable[tuple[bytes, str]]) -> None:
        self._connection.executemany(
            "UPDATE requests SET cause = ? WHERE run = ? AND key = ?",
            ((cause, run.number, key) for key, cause in causes),
        )

    def _end(self, run: Run, state: str, note: str) -> None:
        self._connection.execute(
            "UPDATE runs SET state = ?, note = ? WHERE number = ?", (state, note, run.number)
        )

    def _update(self, run: Run, changes: str, value: Any) -> Run:
        with self._transaction():
            self._connection.execute(
                f"UPDATE runs SET {changes} WHERE number = ?", (value, run.number)
            )
        return self.run(run.number)

    def _select(self, query: str) -> list[tuple[Any, ...]]:
        with _explained(self._path):
            return self._connection.execute(query, (self._endpoint,)).fetchall()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with _explained(self._path), self._connection:
            yield

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other processes from taking a step; waits for them, and says so."""
        path = self._path.with_name(f"{self._path.name}.lock")
        with _explained(self._path):
            handle = path.open("ab")
        with handle:
            with _explained(self._path):
                self._wait_for(handle.fileno())
            # the kernel lets go of the lock when the file is closed, or its process dies
            yield

    def _wait_for(self, lock: int) -> None:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            logger.info("%s: another run is at work on it; waiting for its turn to end", self._path)
            fcntl.flock(lock, fcntl.LOCK_EX)


@contextmanager
def open_journal(path: Path, endpoint: str) -> Iterator[Journal]:
    """Open the journal at `path`, making it when absent.

    Args:
        endpoint: runs of others in the file are left alone.

    Raises:
        StudyError: the file is no journal, or the disk refuses; every method may raise this.
    """
    with _explained(path):
        connection = connect(path, lambda connection: connection.executescript(_SCHEMA))
    # outside `_explained`: what goes wrong in the caller's block is not the journal's doing
    with closing(connection):
        yield Journal(connection, path, endpoint)


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except (sqlite3.DatabaseError, OSError) as error:
        raise StudyError(
            f"{path}: the journal of batches cannot be used ({error}); what was submitted is not lost: "
            f"make its folder writable or free disk space, and run again; without the file, batches "
            f"under way would be paid for twice"
        ) from error

"""What is submitted as batches: a SQLite file a model (WAL, full sync), written before each step.

A run is one batch. It is `intended` before its file is uploaded, `uploaded` when the file is on the
server, `submitted` when the batch's id is known, and `settled` when its results are in the ledger; or it
is `abandoned`. Before a batch is made, `creating_at` is set. An uploaded run with `creating_at` may have
a batch at the provider, and only the provider's list can tell. One job at a time uses the file, as it
does the ledger (`ledger.sole_asker`).
"""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from fieldwork.errors import StudyError
from fieldwork.generation.durable import DatabasePlace, connect

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


class BatchRun(NamedTuple):
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

    def intend(self, run_id: str, draws: Mapping[bytes, int], tokens: int) -> BatchRun:
        """Write down what is about to be submitted.

        Args:
            draws: key → draw.
        """
        with self._transaction():
            number = self._insert(run_id, "intended", tokens, len(draws), None)
            self._connection.executemany(
                "INSERT INTO requests VALUES (?, ?, ?, NULL)",
                ((number, key, draw) for key, draw in draws.items()),
            )
        return self.run(number)

    def renew(self, run: BatchRun, run_id: str, note: str) -> BatchRun:
        """Abandon a run that the provider did nothing of, for another one with the same file."""
        with self._transaction():
            self._end(run, "abandoned", note)
            number = self._insert(run_id, "uploaded", run.tokens, run.n_requests, run.file_id)
            self._connection.execute(
                "INSERT INTO requests SELECT ?, key, draw, NULL FROM requests WHERE run = ?",
                (number, run.number),
            )
        return self.run(number)

    def record_upload(self, run: BatchRun, file_id: str) -> BatchRun:
        """The file is on the server, and no batch was made of it."""
        return self._update(run, "state = 'uploaded', file_id = ?", file_id)

    def begin_creation(self, run: BatchRun, time_s: float) -> BatchRun:
        """A batch is about to be made, at so many seconds since 1970."""
        return self._update(run, "creating_at = ?", time_s)

    def cancel_creation(self, run: BatchRun) -> BatchRun:
        """The batch was not made."""
        return self._update(run, "creating_at = ?", None)

    def record_submission(self, run: BatchRun, batch_id: str) -> BatchRun:
        """The batch is known to be at the provider."""
        return self._update(run, "state = 'submitted', batch_id = ?", batch_id)

    def settle(self, run: BatchRun, causes: Mapping[bytes, str], note: str) -> None:
        """All that came of a run is in the ledger; `causes` says why a key has no answer."""
        with self._transaction():
            self._connection.executemany(
                "UPDATE requests SET cause = ? WHERE run = ? AND key = ?",
                ((cause, run.number, key) for key, cause in causes.items()),
            )
            self._end(run, "settled", note)

    def abandon(self, run: BatchRun, cause: str) -> None:
        """A run will bring no answers."""
        with self._transaction():
            self._connection.execute(
                "UPDATE requests SET cause = ? WHERE run = ?", (cause, run.number)
            )
            self._end(run, "abandoned", cause)

    def open_runs(self) -> list[BatchRun]:
        """Those that are not settled or abandoned, oldest first."""
        rows = self._select(f"SELECT {_RUN} FROM runs WHERE {_OPEN} ORDER BY number")
        return [BatchRun(*row) for row in rows]

    def open_keys(self) -> dict[bytes, int]:
        """Requests of open runs: key → the run's number."""
        return dict(
            self._select(
                f"SELECT key, run FROM requests JOIN runs ON run = number WHERE {_OPEN} ORDER BY run"
            )
        )

    def run(self, number: int) -> BatchRun:
        """A run by its number."""
        with _as_study_error(self._path):
            row = self._connection.execute(
                f"SELECT {_RUN} FROM runs WHERE number = ?", (number,)
            ).fetchone()
        return BatchRun(*row)

    def draws(self, run: BatchRun) -> dict[bytes, int]:
        """A run's requests: key → draw."""
        with _as_study_error(self._path):
            return dict(
                self._connection.execute(
                    "SELECT key, draw FROM requests WHERE run = ?", (run.number,)
                )
            )

    def causes(self) -> dict[bytes, str]:
        """Why keys have no answer, by the last run that held them."""
        with _as_study_error(self._path):
            return dict(
                self._connection.execute(
                    "SELECT key, cause FROM requests WHERE cause IS NOT NULL ORDER BY run"
                )
            )

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

    def _end(self, run: BatchRun, state: str, note: str) -> None:
        self._connection.execute(
            "UPDATE runs SET state = ?, note = ? WHERE number = ?", (state, note, run.number)
        )

    def _update(self, run: BatchRun, changes: str, value: Any) -> BatchRun:
        with self._transaction():
            self._connection.execute(
                f"UPDATE runs SET {changes} WHERE number = ?", (value, run.number)
            )
        return self.run(run.number)

    def _select(self, query: str) -> list[tuple[Any, ...]]:
        with _as_study_error(self._path):
            return self._connection.execute(query, (self._endpoint,)).fetchall()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with _as_study_error(self._path), self._connection:
            yield


@contextmanager
def open_journal(path: Path, endpoint: str) -> Iterator[Journal]:
    """Open the journal at `path`, making it when absent.

    Args:
        endpoint: runs of other endpoints in the file are left alone.

    Raises:
        StudyError: the file is not a journal, or the disk refuses; every method may raise this.
    """
    with _as_study_error(path):
        connection = connect(path, lambda connection: connection.executescript(_SCHEMA))
    # outside `_as_study_error`: an error in the caller's block is not the journal's
    with closing(connection):
        place = DatabasePlace(path, "journal of batches")
        try:
            yield Journal(connection, path, endpoint)
        finally:
            place.close(connection)


@contextmanager
def _as_study_error(path: Path) -> Iterator[None]:
    try:
        yield
    except (sqlite3.DatabaseError, OSError) as error:
        raise StudyError(
            f"{path}: the journal of batches cannot be used ({error}). The submitted batches are not "
            f"lost. Make its folder writable or free disk space, and run again. Do not delete the file: "
            f"without it, batches under way would be paid for twice."
        ) from error

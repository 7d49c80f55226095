"""SQLite files that outlast any crash: a write-ahead log, and a full sync before a transaction counts."""

import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

BUSY_S = 120.0


def connect(path: Path, prepare: Callable[[sqlite3.Connection], object]) -> sqlite3.Connection:
    """The file, made where there is none; its log needs memory shared by all processes that use it.

    Args:
        prepare: lays out the tables, and refuses a file that has others.

    Raises:
        sqlite3.DatabaseError: no such file, or none that `prepare` takes.
        OSError: no folder can be made for it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    until = time.monotonic() + BUSY_S
    while True:
        try:
            return _opened(path, prepare)
        except sqlite3.OperationalError as error:
            # of two that make the file at once SQLite refuses one without any wait
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(0.02)


def _opened(path: Path, prepare: Callable[[sqlite3.Connection], object]) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=BUSY_S, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        prepare(connection)
    except sqlite3.DatabaseError:
        connection.close()
        raise
    return connection

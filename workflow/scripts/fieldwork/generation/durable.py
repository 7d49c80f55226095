"""SQLite files that outlast any crash: a write-ahead log, and a full sync before a transaction counts.

Some bytes of the files are read here without SQLite, as described in "Database File Format"
(sqlite.org/fileformat2.html), sections 1.3 and 4.1.
"""

import os
import sqlite3
import struct
import time
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from fieldwork.errors import StudyError

BUSY_S = 120.0

_MAGIC = b"SQLite format 3\0"
_LOG_HEADER, _FRAME_HEADER = 32, 24
_LOG_MAGIC = {0x377F0682: "<", 0x377F0683: ">"}
_DAMAGE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})


class Damage(sqlite3.DatabaseError):
    """A file no longer holds what was written to it."""


def connect(path: Path, prepare: Callable[[sqlite3.Connection], object]) -> sqlite3.Connection:
    """Open a database, made when absent; its log needs memory shared by all processes that use it.

    Args:
        prepare: creates the tables, and refuses a file that has others.

    Raises:
        sqlite3.DatabaseError: the file cannot be opened, or `prepare` refuses it.
        OSError: its folder cannot be made.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    until = time.monotonic() + BUSY_S
    while True:
        connection = sqlite3.connect(path, timeout=BUSY_S, check_same_thread=False)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            prepare(connection)
            return connection
        except sqlite3.DatabaseError as error:
            connection.close()
            # when two processes make the file at once, SQLite refuses one without any wait
            is_busy = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY
            if not is_busy or time.monotonic() > until:
                raise
            time.sleep(0.02)


class DatabasePlace:
    """Where a database lies that is open, to notice that somebody removes or replaces its file.

    SQLite goes on in the removed file, and the system forgets all of it when the database is closed.

    Args:
        noun: what the database is, for messages.
    """

    def __init__(self, path: Path, noun: str) -> None:
        self._path, self._noun = path, noun
        self._file, self._log = _file_number(path), _file_number(_log_of(path))

    def require(self) -> None:
        """Raise StudyError where the database's file is not at its path any more."""
        if _file_number(self._path) != self._file:
            raise StudyError(f"{self._what_happened()} Nothing more is sent.")

    def close(self, connection: sqlite3.Connection) -> None:
        """Close the database; before that, write back what a removed one holds.

        Raises:
            StudyError: it was removed or replaced.
        """
        with closing(connection):
            if _file_number(self._path) == self._file:
                return
            try:
                target = self._write_back(connection)
            except (sqlite3.DatabaseError, OSError) as error:
                raise StudyError(
                    f"{self._what_happened()} What it held is lost, as it cannot be written back "
                    f"({error}). Put a backup in its place before you run again."
                ) from error
        if target == self._path:
            way_out = "All that it held is written back: run again, and what is there is used."
        else:
            way_out = (
                f"All that it held is in {target}, as another file is in its place: keep the one that "
                f"has more in it as {self._path.name}, and run again."
            )
        raise StudyError(
            f"{self._what_happened()} {way_out} Leave the files in {self._path.parent} where they are "
            f"while a study runs."
        )

    def _write_back(self, connection: sqlite3.Connection) -> Path:
        """Close the removed file, and have a whole copy at its path, or beside what is there now."""
        path = self._path
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f".{path.name}.{os.getpid()}")
        with closing(sqlite3.connect(partial)) as copy:
            connection.backup(copy)
        connection.close()
        # SQLite would take a log that was left behind for that of any file at this path
        if _file_number(_log_of(path)) == self._log:
            for suffix in ("-wal", "-shm"):
                path.with_name(f"{path.name}{suffix}").unlink(missing_ok=True)
        if path.exists():
            path = path.with_name(f"{path.name}.kept-{datetime.now(UTC):%Y%m%dT%H%M%S}")
        return partial.replace(path)

    def _what_happened(self) -> str:
        return f"{self._path}: the {self._noun} was removed or replaced while a job used it."


def _log_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def _file_number(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def is_damage(error: Exception) -> bool:
    """Whether an error comes from damage to a file, and not from a full disk, a lock and the like."""
    code = getattr(error, "sqlite_errorcode", None)
    return isinstance(error, Damage) or (code is not None and code & 0xFF in _DAMAGE)


def is_cut_short(path: Path) -> bool:
    """Whether a database without a log has fewer pages than its header says.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as handle:
        header = handle.read(100)
    if header[:16] != _MAGIC or len(header) < 100:
        return False  # not a database: SQLite reports that itself
    page, n_pages = int.from_bytes(header[16:18], "big"), int.from_bytes(header[28:32], "big")
    # the number of pages counts where it was written with the last change
    is_current = header[24:28] == header[92:96]
    return is_current and path.stat().st_size < n_pages * (65_536 if page == 1 else page)


def is_log_damaged(log: Path) -> bool:
    """Whether a write-ahead log holds more than SQLite would read of it, and so would drop.

    SQLite reads as far as the checksums hold, because a crash leaves a log whose end is missing. A broken
    start, or whole frames behind a broken one, is not the work of a crash.

    Raises:
        OSError: it cannot be read.
    """
    while True:
        raw = log.read_bytes()
        is_broken = _has_frames_beyond_damage(raw)
        with log.open("rb") as handle:
            # a job that uses the ledger may have begun its log anew meanwhile
            if handle.read(_LOG_HEADER) == raw[:_LOG_HEADER]:
                return is_broken


def _has_frames_beyond_damage(raw: bytes) -> bool:
    header = raw[:_LOG_HEADER]
    order = _LOG_MAGIC.get(int.from_bytes(header[:4], "big"))
    if order is None or len(header) < _LOG_HEADER:
        return True
    chain = _checksum(header[:24], order, (0, 0))
    if struct.pack(">2I", *chain) != header[24:]:
        return True
    salts, step = header[16:24], _FRAME_HEADER + int.from_bytes(header[8:12], "big")
    are_all_whole, follows_current = True, True
    for start in range(_LOG_HEADER, len(raw) - step + 1, step):
        frame = raw[start : start + step]
        # frames with other salts are left over from before the log was begun anew
        is_current = frame[8:16] == salts
        sums_in_frame = struct.unpack(">2I", frame[16:24])
        sums = _checksum(frame[:8], order, chain)
        is_whole = is_current and _checksum(frame[_FRAME_HEADER:], order, sums) == sums_in_frame
        if is_whole and follows_current and not are_all_whole:
            return True
        are_all_whole, follows_current = are_all_whole and is_whole, is_current
        chain = sums_in_frame
    return False


def _checksum(raw: bytes, order: str, start: tuple[int, int]) -> tuple[int, int]:
    """Section 4.2 of the format, over words of 32 bits."""
    first, second = start
    words = struct.unpack(f"{order}{len(raw) // 4}I", raw)
    for one, other in zip(words[::2], words[1::2], strict=True):
        first = (first + one + second) & 0xFFFFFFFF
        second = (second + other + first) & 0xFFFFFFFF
    return first, second

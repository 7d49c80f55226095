"""A damaged ledger, and a new one in its place with every answer that is whole.

A row carries a checksum over all of it, so what is carved out of a damaged file is either an answer as it
was received or is left where it lies. The damaged file is kept beside the new one. Which table a row was
in does not show: an answer of which it cannot be told that the model asked for gave it is quarantined,
where the next run that wants it looks at it again.
"""

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from fieldwork.errors import StudyError
from fieldwork.generation.durable import is_cut_short, is_log_damaged
from fieldwork.generation.inventory import Inventory
from fieldwork.generation.ledger import Entry, entry_of, open_ledger, sole_asker
from fieldwork.generation.recovery.pages import Record, open_pages

N_COLUMNS = 10
LATENCY = 6
ROWS_PER_COMMIT = 500
PARTS = ("", "-wal", "-shm")

IsAsked = Callable[[Entry], bool]
"""Whether the model that was asked for is known to have given an answer."""


class Recovery(NamedTuple):
    """What became of a ledger.

    Attributes:
        trouble: what is wrong with it; None where it is sound and was left alone.
        n_known: answers it held at least, None where nothing is known of it.
        n_answers: in the ledger now.
        n_set_apart: of these, quarantined.
        kept_as: the damaged file; None where nothing could be recovered, and nothing was changed.
    """

    trouble: str | None
    n_known: int | None
    n_answers: int
    n_set_apart: int = 0
    kept_as: Path | None = None

    @property
    def is_lost(self) -> bool:
        """Whether it is damaged, and nothing of it is whole."""
        return self.trouble is not None and self.kept_as is None


def recover(path: Path, is_asked: IsAsked) -> Recovery:
    """Put a ledger with all that is whole in the place of a damaged one; a sound one is left alone.

    Raises:
        StudyError: the disk refuses; the damaged file is as it was.
    """
    try:
        with sole_asker(path):
            n_known = Inventory(path).count()
            trouble = _trouble(path, n_known)
            if trouble is None:
                return Recovery(None, n_known, _count(path))
            return _recovered(path, is_asked, Recovery(trouble, n_known, 0))
    except OSError as error:
        raise StudyError(
            f"{path}: the ledger cannot be recovered here ({error}); the damaged file is as it was: free "
            f"disk space or make its folder writable, and run again"
        ) from error


def _trouble(path: Path, n_known: int | None) -> str | None:
    """What is wrong; SQLite is let near it last, as it would drop a log that it cannot read."""
    log = path.with_name(f"{path.name}-wal")
    is_logged = log.exists() and log.stat().st_size > 0
    if not path.exists():
        return "the file is gone"
    if not path.stat().st_size:
        return "the file is empty" if n_known or is_logged else None
    if is_logged:
        if is_log_damaged(log):
            return "its log is not as it was written"
    elif is_cut_short(path):
        return "its end is missing"
    try:
        with closing(sqlite3.connect(path)) as connection:
            ((verdict,),) = connection.execute("PRAGMA integrity_check(1)").fetchall()
            if verdict != "ok":
                return " ".join(str(verdict).removeprefix("*** in database main ***").split())
            if n_known and not _has_rows(connection):
                return "it holds no answers"
    except sqlite3.DatabaseError as error:
        return str(error)
    return None


def _has_rows(connection: sqlite3.Connection) -> bool:
    tables = ("answers", "quarantined", "damaged")
    return any(connection.execute(f"SELECT 1 FROM {t} LIMIT 1").fetchone() for t in tables)


def _count(path: Path) -> int:
    with open_ledger(path) as ledger:
        return len(ledger.keys()) + len(ledger.keys("quarantined"))


def _recovered(path: Path, is_asked: IsAsked, recovery: Recovery) -> Recovery:
    folder = path.parent / f".{path.stem}.recovered"
    shutil.rmtree(folder, ignore_errors=True)
    fresh = folder / path.name
    try:
        with open_ledger(fresh) as ledger, open_pages(path) as pages:
            entries = _sound(pages.records())
            while chunk := list(islice(entries, ROWS_PER_COMMIT)):
                ledger.store([entry for entry in chunk if is_asked(entry)])
                ledger.quarantine([entry for entry in chunk if not is_asked(entry)])
            n_set_apart = len(ledger.keys("quarantined"))
            n_answers = len(ledger.keys()) + n_set_apart
        if not n_answers:
            return recovery
        kept_as = _put_in_place(fresh, path)
        Inventory(path).write(n_answers)
        return recovery._replace(n_answers=n_answers, n_set_apart=n_set_apart, kept_as=kept_as)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _sound(records: Iterator[Record]) -> Iterator[Entry]:
    for record in records:
        if len(record) != N_COLUMNS:
            continue
        latency = record[LATENCY]
        if isinstance(latency, int):
            # SQLite writes whole numbers of seconds as integers, and reads them as what they are
            record = (*record[:LATENCY], float(latency), *record[LATENCY + 1 :])
        entry = entry_of(record)
        if entry is not None:
            yield entry


def _put_in_place(fresh: Path, path: Path) -> Path:
    """Keep the damaged files under another name, and let the new one take their place."""
    stamp = f"{datetime.now(UTC):%Y%m%dT%H%M%S}"
    kept_as = path.with_name(f"{path.name}.damaged-{stamp}")
    for part in PARTS:
        old = path.with_name(f"{path.name}{part}")
        if old.exists():
            _keep(old, kept_as.with_name(f"{kept_as.name}{part}"))
    for part in PARTS[1:]:
        # a log that is not the new file's would be read as if it were
        path.with_name(f"{path.name}{part}").unlink(missing_ok=True)
    fresh.replace(path)
    handle = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
    return kept_as


def _keep(old: Path, new: Path) -> None:
    try:
        new.hardlink_to(old)
    except OSError:
        # a file system without links
        shutil.copy2(old, new)

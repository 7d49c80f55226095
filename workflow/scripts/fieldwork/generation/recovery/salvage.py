"""A damaged ledger, and a new one in its place with every answer that is whole.

A row carries a checksum over all of it. So what is taken out of a damaged file is an answer exactly as it
was received; all else is left where it is. The damaged file is kept beside the new one. A row does not
show which table it was in. An answer that may come from another model than the one asked for is therefore
quarantined, and the next run that needs it decides.
"""

import logging
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from fieldwork.errors import StudyError
from fieldwork.generation.durable import is_cut_short, is_log_damaged
from fieldwork.generation.inventory import Inventory
from fieldwork.generation.ledger import Entry, entry_of, has_rows, open_ledger, sole_asker
from fieldwork.generation.providers.base import Provider, TransientError
from fieldwork.generation.providers.registry import make_provider
from fieldwork.generation.recovery.pages import Record, open_pages

logger = logging.getLogger(__name__)

N_COLUMNS = 10
LATENCY = 6
ROWS_PER_COMMIT = 500
PARTS = ("", "-wal", "-shm")

ModelCheck = Callable[[Entry], bool]
"""Whether an answer certainly came from the model that was asked for."""


class Recovery(NamedTuple):
    """What became of a ledger.

    Attributes:
        trouble: what is wrong with it; None where it is not damaged and was left alone.
        n_counted: the least number of answers that it held; None without a count.
        n_answers: in the ledger now.
        n_quarantined: of these, quarantined.
        damaged_path: where the damaged file is kept; None where nothing could be recovered, and so
            nothing was changed.
    """

    trouble: str | None
    n_counted: int | None
    n_answers: int
    n_quarantined: int = 0
    damaged_path: Path | None = None

    @property
    def is_lost(self) -> bool:
        """Whether it is damaged and holds no whole answer."""
        return self.trouble is not None and self.damaged_path is None


def recover_ledgers(models: Mapping[str, Any], folder: Path, vector_store: Path) -> None:
    """Recover the damaged ledgers among those of some models, and say what became of each.

    Args:
        models: entries of `models`; those without a ledger are passed over.
        folder: where ledgers are.
        vector_store: of the embedded model.

    Raises:
        StudyError: a damaged ledger holds no whole answer; the others are recovered.
    """
    failures: list[str] = []
    for name, model in models.items():
        path = folder / f"{name}.sqlite"
        if not path.exists() and Inventory(path).count() is None:
            continue
        # answers are read without a key to the account
        provider = make_provider({**model, "api_key_env": None}, vector_store)
        recovery = recover(path, model_check(provider))
        if recovery.is_lost:
            failures.append(sentence_of(path, recovery))
        else:
            logger.info("%s", sentence_of(path, recovery), extra={"is_shown": True})
    if failures:
        raise StudyError(" ".join(failures))


def recover(path: Path, is_from_model: ModelCheck) -> Recovery:
    """Replace a damaged ledger by one with all of its whole answers; leave others alone.

    Raises:
        StudyError: the disk refuses; the damaged file is unchanged.
    """
    try:
        with sole_asker(path):
            n_counted = Inventory(path).count()
            trouble = _trouble(path, n_counted)
            if trouble is None:
                with open_ledger(path) as ledger:
                    n_answers = len(ledger.keys()) + len(ledger.keys("quarantined"))
                return Recovery(None, n_counted, n_answers)
            return _rebuild(path, is_from_model, Recovery(trouble, n_counted, 0))
    except OSError as error:
        raise StudyError(
            f"{path}: the ledger cannot be recovered here ({error}). The damaged file is unchanged. Free "
            f"disk space or make its folder writable, and run again."
        ) from error


def _trouble(path: Path, n_counted: int | None) -> str | None:
    """What is wrong; SQLite opens the file last, as it would drop a log that it cannot read."""
    log = path.with_name(f"{path.name}-wal")
    is_logged = log.exists() and log.stat().st_size > 0
    if not path.exists():
        return "the file is gone"
    if not path.stat().st_size:
        return "the file is empty" if n_counted or is_logged else None
    if is_logged:
        if is_log_damaged(log):
            return "its -wal file is damaged"
    elif is_cut_short(path):
        return "its end is missing"
    try:
        with closing(sqlite3.connect(path)) as connection:
            ((verdict,),) = connection.execute("PRAGMA integrity_check(1)").fetchall()
            if verdict != "ok":
                return " ".join(str(verdict).removeprefix("*** in database main ***").split())
            if n_counted and not has_rows(connection):
                return "it holds no answers"
    except sqlite3.DatabaseError as error:
        return str(error)
    return None


def _rebuild(path: Path, is_from_model: ModelCheck, recovery: Recovery) -> Recovery:
    folder = path.parent / f".{path.stem}.recovered"
    shutil.rmtree(folder, ignore_errors=True)
    fresh = folder / path.name
    try:
        with open_ledger(fresh) as ledger, open_pages(path) as pages:
            entries = _whole_entries(pages.records())
            while chunk := list(islice(entries, ROWS_PER_COMMIT)):
                ledger.store([entry for entry in chunk if is_from_model(entry)])
                ledger.quarantine([entry for entry in chunk if not is_from_model(entry)])
            n_quarantined = len(ledger.keys("quarantined"))
            n_answers = len(ledger.keys()) + n_quarantined
        if not n_answers:
            return recovery
        damaged_path = _put_in_place(fresh, path)
        Inventory(path).write(n_answers)
        return recovery._replace(
            n_answers=n_answers, n_quarantined=n_quarantined, damaged_path=damaged_path
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _whole_entries(records: Iterator[Record]) -> Iterator[Entry]:
    for record in records:
        if len(record) != N_COLUMNS:
            continue
        latency = record[LATENCY]
        if isinstance(latency, int):
            # SQLite stores a whole number of seconds as an integer, and reads it back as a float
            record = (*record[:LATENCY], float(latency), *record[LATENCY + 1 :])
        entry = entry_of(record)
        if entry is not None:
            yield entry


def _put_in_place(fresh: Path, path: Path) -> Path:
    """Keep the damaged files under another name, and let the new one take their place."""
    stamp = f"{datetime.now(UTC):%Y%m%dT%H%M%S}"
    damaged_path = path.with_name(f"{path.name}.damaged-{stamp}")
    for part in PARTS:
        old = path.with_name(f"{path.name}{part}")
        if old.exists():
            _keep(old, damaged_path.with_name(f"{damaged_path.name}{part}"))
    for part in PARTS[1:]:
        # a log that is not the new file's would be read as if it were
        path.with_name(f"{path.name}{part}").unlink(missing_ok=True)
    fresh.replace(path)
    handle = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
    return damaged_path


def _keep(old: Path, new: Path) -> None:
    try:
        new.hardlink_to(old)
    except OSError:
        # a file system without links
        shutil.copy2(old, new)


def model_check(provider: Provider) -> ModelCheck:
    """A check whether an answer came from the provider's model, at the provider's endpoint."""

    def is_from_model(entry: Entry) -> bool:
        if entry.endpoint != provider.endpoint:
            return False
        try:
            returned_model = provider.read(entry.raw).returned_model
        except (TransientError, StudyError):
            return False
        return returned_model is None or provider.is_asked_for(returned_model)

    return is_from_model


def sentence_of(path: Path, recovery: Recovery) -> str:
    """What became of a ledger, and what to do now."""
    n_answers = f"{recovery.n_answers:,}"
    if recovery.trouble is None:
        return f"{path}: not damaged; it holds {n_answers} answers, and nothing was changed."
    total = f"{recovery.n_counted:,} answers" if recovery.n_counted else "its answers"
    if recovery.is_lost:
        return (
            f"{path}: damaged ({recovery.trouble}), and none of {total} can be recovered. Put a backup "
            f"in its place. To give the answers up and pay for them again, delete {path.name} and "
            f"{Inventory(path).path.name}."
        )
    count = f"{n_answers} of {total}" if recovery.n_counted else f"{n_answers} answers"
    quarantine = (
        f" {recovery.n_quarantined:,} of them may be from another model; the next run decides whether "
        f"they count."
        if recovery.n_quarantined
        else ""
    )
    return (
        f"{path}: damaged ({recovery.trouble}); {count} are recovered.{quarantine} The damaged file is "
        f"kept as {(recovery.damaged_path or path).name}. Missing answers are asked and paid for again "
        f"when you run the study."
    )

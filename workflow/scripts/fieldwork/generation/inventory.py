"""How many answers a ledger is known to hold: a text file beside it, for when the ledger is lost.

A ledger that was cut to nothing looks like a new one, and every answer in it would be paid for again.
The file is written once there is an answer, and brought up to date when a job is done with the ledger:
a job that is killed leaves a number that is too low, never one that is too high.
"""

import os
import re
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from fieldwork.errors import StudyError
from fieldwork.generation.durable import Damage, is_cut_short, is_log_damaged

_TEXT = """\
{n} answers are in {ledger} ({now:%Y-%m-%d %H:%M} UTC).

Where that file is gone or empty nothing is asked, as every answer in it was paid for. Put a backup in
its place, or try: snakemake --cores 1 recover_ledgers
To give its answers up and pay for them again, delete this file too.
"""


class Inventory:
    """The count of one ledger's answers.

    Args:
        path: of the ledger.
    """

    def __init__(self, path: Path) -> None:
        self._ledger = path
        self.path = path.with_name(f"{path.stem}.inventory.txt")

    def count(self) -> int | None:
        """Answers that the ledger held at least; None where nothing is known of it.

        Raises:
            OSError: the file cannot be read.
        """
        try:
            text = self.path.read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return None
        number = re.match(r"\d+", text)
        # it is only ever written for a ledger with answers
        return int(number[0]) if number else 1

    def write(self, n: int) -> None:
        """Write down that there are `n` answers, whole or not at all.

        Raises:
            OSError: the disk refuses.
        """
        text = _TEXT.format(n=n, ledger=self._ledger.name, now=datetime.now(UTC))
        partial = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        try:
            with partial.open("w", encoding="utf-8") as handle:
                handle.write(text)
                handle.flush()
                os.fsync(handle.fileno())
            partial.replace(self.path)
        finally:
            with suppress(FileNotFoundError):
                partial.unlink()

    def loss(self) -> StudyError:
        """The sentence for a ledger that had answers and has none."""
        n = self.count()
        past = f"held {n:,} answers" if n else "held answers"
        given_up = f"delete {self.path.name} beside it" if n else "delete its -wal file"
        return StudyError(
            f"{self._ledger}: the ledger {past} and holds none now, so nothing is asked, as all of them "
            f"would be paid for again: put a backup in its place, or run snakemake --cores 1 "
            f"recover_ledgers, which takes out what is left of it; to give the answers up, {given_up} "
            f"and run again"
        )


def refuse_lost(path: Path) -> None:
    """Look at the files before SQLite does: it takes an empty one for new, and deletes its log.

    Raises:
        StudyError: the ledger had answers and has none.
        Damage: it is not as it was written.
        OSError: its files cannot be looked at.
    """
    log = path.with_name(f"{path.name}-wal")
    is_logged = _size(log) > 0
    if not _size(path):
        if is_logged or Inventory(path).count():
            raise Inventory(path).loss()
    elif is_logged:
        # gone by now, it was well with the job that had it open
        with suppress(FileNotFoundError):
            if is_log_damaged(log):
                raise Damage("its log is not as it was written")
    elif is_cut_short(path):
        raise Damage("its end is missing")


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0

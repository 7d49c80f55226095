"""How many answers a ledger holds: a text file beside it, for when the ledger is lost.

A ledger that was cut to nothing looks like a new one, and every answer in it would be paid for again.
The file is written once there is an answer, and brought up to date when a job is done with the ledger.
So a job that is killed leaves a number that is too low, never one that is too high.
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

If that file is gone or empty, no request is sent: every answer in it was paid for. Put a backup in its
place, or try: snakemake --cores 1 recover_ledgers
To give the answers up and pay for them again, delete this file too.
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
        """The least number of answers that the ledger held; None without a count.

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
        answers = f"{n:,} answers" if n else "answers"
        leftover = f"{self.path.name} beside it" if n else "its -wal file"
        return StudyError(
            f"{self._ledger}: the ledger held {answers} and holds none now. No request is sent, so that "
            f"they are not paid for twice. Put a backup in its place, or run snakemake --cores 1 "
            f"recover_ledgers, which takes out what is left of it. To give the answers up and pay for "
            f"them again, delete {leftover} and run again."
        )


def refuse_lost(path: Path) -> None:
    """Check the files before SQLite opens them: it takes an empty one for new, and deletes its log.

    Raises:
        StudyError: the ledger had answers and has none.
        Damage: it no longer holds what was written to it.
        OSError: its files cannot be read.
    """
    log = path.with_name(f"{path.name}-wal")
    is_logged = _size(log) > 0
    if not _size(path):
        if is_logged or Inventory(path).count():
            raise Inventory(path).loss()
    elif is_logged:
        # a log that is gone by now was removed by the job that had it open: all is well
        with suppress(FileNotFoundError):
            if is_log_damaged(log):
                raise Damage("its -wal file is damaged")
    elif is_cut_short(path):
        raise Damage("its end is missing")


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0

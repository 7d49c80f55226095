"""The progress of long work: a bar on a terminal, one line a minute in a log.

Where one line is shown for all jobs (`run_line`) there is no bar: a job writes how far it is to a file.
"""

import json
import logging
import os
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, TextIO

from tqdm import tqdm

logger = logging.getLogger(__name__)

SECONDS_BETWEEN_LINES = 60.0
# time without a finished unit after which a line says what the work waits for
QUIET_S = 5.0
# for a terminal that does not report its size
WIDTH, HEIGHT = 120, 24

# the environment's folder for the progress of jobs
FOLDER_VARIABLE = "FIELDWORK_PROGRESS"
# time between two writes of a job's file
SECONDS_BETWEEN_FILES = 0.3

_BUSY = "{desc}: {n_fmt}/{total_fmt}, {rate_fmt}, {remaining} left{postfix}"
# while nothing arrives, the past rate does not predict the end
_QUIET = "{desc}: {n_fmt}/{total_fmt} after {elapsed}{postfix}"


class JobProgress(NamedTuple):
    """How far a job is.

    Attributes:
        n_done: units that are done, of `n_all`, of the job's `unit`.
        seconds_left: None before it is known.
        waiting: what it waits for; empty while it works.
        usd: US dollars that it has spent; None where nothing has a price.
        is_over: the job is done with this work.
    """

    label: str
    n_done: int
    n_all: int
    unit: str
    seconds_left: float | None
    waiting: str
    usd: float | None
    is_over: bool


def clear_line(stream: TextIO) -> None:
    """Take the line in which the cursor stands off a terminal."""
    if stream.isatty():
        stream.write("\r\x1b[K")


def read_progress(folder: Path) -> list[JobProgress]:
    """How far each job is that wrote it into the folder."""
    jobs = []
    for path in sorted(folder.glob("*.json")):
        # a job's next state replaces the file
        with suppress(FileNotFoundError):
            jobs.append(JobProgress(**json.loads(path.read_text(encoding="utf-8"))))
    return jobs


class Progress:
    """Counts finished units of `total`; use as a context manager."""

    def __init__(self, label: str, total: int, unit: str, *, quiet: bool = False) -> None:
        self._label, self._total, self._unit, self._quiet = label, total, unit, quiet
        self._n_done = self._n_skipped = 0
        self._note = self._waiting = ""
        self._started_at = self._last_line = self._last_news = time.monotonic()
        folder = os.environ.get(FOLDER_VARIABLE)
        self._file = Path(folder, f"{os.getpid()}-{id(self)}.json") if folder else None
        self._last_file = 0.0
        self._usd: float | None = None
        is_hidden = quiet or self._file is not None or not sys.stderr.isatty()
        size = None if is_hidden else os.get_terminal_size(sys.stderr.fileno())
        has_width = bool(size and size.columns)
        self._bar = tqdm(
            total=total,
            desc=label,
            unit=f" {unit}",
            disable=is_hidden,
            leave=False,
            # tqdm prints nothing on a terminal without a size
            ncols=None if has_width else WIDTH,
            nrows=None if size and size.lines else HEIGHT,
            dynamic_ncols=has_width,
            bar_format=_BUSY,
        )

    def __enter__(self) -> "Progress":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.close()
        self._waiting = ""
        self._line()
        self._write_file(is_over=True)

    def spend(self, usd: float | None) -> None:
        """Report what the work has cost so far, in US dollars; None where nothing has a price."""
        self._usd = usd

    def update(self, n: int = 1, note: str = "") -> None:
        """Report `n` more finished units, and a note beside the count."""
        self._n_done += n
        if n:
            self._last_news, self._waiting = time.monotonic(), ""
        if n or (note and note != self._note):
            self._note = note or self._note
            self._set_postfix()
        self._bar.update(n)
        self._line_if_due()

    def skip(self, n: int) -> None:
        """Report `n` units that were finished earlier and do not count for the rate."""
        self._n_skipped += n
        if not self._bar.disable:
            # tqdm leaves these out of its rate
            self._bar.initial += n
            self._bar.n += n
            self._bar.last_print_n += n

    def tick(self, waiting: str) -> None:
        """Refresh the bar and, if no unit was finished lately, say what the work waits for."""
        is_quiet = time.monotonic() - self._last_news >= QUIET_S
        self._waiting = waiting if is_quiet else ""
        self._set_postfix()
        self._bar.refresh()
        self._line_if_due()

    def _set_postfix(self) -> None:
        parts = filter(None, (self._waiting, self._note))
        self._bar.set_postfix_str("; ".join(parts), refresh=False)
        self._bar.bar_format = _QUIET if self._waiting else _BUSY

    def _rate(self) -> tuple[float, float | None]:
        """Units a second, and seconds left."""
        rate = self._n_done / max(time.monotonic() - self._started_at, 1e-9)
        remaining = self._total - self._n_skipped - self._n_done
        if rate:
            return rate, remaining / rate
        return rate, None if remaining else 0.0

    def _write_file(self, *, is_over: bool = False) -> None:
        since = time.monotonic() - self._last_file
        if self._file is None or (since < SECONDS_BETWEEN_FILES and not is_over):
            return
        self._last_file += since
        n_done, (_, left) = self._n_skipped + self._n_done, self._rate()
        state = JobProgress(
            self._label, n_done, self._total, self._unit, left, self._waiting, self._usd, is_over
        )
        partial = self._file.with_suffix(".partial")
        # the run's folder may be gone, and a full disk is for those to report who write results
        with suppress(OSError):
            partial.write_text(json.dumps(state._asdict()), encoding="utf-8")
            partial.replace(self._file)

    def _line_if_due(self) -> None:
        self._write_file()
        if time.monotonic() - self._last_line >= SECONDS_BETWEEN_LINES:
            self._line()

    def _line(self) -> None:
        self._last_line = time.monotonic()
        if self._quiet:
            return
        rate, seconds_left = self._rate()
        left = "unknown" if seconds_left is None else f"{seconds_left:.0f} s"
        logger.info(
            "%s: %d of %d %s, %.1f/s, %s left%s%s",
            self._label,
            self._n_skipped + self._n_done,
            self._total,
            self._unit,
            rate,
            left,
            f", {self._note}" if self._note else "",
            f"; {self._waiting}" if self._waiting else "",
        )

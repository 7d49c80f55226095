"""One line that says how far a run is: drawn anew on a terminal, printed now and then elsewhere.

Snakemake tells it which jobs begin and end; jobs that take long write how far they are into a folder.
"""

import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

from fieldwork.progress import JobProgress, clear_line, read_progress

SECONDS_BETWEEN_LINES = 60.0

# what is being done, by the verb with which a rule's name begins
_STAGES = {
    "ask": "Asking",
    "generate": "Asking",
    "read": "Asking",
    "parse": "Reading answers",
    "canonicalise": "Reading answers",
    "measure": "Measuring",
    "plot": "Drawing figures",
    "write": "Writing the page",
    "record": "Writing the page",
    "explorer": "Writing the page",
}
_FIRST_STAGE = "Preparing users and questions"


class RunLine:
    """How far a run is.

    Args:
        folder: where jobs write their progress.
    """

    def __init__(
        self,
        folder: Path,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._folder, self._stream, self._clock = folder, stream or sys.stderr, clock
        self._is_terminal = self._stream.isatty()
        self._begun, self._last_line, self._last_stage = clock(), -SECONDS_BETWEEN_LINES, ""
        self._n_done = self._n_all = 0
        self._stage = _FIRST_STAGE

    def begin(self, rule: str) -> None:
        """A job of a rule begins."""
        self._stage = _STAGES.get(rule.partition("_")[0], self._stage)

    def count(self, n_done: int, n_all: int) -> None:
        """So many jobs are done, of all."""
        self._n_done, self._n_all = n_done, n_all

    def text(self) -> str:
        """The line."""
        jobs = read_progress(self._folder)
        at_work = [job for job in jobs if not job.is_over]
        asking = [job for job in at_work if job.unit == "answers"]
        prices = [job.usd for job in jobs if job.usd is not None]
        parts = [
            _work_text(asking or at_work[:1]),
            f"${sum(prices):.2f} so far" if prices else "",
            f"{self._n_done} of {self._n_all} steps done",
            f"{clock_text(self._clock() - self._begun)} since the start",
            *sorted({job.waiting for job in asking if job.waiting}),
        ]
        return f"{'Asking' if asking else self._stage}: {', '.join(filter(None, parts))}"

    def draw(self) -> None:
        """Draw the line anew; where this is no terminal, print it with a new stage and once a minute."""
        if not self._n_all:
            return
        text = self.text()
        stage = text.partition(":")[0]
        if self._is_terminal:
            clear_line(self._stream)
            self._stream.write(text[: shutil.get_terminal_size().columns - 1])
        elif stage != self._last_stage or self._clock() - self._last_line >= SECONDS_BETWEEN_LINES:
            self._stream.write(text + "\n")
            self._last_line = self._clock()
        self._last_stage = stage
        self._stream.flush()

    def say(self, message: str) -> None:
        """Print a message; the line stands below it."""
        self.clear()
        self._stream.write(message + "\n")
        self._stream.flush()

    def clear(self) -> None:
        """Take the line off the terminal."""
        clear_line(self._stream)
        self._stream.flush()


def _work_text(jobs: list[JobProgress]) -> str:
    """How far jobs of one kind are together."""
    if not jobs:
        return ""
    n_done, n_all = sum(job.n_done for job in jobs), sum(job.n_all for job in jobs)
    lefts = [job.seconds_left for job in jobs if job.seconds_left is not None]
    parts = [
        f"{n_done:,} of {n_all:,} {jobs[0].unit}",
        f"{clock_text(max(lefts))} left" if lefts and n_done < n_all else "",
    ]
    return ", ".join(filter(None, parts))


def clock_text(seconds: float) -> str:
    """Seconds as 0:07, 12:34 or 1:02:03."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"

"""What Snakemake's `--logger fieldwork` prints: one line on how far the run is, and what is wrong, once.

Snakemake finds it by the folder's name. Its own lines stand in its log as ever.
"""

import logging
import os
import shutil
import tempfile
import threading
from pathlib import Path

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from fieldwork.progress import FOLDER_VARIABLE
from fieldwork.run_line import RunLine

SECONDS_BETWEEN_DRAWINGS = 0.5


class LogHandler(LogHandlerBase):
    """Draws the line, in a thread of its own."""

    writes_to_stream = True
    writes_to_file = False
    has_filter = True
    has_formatter = False
    needs_rulegraph = False

    def __post_init__(self) -> None:
        """Give the jobs of this run a folder for their progress, and begin to draw."""
        self._folder = Path(tempfile.mkdtemp(prefix="fieldwork-progress-"))
        os.environ[FOLDER_VARIABLE] = str(self._folder)
        self._line = RunLine(self._folder)
        self._errors: list[str] = []
        self._explanations: list[bool] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._draw, daemon=True)
        self._thread.start()

    def emit(self, record: logging.LogRecord) -> None:
        """Note how far the run is, or print a warning or an error."""
        event = getattr(record, "event", None)
        if event == LogEvent.JOB_ERROR:
            self._explanations.append(any(map(has_sentence, record.__dict__["log"])))
        if record.levelno >= logging.ERROR:
            self._errors.append(self.format(record))
        elif record.levelno >= logging.WARNING:
            self._line.say(self.format(record))
        elif event == LogEvent.RUN_INFO:
            self._line.count(0, record.__dict__["stats"]["total"])
        elif event == LogEvent.JOB_INFO:
            self._line.begin(record.__dict__["rule_name"])
        elif event == LogEvent.PROGRESS:
            self._line.count(record.__dict__["done"], record.__dict__["total"])

    def close(self) -> None:
        """Take the line off the terminal, and the folder away."""
        self._over.set()
        self._thread.join()
        self._line.clear()
        # a job that says what is wrong has said it; around it Snakemake has a dozen lines
        if not self._explanations or not all(self._explanations):
            for error in self._errors:
                self._line.say(error)
        self._errors.clear()
        shutil.rmtree(self._folder, ignore_errors=True)
        super().close()

    def _draw(self) -> None:
        while not self._over.wait(SECONDS_BETWEEN_DRAWINGS):
            self._line.draw()


def has_sentence(log: str) -> bool:
    """Whether a job that failed ended with a sentence for its user, which it printed too."""
    try:
        lines = Path(log).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
    return any(" ERROR " in line for line in lines[-1:])

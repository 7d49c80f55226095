"""What every script does around its `main`: a log, and errors a user can read."""

import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

from tqdm import tqdm

from fieldwork.errors import StudyError


def run(main: Callable[..., None], *, log: str, **arguments: Any) -> None:
    """Call `main(**arguments)` with logging to the file `log`.

    A `StudyError` becomes one sentence on the terminal and in the log, and exit status 1; anything
    else is a bug and keeps its traceback.
    """
    _log_to(Path(log))
    try:
        main(**arguments)
    except StudyError as error:
        logging.getLogger("fieldwork").error("%s", error)
        sys.exit(1)


class _Terminal(logging.StreamHandler[TextIO]):
    """What a user sees at once: warnings, errors, and what is marked `is_shown`, with the log's path."""

    def __init__(self, log: Path) -> None:
        super().__init__()
        self._log = log
        self.setFormatter(logging.Formatter("%(levelname)s: %(message)s"))

    def filter(self, record: logging.LogRecord) -> bool:
        return record.levelno >= logging.WARNING or getattr(record, "is_shown", False)

    def format(self, record: logging.LogRecord) -> str:
        text = super().format(record)
        is_news = record.levelno < logging.WARNING
        return f"{text}; the log is {self._log}" if is_news else text

    def emit(self, record: logging.LogRecord) -> None:
        # a bar on the same terminal makes room, and is drawn again below
        with tqdm.external_write_mode(file=self.stream):
            super().emit(record)


def _log_to(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    file = logging.FileHandler(path, mode="w", encoding="utf-8")
    file.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    terminal = _Terminal(path)
    package = logging.getLogger("fieldwork")
    package.setLevel(logging.INFO)
    package.propagate = False
    for handler in package.handlers:
        handler.close()
    package.handlers = [file, terminal]

"""What every script does around its `main`: a log, and errors that a user can read."""

import errno
import logging
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

from tqdm import tqdm

from fieldwork.arguments import arguments_of
from fieldwork.errors import StudyError
from fieldwork.masking import Mask, environment_secrets
from fieldwork.progress import FOLDER_VARIABLE, clear_line

EXIT_INTERRUPTED = 130
"""Exit status after Ctrl-C, the same as in shells."""

ErrorHook = Callable[[type[BaseException], BaseException, TracebackType | None], None]
"""What shows an error that ends a process, as `sys.excepthook`."""

INTERRUPTION = "interrupted; finished work is kept, and the same command continues from there"

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS})


def run_script(main: Callable[..., None], job: Any) -> None:
    """Call a script's `main` with what its rule declares, as `run` does.

    Args:
        job: the object `snakemake` of the script.
    """
    run(main, log=job.log[0], **arguments_of(main, job))


def run(main: Callable[..., None], *, log: str, **arguments: Any) -> None:
    """Call `main(**arguments)` with logging to the file `log`.

    A `StudyError` becomes one sentence on the terminal and in the log, and exit status 1. A full disk and
    Ctrl-C become a sentence too. Anything else is a bug and keeps its traceback. Secrets of the
    environment are masked in all of these.
    """
    mask = Mask(environment_secrets())
    logger = logging.getLogger("fieldwork")
    sys.excepthook = _traceback_hook(mask)
    try:
        _log_to(Path(log), mask)
        main(**arguments)
    except StudyError as error:
        logger.error("%s", " ".join([str(error), *getattr(error, "__notes__", [])]))
        sys.exit(1)
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        logger.error(
            "%s: cannot be written (%s); free disk space, or choose another place with snakemake "
            "--directory",
            error.filename or Path.cwd(),
            error.strerror,
        )
        sys.exit(1)
    except KeyboardInterrupt:
        logger.error(INTERRUPTION)
        sys.exit(EXIT_INTERRUPTED)


@contextmanager
def making(path: str) -> Iterator[None]:
    """Name a file of a job that makes several: in the log, and after the words of what stops it."""
    logging.getLogger("fieldwork.stage").info("making %s", path)
    try:
        yield
    except Exception as error:
        error.add_note(f"(while {path} was made)")
        raise


class _MaskingFormatter(logging.Formatter):
    def __init__(self, form: str, mask: Mask) -> None:
        super().__init__(form)
        self._mask = mask

    def format(self, record: logging.LogRecord) -> str:
        return self._mask.text(super().format(record))


class _LogFile(logging.FileHandler):
    """A log that ends silently on a full disk, because the terminal shows the error."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: ARG002, N802
        return

    def close(self) -> None:
        with suppress(OSError):
            super().close()


def _traceback_hook(mask: Mask) -> ErrorHook:
    def show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        sys.stderr.write(mask.text("".join(traceback.format_exception(kind, error, trace))))

    return _with_interruption(show)


def _with_interruption(show: ErrorHook) -> ErrorHook:
    """What shows an error at the end of a process, with a sentence for Ctrl-C."""

    def show_or_say(
        kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        if issubclass(kind, KeyboardInterrupt):
            sys.stderr.write(f"ERROR: {INTERRUPTION}\n")
        else:
            show(kind, error, trace)

    return show_or_say


# scripts import this before what takes seconds to load, and Ctrl-C may come then
sys.excepthook = _with_interruption(sys.excepthook)


class _Terminal(logging.StreamHandler[TextIO]):
    """Shows warnings, errors, and records marked `is_shown`, the latter with the path of the log."""

    def __init__(self, log: Path, mask: Mask) -> None:
        super().__init__()
        self._log = log
        self.setFormatter(_MaskingFormatter("%(levelname)s: %(message)s", mask))

    def filter(self, record: logging.LogRecord) -> bool:
        is_news = getattr(record, "is_shown", False) and FOLDER_VARIABLE not in os.environ
        return record.levelno >= logging.WARNING or is_news

    def format(self, record: logging.LogRecord) -> str:
        text = super().format(record)
        is_news = record.levelno < logging.WARNING
        return f"{text}; the log is {self._log}" if is_news else text

    def emit(self, record: logging.LogRecord) -> None:
        if FOLDER_VARIABLE in os.environ:
            clear_line(self.stream)
        # tqdm clears a bar on this terminal, and draws it again below
        with tqdm.external_write_mode(file=self.stream):
            super().emit(record)


def _log_to(path: Path, mask: Mask) -> None:
    terminal = _Terminal(path, mask)
    package = logging.getLogger("fieldwork")
    package.setLevel(logging.INFO)
    package.propagate = False
    for handler in package.handlers:
        handler.close()
    package.handlers = [terminal]
    path.parent.mkdir(parents=True, exist_ok=True)
    file = _LogFile(path, mode="w", encoding="utf-8")
    file.setFormatter(_MaskingFormatter("%(asctime)s %(levelname)s %(message)s", mask))
    package.addHandler(file)

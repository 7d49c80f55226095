"""The progress of long work: a bar on a terminal, one line a minute in a log."""

import logging
import os
import sys
import time
from types import TracebackType

from tqdm import tqdm

logger = logging.getLogger(__name__)

SECONDS_BETWEEN_LINES = 60.0
# time without a finished unit after which a line says what the work waits for
QUIET_S = 5.0
# for a terminal that does not report its size
WIDTH, HEIGHT = 120, 24

_BUSY = "{desc}: {n_fmt}/{total_fmt}, {rate_fmt}, {remaining} left{postfix}"
# while nothing arrives, the past rate does not predict the end
_QUIET = "{desc}: {n_fmt}/{total_fmt} after {elapsed}{postfix}"


class Progress:
    """Counts finished units of `total`; use as a context manager."""

    def __init__(self, label: str, total: int, unit: str, *, quiet: bool = False) -> None:
        self._label, self._total, self._unit, self._quiet = label, total, unit, quiet
        self._n_done = self._n_skipped = 0
        self._note = self._waiting = ""
        self._started_at = self._last_line = self._last_news = time.monotonic()
        is_hidden = quiet or not sys.stderr.isatty()
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

    def _line_if_due(self) -> None:
        if time.monotonic() - self._last_line >= SECONDS_BETWEEN_LINES:
            self._line()

    def _line(self) -> None:
        self._last_line = time.monotonic()
        if self._quiet:
            return
        seconds = max(self._last_line - self._started_at, 1e-9)
        rate = self._n_done / seconds
        remaining = self._total - self._n_skipped - self._n_done
        left = f"{remaining / rate if rate else 0:.0f} s" if rate or not remaining else "unknown"
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

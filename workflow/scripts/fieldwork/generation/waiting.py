"""What a job waits for and until when: the text of the progress line while no answer arrives."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import NamedTuple

from fieldwork.generation.limits import Hold

LONGEST_REASON = 120


class _RetryWait(NamedTuple):
    until: float
    reason: str


class CallWaits:
    """The calls under way, and those that wait for another try.

    Args:
        timeout_s: seconds a call may take; None where it has no limit.
        clock: seconds that only go up.
    """

    def __init__(
        self, timeout_s: float | None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._timeout_s, self._clock = timeout_s, clock
        # when the calls under way began, and until when others wait; a list each, as many may be alike
        self._starts: list[float] = []
        self._retry_waits: list[_RetryWait] = []

    @contextmanager
    def call_under_way(self) -> Iterator[None]:
        """A call is under way until the block ends."""
        start = self._clock()
        self._starts.append(start)
        try:
            yield
        finally:
            self._starts.remove(start)

    @contextmanager
    def before_retry(self, seconds: float, reason: str) -> Iterator[None]:
        """A call waits so many seconds for its next try, until the block ends."""
        wait = _RetryWait(self._clock() + seconds, reason)
        self._retry_waits.append(wait)
        try:
            yield
        finally:
            self._retry_waits.remove(wait)

    def sentence(self, holds: Iterable[Hold]) -> str:
        """Everything that the job waits for; empty where it waits for nothing.

        Args:
            holds: what keeps calls from being sent.
        """
        parts = [self._calls_under_way(), self._next_try(), *map(self._hold_text, holds)]
        return "; ".join(filter(None, parts))

    def _calls_under_way(self) -> str:
        if not self._starts:
            return ""
        age_s = self._clock() - min(self._starts)
        n = len(self._starts)
        text = f"{n} call{'s' if n > 1 else ''} under way"
        if self._timeout_s is not None:
            text += f" until {_time_in(self._timeout_s - age_s)} (models.*.timeout_s)"
        return f"{text}, the oldest for {age_s:.0f} s"

    def _next_try(self) -> str:
        if not self._retry_waits:
            return ""
        first = min(self._retry_waits)
        wait_s = max(first.until - self._clock(), 0.0)
        reason = first.reason[:LONGEST_REASON]
        return f"waiting {wait_s:.0f} s, until {_time_in(wait_s)}, before another try: {reason}"

    @staticmethod
    def _hold_text(hold: Hold) -> str:
        if hold.wait_s == float("inf"):
            return f"waiting because {hold.reason}"
        return f"waiting {hold.wait_s:.0f} s, until {_time_in(hold.wait_s)}, because {hold.reason}"


def _time_in(seconds: float) -> str:
    """The time of day in so many seconds."""
    return f"{datetime.now().astimezone() + timedelta(seconds=max(seconds, 0.0)):%H:%M:%S}"

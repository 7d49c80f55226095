"""How long settlement of batches waits, and for what: failures in passing, and room at the provider."""

import logging
import random
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import NamedTuple, TypeVar

from fieldwork.errors import StudyError
from fieldwork.generation.batches.files import BatchLimits
from fieldwork.generation.batches.journal import Run
from fieldwork.generation.providers.base import TransientError
from fieldwork.progress import Progress
from fieldwork.retries import FIRST_WAIT_S, RetryPolicy

logger = logging.getLogger(__name__)

T = TypeVar("T")

# with a server that only fails, from the first failure of a step on
PATIENCE_S = 600.0
LONGEST_WAIT_FOR_ROOM_S = 3600.0
TICK_S = 1.0


class Clock(NamedTuple):
    """Time, as tests replace it: seconds since 1970, and how to let them pass."""

    now: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep


def shown_clock(progress: Progress) -> Clock:
    """A clock that shows, while someone sleeps by it, that time passes and until when."""

    def sleep(seconds: float) -> None:
        until = time.monotonic() + seconds
        ends = datetime.now().astimezone() + timedelta(seconds=seconds)
        while (left := until - time.monotonic()) > 0:
            time.sleep(min(left, TICK_S))
            progress.tick(f"waiting until {ends:%H:%M:%S} to look again (models.*.batch.poll_s)")

    return Clock(sleep=sleep)


class Failures:
    """Failures in passing of one step: said, waited after, and counted until they are too many."""

    def __init__(self, what: str, endpoint: str, attempts: int, clock: Clock) -> None:
        self._what, self._endpoint, self._clock = what, endpoint, clock
        self._retries = RetryPolicy(attempts, first_s=FIRST_WAIT_S, jitter=random.Random(0))
        self._n, self._since = 0, 0.0

    def wait_after(self, error: TransientError) -> None:
        """Wait until the step may be tried again.

        Raises:
            StudyError: it failed as often, or for as long, as it may.
        """
        now = self._clock.now()
        self._since = self._since if self._n else now
        self._n += 1
        wait = self._retries.wait_s(self._n, error.retry_after_s)
        if not self._retries.has_attempts(self._n) or now + wait > self._since + PATIENCE_S:
            raise StudyError(
                f"{self._endpoint}: {self._what} failed {self._n} times, at last with: {error}; check "
                f"that the server is up and that models.*.base_url names it, and run again: what was "
                f"submitted is remembered"
            ) from error
        logger.warning(
            "%s failed: %s; it is tried again in %.0f s (%d of %d)",
            self._what,
            error,
            wait,
            self._n + 1,
            self._retries.attempts,
        )
        self._clock.sleep(wait)


class Patience:
    """Tries steps again that fail in passing."""

    def __init__(self, endpoint: str, attempts: int, clock: Clock) -> None:
        self._endpoint, self._attempts, self._clock = endpoint, attempts, clock

    def failures(self, what: str) -> Failures:
        """Of one step."""
        return Failures(what, self._endpoint, self._attempts, self._clock)

    def tried(self, step: Callable[[], T], what: str) -> T:
        """What `step` returns.

        Raises:
            StudyError: it failed as often, or for as long, as it may.
        """
        failures = self.failures(what)
        while True:
            try:
                return step()
            except TransientError as error:
                failures.wait_after(error)


class Room:
    """Whether the provider takes another batch.

    Attributes:
        said: why it took none, the last time.
    """

    def __init__(self, limits: BatchLimits, poll_s: float) -> None:
        self._limits, self._poll_s = limits, poll_s
        self._not_before = 0.0
        self._refusals = 0
        self.said = ""

    def refused(self, said: str, now: float) -> None:
        """A batch was turned away; several at once count as one."""
        if now < self._not_before:
            return
        wait = min(self._poll_s * 2**self._refusals, LONGEST_WAIT_FOR_ROOM_S)
        logger.warning("the provider takes no batch now: %s; tried again in %.0f s", said, wait)
        self._refusals += 1
        self._not_before, self.said = now + wait, said

    def freed(self) -> None:
        """One of ours has ended."""
        self._refusals, self._not_before = 0, 0.0

    def has(self, run: Run, under_way: int, now: float) -> bool:
        """Whether a run may be submitted while `under_way` tokens of ours are."""
        limit = self._limits.max_tokens
        fits = limit is None or not under_way or under_way + run.tokens <= limit
        return fits and now >= self._not_before

    def is_hopeless(self, under_way: int) -> bool:
        """Refused time and again although nothing of ours is in the way."""
        return not under_way and self._refusals >= self._limits.attempts

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

logger = logging.getLogger(__name__)

T = TypeVar("T")

FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 60.0
LONGEST_ASKED_WAIT_S = 600.0
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


class Patience:
    """Tries steps again that fail in passing."""

    def __init__(self, endpoint: str, attempts: int, clock: Clock) -> None:
        self._endpoint, self._attempts, self._clock = endpoint, attempts, clock
        self._jitter = random.Random(0)

    def tried(self, step: Callable[[], T], what: str) -> T:
        """What `step` returns.

        Raises:
            StudyError: it failed as often as it may.
        """
        wait = FIRST_WAIT_S
        for tries in range(1, self._attempts + 1):
            try:
                return step()
            except TransientError as error:
                asked = error.retry_after_s
                if tries == self._attempts or (asked or 0.0) > LONGEST_ASKED_WAIT_S:
                    raise StudyError(
                        f"{self._endpoint}: {what} failed {tries} times, at last with: {error}; what "
                        f"was submitted is remembered: run again, and it goes on from there"
                    ) from error
                pause_s = asked if asked is not None else wait * self._jitter.random()
                logger.info("%s failed (%s); tried again in %.0f s", what, error, pause_s)
                self._clock.sleep(pause_s)
                wait = min(2 * wait, LONGEST_WAIT_S)
        raise AssertionError("attempts is at least 1")


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

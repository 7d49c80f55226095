"""How long the settlement of batches waits: after failures that may pass, and for room for another."""

import logging
import random
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import NamedTuple, TypeVar

from fieldwork.errors import StudyError
from fieldwork.generation.batches.files import BatchLimits
from fieldwork.generation.batches.journal import BatchRun
from fieldwork.generation.providers.base import TransientError
from fieldwork.progress import Progress
from fieldwork.retries import RetryPolicy

logger = logging.getLogger(__name__)

T = TypeVar("T")

# with a server that only fails, from the first failure of a step on
PATIENCE_S = 600.0
LONGEST_WAIT_FOR_ROOM_S = 3600.0
TICK_S = 1.0


class Clock(NamedTuple):
    """Time, as tests replace it: seconds since 1970, and how to let them pass."""

    time_s: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep


def shown_clock(progress: Progress) -> Clock:
    """A clock that shows during each sleep when it ends."""

    def sleep(seconds: float) -> None:
        deadline = time.monotonic() + seconds
        end = datetime.now().astimezone() + timedelta(seconds=seconds)
        while (left_s := deadline - time.monotonic()) > 0:
            time.sleep(min(left_s, TICK_S))
            progress.tick(f"next check of the batches at {end:%H:%M:%S} (models.*.batch.poll_s)")

    return Clock(sleep=sleep)


class Failures:
    """Failures of one step that may pass: logged, waited after, and counted until they are too many."""

    def __init__(self, step_name: str, endpoint: str, attempts: int, clock: Clock) -> None:
        self._step_name, self._endpoint, self._clock = step_name, endpoint, clock
        self._retries = RetryPolicy(attempts, jitter=random.Random(0))
        self._n, self._first_time_s = 0, 0.0

    def wait_after(self, error: TransientError) -> None:
        """Wait until the step may be tried again.

        Raises:
            StudyError: it failed as often, or for as long, as it may.
        """
        time_s = self._clock.time_s()
        self._first_time_s = self._first_time_s if self._n else time_s
        self._n += 1
        wait = self._retries.wait_s(self._n, error.retry_after_s)
        is_too_late = time_s + wait > self._first_time_s + PATIENCE_S
        if is_too_late or not self._retries.has_attempts(self._n):
            raise StudyError(
                f"{self._endpoint}: {self._step_name} failed {self._n} times, at last with: {error}. "
                f"Submitted batches are not lost. Check that the server is up and that models.*.base_url "
                f"names it, and run again."
            ) from error
        logger.warning(
            "%s failed: %s; next try in %.0f s (%d of %d)",
            self._step_name,
            error,
            wait,
            self._n + 1,
            self._retries.attempts,
        )
        self._clock.sleep(wait)


class Patience:
    """Tries steps again whose failure may pass."""

    def __init__(self, endpoint: str, attempts: int, clock: Clock) -> None:
        self._endpoint, self._attempts, self._clock = endpoint, attempts, clock

    def failures(self, step_name: str) -> Failures:
        """A new count of the failures of one step."""
        return Failures(step_name, self._endpoint, self._attempts, self._clock)

    def run(self, step: Callable[[], T], step_name: str) -> T:
        """Take a step, again and again until it succeeds, and return its result.

        Raises:
            StudyError: it failed as often, or for as long, as it may.
        """
        failures = self.failures(step_name)
        while True:
            try:
                return step()
            except TransientError as error:
                failures.wait_after(error)


class Room:
    """Whether the provider accepts another batch.

    Attributes:
        reason: why it took none, the last time.
    """

    def __init__(self, limits: BatchLimits, poll_s: float) -> None:
        self._limits, self._poll_s = limits, poll_s
        self._not_before = 0.0
        self._refusals = 0
        self.reason = ""

    def refuse(self, reason: str, time_s: float) -> None:
        """A batch was turned away; several at once count as one."""
        if time_s < self._not_before:
            return
        wait = min(self._poll_s * 2**self._refusals, LONGEST_WAIT_FOR_ROOM_S)
        logger.warning(
            "the provider accepts no further batch now: %s; next try in %.0f s", reason, wait
        )
        self._refusals += 1
        self._not_before, self.reason = time_s + wait, reason

    def free(self) -> None:
        """A batch of this study has ended."""
        self._refusals, self._not_before = 0, 0.0

    def accepts(self, run: BatchRun, tokens_under_way: int, time_s: float) -> bool:
        """Whether a run may be submitted while batches of so many tokens are under way."""
        limit = self._limits.max_tokens
        fits = limit is None or not tokens_under_way or tokens_under_way + run.tokens <= limit
        return fits and time_s >= self._not_before

    def is_hopeless(self, tokens_under_way: int) -> bool:
        """Whether the provider refused every try although no other batch was under way."""
        return not tokens_under_way and self._refusals >= self._limits.attempts

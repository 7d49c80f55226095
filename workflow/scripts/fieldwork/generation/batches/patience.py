"""How long the settlement of batches waits: after failures that may pass, and for room for another."""

import logging
import math
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
from fieldwork.retries import FIRST_WAIT_S, RetryPolicy

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


class Patience:
    """Tries steps again whose failure may pass."""

    def __init__(self, endpoint: str, attempts: int, clock: Clock) -> None:
        self._endpoint, self._attempts, self._clock = endpoint, attempts, clock

    def run(self, step: Callable[[], T], step_name: str) -> T:
        """Take a step, again and again until it succeeds, and return its result.

        Raises:
            StudyError: it failed as often, or for as long, as it may.
        """
        retries = RetryPolicy(self._attempts, first_s=FIRST_WAIT_S, jitter=random.Random(0))
        n, deadline = 0, math.inf
        while True:
            try:
                return step()
            except TransientError as error:
                n += 1
                time_s = self._clock.time_s()
                deadline = min(deadline, time_s + PATIENCE_S)
                wait_s = retries.wait_s(n, error.retry_after_s)
                if time_s + wait_s > deadline or not retries.has_attempts(n):
                    raise StudyError(
                        f"{self._endpoint}: {step_name} failed {n} times, at last with: {error}. "
                        f"Submitted batches are not lost. Check that the server is up and that "
                        f"models.*.base_url names it, and run again."
                    ) from error
                logger.warning(
                    "%s failed: %s; next try in %.0f s (%d of %d)",
                    step_name,
                    error,
                    wait_s,
                    n + 1,
                    retries.attempts,
                )
                self._clock.sleep(wait_s)


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

"""Whether a server answers at all, and when a job gives up on a server that does not.

Until its first answer a job sends only a few requests, and the others wait for them. So a server that
fails for every request gets a few calls, each of which may be billed, and not those of a whole study.
After the first answer a failure concerns only its own request.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from typing import Literal

from fieldwork.errors import StudyError
from fieldwork.generation.providers.base import RejectedError, TransientError

# sent before the first answer; the job stops when all of them have ended without one
FIRST_REQUESTS = 5
# calls that may run into the time limit before the first answer
MOST_TIMEOUTS = 5
# how long a server may throttle every call: quotas are per minute
THROTTLED_S = 120.0
# how long calls may fail without an answer, after the first one
LONGEST_SILENCE_S = 1800.0

FailureKind = Literal["rejected", "throttled", "timeout", "unreadable", "failed"]

_WAYS_OUT: dict[FailureKind, str] = {
    "rejected": "change what the server objects to, in the model's entry or in the study",
    "throttled": "wait until the account may send calls again, or set models.*.requests_per_minute",
    "timeout": "check that the server is up, or raise models.*.timeout_s",
    "unreadable": "check models.*.base_url and models.*.provider",
    "failed": "check that the server is up and that models.*.base_url names it",
}


class Outage:
    """The failures of a job's calls since the last answer.

    Args:
        endpoint: names the server in messages.
        clock: seconds that only go up.

    Attributes:
        n_waiting: requests that wait until another request has an answer.
    """

    def __init__(self, endpoint: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._endpoint, self._clock = endpoint, clock
        self._first_answer = asyncio.Event()
        self._n_started = 0
        self._kinds: Counter[FailureKind] = Counter()
        self._causes: dict[FailureKind, str] = {}
        self._n_given_up = self._n_timeouts = self._n_calls = 0
        self._is_billed = False
        self.n_waiting = 0
        self._answered_at = self._throttled_at = 0.0

    @property
    def is_open(self) -> bool:
        """Whether no answer has arrived yet."""
        return not self._first_answer.is_set()

    async def admit(self) -> None:
        """Wait until a request may be sent: the first few at once, the others after an answer."""
        if self.is_open and self._n_started >= FIRST_REQUESTS:
            self.n_waiting += 1
            try:
                await self._first_answer.wait()
            finally:
                self.n_waiting -= 1
        self._n_started += 1

    def note_answer(self) -> None:
        """Note an answer."""
        self._first_answer.set()
        self._answered_at, self._n_calls = self._clock(), 0

    def note_failure(self, error: TransientError, *, is_unreadable: bool) -> None:
        """Note a call without an answer.

        Args:
            is_unreadable: a reply came that cannot be read.

        Raises:
            StudyError: no further call is worth its price.
        """
        kind = _kind(error, is_unreadable)
        if kind == "throttled" and not self._kinds[kind]:
            self._throttled_at = self._clock()
        self._count(kind, error)
        self._is_billed |= error.maybe_billed
        if not self.is_open:
            silence_s = self._clock() - self._answered_at
            if silence_s > LONGEST_SILENCE_S and self._n_calls >= MOST_TIMEOUTS:
                raise StudyError(self._silence(silence_s, str(error))) from error
            return
        self._n_timeouts += kind == "timeout"
        if self._n_timeouts >= MOST_TIMEOUTS:
            raise StudyError(self._sentence()) from error

    def note_end(self, error: TransientError | RejectedError) -> None:
        """Note a request that ends without an answer.

        Raises:
            StudyError: so did the first few, and no further call is worth its price.
        """
        if not self.is_open:
            return
        if isinstance(error, RejectedError):
            self._count("rejected", error)
        self._n_given_up += 1
        is_throttled = isinstance(error, TransientError) and error.is_throttled
        if is_throttled or self._n_given_up >= FIRST_REQUESTS:
            raise StudyError(self._sentence()) from error

    def may_try_again(self, error: TransientError, *, has_attempts: bool, waited_s: float) -> bool:
        """Whether a call may be sent again: it has attempts left, or is throttled but not for long."""
        if self.is_open and error.is_throttled:
            throttled_s = self._clock() - self._throttled_at
            return max(waited_s, throttled_s) < THROTTLED_S
        return has_attempts

    def _count(self, kind: FailureKind, error: Exception) -> None:
        self._n_calls += 1
        self._kinds[kind] += 1
        # messages of one kind may differ only in the ids of calls, so the first one stands for all
        self._causes.setdefault(kind, str(error))

    def _sentence(self) -> str:
        kind, n = self._kinds.most_common(1)[0]
        causes = f"{n} of {self._n_calls} calls" if n < self._n_calls else f"{n} calls"
        reason = ", because each call may be billed" if self._is_billed else ""
        return (
            f"{self._endpoint}: no request is answered ({causes}: {self._causes[kind]}), so the run "
            f"stops{reason}; {_WAYS_OUT[kind]}, and run again: answers of earlier runs are kept"
        )

    def _silence(self, silence_s: float, cause: str) -> str:
        return (
            f"{self._endpoint}: no answer arrived for {silence_s / 60:.0f} minutes, and {self._n_calls} "
            f"calls failed (the last one: {cause}), so the run stops; every answer so far is kept: run "
            f"again when the server works, and only the missing answers are asked for"
        )


def _kind(error: TransientError, is_unreadable: bool) -> FailureKind:
    if is_unreadable:
        return "unreadable"
    if error.is_throttled:
        return "throttled"
    return "timeout" if error.is_timeout else "failed"

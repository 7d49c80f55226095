"""Whether a server answers anybody, and when one that does not is left.

Until the first answer of a job only a few requests are let out, and the others wait for what becomes of
them: a server that is wrong for everybody is met by a few calls, each of which may be billed, and not by
every request of a study. Once an answer has come, failures among answers are the requests' own.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from typing import Literal

from fieldwork.errors import StudyError
from fieldwork.generation.providers.base import RejectedError, TransientError

# let out before the first answer; when all of them have ended without one, the job stops
FIRST_REQUESTS = 5
# calls that may run into the time limit before the first answer
MOST_TIMEOUTS = 5
# for which a server that throttles everybody is waited for: quotas are a minute's
THROTTLED_S = 120.0
# without any answer after the first one, while calls fail
LONGEST_SILENCE_S = 1800.0

Kind = Literal["rejected", "throttled", "timeout", "unreadable", "failed"]

_WAYS_OUT: dict[Kind, str] = {
    "rejected": "change what the server objects to, in the model's entry or in the study",
    "throttled": "wait until the account's limit is free again, or set models.*.requests_per_minute",
    "timeout": "check that the server is up, or raise models.*.timeout_s",
    "unreadable": "check models.*.base_url and models.*.provider",
    "failed": "check that the server is up and that models.*.base_url names it",
}


class Outage:
    """What a job knows of its server since the last answer.

    Args:
        endpoint: names the server in what the user reads.
        clock: seconds that only go up.
    """

    def __init__(self, endpoint: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._endpoint, self._clock = endpoint, clock
        self._first_answer = asyncio.Event()
        self._n_admitted = self._n_waiting = 0
        self._kinds: Counter[Kind] = Counter()
        self._causes: dict[Kind, str] = {}
        self._n_given_up = self._n_timeouts = self._n_calls = 0
        self._is_billed = False
        self._answered_at = self._throttled_at = 0.0

    @property
    def is_open(self) -> bool:
        """Whether no answer has come yet."""
        return not self._first_answer.is_set()

    @property
    def n_waiting(self) -> int:
        """Requests that wait for the first answer to another one."""
        return self._n_waiting

    async def admit(self) -> None:
        """Wait for a request's turn: the first few have theirs at once, the others after an answer."""
        if self.is_open and self._n_admitted >= FIRST_REQUESTS:
            self._n_waiting += 1
            try:
                await self._first_answer.wait()
            finally:
                self._n_waiting -= 1
        self._n_admitted += 1

    def note_answer(self) -> None:
        """An answer has come."""
        self._first_answer.set()
        self._answered_at, self._n_calls = self._clock(), 0

    def note_failure(self, error: TransientError, *, unreadable: bool) -> None:
        """A call has brought no answer.

        Args:
            unreadable: it brought a reply.

        Raises:
            StudyError: no further call is worth its price.
        """
        kind = _kind(error, unreadable)
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
        """A request ends without an answer.

        Raises:
            StudyError: so did the others, and no further one is worth its price.
        """
        if not self.is_open:
            return
        if isinstance(error, RejectedError):
            self._count("rejected", error)
        self._n_given_up += 1
        is_throttled = isinstance(error, TransientError) and error.throttled
        if is_throttled or self._n_given_up >= FIRST_REQUESTS:
            raise StudyError(self._sentence()) from error

    def may_try_again(self, error: TransientError, *, has_attempts: bool, waited_s: float) -> bool:
        """Whether a call is sent again: it has attempts left, or is throttled and has not waited long."""
        if self.is_open and error.throttled:
            held_s = self._clock() - self._throttled_at
            return max(waited_s, held_s) < THROTTLED_S
        return has_attempts

    def _count(self, kind: Kind, error: Exception) -> None:
        self._n_calls += 1
        self._kinds[kind] += 1
        # messages of one kind may differ in the ids of calls: the first one stands for all
        self._causes.setdefault(kind, str(error))

    def _sentence(self) -> str:
        kind, n = self._kinds.most_common(1)[0]
        causes = f"{n} of {self._n_calls} calls" if n < self._n_calls else f"{n} calls"
        billed = ", as each call may be billed" if self._is_billed else ""
        return (
            f"{self._endpoint}: no request is answered ({causes}: {self._causes[kind]}), so nothing "
            f"more is asked{billed}; {_WAYS_OUT[kind]}, and run again: answers of earlier runs are kept"
        )

    def _silence(self, silence_s: float, cause: str) -> str:
        return (
            f"{self._endpoint}: no answer has come for {silence_s / 60:.0f} minutes, and {self._n_calls} "
            f"calls have failed since (the last: {cause}), so nothing more is asked; every answer that "
            f"arrived is kept: run again when the server is well, and only the missing ones are asked"
        )


def _kind(error: TransientError, unreadable: bool) -> Kind:
    if unreadable:
        return "unreadable"
    if error.throttled:
        return "throttled"
    return "timeout" if error.is_timeout else "failed"

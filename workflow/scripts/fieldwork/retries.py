"""When a failed request is worth another try, and how long to wait before it.

Owns what an HTTP status says about another try, the reading of Retry-After, and the waits between tries.
Whoever sends requests has a loop of its own, because only it knows what giving up means. The loop takes
its numbers from here.
"""

import math
import random
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import NamedTuple

TRANSIENT_STATUSES = frozenset({408, 409, 425, 429, 498, 499, *range(500, 600)} - {501, 505})
"""Statuses after which another try may succeed."""

THROTTLED_STATUSES = frozenset({429, 498, 503, 529})
"""Statuses of a server that gets too many requests: all requests to it should slow down.

498 is Groq's, of a flex tier without room.
"""

UNPROCESSED_STATUSES = frozenset({425, 429, 498})
"""Statuses of a server that turned the request away before it did anything."""

GATEWAY_TIMEOUT_STATUSES = frozenset({504, 524})
"""Statuses of a gateway that gave up on a server, which may have gone on to answer."""

FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 60.0
LONGEST_ASKED_WAIT_S = 600.0
"""A server that asks for a longer wait has a daily limit, and no run should sleep for hours."""

# doubled more often, a number of seconds would overflow
_MOST_DOUBLINGS = 64


class RetryPolicy(NamedTuple):
    """How often a request is tried, and how long to wait in between.

    Attributes:
        attempts: tries in all.
        first_s: longest wait after the first failure, in seconds; each further failure doubles it.
        longest_asked_s: no longer wait that the server asks for is granted.
        jitter: draws the part of each wait that is waited, evenly from 0 to 1, so that requests which
            failed together are not sent together again; None waits in full.
    """

    attempts: int
    first_s: float = FIRST_WAIT_S
    longest_asked_s: float = LONGEST_ASKED_WAIT_S
    jitter: random.Random | None = None

    def has_attempts(self, n_failures: int) -> bool:
        """Whether a request that failed so often may be tried again."""
        return n_failures < self.attempts

    def is_too_long(self, wait_s: float) -> bool:
        """Whether a wait that the server asks for is longer than any that is granted."""
        return wait_s > self.longest_asked_s

    def own_wait_s(self, n_failures: int) -> float:
        """Seconds to wait after the n-th failure in a row, counted from 1."""
        doublings = min(n_failures - 1, _MOST_DOUBLINGS)
        part = 1.0 if self.jitter is None else self.jitter.random()
        return min(self.first_s * 2.0**doublings, LONGEST_WAIT_S) * part

    def wait_s(self, n_failures: int, asked_s: float | None) -> float:
        """Seconds to wait after the n-th failure: what the server asks for, else a wait of our own."""
        return self.own_wait_s(n_failures) if asked_s is None else asked_s


def retry_after_s(headers: Mapping[str, str], replied_at: datetime | None = None) -> float | None:
    """Seconds that a server asks to wait; None where it asks for nothing that can be read.

    `retry-after-ms` (OpenAI, Azure) counts before Retry-After, which holds seconds or an HTTP date
    (RFC 9110, 10.2.3). A date counts from the reply's own `Date`, as the clock here may be wrong.

    Args:
        headers: of the reply, names in lower case.
        replied_at: when the reply came, with its time zone, where it does not say; None for this moment.
    """
    milliseconds = _finite(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return max(milliseconds / 1000, 0.0)
    seconds = _finite(headers.get("retry-after", ""))
    if seconds is None:
        date = _date(headers.get("retry-after", ""))
        if date is None:
            return None
        sent_at = _date(headers.get("date", "")) or replied_at or datetime.now(UTC)
        seconds = (date - sent_at).total_seconds()
    return max(seconds, 0.0)


def _date(text: str) -> datetime | None:
    try:
        return parsedate_to_datetime(text).replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def _finite(number: str) -> float | None:
    try:
        value = float(number)
    except ValueError:
        return None
    return value if math.isfinite(value) else None

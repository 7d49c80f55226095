"""How fast calls may be sent: how many at once, and how many requests and tokens a minute.

How many calls run at once is found as TCP finds its window (RFC 5681). The number starts at 4 and doubles
with every round of successes until the server first throttles a call. From then on it grows by one a
round, and a throttled call halves it, at most once a round. The limits of a minute come from the config
or from the `x-ratelimit-*` headers of replies. Calls that wait are sent in the order in which they came,
as soon as there is room; nothing polls.
"""

import asyncio
import math
import re
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from functools import lru_cache
from typing import NamedTuple

from fieldwork.generation.providers.base import TransientError
from fieldwork.retries import LONGEST_ASKED_WAIT_S

FIRST_WINDOW = 4
# a configured limit saves up one second's calls while nothing is ready to be sent
BURST_S = 1.0
# headers may be misread, so no call waits longer because of them: the server can throttle it itself
LONGEST_LEARNT_WAIT_S = 60.0
# reading headers takes longer than all the rest, so between two readings the levels are estimated
LEARN_EVERY_S = 0.005
# shorter waits are rounding
NO_WAIT_S = 1e-6

_UNIT_S = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6}
_UNITS = re.compile(r"(\d+(?:\.\d+)?)(ms|us|µs|[dhms])")
_DURATION = re.compile(f"(?:{_UNITS.pattern})+")


class _WaitingCall(NamedTuple):
    tokens: int
    admission: "asyncio.Future[None]"


class Hold(NamedTuple):
    """Why the next call may not be sent yet.

    Attributes:
        wait_s: seconds to wait; infinite until a call ends.
        reason: for people, after "because"; None where only the configured concurrency is in the way.
    """

    wait_s: float
    reason: str | None


class Limits:
    """Admits calls. Each `acquire` that returned must be followed by one `release`.

    Args:
        ceiling: most calls at once.
        requests_per_minute: None takes the limit from the server's headers, if they hold one.
        tokens_per_minute: None as above.
        answer_tokens: of the longest answer. They count against a limit of tokens that is given, as the
            account's does. One that is learnt may be of input alone, and the server's replies correct it.
        clock: seconds that only go up.
        sleep: waits so many of the clock's seconds.

    Attributes:
        window: calls that may be under way at once now.
    """

    def __init__(
        self,
        *,
        ceiling: int,
        requests_per_minute: float | None,
        tokens_per_minute: float | None,
        answer_tokens: int = 0,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._ceiling = ceiling
        self._clock, self._sleep = clock, sleep
        self._requests = _Bucket("requests", requests_per_minute, clock())
        self._tokens = _Bucket("tokens", tokens_per_minute, clock())
        self._answer_tokens = answer_tokens if tokens_per_minute is not None else 0
        self.window = min(FIRST_WINDOW, self._ceiling)
        self._slow_start = True
        # a window that was never full since it last changed has proved nothing
        self._was_full = False
        self._successes = 0
        # calls under way when the window was last halved: their ends say nothing about the new one
        self._stale = 0
        self._pause_until = 0.0
        self._learnt_at = -math.inf
        self._in_flight = self._n_ended = 0
        self._waiters: deque[_WaitingCall] = deque()
        self._alarm: asyncio.Task[None] | None = None
        self._alarm_due = math.inf

    @property
    def hold(self) -> Hold | None:
        """What keeps the next call waiting; None where nothing does but the ceiling."""
        waiter = next((waiter for waiter in self._waiters if not waiter.admission.done()), None)
        hold = self._obstacle(waiter.tokens) if waiter else None
        return hold if hold and hold.reason else None

    async def acquire(self, tokens: int) -> None:
        """Wait until a call may be sent whose prompt has about `tokens` tokens.

        A call that is cancelled while it waits takes nothing from the limits.
        """
        tokens += self._answer_tokens
        if not self._waiters and self._in_flight < self.window and self._is_open(tokens):
            self._begin(tokens)
            return
        waiter = _WaitingCall(tokens, asyncio.get_running_loop().create_future())
        self._waiters.append(waiter)
        self._admit_waiting()
        try:
            await waiter.admission
        except asyncio.CancelledError:
            if (
                not waiter.admission.cancelled()
            ):  # admitted and cancelled in the same turn of the loop
                self._take_back(tokens)
            self._admit_waiting()
            raise

    def release(self, *, error: TransientError | None, headers: Mapping[str, str]) -> None:
        """End a call.

        Args:
            error: why it failed; None where the server replied, even if it rejected the call. After
                throttled calls and timeouts all calls slow down.
            headers: of the reply, names in lower case.
        """
        if self._in_flight == 0:
            raise ValueError("release without acquire")
        self._in_flight -= 1
        self._n_ended += 1
        if headers:
            self._learn(headers)
        is_fresh = self._stale == 0
        self._stale -= not is_fresh
        if error is None:
            if is_fresh:
                self._grow()
        elif error.is_throttled or error.is_timeout:
            if is_fresh:
                self._shrink()
            if error.is_throttled:
                self._hold(error)
        if self._waiters:
            self._admit_waiting()

    def _grow(self) -> None:
        self._successes += 1
        if self._was_full and self._successes >= (1 if self._slow_start else self.window):
            self._successes, self._was_full = 0, False
            self.window = min(self.window + 1, self._ceiling)

    def _shrink(self) -> None:
        self.window = max(1, self.window // 2)
        self._slow_start = self._was_full = False
        self._successes, self._stale = 0, self._in_flight

    def _hold(self, error: TransientError) -> None:
        wait_s = error.retry_after_s
        if wait_s is not None and wait_s > 0:
            until = self._clock() + min(wait_s, LONGEST_ASKED_WAIT_S)
            self._pause_until = max(self._pause_until, until)

    def _learn(self, headers: Mapping[str, str]) -> None:
        if self._requests.is_configured and self._tokens.is_configured:
            return
        time_s = self._clock()
        if time_s - self._learnt_at >= LEARN_EVERY_S:
            self._learnt_at = time_s
            self._requests.learn(headers, time_s, self._in_flight, self._n_ended)
            self._tokens.learn(headers, time_s, self._in_flight, self._n_ended)

    def _is_open(self, tokens: int) -> bool:
        """Whether a call may be sent without a wait."""
        if not self._pause_until and not self._requests.is_set and not self._tokens.is_set:
            return True
        return self._obstacle(tokens).wait_s <= NO_WAIT_S

    def _obstacle(self, tokens: int) -> Hold:
        """What keeps a call of `tokens` tokens from being sent next."""
        time_s = self._clock()
        pause_s = self._pause_until - time_s
        if pause_s > NO_WAIT_S:
            return Hold(pause_s, "the server asked for it")
        self._pause_until = 0.0
        if self._in_flight >= self.window:
            is_narrow = not self._slow_start and self.window < self._ceiling
            calls = "1 call" if self.window == 1 else f"{self.window} calls"
            reason = f"the server takes only {calls} at once" if is_narrow else None
            return Hold(math.inf, reason)
        requests_s, tokens_s = self._requests.wait_s(1, time_s), self._tokens.wait_s(tokens, time_s)
        kind = "requests" if requests_s > tokens_s else "tokens"
        return Hold(max(requests_s, tokens_s), f"the limit of {kind} per minute is reached")

    def _begin(self, tokens: int) -> None:
        self._in_flight += 1
        self._was_full = self._was_full or self._in_flight >= self.window
        self._requests.take(1)
        self._tokens.take(tokens)

    def _take_back(self, tokens: int) -> None:
        self._in_flight -= 1
        self._requests.put_back(1)
        self._tokens.put_back(tokens)

    def _admit_waiting(self) -> None:
        """Admit the calls that may be sent, in order, and set the alarm for the next one."""
        while self._waiters:
            waiter = self._waiters[0]
            if not waiter.admission.done():
                wait_s = self._obstacle(waiter.tokens).wait_s
                if wait_s > NO_WAIT_S:
                    break
                self._begin(waiter.tokens)
                waiter.admission.set_result(None)
            self._waiters.popleft()
        else:
            wait_s = math.inf
        self._set_alarm(wait_s)

    def _set_alarm(self, wait_s: float) -> None:
        if wait_s == math.inf:
            self._stop_alarm()
            return
        due = self._clock() + wait_s
        if self._alarm is None or due < self._alarm_due - NO_WAIT_S:
            self._stop_alarm()
            self._alarm, self._alarm_due = asyncio.create_task(self._ring(wait_s)), due

    def _stop_alarm(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    async def _ring(self, wait_s: float) -> None:
        await self._sleep(wait_s)
        self._alarm = None
        self._admit_waiting()


class _Bucket:
    """An allowance that refills evenly (a token bucket); unlimited until a limit is known."""

    def __init__(self, kind: str, per_minute: float | None, time_s: float) -> None:
        self._names = tuple(
            f"x-ratelimit-{field}-{kind}" for field in ("limit", "remaining", "reset")
        )
        self._capacity = self._level = self._per_s = math.inf
        self._filled_at = time_s
        # moving average of the amount that a call takes
        self._mean_amount = 1.0
        # number of the call that ends the round, and the least that the round's replies said was left
        self._round_end, self._round_minimum = 0, math.inf
        self.is_configured = self.is_set = per_minute is not None
        if per_minute is not None:
            # the burst is part of it, so no minute holds more
            self._capacity = self._level = max(1.0, per_minute * BURST_S / 60)
            self._per_s = (per_minute + 1.0 - self._capacity) / 60

    def wait_s(self, amount: float, time_s: float) -> float:
        """Seconds until `amount` may be taken. More than the capacity waits for a full bucket."""
        if not self.is_set:
            return 0.0
        self._fill(time_s)
        return max(0.0, min(amount, self._capacity) - self._level) / self._per_s

    def take(self, amount: float) -> None:
        """Take `amount`. If it is more than there is, the next calls wait longer."""
        self._level -= amount
        self._mean_amount += (amount - self._mean_amount) / 16

    def put_back(self, amount: float) -> None:
        """Undo a `take`."""
        self._level = min(self._level + amount, self._capacity)

    def learn(
        self, headers: Mapping[str, str], time_s: float, n_in_flight: int, n_ended: int
    ) -> None:
        """Follow the server's own bucket: what is left in it, and how long until it is full.

        Its limit may be one for a minute or for a day. Only the refill says which.
        """
        limit_name, remaining_name, reset_name = self._names
        if self.is_configured or limit_name not in headers:
            return
        limit = _number(headers[limit_name])
        if limit is None or limit <= 0:
            return
        self._fill(time_s)
        remaining = _number(headers.get(remaining_name, ""))
        full_in_s = duration_s(headers.get(reset_name, ""))
        if limit != self._capacity:
            self._capacity, self._per_s = limit, limit / 60
        if remaining is not None and remaining < limit and full_in_s:
            self._per_s = (limit - remaining) / full_in_s
        self._per_s = max(self._per_s, self._mean_amount / LONGEST_LEARNT_WAIT_S)
        self._correct(limit if remaining is None else min(remaining, limit), n_in_flight, n_ended)
        self.is_set = True

    def _correct(self, remaining: float, n_in_flight: int, n_ended: int) -> None:
        """Set the level to what the server says is left.

        The server may or may not have counted the calls under way, so there is a lower and an upper
        bound. An old reply tells of a fuller bucket. Therefore the level rises only to the least that
        the replies of a round allow.
        """
        lower_bound = max(0.0, remaining - n_in_flight * self._mean_amount)
        self._round_minimum = min(self._round_minimum, lower_bound)
        if n_ended >= self._round_end:
            level = self._level if self.is_set else 0.0
            self._level = max(level, self._round_minimum)
            self._round_minimum, self._round_end = math.inf, n_ended + n_in_flight
        self._level = min(self._level, remaining)

    def _fill(self, time_s: float) -> None:
        if self.is_set:
            gain = (time_s - self._filled_at) * self._per_s
            self._level = min(self._capacity, self._level + gain)
        self._filled_at = time_s


@lru_cache(maxsize=4096)
def duration_s(text: str) -> float | None:
    """Seconds of a duration as headers write it (`6m0s`, `120ms`, `1.5`); None for anything else."""
    text = text.strip()
    if not _DURATION.fullmatch(text):
        return _number(text)
    return math.fsum(float(number) * _UNIT_S[unit] for number, unit in _UNITS.findall(text))


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None

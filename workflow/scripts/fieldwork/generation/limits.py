"""How fast calls may be sent: how many at once, and how many requests and tokens a minute.

The number of calls at once is found out, as TCP finds its window (RFC 5681): it starts at 4 and doubles
with every round of successes until the server first says that it is asked too much, and from then on
grows by one a round and is halved by a refusal, at most once a round. What a minute may hold is
configured or learnt from the `x-ratelimit-*` headers of replies. Who waits is let in first come, first
served, one at a time as there is room; nothing polls.
"""

import asyncio
import math
import re
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from functools import lru_cache
from typing import NamedTuple

from fieldwork.errors import StudyError
from fieldwork.generation.providers.base import TransientError
from fieldwork.retries import LONGEST_ASKED_WAIT_S

FIRST_WINDOW = 4
# a configured budget saves up a second's worth for the moments when nothing was ready to be sent
BURST_S = 1.0
# no call waits longer for what headers were understood to say: the server itself can refuse it
LONGEST_LEARNT_WAIT_S = 60.0
# between two readings of headers the levels are reckoned: reading takes longer than all the rest
LEARN_EVERY_S = 0.005
# shorter waits are rounding
NO_WAIT_S = 1e-6

_UNIT_S = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6}
_UNITS = re.compile(r"(\d+(?:\.\d+)?)(ms|us|µs|[dhms])")
_DURATION = re.compile(f"(?:{_UNITS.pattern})+")


class _Waiter(NamedTuple):
    tokens: int
    admitted: "asyncio.Future[None]"


class Hold(NamedTuple):
    """Why the next call may not go yet.

    Attributes:
        wait_s: infinite where only a call's end can help.
        reason: for people, after "because"; None where nothing but the ceiling is in the way.
    """

    wait_s: float
    reason: str | None


class Limits:
    """Lets calls in. Each `acquire` that returned is to be followed by one `release`.

    Args:
        ceiling: most calls at once.
        requests_per_minute: None: as the server's headers say, if they do.
        tokens_per_minute: None: as above. Input and the longest answer count, as providers count.
        clock: seconds that only go up.
        sleep: waits so many of them.

    Raises:
        StudyError: a limit is no positive number.
    """

    def __init__(
        self,
        *,
        ceiling: int,
        requests_per_minute: float | None,
        tokens_per_minute: float | None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._ceiling = int(_positive("concurrency", ceiling))
        self._clock, self._sleep = clock, sleep
        self._requests = _bucket("requests", requests_per_minute, clock())
        self._tokens = _bucket("tokens", tokens_per_minute, clock())
        self._window = min(FIRST_WINDOW, self._ceiling)
        self._slow_start = True
        # whether the window was ever in the way since it last changed: else it has proved nothing
        self._was_full = False
        self._successes = 0
        # ends of calls that are still counted to the round before the window was last halved
        self._stale = 0
        self._held_until = 0.0
        self._learnt_at = -math.inf
        self._in_flight = self._n_ended = 0
        self._waiters: deque[_Waiter] = deque()
        self._alarm: asyncio.Task[None] | None = None
        self._alarm_due = math.inf

    @property
    def window(self) -> int:
        """Calls that may now be under way at once."""
        return self._window

    @property
    def hold(self) -> Hold | None:
        """What holds calls up; None where nothing does but the ceiling."""
        waiter = next((waiter for waiter in self._waiters if not waiter.admitted.done()), None)
        hold = self._obstacle(waiter.tokens) if waiter else None
        return hold if hold and hold.reason else None

    async def acquire(self, tokens: int) -> None:
        """Wait until a call of about `tokens` tokens may be sent.

        One that is cancelled while it waits has taken nothing.
        """
        if not self._waiters and self._in_flight < self._window and self._is_open(tokens):
            self._begin(tokens)
            return
        waiter = _Waiter(tokens, asyncio.get_running_loop().create_future())
        self._waiters.append(waiter)
        self._let_in()
        try:
            await waiter.admitted
        except asyncio.CancelledError:
            if not waiter.admitted.cancelled():  # let in and cancelled in the same turn of the loop
                self._take_back(tokens)
            self._let_in()
            raise

    def release(self, *, error: TransientError | None, headers: Mapping[str, str]) -> None:
        """A call is over.

        Args:
            error: why it failed, None where the server answered, be it with a refusal of that one
                call. Throttled ones slow everybody down, and so do those that were raised for a
                `TimeoutError`.
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
        elif error.throttled or error.is_timeout:
            if is_fresh:
                self._shrink()
            if error.throttled:
                self._hold(error)
        if self._waiters:
            self._let_in()

    def _grow(self) -> None:
        self._successes += 1
        if self._was_full and self._successes >= (1 if self._slow_start else self._window):
            self._successes, self._was_full = 0, False
            self._window = min(self._window + 1, self._ceiling)

    def _shrink(self) -> None:
        self._window = max(1, self._window // 2)
        self._slow_start = self._was_full = False
        self._successes, self._stale = 0, self._in_flight

    def _hold(self, error: TransientError) -> None:
        wait_s = error.retry_after_s
        if wait_s is not None and wait_s > 0:
            until = self._clock() + min(wait_s, LONGEST_ASKED_WAIT_S)
            self._held_until = max(self._held_until, until)

    def _learn(self, headers: Mapping[str, str]) -> None:
        if self._requests.is_configured and self._tokens.is_configured:
            return
        now = self._clock()
        if now - self._learnt_at >= LEARN_EVERY_S:
            self._learnt_at = now
            self._requests.learn(headers, now, self._in_flight, self._n_ended)
            self._tokens.learn(headers, now, self._in_flight, self._n_ended)

    def _is_open(self, tokens: int) -> bool:
        """Whether time stands in no one's way."""
        if not self._held_until and not self._requests.is_set and not self._tokens.is_set:
            return True
        return self._obstacle(tokens).wait_s <= NO_WAIT_S

    def _obstacle(self, tokens: int) -> Hold:
        """What keeps a call of `tokens` from being the next to go."""
        now = self._clock()
        held = self._held_until - now
        if held > NO_WAIT_S:
            return Hold(held, "the server asked to")
        self._held_until = 0.0
        if self._in_flight >= self._window:
            is_narrow = not self._slow_start and self._window < self._ceiling
            calls = "1 call" if self._window == 1 else f"{self._window} calls"
            reason = f"the server bears {calls} at once" if is_narrow else None
            return Hold(math.inf, reason)
        requests_s, tokens_s = self._requests.wait_s(1, now), self._tokens.wait_s(tokens, now)
        kind = "requests" if requests_s > tokens_s else "tokens"
        return Hold(max(requests_s, tokens_s), f"the {kind} of this minute are used up")

    def _begin(self, tokens: int) -> None:
        self._in_flight += 1
        self._was_full = self._was_full or self._in_flight >= self._window
        self._requests.take(1)
        self._tokens.take(tokens)

    def _take_back(self, tokens: int) -> None:
        self._in_flight -= 1
        self._requests.put_back(1)
        self._tokens.put_back(tokens)

    def _let_in(self) -> None:
        """Let in who may go, in order, and see to it that the next is looked at when it is time."""
        while self._waiters:
            waiter = self._waiters[0]
            if not waiter.admitted.done():
                wait_s = self._obstacle(waiter.tokens).wait_s
                if wait_s > NO_WAIT_S:
                    break
                self._begin(waiter.tokens)
                waiter.admitted.set_result(None)
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
        self._let_in()


class _Bucket:
    """An allowance that refills evenly; without limit until one is configured or learnt."""

    def __init__(self, kind: str, now: float) -> None:
        self._names = tuple(
            f"x-ratelimit-{fact}-{kind}" for fact in ("limit", "remaining", "reset")
        )
        self._capacity = self._level = self._per_s = math.inf
        self._filled_at = now
        # moving average of what a call takes
        self._usual = 1.0
        # the end of a call that ends the round, and the least that its replies said was left
        self._round_end, self._round_least = 0, math.inf
        self.is_configured = self.is_set = False

    def configure(self, per_minute: float) -> None:
        """Allow `per_minute`; the burst is part of it, so that no minute of calls holds more."""
        self._capacity = self._level = max(1.0, per_minute * BURST_S / 60)
        self._per_s = (per_minute + 1.0 - self._capacity) / 60
        self.is_configured = self.is_set = True

    def wait_s(self, amount: float, now: float) -> float:
        """Seconds until `amount` may be taken: what is over the capacity waits for a full bucket."""
        if not self.is_set:
            return 0.0
        self._fill(now)
        return max(0.0, min(amount, self._capacity) - self._level) / self._per_s

    def take(self, amount: float) -> None:
        """Take `amount`; more than there is makes the next ones wait the longer."""
        self._level -= amount
        self._usual += (amount - self._usual) / 16

    def put_back(self, amount: float) -> None:
        """Undo a `take`."""
        self._level = min(self._level + amount, self._capacity)

    def learn(self, headers: Mapping[str, str], now: float, n_in_flight: int, n_ended: int) -> None:
        """Follow the server's own bucket: what is left in it, and how long until it is full.

        It may be one for a minute or for a day: only its refill tells.
        """
        limit_name, remaining_name, reset_name = self._names
        if self.is_configured or limit_name not in headers:
            return
        limit = _number(headers[limit_name])
        if limit is None or limit <= 0:
            return
        self._fill(now)
        remaining = _number(headers.get(remaining_name, ""))
        full_in_s = duration_s(headers.get(reset_name, ""))
        if limit != self._capacity:
            self._capacity, self._per_s = limit, limit / 60
        if remaining is not None and remaining < limit and full_in_s:
            self._per_s = (limit - remaining) / full_in_s
        self._per_s = max(self._per_s, self._usual / LONGEST_LEARNT_WAIT_S)
        self._correct(limit if remaining is None else min(remaining, limit), n_in_flight, n_ended)
        self.is_set = True

    def _correct(self, remaining: float, n_in_flight: int, n_ended: int) -> None:
        """Bring the level to what the server says is left.

        It may or may not have counted the calls under way, so there is a least and a most. A reply
        that was long under way tells of a fuller bucket: only what all replies of a round agree on
        raises the level.
        """
        least = max(0.0, remaining - n_in_flight * self._usual)
        self._round_least = min(self._round_least, least)
        if n_ended >= self._round_end:
            known = self._level if self.is_set else 0.0
            self._level = max(known, self._round_least)
            self._round_least, self._round_end = math.inf, n_ended + n_in_flight
        self._level = min(self._level, remaining)

    def _fill(self, now: float) -> None:
        if self.is_set:
            gain = (now - self._filled_at) * self._per_s
            self._level = min(self._capacity, self._level + gain)
        self._filled_at = now


def _bucket(kind: str, per_minute: float | None, now: float) -> _Bucket:
    bucket = _Bucket(kind, now)
    if per_minute is not None:
        bucket.configure(_positive(f"{kind}_per_minute", per_minute))
    return bucket


def _positive(setting: str, value: float) -> float:
    if not (math.isfinite(value) and value > 0):
        raise StudyError(f"{setting}: {value} is no limit; give a number above zero")
    return value


@lru_cache(maxsize=4096)
def duration_s(text: str) -> float | None:
    """Seconds of a duration as headers write it (`6m0s`, `120ms`, `1.5`), None where it is none."""
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

"""Limits: what is let in and when, told by a clock that only moves when everyone waits."""

import asyncio
import math
import random
import selectors
from collections.abc import Callable, Coroutine, Mapping
from functools import wraps
from typing import Any

import pytest

from fieldwork.generation.limits import Limits, duration_s
from fieldwork.generation.providers.base import TransientError
from fieldwork.retries import LONGEST_ASKED_WAIT_S

Sleep = Callable[[float], Coroutine[Any, Any, None]]


class _NoWait(selectors.DefaultSelector):
    """Moves the loop's clock instead of waiting."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is None:
            raise AssertionError("everyone waits for something that never comes")
        self.now += timeout
        return super().select(0)


class VirtualLoop(asyncio.SelectorEventLoop):
    """Sleeping takes no time; `time()` says how long it would have taken."""

    def __init__(self) -> None:
        self.idle = _NoWait()
        super().__init__(self.idle)

    def time(self) -> float:
        return self.idle.now


def play(story: Coroutine[Any, Any, Any]) -> Any:
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(story)


def virtual(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """A test whose sleeps take no time."""

    @wraps(test)
    def run(**arguments: Any) -> None:
        play(test(**arguments))

    return run


def now() -> float:
    return asyncio.get_running_loop().time()


def made(ceiling: int = 100, requests: float | None = None, **settings: Any) -> Limits:
    minutes = {"requests_per_minute": requests, "tokens_per_minute": None, **settings}
    return Limits(ceiling=ceiling, clock=now, **minutes)


def throttled_error(retry_after_s: float | None = None) -> TransientError:
    return TransientError("429", retry_after_s, is_throttled=True)


def timed_out() -> TransientError:
    """As a provider raises it, with the timeout hidden from tracebacks."""
    error = TransientError("no reply within 120 s")
    error.__context__, error.__suppress_context__ = TimeoutError(), True
    return error


async def round_of(
    limits: Limits, error: TransientError | None = None, n_failing: int | None = None
) -> None:
    """Fill the window, then end all of it; the first `n_failing` of the calls (all) with `error`."""
    n_calls = limits.window
    for _ in range(n_calls):
        await limits.acquire(1)
    failing = n_calls if n_failing is None else n_failing
    for number in range(n_calls):
        limits.release(error=error if number < failing else None, headers={})


async def settle_down() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def told(kind: str, limit: object, remaining: object, reset: str) -> dict[str, str]:
    said = {"limit": str(limit), "remaining": str(remaining), "reset": reset}
    return {f"x-ratelimit-{name}-{kind}": text for name, text in said.items()}


# six calls of 1,000 tokens in a minute; a limit that the server states counts prompts alone
@pytest.mark.parametrize(
    ("configured", "headers", "low", "high"),
    [(6000, {}, 57, 63), (None, told("tokens", 6000, 5900, "1s"), 0, 1)],
)
@virtual
async def test_a_configured_limit_counts_the_longest_answers_too(
    configured: float | None, headers: Mapping[str, str], low: float, high: float
) -> None:
    limits = made(tokens_per_minute=configured, answer_tokens=900)
    for _ in range(7):
        await limits.acquire(100)
        limits.release(error=None, headers=headers)
    assert low <= now() <= high


@virtual
async def test_the_window_doubles_with_every_round_up_to_the_ceiling() -> None:
    limits = made(ceiling=50)
    crowd = [asyncio.create_task(limits.acquire(1)) for _ in range(1000)]
    windows = []
    for _ in range(6):
        await settle_down()
        windows.append(limits.window)
        assert limits._in_flight == limits.window
        for _ in range(limits.window):
            limits.release(error=None, headers={})
    for task in crowd:
        task.cancel()
    assert windows == [4, 8, 16, 32, 50, 50]


@pytest.mark.parametrize(
    ("error", "n_failing", "factor"),
    [
        (throttled_error(), None, 0.5),
        (throttled_error(), 1, 0.5),
        (timed_out(), None, 0.5),
        (TransientError("500"), None, 1.0),
    ],
)
@virtual
async def test_the_window_is_halved_once_a_round(
    error: TransientError, n_failing: int | None, factor: float
) -> None:
    limits = made()
    for _ in range(20):
        await round_of(limits)
    before = limits.window
    await round_of(limits, error, n_failing)
    assert before == 4 + 20
    assert limits.window == before * factor


@pytest.mark.parametrize(
    ("error", "headers", "expected"),
    [
        (throttled_error(7.0), {}, 7.0),
        (throttled_error(7200.0), {}, LONGEST_ASKED_WAIT_S),
        (throttled_error(math.nan), {}, 0.0),
        (throttled_error(-4.0), {}, 0.0),
        (TransientError("500", 9.0), {"retry-after": "9"}, 0.0),
    ],
)
@virtual
async def test_a_refusal_holds_everyone_back_as_long_as_it_asks(
    error: TransientError | None, headers: Mapping[str, str], expected: float
) -> None:
    limits = made()
    await limits.acquire(1)
    limits.release(error=error, headers=headers)
    await asyncio.gather(limits.acquire(1), limits.acquire(1))
    assert now() == pytest.approx(expected)


async def admissions(
    tokens: list[int], headers: Mapping[str, str] | None = None, **settings: Any
) -> list[float]:
    """When each of these calls was let in, all asked for at once and over at once."""
    limits = made(**settings)
    times: list[float] = []

    async def call(n: int) -> None:
        await limits.acquire(n)
        times.append(now())
        limits.release(error=None, headers=headers or {})

    await asyncio.gather(*[call(n) for n in tokens])
    return times


@pytest.mark.parametrize("per_minute", [0.5, 5, 60, 500])
def test_no_minute_holds_more_requests_than_configured(per_minute: float) -> None:
    n = min(3 * math.ceil(per_minute), 15_000)
    times = play(admissions([1] * n, requests=per_minute))
    allowed = max(1, math.floor(per_minute))
    for first, later in zip(times, times[allowed:], strict=False):
        assert later - first >= 60 - 1e-3
    # and hardly less: the pace of all of it is within 4 % of what is allowed
    if len(times) > 2 * allowed:
        assert (len(times) - 1) / times[-1] * 60 >= 0.96 * per_minute


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        # 6,000 a minute: 100 saved up, and 5,901 a minute from then on
        ([50, 50], [0.0, 0.0]),
        ([100, 100], [0.0, 60 * 100 / 5901]),
        ([5901, 1], [0.0, 60 * (5901 - 100 + 1) / 5901]),
        ([50_000, 100], [0.0, 60 * 50_000 / 5901]),
    ],
)
def test_tokens_are_paid_for_before_the_next_call(tokens: list[int], expected: list[float]) -> None:
    assert play(admissions(tokens, tokens_per_minute=6000)) == pytest.approx(expected)


@virtual
async def test_one_who_needs_much_is_not_overtaken() -> None:
    limits, order = made(tokens_per_minute=6000), []

    async def call(n: int) -> None:
        await limits.acquire(n)
        order.append(n)

    await asyncio.gather(*[call(n) for n in (100, 90, 1)])
    assert order == [100, 90, 1]


DURATIONS = {"6m0s": 360.0, "120ms": 0.12, "1h2m3.5s": 3723.5, "1d": 86400.0, "500µs": 0.0005}
DURATIONS |= {"59": 59.0, " 0.5 ": 0.5}


def test_durations() -> None:
    assert {text: duration_s(text) for text in DURATIONS} == pytest.approx(DURATIONS)
    assert [duration_s(text) for text in ("", "nan", "2026-11-20T10:30:00Z")] == [None] * 3


@pytest.mark.parametrize(
    ("headers", "tokens", "expected"),
    [
        ({}, 1, 0.0),
        # nothing left of 600, full again in a minute: one every 100 ms
        (told("requests", 600, 0, "60s"), 1, 0.1),
        # a daily limit of 10,000: one every 8.64 s
        (told("requests", 10_000, 0, "24h0m0s"), 1, 8.64),
        # one of 200: every seven minutes, but nobody waits so long for a guess
        (told("requests", 200, 0, "24h0m0s"), 1, 60.0),
        (told("tokens", 6000, 0, "1m0s"), 50, 0.5),
        (told("tokens", 6000, 40, "59.6s"), 50, 0.1),
        (told("tokens", 6000, 5000, "10s"), 50, 0.0),
        # more than the server's bucket holds goes when that is full: it is the server's to refuse
        (told("tokens", 6000, 0, "60s"), 9000, 60.0),
        (told("requests", 0, 0, "60s"), 1, 0.0),
        (told("requests", 600, 0, "soon"), 1, 0.1),
        (told("requests", "nan", "inf", "1s"), 1, 0.0),
    ],
)
@virtual
async def test_limits_are_learnt_from_headers(
    headers: Mapping[str, str], tokens: int, expected: float
) -> None:
    limits = made()
    await limits.acquire(1)
    limits.release(error=None, headers=headers)
    await limits.acquire(tokens)
    assert now() == pytest.approx(expected, abs=1e-6)


@virtual
async def test_what_is_configured_is_not_unlearnt() -> None:
    headers = {**told("requests", 6, 0, "60s"), **told("tokens", 6, 0, "60s")}
    times = await admissions([1] * 100, headers, requests=6000, tokens_per_minute=6e6)
    assert times[-1] == 0.0


@pytest.mark.parametrize("limit", ["window", "requests", "tokens", "hold"])
@virtual
async def test_cancelled_waiters_take_nothing_and_let_others_go(limit: str) -> None:
    settings = {"window": {"ceiling": 1}, "requests": {"requests": 60}, "hold": {}}
    limits = made(**settings.get(limit, {"tokens_per_minute": 60}))  # type: ignore[arg-type]
    await limits.acquire(1)
    if limit == "hold":
        limits.release(error=throttled_error(5.0), headers={})
        await asyncio.sleep(0)
    waiting = [asyncio.create_task(limits.acquire(1)) for _ in range(5)]
    await settle_down()
    for task in waiting[:4]:
        task.cancel()
    if limit != "hold":
        limits.release(error=None, headers={})
    await waiting[4]
    assert limits._in_flight == 1
    assert limits._alarm is None, "nobody waits"
    assert now() == pytest.approx({"window": 0, "hold": 5}.get(limit, 1), abs=0.02)


@virtual
async def test_who_is_cancelled_in_the_turn_of_being_let_in_gives_everything_back() -> None:
    limits = made(ceiling=1, requests=60)
    await limits.acquire(1)
    await asyncio.sleep(10)
    unlucky, lucky = (asyncio.create_task(limits.acquire(1)) for _ in range(2))
    await settle_down()
    limits.release(error=None, headers={})  # lets the unlucky one in, who has not yet run
    unlucky.cancel()
    await lucky
    assert unlucky.cancelled()
    assert limits._in_flight == 1
    assert now() == 10, "the request that was not sent is not counted"


@pytest.mark.parametrize(
    ("news", "expected"),
    [(told("requests", 100, 100, "0s"), 1.0), (told("requests", 100, 0, "100s"), 2.0)],
)
@virtual
async def test_a_shorter_wait_is_noticed_before_the_longer_one_ends(
    news: Mapping[str, str], expected: float
) -> None:
    limits = made()
    await limits.acquire(1)
    await limits.acquire(1)
    limits.release(error=None, headers=told("requests", 100, 0, "6000s"))  # one a minute
    waiting = asyncio.create_task(limits.acquire(1))
    await asyncio.sleep(1)
    limits.release(error=None, headers=news)
    await waiting
    assert now() == pytest.approx(expected)


class Crowd:
    """Workers that ask a server of a capacity until it has answered `n_calls`."""

    def __init__(self, limits: Limits, n_calls: int, capacity: int) -> None:
        self.limits, self.n_calls, self.capacity = limits, n_calls, capacity
        self.n_refused = self.n_under_way = 0
        self.dice = random.Random(5)
        self.windows: list[int] = []

    async def run(self) -> None:
        left = iter(range(self.n_calls))

        async def work() -> None:
            for _ in left:
                while not await self.is_answered():
                    await asyncio.sleep(self.dice.random())

        await asyncio.gather(*[work() for _ in range(450)])

    async def is_answered(self) -> bool:
        await self.limits.acquire(100)
        self.n_under_way += 1
        self.windows.append(self.limits.window)
        error = throttled_error() if self.n_under_way > self.capacity else None
        await asyncio.sleep(0.01 if error else 0.5 + self.dice.random())
        self.n_under_way -= 1
        self.n_refused += error is not None
        self.limits.release(error=error, headers={})
        return error is None


@pytest.mark.parametrize("capacity", [1, 30])
@virtual
async def test_the_window_settles_near_what_the_server_bears(capacity: int) -> None:
    crowd = Crowd(made(ceiling=400), 300 * capacity, capacity)
    await crowd.run()
    settled = crowd.windows[len(crowd.windows) // 3 :]
    assert max(settled) <= capacity + 2
    assert sum(settled) / len(settled) >= 0.6 * capacity
    assert crowd.n_refused <= (0.6 if capacity == 1 else 0.05) * crowd.n_calls
    assert crowd.n_calls / now() >= 0.6 * capacity, "the server is kept busy"

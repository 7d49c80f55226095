"""Requests and tokens a minute, and requests at once, with what OpenAI's headers say of them."""

from typing import NamedTuple

from servers.clock import Clock


class Quota(NamedTuple):
    """What a model allows; None: as much as one likes."""

    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    concurrency: int | None = None


class Denial(NamedTuple):
    """`kind` is requests, tokens or concurrency; `wait_s`, in real seconds, None if it never fits."""

    kind: str
    wait_s: float | None


class Level(NamedTuple):
    """How full a bucket is; `full_in_s` in real seconds."""

    limit: float
    left: float
    full_in_s: float


class Throttle:
    """Buckets that hold a minute's worth and fill evenly."""

    def __init__(self, clock: Clock, quota: Quota) -> None:
        self._clock = clock
        self._quota = quota
        self._limits = {"requests": quota.requests_per_minute, "tokens": quota.tokens_per_minute}
        self._left = {kind: limit for kind, limit in self._limits.items() if limit is not None}
        self._filled = clock.now()
        self._under_way = 0

    def admit(self, tokens: int) -> Denial | None:
        """Let a request of `tokens` (prompt and largest answer) in, or say why not."""
        self._fill()
        if self._quota.concurrency is not None and self._under_way >= self._quota.concurrency:
            return Denial("concurrency", self._clock.real(1.0))
        wanted = {"requests": 1.0, "tokens": float(tokens)}
        for kind, left in self._left.items():
            limit = self._limits[kind] or 0.0
            if wanted[kind] > limit:
                return Denial(kind, None)
            if wanted[kind] > left:
                return Denial(kind, self._clock.real((wanted[kind] - left) / limit * 60))
        for kind in self._left:
            self._left[kind] -= wanted[kind]
        self._under_way += 1
        return None

    def leave(self) -> None:
        """A request that was let in is over."""
        self._under_way -= 1

    def levels(self) -> dict[str, Level]:
        """Each bucket, by what it holds."""
        self._fill()
        found = {}
        for kind, left in self._left.items():
            limit = self._limits[kind] or 1.0
            found[kind] = Level(limit, left, self._clock.real((limit - left) / limit * 60))
        return found

    def headers(self) -> dict[str, str]:
        """OpenAI's `x-ratelimit-*`."""
        found = {}
        for kind, level in self.levels().items():
            found[f"x-ratelimit-limit-{kind}"] = f"{level.limit:.0f}"
            found[f"x-ratelimit-remaining-{kind}"] = f"{max(level.left, 0):.0f}"
            found[f"x-ratelimit-reset-{kind}"] = duration(level.full_in_s)
        return found

    def _fill(self) -> None:
        now = self._clock.now()
        for kind, left in self._left.items():
            limit = self._limits[kind] or 0.0
            self._left[kind] = min(limit, left + (now - self._filled) * limit / 60)
        self._filled = now


def duration(seconds: float) -> str:
    """As OpenAI writes it: `20ms`, `8.64s`, `6m0s`."""
    if seconds < 1:
        return f"{seconds * 1000:.0f}ms"
    minutes, rest = divmod(round(seconds, 2), 60)
    return f"{minutes:.0f}m{rest:.0f}s" if minutes else f"{rest:.2f}".rstrip("0").rstrip(".") + "s"

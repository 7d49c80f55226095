"""A prompt as tokens, and a cache of prompt prefixes by the rules that providers document.

Where the rules are from:
- exact prefix, from 1,024 tokens on, half or a tenth of the price, about 15 requests a minute for a
  prefix with its `prompt_cache_key` before some go to another machine; 1.25 × for writes and explicit
  breakpoints from GPT-5.6 on: OpenAI's guide "Prompt caching".
- hits in steps of 128 tokens: OpenAI Cookbook, `examples/Prompt_Caching101.ipynb`.
- GPT-5.6: a breakpoint's boundary is not rounded; one implicit breakpoint and the latest three
  explicit ones are written, or the latest four with `mode: explicit`; 80 are looked at; at least 30
  minutes: docstrings of `prompt_cache_options` in openai 3.51.
- Claude: four breakpoints of 5 minutes, a quarter more for writes, a tenth for reads, no error for what
  is shorter than the model's minimum (1,024 tokens here): docstrings of anthropic 2.13, and second-hand
  reports of its guide to prompt caching. Hits that end at blocks before a breakpoint are left out.
Ours, as no source says: a machine serves the first 15 requests of a minute, the next machine the next
15, and each has a cache of its own; the implicit breakpoint is the end of the last message; a prefix
can be read once the answer that wrote it is finished.
"""

import hashlib
from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

from servers.clock import Clock

Count = Callable[[str], int]

HEADER_TOKENS = 4
WINDOW_S = 60.0
MOST_BREAKPOINTS = 80
MOST_PREFIXES = 1_000_000


class Family(NamedTuple):
    """How models of one generation cache.

    Attributes:
        minimum: tokens below which nothing is cached; 0 for servers that tell nothing of a cache.
        step: hits are multiples of it beyond the minimum; 0: they end at breakpoints exactly.
        ttl_s: seconds without use after which a prefix is gone.
        cached, write: price of a token, read or written, as a multiple of the input price.
    """

    minimum: int
    step: int
    ttl_s: float
    cached: float
    write: float


def family_named(name: str) -> Family:
    """`4o`, `5`, `5.6`, `gemini` (its implicit cache), `claude` or `none`."""
    return {
        "4o": Family(1024, 128, 300, 0.5, 1.0),
        "5": Family(1024, 128, 300, 0.1, 1.0),
        "5.6": Family(1024, 0, 1800, 0.1, 1.25),
        "gemini": Family(1024, 128, 300, 0.1, 1.0),
        "claude": Family(1024, 0, 300, 0.1, 1.25),
        "none": Family(0, 128, 0, 1.0, 1.0),
    }[name]


class Part(NamedTuple):
    """A piece of a message's text; `opens` is true of a message's first piece."""

    role: str
    text: str
    opens: bool = True
    breakpoint: bool = False


class _Stretch(NamedTuple):
    first_token: int
    n_tokens: int
    first_byte: int
    n_bytes: int


def count_tokens(text: str) -> int:
    """UTF-8 bytes / 4, rounded up: deterministic, and what the plan of a study assumes."""
    return -(-len(text.encode("utf-8", "replace")) // 4)


class Prompt:
    """Messages as a stream of tokens: 4 that open a message, then its text's.

    A token is four bytes, or, under another `count`, an equal share of its text's bytes.
    """

    def __init__(self, parts: Sequence[Part], count: Count = count_tokens) -> None:
        self._stretches: list[_Stretch] = []
        self.n_tokens = 0
        self.ends: list[int] = []
        self.breakpoints: list[int] = []
        data: list[bytes] = []
        n_bytes = 0
        for part in parts:
            pieces = [] if not part.opens else [(HEADER_TOKENS, part.role.encode().ljust(16)[:16])]
            raw = part.text.encode("utf-8", "replace")
            n = count(part.text)
            pieces.append((n, raw.ljust(4 * n) if count is count_tokens else raw))
            for n_tokens, piece in pieces:
                self._stretches.append(_Stretch(self.n_tokens, n_tokens, n_bytes, len(piece)))
                self.n_tokens += n_tokens
                n_bytes += len(piece)
                data.append(piece)
            self.ends.append(self.n_tokens)
            if part.breakpoint:
                self.breakpoints.append(self.n_tokens)
        self._data = memoryview(b"".join(data))

    def digests(self, positions: Sequence[int]) -> list[bytes]:
        """Hashes of the first `positions` tokens, which are in rising order."""
        hashed, done, found = hashlib.blake2b(digest_size=16), 0, []
        for upto in self._bytes_at(positions):
            hashed.update(self._data[done:upto])
            done = upto
            found.append(hashed.digest())
        return found

    def _bytes_at(self, positions: Sequence[int]) -> list[int]:
        stretches = iter(self._stretches)
        now, found = next(stretches, _Stretch(0, 0, 0, 0)), []
        for position in positions:
            while position > now.first_token + now.n_tokens:
                now = next(stretches)
            inside = now.n_bytes * (position - now.first_token) // max(now.n_tokens, 1)
            found.append(now.first_byte + inside)
        return found


class Lookup(NamedTuple):
    """What the cache held for a prompt, and what it is to hold once the answer is finished.

    Attributes:
        cached: tokens that were read.
        written: tokens that are written for a fee.
        keep, machine: prefixes to keep, and where.
    """

    cached: int
    written: int
    keep: tuple[bytes, ...] = ()
    machine: tuple[str, str, int] = ("", "", 0)
    ttl_s: float = 0.0


class PrefixCache:
    """Prefixes on machines.

    Args:
        per_minute: requests a minute for a prefix and its key that one machine serves.
        ttl_s: instead of every family's.
    """

    def __init__(self, clock: Clock, per_minute: float = 15, ttl_s: float | None = None) -> None:
        self._clock = clock
        self.per_minute = per_minute
        self.ttl_s = ttl_s
        self._expiry: dict[tuple[str, str, int], dict[bytes, float]] = {}
        self._recent: dict[tuple[str, str, bytes], deque[float]] = {}

    def look_up(
        self, model: str, family: Family, prompt: Prompt, *, key: str, implicit: bool = True
    ) -> Lookup:
        """Read; `implicit` is false for requests that want explicit breakpoints alone."""
        readable, written = _positions(prompt, family, implicit)
        if not readable:
            return Lookup(0, 0)
        digests = prompt.digests(readable)
        first = digests[0] if family.step else prompt.digests([family.minimum])[0]
        machine = (model, key, self._machine((model, key, first)))
        ttl_s = self.ttl_s if self.ttl_s is not None else family.ttl_s
        hit = self._read(machine, digests, ttl_s)
        cached = readable[hit] if hit >= 0 else 0
        keep = tuple(d for d, p in zip(digests, readable, strict=True) if p in written)
        beyond = max((p for p in written if p > cached), default=cached)
        fee = beyond - cached if family.step == 0 else 0
        return Lookup(cached, fee, keep, machine, ttl_s)

    def _read(self, machine: tuple[str, str, int], digests: Sequence[bytes], ttl_s: float) -> int:
        """The longest live prefix, -1 for none; reading gives it, and what it holds, new time."""
        store, now = self._expiry.setdefault(machine, {}), self._clock.now()
        live = (i for i in reversed(range(len(digests))) if store.get(digests[i], 0) > now)
        hit = next(live, -1)
        for digest in digests[: hit + 1]:
            if store.get(digest, 0) > now:
                store[digest] = now + ttl_s
        return hit

    def keep(self, lookup: Lookup) -> None:
        """The answer is finished: from now on its prefix can be read."""
        if not lookup.keep:
            return
        now = self._clock.now()
        store = self._expiry[lookup.machine]
        store.update(dict.fromkeys(lookup.keep, now + lookup.ttl_s))
        if len(store) > MOST_PREFIXES:
            self._expiry[lookup.machine] = {d: t for d, t in store.items() if t > now}

    def _machine(self, route: tuple[str, str, bytes]) -> int:
        recent = self._recent.setdefault(route, deque())
        now = self._clock.now()
        while recent and recent[0] <= now - WINDOW_S:
            recent.popleft()
        machine = int(len(recent) // self.per_minute)
        recent.append(now)
        return machine


def _positions(
    prompt: Prompt, family: Family, implicit: bool
) -> tuple[Sequence[int], frozenset[int] | range]:
    """Where a hit may end, in rising order, and which of these places are written."""
    if not family.minimum or prompt.n_tokens < family.minimum:
        return (), frozenset()
    if family.step:
        every = range(family.minimum, prompt.n_tokens + 1, family.step)
        return every, every
    marked = prompt.breakpoints[-3 if implicit else -4 :]
    if implicit:
        marked = [*marked, prompt.n_tokens]
    readable = prompt.ends if implicit else prompt.breakpoints
    able = sorted({p for p in readable[-MOST_BREAKPOINTS:] if p >= family.minimum})
    return able, frozenset(p for p in marked if p >= family.minimum)

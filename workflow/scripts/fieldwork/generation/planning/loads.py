"""What a study will send, before anything is sent: requests, tokens, cached tokens and time.

Requests that follow one context form a group, in the order in which the engine sends them: the first
writes the provider's prefix cache, the others read it. Everything here is arithmetic over token
estimates (UTF-8 bytes / 4 and 4 a message, docs/models.md), scaled by what earlier answers showed.

The rules of the cache are OpenAI's as documented in 2024 to 2026: exact prefixes, a shortest length, hits
in steps of 128 tokens, a time to live, and about 15 requests a minute for one prefix and key.
"""

import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from fieldwork.token_estimate import (
    BYTES_PER_TOKEN,
    TOKENS_PER_BYTE,
    TOKENS_PER_MESSAGE,
    message_tokens,
    utf8_size,
)

Dispatch = Literal["live", "flex", "batch"]

CACHE_MIN_TOKENS = 1024
CACHE_STEP = 128
WAVE = 15
MINUTE_S = 60.0


class Question(NamedTuple):
    """A question in estimated tokens.

    Attributes:
        shared: of these, those that an earlier question of its group begins with too.
        warm: the same for questions that are surely answered before this one is sent.
    """

    tokens: int
    shared: int = 0
    warm: int = 0


class Group(NamedTuple):
    """The questions after one context of `prefix` estimated tokens, in the order they are sent."""

    prefix: int
    questions: tuple[Question, ...]


class Cache(NamedTuple):
    """How a provider caches prompt prefixes; `docs/models.md` says where the numbers come from.

    Attributes:
        requests_per_minute: calls one prefix bears; None for no limit.
        breakpoint: only the context is written; otherwise the whole prompt is.
        stored_s: the context is left with the provider before its first question, and billed for so
            long; None where the first question writes the cache.
    """

    min_tokens: int
    requests_per_minute: float | None
    ttl_s: float
    breakpoint: bool
    stored_s: float | None = None


class Pace(NamedTuple):
    """What limits the speed of a model; None for what does not."""

    requests_per_minute: float | None
    tokens_per_minute: float | None
    concurrency: int
    latency_s: float


class Learnt(NamedTuple):
    """What earlier answers of a model showed; `output_tokens` is the mean of an answer by task."""

    tokens_per_byte: float
    output_tokens: Mapping[str, float]


class Load(NamedTuple):
    """A list of groups, added up, in tokens as they are expected to be billed.

    Attributes:
        prefix, question: input tokens of contexts and of questions.
        cached, written: of these, read from the cache and billed as written to it.
        repeated: of these, those that stood at the beginning of an earlier prompt of the group.
        longest: questions of the longest group that the cache paces, 0 where there is none.
        stored: tokens of contexts left with the provider, besides the input.
        token_seconds: the same, times the seconds they are stored.
    """

    requests: int = 0
    groups: int = 0
    prefix: int = 0
    question: int = 0
    cached: int = 0
    written: int = 0
    repeated: int = 0
    longest: int = 0
    stored: int = 0
    token_seconds: int = 0

    @property
    def input(self) -> int:
        """All input tokens."""
        return self.prefix + self.question


class Duration(NamedTuple):
    """How long something takes, and what makes it take so long."""

    seconds: float
    limited_by: str


def questions_of(prompts: Sequence[str]) -> tuple[Question, ...]:
    """Prompts sent after the same context, in this order.

    The engine sends the first alone and the others in waves of what a cached prefix bears in a minute.
    A prompt reads what earlier waves left; of those of its own wave it may come too early.
    """
    earlier, finished = _Sent(), _Sent()
    made, wave = [], list[str]()
    for position, prompt in enumerate(prompts):
        if position == 1 or position % WAVE == 0:
            finished.add(wave)
            wave = []
        tokens = message_tokens(prompt)
        made.append(
            Question(tokens, earlier.common(prompt, tokens), finished.common(prompt, tokens))
        )
        earlier.add([prompt])
        wave.append(prompt)
    return tuple(made)


class _Sent:
    """Prompts sent so far, sorted: the one most alike at its beginning stands beside a prompt."""

    def __init__(self) -> None:
        self._sorted: list[str] = []

    def add(self, prompts: Iterable[str]) -> None:
        for prompt in prompts:
            at = bisect_left(self._sorted, prompt)
            if self._sorted[at : at + 1] != [prompt]:
                self._sorted.insert(at, prompt)

    def common(self, prompt: str, tokens: int) -> int:
        """Tokens at the prompt's beginning that one of these begins with too."""
        at = bisect_left(self._sorted, prompt)
        beside = self._sorted[max(at - 1, 0) : at + 1]
        if prompt in beside:
            return tokens
        common = max((_common_bytes(prompt, other) for other in beside), default=None)
        return 0 if common is None else TOKENS_PER_MESSAGE + common // BYTES_PER_TOKEN


def _common_bytes(one: str, other: str) -> int:
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == other[:middle]:
            low = middle
        else:
            high = middle - 1
    return utf8_size(one[:low])


def load_of(
    groups: Iterable[Group],
    cache: Cache | None,
    tokens_per_byte: float,
    min_tokens: int = CACHE_MIN_TOKENS,
) -> Load:
    """Add up groups.

    Args:
        cache: None where nothing is expected from a cache, as in batches.
        tokens_per_byte: scales the estimates, which count a quarter of a token a byte.
        min_tokens: shortest beginning that counts as `repeated`.
    """
    scale = tokens_per_byte * BYTES_PER_TOKEN
    totals = Load()
    for group in groups:
        one = _group_load(group, cache, scale, min_tokens)
        summed = Load(*(total + value for total, value in zip(totals, one, strict=True)))
        totals = summed._replace(longest=max(totals.longest, one.longest))
    return totals


def _group_load(group: Group, cache: Cache | None, scale: float, min_tokens: int) -> Load:
    prefix, n = round(group.prefix * scale), len(group.questions)
    # the engine waits for a first answer only where the context alone is long enough
    warms = cache is not None and 0 < cache.min_tokens <= prefix
    stored = prefix if cache is not None and warms and cache.stored_s is not None else 0
    asked = cached = written = repeated = 0
    for position, question in enumerate(group.questions):
        tokens = round(question.tokens * scale)
        again = prefix + round(question.shared * scale) if position else 0
        asked += tokens
        repeated += again if again >= min_tokens else 0
        if cache is not None and warms:
            cold = not stored and position % _burst(cache, n) == 0
            read = 0 if cold else _read(prefix, round(question.warm * scale), cache)
            cached += read
            written += _written(prefix, prefix + tokens, read, cache)
    seconds = round(stored * ((cache.stored_s if cache else None) or 0.0))
    longest = n if warms else 0
    return Load(n, 1, prefix * n, asked, cached, written, repeated, longest, stored, seconds)


def _burst(cache: Cache, n: int) -> int:
    """Questions after which the cache is cold again: none, unless it lives less than a minute."""
    if cache.requests_per_minute is not None and cache.ttl_s < MINUTE_S:
        return max(int(cache.requests_per_minute), 1)
    return max(n, 1)


def _read(prefix: int, warm: int, cache: Cache) -> int:
    if cache.breakpoint:
        return prefix
    return prefix + warm - (prefix + warm - cache.min_tokens) % CACHE_STEP


def _written(prefix: int, prompt: int, read: int, cache: Cache) -> int:
    return max((prefix if cache.breakpoint else prompt) - read, 0)


def duration(load: Load, most_output: int, pace: Pace, cache: Cache | None) -> Duration:
    """Time at the limits: the longest of what each of them alone would take.

    Args:
        most_output: output tokens that count against the tokens a minute: all that may come.
    """
    by_calls = load.requests * pace.latency_s / pace.concurrency
    found = [Duration(by_calls, f"{pace.concurrency} calls at once of {pace.latency_s:g} s each")]
    if pace.requests_per_minute:
        seconds = load.requests / pace.requests_per_minute * MINUTE_S
        found.append(Duration(seconds, f"{pace.requests_per_minute:g} requests a minute"))
    if pace.tokens_per_minute:
        seconds = (load.input + most_output) / pace.tokens_per_minute * MINUTE_S
        found.append(Duration(seconds, f"{pace.tokens_per_minute:g} tokens a minute"))
    if cache is not None and cache.requests_per_minute and load.longest:
        # a minute's worth goes at once, then the next minute's
        minutes = math.ceil(load.longest / cache.requests_per_minute) - 1
        seconds = minutes * MINUTE_S + min(load.longest, 2) * pace.latency_s
        found.append(Duration(seconds, f"{cache.requests_per_minute:g} a minute after one context"))
    return max(found, key=_seconds)


def _seconds(found: Duration) -> float:
    return found.seconds


def cache_of(model: Mapping[str, Any], dispatch: Dispatch) -> Cache | None:
    """The cache that a model's calls are expected to meet; None where none can be counted on.

    Batches are sent in no order, and Gemini's implicit cache comes without guarantee: what they save
    is not expected. A cache that is cold before the next call may be made is none.
    """
    rules = model.get("prefix_cache")
    if rules is None or dispatch == "batch":
        return None
    ttl_s, calls = rules["ttl_s"], model["requests_per_minute"]
    if model["provider"] == "gemini":
        if not model["explicit_cache"]:
            return None
        stored_s = model["cache_ttl_s"]
        return Cache(rules["min_tokens"], None, stored_s, True, stored_s)
    if calls and MINUTE_S / calls > ttl_s:
        return None
    return Cache(rules["min_tokens"], rules["requests_per_minute"], ttl_s, rules["breakpoint"])


def pace_of(model: Mapping[str, Any], latency_s: float) -> Pace:
    """The limits in an entry of `models`; a local model answers one call at a time."""
    return Pace(
        model.get("requests_per_minute"),
        model.get("tokens_per_minute"),
        model.get("concurrency", 1),
        latency_s,
    )


def dispatches(model: Mapping[str, Any]) -> tuple[Dispatch, ...]:
    """The ways a model's provider can be asked."""
    known: dict[str, tuple[Dispatch, ...]] = {
        "embedded": ("live",),
        "openai": ("live", "flex", "batch"),
        "gemini": ("live", "flex", "batch"),
    }
    return known[model["provider"]]


def learn(
    estimated: Sequence[int], billed: Sequence[int], output_tokens: Mapping[str, Sequence[int]]
) -> Learnt:
    """What answers showed: billed input tokens over estimated ones, and the mean answer by task.

    Args:
        estimated: tokens of each answered prompt by the rule of bytes / 4.
        billed: the same prompts' input tokens as the provider counted them.
        output_tokens: billed output tokens of the answers, by task.
    """
    total = sum(estimated)
    rate = sum(billed) / total / BYTES_PER_TOKEN if total and sum(billed) else None
    means = {task: sum(values) / len(values) for task, values in output_tokens.items() if values}
    return Learnt(rate or TOKENS_PER_BYTE, means)

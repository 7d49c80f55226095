"""What a study will send, before anything is sent: requests, tokens, cached tokens and time.

Requests that follow one context form a group, in the order in which the engine sends them: the first
writes the provider's prefix cache, the others read it. Everything here is arithmetic over estimated
tokens (`fieldwork.token_estimate`), scaled by what earlier answers of the model showed.

The rules of the cache are those that OpenAI documented in 2024 to 2026. Prefixes must match exactly and
have a shortest length; hits come in steps of 128 tokens; an entry lives for some minutes; and one prefix
and key bears about 15 requests a minute.
"""

import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
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

LIVE_ONLY: tuple[Dispatch, ...] = ("live",)
DISPATCHES: Mapping[str, tuple[Dispatch, ...]] = {
    "openai": ("live", "flex", "batch"),
    "gemini": ("live", "flex", "batch"),
    "anthropic": ("live", "batch"),
}
"""How a provider can be asked that has more ways than live calls."""


class PlannedQuestion(NamedTuple):
    """A question in estimated tokens.

    Attributes:
        shared_tokens: of these, those that an earlier question of its group begins with too.
        warm_tokens: the same for questions that are surely answered before this one is sent.
    """

    tokens: int
    shared_tokens: int = 0
    warm_tokens: int = 0


class PlannedGroup(NamedTuple):
    """The questions after one context, in the order in which they are sent."""

    context_tokens: int
    questions: tuple[PlannedQuestion, ...]


class CacheRules(NamedTuple):
    """How a provider caches prompt prefixes; `docs/models.md` says where the numbers come from.

    Attributes:
        requests_per_minute: calls that one prefix bears; None for no limit.
        breakpoint: only the context is written to the cache; otherwise the whole prompt is.
        stored_s: seconds for which the context is stored with the provider before its first question,
            and billed; None where the first question writes the cache.
    """

    min_tokens: int
    requests_per_minute: float | None
    ttl_s: float
    breakpoint: bool
    stored_s: float | None = None


class ObservedTokens(NamedTuple):
    """What earlier answers of a model showed; `output_tokens` is the mean of an answer by task."""

    tokens_per_byte: float
    output_tokens: Mapping[str, float]


class Load(NamedTuple):
    """A list of groups, added up, in tokens as they are expected to be billed.

    Attributes:
        prefix_tokens, question_tokens: input tokens of contexts and of questions.
        cached_tokens, cache_write_tokens: of these, read from the cache and billed as written to it.
        repeated_tokens: of these, those that stood at the beginning of an earlier prompt of the group.
        longest_group: questions of the longest group that the cache paces, 0 where there is none.
        stored_tokens: tokens of contexts stored with the provider, besides the input.
        stored_token_seconds: the same, times the seconds for which they are stored.
    """

    n_requests: int = 0
    n_groups: int = 0
    prefix_tokens: int = 0
    question_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    repeated_tokens: int = 0
    longest_group: int = 0
    stored_tokens: int = 0
    stored_token_seconds: int = 0

    @property
    def input_tokens(self) -> int:
        """All input tokens."""
        return self.prefix_tokens + self.question_tokens


class Duration(NamedTuple):
    """How long something takes, and what makes it take so long."""

    seconds: float
    limited_by: str


def questions_of(prompts: Sequence[str]) -> tuple[PlannedQuestion, ...]:
    """Prompts sent after the same context, in this order.

    The engine sends the first alone. The others follow in waves, each as large as a cached prefix bears
    in a minute. A prompt reads what earlier waves left; it may come too early for those of its own wave.
    """
    earlier, answered_prompts = _SortedPrompts(), _SortedPrompts()
    questions, wave = [], list[str]()
    for position, prompt in enumerate(prompts):
        if position == 1 or position % WAVE == 0:
            answered_prompts.add(wave)
            wave = []
        tokens = message_tokens(prompt)
        questions.append(
            PlannedQuestion(
                tokens,
                earlier.common_tokens(prompt, tokens),
                answered_prompts.common_tokens(prompt, tokens),
            )
        )
        earlier.add([prompt])
        wave.append(prompt)
    return tuple(questions)


class _SortedPrompts:
    """Prompts in order of their text: a prompt stands beside the one that begins most like it."""

    def __init__(self) -> None:
        self._prompts: list[str] = []

    def add(self, prompts: Iterable[str]) -> None:
        for prompt in prompts:
            index = bisect_left(self._prompts, prompt)
            if self._prompts[index : index + 1] != [prompt]:
                self._prompts.insert(index, prompt)

    def common_tokens(self, prompt: str, tokens: int) -> int:
        """Tokens at the prompt's beginning that one of these begins with too."""
        index = bisect_left(self._prompts, prompt)
        neighbours = self._prompts[max(index - 1, 0) : index + 1]
        if prompt in neighbours:
            return tokens
        n_bytes = max((_common_bytes(prompt, other) for other in neighbours), default=None)
        return 0 if n_bytes is None else TOKENS_PER_MESSAGE + n_bytes // BYTES_PER_TOKEN


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
    groups: Iterable[PlannedGroup],
    cache: CacheRules | None,
    tokens_per_byte: float,
    min_tokens: int = CACHE_MIN_TOKENS,
) -> Load:
    """Add up groups.

    Args:
        cache: None where nothing is expected from a cache, as in batches.
        tokens_per_byte: scales the estimates, which count a quarter of a token a byte.
        min_tokens: shortest beginning that counts as repeated.
    """
    scale = tokens_per_byte * BYTES_PER_TOKEN
    total = Load()
    for group in groups:
        load = _group_load(group, cache, scale, min_tokens)
        longest_group = max(total.longest_group, load.longest_group)
        total = add_loads(total, load)._replace(longest_group=longest_group)
    return total


def add_loads(one: Load, other: Load) -> Load:
    """The sum of two loads, field by field."""
    return Load(*(a + b for a, b in zip(one, other, strict=True)))


def _group_load(
    group: PlannedGroup, cache: CacheRules | None, scale: float, min_tokens: int
) -> Load:
    prefix, n = round(group.context_tokens * scale), len(group.questions)
    # the engine waits for a first answer only where the context alone is long enough
    is_cached = cache is not None and 0 < cache.min_tokens <= prefix
    n_stored = prefix if cache is not None and is_cached and cache.stored_s is not None else 0
    n_question = n_cached = n_written = n_repeated = 0
    for position, question in enumerate(group.questions):
        tokens = round(question.tokens * scale)
        beginning = prefix + round(question.shared_tokens * scale) if position else 0
        n_question += tokens
        n_repeated += beginning if beginning >= min_tokens else 0
        if cache is not None and is_cached:
            is_cold = not n_stored and position % _burst(cache, n) == 0
            n_read = 0 if is_cold else _read(prefix, round(question.warm_tokens * scale), cache)
            n_cached += n_read
            n_written += max((prefix if cache.breakpoint else prefix + tokens) - n_read, 0)
    return Load(
        n_requests=n,
        n_groups=1,
        prefix_tokens=prefix * n,
        question_tokens=n_question,
        cached_tokens=n_cached,
        cache_write_tokens=n_written,
        repeated_tokens=n_repeated,
        longest_group=n if is_cached else 0,
        stored_tokens=n_stored,
        stored_token_seconds=round(n_stored * ((cache.stored_s if cache else None) or 0.0)),
    )


def _burst(cache: CacheRules, n: int) -> int:
    """Questions after which the cache is cold again: none, unless it lives less than a minute."""
    if cache.requests_per_minute is not None and cache.ttl_s < MINUTE_S:
        return max(int(cache.requests_per_minute), 1)
    return max(n, 1)


def _read(prefix: int, warm: int, cache: CacheRules) -> int:
    if cache.breakpoint:
        return prefix
    return prefix + warm - (prefix + warm - cache.min_tokens) % CACHE_STEP


def duration(
    load: Load,
    most_output: int,
    model: Mapping[str, Any],
    latency_s: float,
    cache: CacheRules | None,
) -> Duration:
    """Time at the limits: the longest of what each of them alone would take.

    Args:
        most_output: output tokens that count against the tokens a minute: all that may come.
        model: entry of `models`; a local model answers one call at a time.
        latency_s: seconds of a call.
    """
    concurrency = model.get("concurrency", 1)
    by_calls = load.n_requests * latency_s / concurrency
    calls = "1 call" if concurrency == 1 else f"{concurrency} calls"
    durations = [Duration(by_calls, f"{calls} at a time, {latency_s:g} s each")]
    if n_requests := model.get("requests_per_minute"):
        seconds = load.n_requests / n_requests * MINUTE_S
        durations.append(Duration(seconds, f"{n_requests:g} requests a minute"))
    if n_tokens := model.get("tokens_per_minute"):
        seconds = (load.input_tokens + most_output) / n_tokens * MINUTE_S
        durations.append(Duration(seconds, f"{n_tokens:g} tokens a minute"))
    if cache is not None and cache.requests_per_minute and load.longest_group:
        # a minute's worth goes at once, then the next minute's
        minutes = math.ceil(load.longest_group / cache.requests_per_minute) - 1
        seconds = minutes * MINUTE_S + min(load.longest_group, 2) * latency_s
        limit = f"{cache.requests_per_minute:g} requests a minute after one context"
        durations.append(Duration(seconds, limit))
    return max(durations, key=attrgetter("seconds"))


def cache_of(model: Mapping[str, Any], dispatch: Dispatch) -> CacheRules | None:
    """The cache that a model's calls are expected to meet; None where none can be counted on.

    Batches are sent in no order, and Gemini's implicit cache comes without guarantee: what they save
    is not expected. Nor is anything of a cache that has expired before the next call may be made.
    """
    rules = model.get("prefix_cache")
    if rules is None or dispatch == "batch":
        return None
    ttl_s, calls = rules["ttl_s"], model["requests_per_minute"]
    if model["provider"] == "gemini":
        if not model["explicit_cache"]:
            return None
        stored_s = model["cache_ttl_s"]
        return CacheRules(rules["min_tokens"], None, stored_s, True, stored_s)
    if calls and MINUTE_S / calls > ttl_s:
        return None
    # Anthropic caches nothing without a breakpoint
    has_breakpoint = model["provider"] == "anthropic" or rules["breakpoint"]
    return CacheRules(rules["min_tokens"], rules["requests_per_minute"], ttl_s, has_breakpoint)


def observe_tokens(
    estimates: Sequence[int], bills: Sequence[int], output_tokens: Mapping[str, Sequence[int]]
) -> ObservedTokens:
    """What answers showed: billed input tokens over estimated ones, and the mean answer by task.

    Args:
        estimates: estimated input tokens of each answered prompt.
        bills: the same prompts' input tokens as the provider counted them.
        output_tokens: billed output tokens of the answers, by task.
    """
    total = sum(estimates)
    rate = sum(bills) / total / BYTES_PER_TOKEN if total and sum(bills) else None
    means = {task: sum(values) / len(values) for task, values in output_tokens.items() if values}
    return ObservedTokens(rate or TOKENS_PER_BYTE, means)


NOTHING_OBSERVED = ObservedTokens(TOKENS_PER_BYTE, {})
"""Before the first answer."""

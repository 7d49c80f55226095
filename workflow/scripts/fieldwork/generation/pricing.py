"""What calls cost, from the dated price table of the config.

Prices are US dollars for a million tokens. Sums are made of integers (billionths of a dollar for a
million tokens, and billionths of a factor) and divided once. So a bill is the float nearest to the true
one, and more tokens never cost less.
"""

import math
from collections.abc import Mapping
from datetime import date
from functools import lru_cache
from typing import Any, NamedTuple

from fieldwork.generation.ledger import Tier
from fieldwork.generation.providers.base import Usage

_BILLION = 10**9
_TOKENS = 10**6

USUAL_TIERS = frozenset({"default", "standard"})
"""What OpenAI and Gemini call calls at the full price."""


class Price(NamedTuple):
    """What a model costs, in US dollars for a million tokens.

    Attributes:
        input: tokens of the prompt that no cache had.
        cache_read: tokens of the prompt that were read from the provider's cache.
        cache_write: tokens of the prompt that were written to it.
        output: tokens of the answer, reasoning included.
        as_of: the day on which these were the provider's prices.
        source: where they were read.
        batch: factor on every price for batches.
        flex: factor on every price for the flex tier.
        cache_storage: a million tokens of a context stored with the provider, for an hour; None where
            it is not known.
    """

    input: float
    cache_read: float
    cache_write: float
    output: float
    as_of: date
    source: str
    batch: float = 0.5
    flex: float = 0.5
    cache_storage: float | None = None


def price_of(prices: Mapping[str, Any], model_id: str) -> Price | None:
    """The entry of exactly this model; None where there is none.

    A snapshot does not take the price of its family: they have differed by more than half.

    Args:
        prices: the registry, as the schema of the config lets it pass.
    """
    entry = prices.get(model_id)
    if entry is None:
        return None
    input_price, storage = float(entry["input"]), entry.get("cache_storage")

    def amount(field: str, default: float) -> float:
        return default if entry.get(field) is None else float(entry[field])

    return Price(
        input=input_price,
        cache_read=amount("cached", input_price),
        cache_write=amount("cache_write", input_price),
        output=float(entry["output"]),
        as_of=date.fromisoformat(entry["as_of"]),
        source=entry["source"],
        batch=amount("batch", 0.5),
        flex=amount("flex", 0.5),
        cache_storage=None if storage is None else float(storage),
    )


def billed_tier(tier: Tier, service_tier: str | None) -> Tier:
    """The tier at whose price a call is billed: a flex call may be answered, and billed, as a usual one.

    Args:
        tier: how the call was sent.
        service_tier: how it was answered, in the provider's words; None where it does not say.
    """
    is_usual = (service_tier or "").lower() in USUAL_TIERS
    return "live" if tier == "flex" and is_usual else tier


def cost_usd(usage: Usage, price: Price, tier: Tier) -> float | None:
    """What a call cost, in US dollars; None where its tokens are not known.

    Cached and cache-written tokens are part of the input, reasoning is part of the output, and the
    factor of a tier is on all of them. Where the provider says nothing of caches, nothing was cached.
    """
    if usage.input is None or usage.output is None:
        return None
    if min(usage.input, usage.output, usage.cache_read or 0, usage.cache_write or 0) < 0:
        return None
    n_read = min(usage.cache_read or 0, usage.input)
    n_written = min(usage.cache_write or 0, usage.input - n_read)
    return _dollars(
        (usage.input - n_read - n_written) * _billionths(price.input)
        + n_read * _billionths(price.cache_read)
        + n_written * _billionths(price.cache_write)
        + usage.output * _billionths(price.output),
        price,
        tier,
    )


def most_usd(input_tokens: int, max_tokens: int, price: Price, tier: Tier) -> float:
    """The most that a call of up to so many tokens can cost in US dollars, with or without a cache."""
    dearest = max(price.input, price.cache_read, price.cache_write)
    total = input_tokens * _billionths(dearest) + max_tokens * _billionths(price.output)
    return _dollars(total, price, tier)


def storage_usd(tokens: int, token_hours: float, price: Price) -> float:
    """What it costs to store contexts with the provider, in US dollars.

    Making such a cache is billed as input, and keeping it by the hour. Neither is known to cost less for
    flex calls. Storage without a price is not counted.

    Args:
        tokens: of all contexts, each once.
        token_hours: tokens times the hours they are kept.
    """
    total = tokens * _billionths(price.input)
    total += math.ceil(token_hours * _billionths(price.cache_storage or 0.0))
    return _dollars(total, price, "live")


@lru_cache(maxsize=256)
def _billionths(price: float) -> int:
    return round(price * _BILLION)


def _dollars(total: int, price: Price, tier: Tier) -> float:
    """`total` is in billionths of a dollar, for a million times the tokens."""
    factor = 1.0 if tier == "live" else price.flex if tier == "flex" else price.batch
    # one division of integers, which Python rounds correctly
    return total * _billionths(factor) / (_BILLION * _BILLION * _TOKENS)

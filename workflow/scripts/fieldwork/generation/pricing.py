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

from fieldwork.errors import StudyError
from fieldwork.generation.ledger import Tier
from fieldwork.generation.providers.base import Usage

HIGHEST = 1e6
_BILLION = 10**9
_TOKENS = 10**6


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

    Raises:
        StudyError: a price is not a number from 0 to a million, or the entry lacks something.
    """
    entry = prices.get(model_id)
    if entry is None:
        return None
    if not isinstance(entry, Mapping):
        raise StudyError(
            f"prices: {model_id}: {entry!r} is not a table of prices; give it input, output, as_of and "
            f"source"
        )
    input_price = _amount(entry, model_id, "input")
    return Price(
        input=input_price,
        cache_read=_amount(entry, model_id, "cached", input_price),
        cache_write=_amount(entry, model_id, "cache_write", input_price),
        output=_amount(entry, model_id, "output"),
        as_of=_day(entry.get("as_of"), model_id),
        source=_source(entry.get("source"), model_id),
        batch=_amount(entry, model_id, "batch", 0.5),
        flex=_amount(entry, model_id, "flex", 0.5),
        cache_storage=_amount(entry, model_id, "cache_storage")
        if entry.get("cache_storage") is not None
        else None,
    )


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


def _amount(
    entry: Mapping[str, Any], model_id: str, field: str, default: float | None = None
) -> float:
    value = entry.get(field)
    if value is None and default is not None:
        return default
    # NaN and infinity fail the comparison
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= HIGHEST:
        return float(value)
    raise StudyError(
        f"prices: {model_id}: {field} is {value!r}; give US dollars for a million tokens, as a number "
        f"from 0 to {HIGHEST:,.0f}"
    )


def _day(value: object, model_id: str) -> date:
    """A day, as YAML reads it or as text."""
    if isinstance(value, date):
        return date(value.year, value.month, value.day)
    try:
        return date.fromisoformat(value if isinstance(value, str) else "")
    except ValueError as error:
        raise StudyError(
            f"prices: {model_id}: as_of is {value!r}; give the day on which you read the price, such as "
            f"2026-11-30"
        ) from error


def _source(value: object, model_id: str) -> str:
    if not isinstance(value, str) or not value:
        raise StudyError(f"prices: {model_id}: source is {value!r}; say where you read the price")
    return value

"""The rows of the plan: what an arm's requests will take, and three bounds of what they will cost.

No cache, expected (the engine's order of calls meets the cache's rules), and ideal (every repeated token
is read from the cache). Contexts left with the provider (`explicit_cache`) are billed once as input and
by the hour; both are part of all bounds but the first. Dollars need a price; without one they are None
and the row says why.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from fieldwork.generation.planning.loads import (
    CACHE_MIN_TOKENS,
    MINUTE_S,
    Dispatch,
    Group,
    Learnt,
    Load,
    cache_of,
    dispatches,
    duration,
    load_of,
    pace_of,
)
from fieldwork.generation.pricing import Price, cost_usd, most_usd, storage_usd
from fieldwork.generation.providers.base import Usage
from fieldwork.records.generation import PlanRow

HOUR_S = 3600.0
UNPRICED_STORAGE = (
    "the fee for storing contexts is left out: the model's entry in prices has no cache_storage"
)


class Arm(NamedTuple):
    """One model, task and condition, and what is planned for it.

    Attributes:
        groups: what is still to be asked.
        output_tokens: expected tokens of an answer.
        n_requests: all requests, answered ones included.
    """

    model: str
    task: str
    condition: str
    basis: str
    groups: Sequence[Group]
    output_tokens: float
    max_tokens: int
    n_requests: int
    n_answered: int


def plan_rows(
    arm: Arm, model: Mapping[str, Any], price: Price | None, learnt: Learnt, latency_s: float
) -> list[PlanRow]:
    """The rows of an arm, one for each dispatch its provider has.

    Args:
        model: entry of `models`, defaults filled in.
        latency_s: seconds a call is assumed to take.
    """
    return [_row(arm, model, price, learnt, latency_s, each) for each in dispatches(model)]


def _row(
    arm: Arm,
    model: Mapping[str, Any],
    price: Price | None,
    learnt: Learnt,
    latency_s: float,
    dispatch: Dispatch,
) -> PlanRow:
    load = arm_load(arm, model, price, learnt, dispatch)
    output, most = _output(load, arm), load.requests * arm.max_tokens
    takes = duration(load, most, pace_of(model, latency_s), cache_of(model, dispatch))
    batch = dispatch == "batch"
    costs = load_costs(load, arm, model, price, dispatch)
    return PlanRow(
        model=arm.model,
        task=arm.task,
        condition=arm.condition,
        dispatch=dispatch,
        is_chosen=dispatch == model.get("dispatch", "live"),
        basis=arm.basis,
        n_requests=arm.n_requests,
        n_answered=arm.n_answered,
        n_contexts=load.groups,
        prefix_tokens=load.prefix,
        question_tokens=load.question,
        cached_tokens=load.cached,
        cache_write_tokens=load.written,
        stored_tokens=load.stored,
        stored_token_hours=load.token_seconds / HOUR_S,
        output_tokens=output,
        output_tokens_most=most,
        tokens_per_byte=learnt.tokens_per_byte,
        minutes=None if batch else takes.seconds / MINUTE_S,
        limited_by="the provider, within 24 h a batch" if batch else takes.limited_by,
        cost_no_cache_usd=costs.no_cache,
        cost_expected_usd=costs.expected,
        cost_ideal_usd=costs.ideal,
        cost_most_usd=costs.most,
        price_as_of=price.as_of.isoformat() if price else None,
        reason=costs.reason,
    )


def arm_load(
    arm: Arm, model: Mapping[str, Any], price: Price | None, learnt: Learnt, dispatch: Dispatch
) -> Load:
    """The arm's groups added up, as the model's cache is expected to meet them."""
    rules = model.get("prefix_cache") or {}
    shortest = rules.get("min_tokens", CACHE_MIN_TOKENS)
    load = load_of(arm.groups, cache_of(model, dispatch), learnt.tokens_per_byte, shortest)
    return load._replace(written=0) if price is None or price.cache_write == price.input else load


def _output(load: Load, arm: Arm) -> int:
    return round(load.requests * min(arm.output_tokens, arm.max_tokens))


class Costs(NamedTuple):
    """What a load costs, in US dollars, in the bounds of the plan; None with a reason."""

    no_cache: float | None
    expected: float | None
    ideal: float | None
    most: float | None
    reason: str | None


def load_costs(
    load: Load, arm: Arm, model: Mapping[str, Any], price: Price | None, dispatch: Dispatch
) -> Costs:
    """What a load costs whose answers are those of the arm's task."""
    if model["provider"] == "embedded":
        return Costs(0.0, 0.0, 0.0, 0.0, None)
    if price is None:
        return Costs(None, None, None, None, f"no entry {model['model']!r} in prices")
    output, most = _output(load, arm), load.requests * arm.max_tokens
    plain = Usage(load.input, 0, 0, output, None)
    expected = plain._replace(cache_read=load.cached, cache_write=load.written)
    # with contexts left at the provider even the first question reads one
    ideal = plain._replace(cache_read=max(load.repeated, load.cached))
    storage = storage_usd(load.stored, load.token_seconds / HOUR_S, price)
    return Costs(
        no_cache=cost_usd(plain, price, dispatch),
        expected=_plus(cost_usd(expected, price, dispatch), storage),
        ideal=_plus(cost_usd(ideal, price, dispatch), storage),
        most=_plus(most_usd(load.input, most, price, dispatch), storage),
        reason=UNPRICED_STORAGE if load.stored and price.cache_storage is None else None,
    )


def _plus(usd: float | None, more: float) -> float | None:
    return None if usd is None else usd + more

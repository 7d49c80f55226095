"""Rows of the plan: what is left to send, how long that takes, and three bounds of what it will cost.

The bounds are: no cache; expected, where the engine's order of calls meets the cache's rules; and ideal,
where every repeated token is read from the cache. Contexts stored with the provider (`explicit_cache`)
are billed once as input and then by the hour; both are part of all bounds but the first. Dollars need a
price. Without one they are None, and the row says why.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from fieldwork.config.models import is_local
from fieldwork.generation.first_tokens import STREAM, stream_settings
from fieldwork.generation.planning.loads import (
    CACHE_MIN_TOKENS,
    DISPATCHES,
    LIVE_ONLY,
    MINUTE_S,
    Dispatch,
    Load,
    ObservedTokens,
    PlannedGroup,
    cache_of,
    duration,
    load_of,
)
from fieldwork.generation.pricing import Price, cost_usd, most_usd, storage_usd
from fieldwork.generation.providers.base import Usage
from fieldwork.records.generation import PlanRow

HOUR_S = 3600.0
UNPRICED_STORAGE = (
    "the cost leaves out the fee for storing contexts, as the model's entry in prices has no "
    "cache_storage"
)


class PlannedArm(NamedTuple):
    """One model, task and condition, and what is planned for it.

    Attributes:
        basis: what the tokens are counted from.
        groups: the requests without an answer.
        output_tokens: expected tokens of an answer.
        n_requests: all requests, answered ones included.
    """

    model: str
    task: str
    condition: str
    basis: str
    groups: Sequence[PlannedGroup]
    output_tokens: float
    max_tokens: int
    n_requests: int
    n_answered: int

    def expecting(self, observed_tokens: ObservedTokens) -> "PlannedArm":
        """The arm with the answers as long as those of its task were, where there are any."""
        output_tokens = observed_tokens.output_tokens.get(self.task, self.output_tokens)
        return self._replace(output_tokens=output_tokens)


def plan_rows(
    arm: PlannedArm,
    model: Mapping[str, Any],
    price: Price | None,
    observed_tokens: ObservedTokens,
    latency_s: float,
) -> list[PlanRow]:
    """The rows of an arm, one for each dispatch its provider has.

    Args:
        model: entry of `models`, defaults filled in.
        latency_s: seconds a call is assumed to take.
    """
    return [
        _row(arm, model, price, observed_tokens, latency_s, dispatch)
        for dispatch in DISPATCHES.get(model["provider"], LIVE_ONLY)
    ]


def stream_row(
    arm: PlannedArm,
    model: Mapping[str, Any],
    price: Price | None,
    observed_tokens: ObservedTokens,
    latency_s: float,
) -> PlanRow:
    """The row of calls that are sent once more as streams, at the price of live ones."""
    settings = stream_settings(model)
    row = _row(arm, settings, price, observed_tokens, latency_s, "live")
    return replace(row, dispatch=STREAM)


def _row(
    arm: PlannedArm,
    model: Mapping[str, Any],
    price: Price | None,
    observed_tokens: ObservedTokens,
    latency_s: float,
    dispatch: Dispatch,
) -> PlanRow:
    load = arm_load(arm, model, price, observed_tokens, dispatch)
    most_output = load.n_requests * arm.max_tokens
    time = duration(load, most_output, model, latency_s, cache_of(model, dispatch))
    is_batch = dispatch == "batch"
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
        n_contexts=load.n_groups,
        prefix_tokens=load.prefix_tokens,
        question_tokens=load.question_tokens,
        cached_tokens=load.cached_tokens,
        cache_write_tokens=load.cache_write_tokens,
        stored_tokens=load.stored_tokens,
        stored_token_hours=load.stored_token_seconds / HOUR_S,
        output_tokens=_output_tokens(load, arm),
        output_tokens_most=most_output,
        tokens_per_byte=observed_tokens.tokens_per_byte,
        minutes=None if is_batch else time.seconds / MINUTE_S,
        limited_by="the provider, at most 24 h a batch" if is_batch else time.limited_by,
        cost_no_cache_usd=costs.no_cache_usd,
        cost_expected_usd=costs.expected_usd,
        cost_ideal_usd=costs.ideal_usd,
        cost_most_usd=costs.most_usd,
        price_as_of=price.as_of.isoformat() if price else None,
        reason=costs.reason,
    )


def arm_load(
    arm: PlannedArm,
    model: Mapping[str, Any],
    price: Price | None,
    observed_tokens: ObservedTokens,
    dispatch: Dispatch,
) -> Load:
    """The arm's groups added up, as the model's cache is expected to meet them."""
    rules = model.get("prefix_cache") or {}
    min_tokens = rules.get("min_tokens", CACHE_MIN_TOKENS)
    cache = cache_of(model, dispatch)
    load = load_of(arm.groups, cache, observed_tokens.tokens_per_byte, min_tokens)
    has_write_fee = price is not None and price.cache_write != price.input
    return load if has_write_fee else load._replace(cache_write_tokens=0)


def _output_tokens(load: Load, arm: PlannedArm) -> int:
    return round(load.n_requests * min(arm.output_tokens, arm.max_tokens))


class CostBounds(NamedTuple):
    """What a load costs, in US dollars, in the bounds of the plan; None with a reason."""

    no_cache_usd: float | None
    expected_usd: float | None
    ideal_usd: float | None
    most_usd: float | None
    reason: str | None


def load_costs(
    load: Load, arm: PlannedArm, model: Mapping[str, Any], price: Price | None, dispatch: Dispatch
) -> CostBounds:
    """What a load costs whose answers are those of the arm's task."""
    if is_local(model):
        return CostBounds(0.0, 0.0, 0.0, 0.0, None)
    if price is None:
        return CostBounds(
            None, None, None, None, f"the config's prices have no entry {model['model']!r}"
        )
    most_output = load.n_requests * arm.max_tokens
    no_cache = Usage(load.input_tokens, 0, 0, _output_tokens(load, arm), None)
    expected_usage = no_cache._replace(
        cache_read=load.cached_tokens, cache_write=load.cache_write_tokens
    )
    # with contexts stored at the provider even the first question reads one
    ideal_usage = no_cache._replace(cache_read=max(load.repeated_tokens, load.cached_tokens))
    storage = storage_usd(load.stored_tokens, load.stored_token_seconds / HOUR_S, price)
    return CostBounds(
        no_cache_usd=cost_usd(no_cache, price, dispatch),
        expected_usd=_sum_usd(cost_usd(expected_usage, price, dispatch), storage),
        ideal_usd=_sum_usd(cost_usd(ideal_usage, price, dispatch), storage),
        most_usd=most_usd(load.input_tokens, most_output, price, dispatch) + storage,
        reason=UNPRICED_STORAGE if load.stored_tokens and price.cache_storage is None else None,
    )


def _sum_usd(usd: float | None, storage: float) -> float | None:
    return None if usd is None else usd + storage

"""Whether models stand in the same order offline and another way of asking.

Owns the rank correlation with its test and interval, the mean change of score, and the pairs of models
whose order turns, with what chance alone could have turned. Promises the same result whatever the order
of the models.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from fieldwork.estimates.quantity import Quantity
from fieldwork.metrics.practice.ways import MIN_MODELS, ModelScores, lead_interval
from fieldwork.records.practice import PracticeOrder, PracticeTurn
from fieldwork.statistics.intervals import ends_of
from fieldwork.statistics.rank_correlation import (
    MIN_BOOTSTRAP,
    bootstrap_intervals,
    correlate_ranks,
    discordant_pairs,
    rho_permutation_test,
)
from fieldwork.statistics.user_intervals import RAREST_USERS

WITHOUT_NAMES: Mapping[str, Any] = MappingProxyType(
    dict.fromkeys(("task", "metric", "way_task", "condition"), "")
)
"""Of scores that are no study's."""


class WayOrder(NamedTuple):
    """The order of the models one way, beside their order offline, and the pairs that turn."""

    order: PracticeOrder
    turns: list[PracticeTurn]


def compare_orders(
    offline: ModelScores,
    way: ModelScores,
    *,
    n_permutations: int,
    random: np.random.Generator,
    rarest_users: float = RAREST_USERS,
    baseline: str = "",
    names: Mapping[str, Any] = WITHOUT_NAMES,
) -> WayOrder:
    """Spearman's rho (Spearman 1904) with its permutation test, and the pairs that turn.

    Args:
        n_permutations: random orders, where there are too many models to list all.
        rarest_users: share of users of the rarest kind that intervals cover.
        names: what the rows begin with: those of `PracticeWay`.
    """
    models = sorted(offline.keys() & way.keys())
    means = [[side[model].mean for model in models] for side in (offline, way)]
    correlation = correlate_ranks(*means)
    turns = [
        _turned_pair(models[leader], models[follower], (offline, way), rarest_users, names)
        for leader, follower in discordant_pairs(*means)
    ]
    reason = _no_order(models, offline, way, is_constant=correlation.rho is None)
    test, interval = None, None
    if reason is None:
        test = rho_permutation_test(*means, n_permutations=n_permutations, random=random)
        interval = bootstrap_intervals(*means, random=random).rho
        reason = None if interval else _no_interval(len(models))
    verdicts = [pair.is_beyond_chance for pair in turns]
    order = PracticeOrder(
        **names,
        baseline=baseline,
        **Quantity(correlation.rho if test else None, interval).columns("rho"),
        p_value=test.p_value if test else None,
        p_least=test.p_least if test else None,
        n_permutations=test.n_permutations if test else None,
        difference=float(np.mean(means[1]) - np.mean(means[0])) if models else None,
        n_models=len(models),
        n_pairs=correlation.pairs.total,
        n_tied=correlation.pairs.n_tied,
        n_discordant=correlation.pairs.discordant,
        n_beyond_chance=verdicts.count(True),
        n_judged=len(verdicts) - verdicts.count(None),
        reason=reason,
    )
    return WayOrder(order, turns)


def _turned_pair(
    model: str,
    other: str,
    sides: tuple[ModelScores, ModelScores],
    rarest_users: float,
    names: Mapping[str, Any],
) -> PracticeTurn:
    """A turn is beyond chance where both intervals leave out 0; None where one is missing."""
    lead, way_lead = (side[model].mean - side[other].mean for side in sides)
    intervals = [lead_interval(s[model], s[other], rarest_users=rarest_users) for s in sides]
    (lead_low, lead_high), (way_low, way_high) = map(ends_of, intervals)
    reasons = [
        f"no interval {place}: too few runs or users, or all score alike"
        for place, interval in zip(("offline", "that way"), intervals, strict=True)
        if interval is None
    ]
    return PracticeTurn(
        **names,
        model=model,
        other=other,
        lead=lead,
        lead_low=lead_low,
        lead_high=lead_high,
        way_lead=way_lead,
        way_low=way_low,
        way_high=way_high,
        is_beyond_chance=None
        if lead_low is None or way_high is None
        else lead_low > 0 and way_high < 0,
        reason="; ".join(reasons) or None,
    )


def _no_order(
    models: Sequence[str], offline: ModelScores, way: ModelScores, *, is_constant: bool
) -> str | None:
    if len(models) < MIN_MODELS:
        return (
            f"no order: models with a score offline {len(offline)}, that way {len(way)}, both "
            f"{len(models)}, and {MIN_MODELS} are needed"
        )
    return "no order: all models score alike offline, or that way" if is_constant else None


def _no_interval(n_models: int) -> str:
    if n_models < MIN_BOOTSTRAP:
        return f"no interval: the bootstrap needs {MIN_BOOTSTRAP} models, there are {n_models}"
    return "no interval: all resamples of the models have one order, or too many have none"

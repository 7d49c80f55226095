"""Whether models stand in the same order offline and another way of asking.

Owns the rank correlation with its test and interval, the mean change of score, and the pairs of models
whose order turns, with what chance alone could have turned. Promises the same result whatever the order
of the models.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fieldwork.metrics.practice.ways import MIN_MODELS, ModelScores, lead_interval
from fieldwork.statistics.intervals import Interval
from fieldwork.statistics.rank_correlation import (
    MIN_BOOTSTRAP,
    PairCounts,
    RankTest,
    bootstrap_intervals,
    correlate_ranks,
    discordant_pairs,
    rho_permutation_test,
)
from fieldwork.statistics.user_intervals import RAREST_USERS


class TurnedPair(NamedTuple):
    """A model that is ahead offline, and one that is ahead of it the other way.

    Attributes:
        lead: score of `model` less that of `other`, offline; above 0.
        way_lead: the same the other way; below 0.
    """

    model: str
    other: str
    lead: float
    interval: Interval | None
    way_lead: float
    way_interval: Interval | None

    @property
    def is_beyond_chance(self) -> bool | None:
        """Whether both intervals leave out 0; None where one is missing."""
        if self.interval is None or self.way_interval is None:
            return None
        return self.interval.low > 0 and self.way_interval.high < 0


class WayOrder(NamedTuple):
    """The order of the models one way, beside their order offline.

    Attributes:
        models: those with scores both ways, in alphabetical order.
        difference: mean over models of the score that way less the offline score; None without a model.
    """

    models: tuple[str, ...]
    rho: float | None
    interval: Interval | None
    test: RankTest | None
    difference: float | None
    pairs: PairCounts
    turns: tuple[TurnedPair, ...]
    reason: str | None


def compare_orders(
    offline: ModelScores,
    way: ModelScores,
    *,
    n_permutations: int,
    random: np.random.Generator,
    rarest_users: float = RAREST_USERS,
) -> WayOrder:
    """Spearman's rho (Spearman 1904) with its permutation test, and the pairs that turn.

    Args:
        n_permutations: random orders, where there are too many models to list all.
        rarest_users: share of users of the rarest kind that intervals cover.
    """
    models = tuple(sorted(offline.keys() & way.keys()))
    means = [[side[model].mean for model in models] for side in (offline, way)]
    correlation = correlate_ranks(*means)
    turns = tuple(
        _turned_pair(models[leader], models[follower], offline, way, rarest_users)
        for leader, follower in discordant_pairs(*means)
    )
    order = WayOrder(
        models=models,
        rho=None,
        interval=None,
        test=None,
        difference=float(np.mean(means[1]) - np.mean(means[0])) if models else None,
        pairs=correlation.pairs,
        turns=turns,
        reason=_no_order(models, offline, way, is_constant=correlation.rho is None),
    )
    if order.reason:
        return order
    test = rho_permutation_test(*means, n_permutations=n_permutations, random=random)
    interval = bootstrap_intervals(*means, random=random).rho
    return order._replace(
        rho=correlation.rho,
        test=test,
        interval=interval,
        reason=None if interval else _no_interval(len(models)),
    )


def _turned_pair(
    model: str, other: str, offline: ModelScores, way: ModelScores, rarest_users: float
) -> TurnedPair:
    leads = [side[model].mean - side[other].mean for side in (offline, way)]
    intervals = [
        lead_interval(side[model], side[other], rarest_users=rarest_users)
        for side in (offline, way)
    ]
    return TurnedPair(model, other, leads[0], intervals[0], leads[1], intervals[1])


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

"""How varied the answers to list items are, at an equal number of answers.

Owns unique options, top-5 share and entropies of a cell (an item under one condition), their intervals
over answers, and the share of answers that name each option. Promises that neither the order of the
rows nor other cells change a value, except through the number of answers that all conditions of an
item are brought to.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from fieldwork.metrics.answer_sets import (
    Arm,
    ItemAnswers,
    Options,
    equal_sizes,
    indicator_of,
    read_list_answers,
)
from fieldwork.records.metrics import Heterogeneity, ItemShare
from fieldwork.statistics.arrays import Counts, Floats, Indices
from fieldwork.statistics.delete_many import scale_deviations, third_samples, widening
from fieldwork.statistics.entropy import plug_in_bits
from fieldwork.statistics.equal_n import random_orders, sampled_counts
from fieldwork.statistics.intervals import Interval, jackknife_variance, wilson_interval
from fieldwork.statistics.richness import rarefaction_table
from fieldwork.statistics.seeds import generator
from fieldwork.statistics.user_intervals import RAREST_USERS, too_few_users, unit_interval

TOP = 5
METRICS = (
    "unique_items",
    "top5_share",
    "one_minus_top5_share",
    "entropy_bits",
)
WITHOUT_INTERVAL = "unique_items"
"""The metric without a reliable interval; docs/methods.md has the figures."""
UNIT = "response"
NO_SPREAD = "no interval: leaving out a response never changes the value"
NO_INTERVAL = "no interval: none is reliable for this metric (docs/methods.md)"


class _BoundedEstimate(NamedTuple):
    value: float
    interval: Interval | None


def measure_heterogeneity(
    answers: pd.DataFrame, *, seed: int, rarest_users: float = RAREST_USERS
) -> list[Heterogeneity]:
    """The metrics of `METRICS` for each item and condition, with jackknife intervals where reliable.

    All conditions of a model, task and item are brought to the smallest number of readable answers
    among them. A condition that has none is left out of that minimum and gets NULL.
    Rows are in order of model, task, condition, item and metric; empty input gives no rows.

    Args:
        rarest_users: share of users of the rarest kind that intervals cover.
    """
    arms = read_list_answers(answers)
    sizes = equal_sizes(arms)
    return [
        row
        for arm, items in arms.items()
        for item, item_answers in items.items()
        for row in _measure(
            arm, item, item_answers, sizes.get(arm.item(item), 0), seed, rarest_users
        )
    ]


def measure_item_shares(answers: pd.DataFrame) -> list[ItemShare]:
    """Share of readable answers that name each option, with 95 % Wilson intervals.

    An option that no answer names has no row; the commonest options come first.
    """
    return [
        row
        for arm, items in read_list_answers(answers).items()
        for item, item_answers in items.items()
        for row in _item_shares(arm, item, item_answers.independent())
    ]


def _measure(
    arm: Arm, item: str, answers: ItemAnswers, n_equal: int, seed: int, rarest_users: float
) -> Iterator[Heterogeneity]:
    options = answers.independent()
    random = generator(seed, "subsample", arm.model, arm.task, arm.condition, item)
    rarest = rarest_users if answers.unit == "puppet" else None
    estimates = _estimates(options, n_equal, random, rarest) if options else {}
    for metric in METRICS:
        estimate = estimates.get(metric)
        interval = estimate.interval if estimate else None
        reason = f"none of {answers.n_unread} responses gives an option"
        yield Heterogeneity(
            model=arm.model,
            task=arm.task,
            condition=arm.condition,
            item_id=item,
            metric=metric,
            estimate=estimate.value if estimate else None,
            ci_low=interval.low if interval else None,
            ci_high=interval.high if interval else None,
            n_responses=len(options),
            n_equal=n_equal,
            n_unread=answers.n_unread,
            unit=UNIT,
            reason=_no_interval(metric, estimate, len(options), rarest) if estimate else reason,
        )


def _no_interval(
    metric: str, estimate: _BoundedEstimate, n_answers: int, rarest_users: float | None
) -> str | None:
    if estimate.interval is not None:
        return None
    if metric == WITHOUT_INTERVAL:
        return NO_INTERVAL
    if rarest_users is not None and (reason := too_few_users(n_answers, rarest_users)):
        return reason
    return "no interval: there is one response" if n_answers == 1 else NO_SPREAD


def _estimates(
    answers: Sequence[Options],
    n_equal: int,
    random: np.random.Generator,
    rarest_users: float | None,
) -> dict[str, _BoundedEstimate]:
    indicator = indicator_of(answers)
    n_answers, counts = len(indicator), indicator.sum(axis=0, keepdims=True)
    unique = float(rarefaction_table(n_answers, n_equal)[counts].sum())
    orders = random_orders(n_answers, n_equal, random)
    totals = sampled_counts(orders[:, :n_equal], indicator)
    top5, entropy = float(top5_share(totals).mean()), float(plug_in_bits(totals).mean())
    moves = influences(orders, n_equal, indicator)
    samples = third_samples(n_answers, random)
    deviations = rest_deviations(samples, indicator)
    for place in (0, 1):
        variance = float(jackknife_variance(moves[:, place]))
        moves[:, place] *= widening(deviations[:, place], variance)
    rest_interval, entropy_interval = (
        unit_interval(value, moves[:, place], rarest_users=rarest_users)
        for place, value in enumerate((1 - top5, entropy))
    )
    highest = math.log2(n_equal * max(len(options) for options in answers))
    rest = _estimate(1 - top5, rest_interval, Interval(0.0, 1.0))
    return {
        "unique_items": _BoundedEstimate(unique, None),
        "top5_share": _complement(rest),
        "one_minus_top5_share": rest,
        "entropy_bits": _estimate(entropy, entropy_interval, Interval(0.0, highest)),
    }


def _estimate(value: float, interval: Interval | None, bounds: Interval) -> _BoundedEstimate:
    if interval is None:
        return _BoundedEstimate(value, None)
    low, high = max(bounds.low, interval.low), min(bounds.high, interval.high)
    return _BoundedEstimate(value, Interval(min(low, value), max(high, value)))


def _complement(share: _BoundedEstimate) -> _BoundedEstimate:
    if share.interval is None:
        return _BoundedEstimate(1 - share.value, None)
    return _BoundedEstimate(
        1 - share.value, Interval(1 - share.interval.high, 1 - share.interval.low)
    )


def influences(orders: Indices, n_equal: int, indicator: Counts) -> Floats:
    """How far 1 - top-5 share and entropy move without each answer: shape (answers, 2).

    Leaving an answer out of an order moves only the subsamples that hold it: the next in order comes
    in. The same orders serve all answers, so that the noise of subsampling cancels. Zeros of one
    answer, without which nothing is left.
    """
    n_answers = len(indicator)
    moves = np.zeros((n_answers, 2))
    if n_answers == 1:
        return moves
    for order in orders:
        subsample = indicator[order[:n_equal]]
        total = subsample.sum(axis=0, keepdims=True)
        successor = indicator[order[n_equal:]].sum(axis=0, keepdims=True)
        rest = total - subsample + successor
        moves[order[:n_equal], 0] += top5_share(total) - top5_share(rest)
        moves[order[:n_equal], 1] += plug_in_bits(rest) - plug_in_bits(total)
    moves /= len(orders)
    return moves


def rest_deviations(samples: Counts, indicator: Counts) -> Floats:
    """How 1 - top-5 share and entropy vary over samples of a third of the answers: shape (samples, 2).

    Args:
        samples: 0 and 1 of shape (samples, answers).

    Returns:
        What `scale_deviations` makes of them.
    """
    counts = samples @ indicator
    is_empty = counts.sum(axis=1) == 0
    values = np.zeros((len(counts), 2))
    if not is_empty.all():
        kept_counts = counts[~is_empty]
        shares, entropies = 1 - top5_share(kept_counts), plug_in_bits(kept_counts)
        values[~is_empty] = np.column_stack([shares, entropies])
        values[is_empty] = values[~is_empty].mean(axis=0)
    return np.column_stack([scale_deviations(column, samples.shape[1]) for column in values.T])


def top5_share(counts: Counts) -> Floats:
    """Share of the mentions that the five commonest options have, for each row of counts."""
    top = counts if counts.shape[1] <= TOP else np.partition(counts, -TOP, axis=1)[:, -TOP:]
    share: Floats = top.sum(axis=1) / counts.sum(axis=1)
    return share


def _item_shares(arm: Arm, item: str, answers: Sequence[Options]) -> Iterator[ItemShare]:
    n_answers = len(answers)
    n_named = Counter(option for options in answers for option in options)
    for option, count in sorted(n_named.items(), key=_commonest_first):
        interval = wilson_interval(count, n_answers)
        yield ItemShare(
            model=arm.model,
            task=arm.task,
            condition=arm.condition,
            item_id=item,
            answer=option,
            n_named=count,
            n_responses=n_answers,
            share=count / n_answers,
            ci_low=interval.low,
            ci_high=interval.high,
        )


def _commonest_first(entry: tuple[str, int]) -> tuple[int, str]:
    return -entry[1], entry[0]

"""Mean, median, spread and reliability of the answers to scales and numbers, under each condition.

The typical answer to a scale is its mean. That to a number is its median: numbers have no bounds, and of
a mean without bounds no interval holds whatever the numbers are (Bahadur and Savage 1956).
"""

import math

import numpy as np
import pandas as pd

from fieldwork.estimates.answer_sets import Arm
from fieldwork.estimates.quantity import Quantity
from fieldwork.metrics.values.samples import ValueSample, read_value_samples
from fieldwork.records.values import ValueEstimate
from fieldwork.statistics.arrays import Floats
from fieldwork.statistics.user_intervals import (
    RAREST_USERS,
    mean_interval,
    median_interval,
    too_few_users,
)

OF_A_NUMBER = "no interval of the mean: a number has no bounds, so it has one of the median"

MIN_ALPHA_UNITS = 3
"""Users from which Cronbach's alpha is computed."""


def measure_values(
    answers: pd.DataFrame, items: pd.DataFrame, *, rarest_users: float = RAREST_USERS
) -> list[ValueEstimate]:
    """One row for each item of an arm, and one for its scales together where there are several.

    In order of model, task, condition, kind and item.

    Args:
        items: with the points of scales.
        rarest_users: share of users of the rarest kind that intervals cover.
    """
    rows = [
        _row(arm, item, sample, rarest_users)
        for arm, samples in read_value_samples(answers, items).items()
        for item, sample in samples.items()
    ]
    return sorted(rows, key=lambda r: (r.model, r.task, r.condition, r.kind, r.item_id or ""))


def _row(arm: Arm, item: str | None, sample: ValueSample, rarest_users: float) -> ValueEstimate:
    values = sample.values
    quartiles = [float(q) for q in np.quantile(values, (0.25, 0.5, 0.75))] if values else [None] * 3
    interval = None
    if values and sample.scale:
        interval = mean_interval(values, sample.rarest(rarest_users))
        interval = interval and interval.clip(*sample.scale)
    mean = math.fsum(values) / len(values) if values else None
    return ValueEstimate(
        **arm.columns,
        kind=arm.kind,
        item_id=item,
        **Quantity(mean, interval).columns("mean"),
        sd=float(np.std(values, ddof=1)) if len(values) > 1 else None,
        lower_quartile=quartiles[0],
        **Quantity(quartiles[1], median_interval(values)).columns(
            "median", "median_low", "median_high"
        ),
        upper_quartile=quartiles[2],
        alpha=cronbach_alpha(sample.parts) if sample.has_users else None,
        n_units=len(values),
        n_without=sample.n_without,
        n_missing=len(sample.gaps),
        n_items=sample.parts.shape[1],
        unit=sample.unit,
        reason=None if interval else no_interval_reason(sample, rarest_users),
    )


def no_interval_reason(sample: ValueSample, rarest_users: float) -> str:
    """Why there is no value, or no interval of the mean."""
    if not sample.values:
        is_battery = sample.parts.shape[1] > 1
        return (
            "no user or rerun has a value on all scales" if is_battery else "no answer has a value"
        )
    if sample.scale is None:
        return OF_A_NUMBER
    if sample.has_users and (shortage := too_few_users(len(sample.values), rarest_users)):
        return shortage
    if len(sample.values) == 1:
        return "no interval: one answer has a value"
    return "no interval: all answers have the same value"


def cronbach_alpha(values: Floats) -> float | None:
    """Cronbach's alpha (1951) of items over units: shape (units, items).

    k / (k - 1) * (1 - sum of the items' variances / variance of the sums). None with fewer than
    `MIN_ALPHA_UNITS` units or two items, or where the sums do not vary. Below 0 where items run against
    each other, as a reversed item does that is not marked as one.
    """
    n_units, n_items = values.shape
    if n_units < MIN_ALPHA_UNITS or n_items < 2:
        return None
    of_sums = float(values.sum(axis=1).var(ddof=1))
    if not of_sums > 1e-12:
        return None
    of_items = float(values.var(axis=0, ddof=1).sum())
    return float(n_items / (n_items - 1) * (1 - of_items / of_sums))

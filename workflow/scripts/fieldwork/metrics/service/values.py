"""Estimates of one arm: times, tokens, tokens a second, and prices of right answers and points.

Owns the list of measures. A value is NULL where too few answers say it, and its interval where too few
units do; a reason says which.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from fieldwork.estimates.quantity import Quantity
from fieldwork.estimates.reasons import join_reasons
from fieldwork.metrics.service.calls import ArmCalls, Unit, units_of
from fieldwork.metrics.service.scores import PointScore
from fieldwork.statistics.arrays import Flags, Floats, Indices
from fieldwork.statistics.intervals import ratio_interval
from fieldwork.statistics.quantiles import quantile, quantile_interval, values_needed
from fieldwork.statistics.user_intervals import too_few_users, unit_interval

QUANTILES: Mapping[str, float] = {
    "latency_p50_s": 0.5,
    "latency_p95_s": 0.95,
    "latency_p99_s": 0.99,
}
FIRST_QUANTILES: Mapping[str, float] = {"first_token_p50_s": 0.5, "first_token_p95_s": 0.95}
LATENCY, USD = "latency_mean_s", "usd_call"
MEANS: Mapping[str, str] = {
    "input_tokens": "input_tokens",
    "cached_tokens": "cached_tokens",
    "output_tokens": "output_tokens",
    USD: "cost_usd",
}
"""Measures that are means of a column."""

POINTS = 100
"""Points of score from nothing to everything right."""

_ABSENT = {
    "input_tokens": "no answer states its tokens",
    "cached_tokens": "no answer states what a cache had",
    "output_tokens": "no answer states its tokens",
    USD: "no answer has a price: prices has no entry for the model, or its tokens are not stated",
}


class Sample(NamedTuple):
    """Some answers of an arm.

    Attributes:
        units: number of the unit of each, from 0.
        rarest_users: share of users of the rarest kind to cover; None where no unit is a user.
        note: which answers are left out, and why.
    """

    unit: Unit
    units: Indices
    rarest_users: float | None
    note: str | None

    @property
    def n_units(self) -> int:
        """Units of these answers."""
        return int(self.units.max()) + 1 if len(self.units) else 0

    def shortage(self) -> str | None:
        """Why there is no interval over so few users."""
        return too_few_users(self.n_units, self.rarest_users) if self.rarest_users else None


class ServiceValue(NamedTuple):
    """An estimate, and the answers behind it."""

    quantity: Quantity
    sample: Sample


def service_values(
    calls: ArmCalls,
    score: PointScore | None,
    first_calls: pd.DataFrame | None,
    rarest_users: float,
) -> dict[str, ServiceValue]:
    """Every measure of an arm, by name.

    Args:
        score: None where the task has no right answers.
        first_calls: as `read_first_times` gives them; None where no call was sent as a stream.
    """
    values = _times(calls, rarest_users)
    if first_calls is not None:
        values |= _first_values(first_calls, rarest_users)
    for measure, column in MEANS.items():
        numbers = calls.numbers(column)
        is_stated = np.isfinite(numbers)
        sample = _sample(calls, is_stated, rarest_users, _omission(is_stated, measure))
        values[measure] = _ratio(numbers[is_stated], np.ones(is_stated.sum()), sample)
    if score is not None:
        values |= _prices(values, score)
    return values


def _sample(calls: ArmCalls, is_part: Flags, rarest_users: float, note: str | None) -> Sample:
    units = np.unique(calls.units[is_part], return_inverse=True)[1].astype(np.int64)
    rarest = rarest_users if calls.unit == "puppet" else None
    return Sample(
        calls.unit, units, rarest, note if len(calls.answers) else "no call has an answer"
    )


def _omission(is_stated: Flags, measure: str) -> str | None:
    n_unstated = int((~is_stated).sum())
    if not n_unstated:
        return None
    if n_unstated == len(is_stated):
        return _ABSENT[measure]
    return f"{n_unstated} of {len(is_stated)} answers left out: they do not state it"


# ---- times -------------------------------------------------------------------------------------------


def _times(calls: ArmCalls, rarest_users: float) -> dict[str, ServiceValue]:
    is_timed = calls.is_timed
    sample = _sample(calls, is_timed, rarest_users, calls.absence_of_times())
    times = calls.numbers("latency_s")[is_timed]
    values = {name: _quantile(times, share, sample) for name, share in QUANTILES.items()}
    values[LATENCY] = _ratio(times, np.ones(len(times)), sample)
    tokens = calls.numbers("output_tokens")
    is_written = is_timed & (tokens > 0)
    note = sample.note
    if is_timed.any() and not is_written.any():
        note = "no answer with a time states its tokens"
    sample = _sample(calls, is_written, rarest_users, note)
    tokens, times = tokens[is_written], calls.numbers("latency_s")[is_written]
    values["tokens_s_median"] = _quantile(tokens / times, 0.5, sample)
    values["tokens_s"] = _ratio(tokens, times, sample)
    return values


def _first_values(calls: pd.DataFrame, rarest_users: float) -> dict[str, ServiceValue]:
    timed_calls = calls[calls["first_token_s"].notna()]
    n_whole, note = len(calls) - len(timed_calls), None
    if n_whole:
        note = f"{n_whole} of {len(calls)} streamed calls came in one piece, or without text"
    unit, units = units_of(timed_calls["puppet_id"])
    sample = Sample(unit, units, rarest_users if unit == "puppet" else None, note)
    seconds = timed_calls["first_token_s"].to_numpy(dtype=float)
    return {name: _quantile(seconds, share, sample) for name, share in FIRST_QUANTILES.items()}


def _value(quantity: Quantity, sample: Sample) -> ServiceValue:
    reason = join_reasons(sample.note, quantity.reason)
    # neither times nor prices fall below nothing
    return ServiceValue(quantity.clip(low=0.0)._replace(reason=reason), sample)


def _quantile(values: Floats, share: float, sample: Sample) -> ServiceValue:
    n, n_least = len(values), math.ceil(1 / (1 - share) - 1e-9)
    if n < n_least:
        answers = "1 answer" if n == 1 else f"{n} answers"
        return _value(
            Quantity(reason=f"{answers}, and {n_least} are needed" if n else None), sample
        )
    reason, interval = sample.shortage(), None
    if reason is None:
        clusters = None if sample.unit == "call" else sample.units
        interval = quantile_interval(values, share, clusters)
        if interval is None:
            n_needed = values_needed(share)
            reason = f"no interval: {n} answers, and {n_needed} independent ones are needed"
    return _value(Quantity(quantile(values, share), interval, reason=reason), sample)


def _ratio(numerators: Floats, denominators: Floats, sample: Sample) -> ServiceValue:
    """Sum of the one over sum of the other, with the interval over units: a mean, where all are 1."""
    if not len(numerators):
        return _value(Quantity(), sample)
    above, below = math.fsum(numerators), math.fsum(denominators)
    value, reason, interval = above / below, sample.shortage(), None
    if reason is None and sample.n_units < 2:
        reason = "no interval: there are no two units"
    if reason is None:
        # in one order, so that the order of the answers moves no bit
        order = np.lexsort((denominators, numerators, sample.units))
        units = sample.units[order]
        left_out = (above - np.bincount(units, numerators[order])) / (
            below - np.bincount(units, denominators[order])
        )
        interval = unit_interval(value, left_out - value, rarest_users=sample.rarest_users)
        reason = "no interval: all units are alike" if interval is None else None
    return _value(Quantity(value, interval, reason=reason), sample)


# ---- prices of right answers and points ----------------------------------------------------------------


def _prices(values: Mapping[str, ServiceValue], score: PointScore) -> dict[str, ServiceValue]:
    """US dollars a right answer, and US dollars and seconds a point above chance, of a run."""
    points, n = score.above_chance.times(POINTS), score.n_items
    amounts = {
        "usd_right": (USD, 1, score.whole),
        "usd_point": (USD, n, points),
        "s_point": (LATENCY, n, points),
    }
    return {
        name: ServiceValue(
            _over(values[measure].quantity.times(factor), of_score), values[measure].sample
        )
        for name, (measure, factor, of_score) in amounts.items()
    }


def _over(amount: Quantity, score: Quantity) -> Quantity:
    """An amount divided by a score, with the interval of the ratio."""
    if amount.value is None:
        return amount
    if score.value is None or score.value <= 0:
        return Quantity(reason=score.reason)
    ratio = Quantity(amount.value / score.value, reason=amount.reason)
    if score.bounded_value is None:
        return ratio.because("no interval: the score has none")
    if amount.bounded_value is None:
        return ratio
    interval = ratio_interval(amount.bounded_value, score.bounded_value)
    if interval is None:
        return ratio.because("no interval: the score may be chance alone")
    return ratio._replace(interval=interval)

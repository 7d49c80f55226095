"""Estimates of one arm: times, tokens, tokens a second, and prices of right answers and points.

Owns the list of measures. A value is NULL where too few answers say it, and its interval where too few
units do; a reason says which.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from fieldwork.metrics.service.calls import ArmCalls, FirstTimes, Unit
from fieldwork.metrics.service.scores import PointScore, ScoreValue
from fieldwork.statistics.arrays import Flags, Floats, Indices
from fieldwork.statistics.intervals import BoundedValue, Interval, ratio_interval
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


class ServiceValue(NamedTuple):
    """An estimate, its interval and what is behind it."""

    value: float | None
    interval: Interval | None
    n_answers: int
    n_units: int
    unit: Unit
    reason: str | None

    def bound(self) -> BoundedValue | None:
        """The value with its interval, where it has one."""
        if self.value is None or self.interval is None:
            return None
        return BoundedValue(self.value, self.interval)

    def times(self, factor: float) -> "ServiceValue":
        """The value in other units."""
        if self.value is None:
            return self
        interval = self.interval and Interval(*(factor * end for end in self.interval))
        return self._replace(value=factor * self.value, interval=interval)


class _Sample(NamedTuple):
    """Some answers of an arm: their units, numbered from 0."""

    unit: Unit
    units: Indices
    rarest_users: float | None
    note: str | None

    @property
    def n_units(self) -> int:
        return int(self.units.max()) + 1 if len(self.units) else 0

    def shortage(self) -> str | None:
        """Why there is no interval over so few users."""
        return too_few_users(self.n_units, self.rarest_users) if self.rarest_users else None

    def value(
        self, value: float | None, interval: Interval | None, reason: str | None
    ) -> ServiceValue:
        # neither times nor prices fall below nothing
        interval = interval and Interval(max(0.0, interval.low), interval.high)
        reasons = "; ".join(filter(None, (self.note, reason))) or None
        return ServiceValue(value, interval, len(self.units), self.n_units, self.unit, reasons)


def service_values(
    calls: ArmCalls,
    score: PointScore | None,
    first_times: FirstTimes | None,
    rarest_users: float,
) -> dict[str, ServiceValue]:
    """Every measure of an arm, by name.

    Args:
        score: None where the task has no right answers.
        first_times: None where no call was sent as a stream.
    """
    values = _times(calls, rarest_users)
    if first_times is not None:
        values |= _first_values(first_times, rarest_users)
    for measure, column in MEANS.items():
        numbers = calls.numbers(column)
        is_stated = np.isfinite(numbers)
        sample = _sample(calls, is_stated, rarest_users, _omission(is_stated, measure))
        values[measure] = _ratio(numbers[is_stated], np.ones(is_stated.sum()), sample)
    if score is not None:
        values |= _prices(values, score)
    return values


def _sample(calls: ArmCalls, is_part: Flags, rarest_users: float, note: str | None) -> _Sample:
    units = np.unique(calls.units[is_part], return_inverse=True)[1].astype(np.int64)
    rarest = rarest_users if calls.counts.unit == "puppet" else None
    return _Sample(
        calls.counts.unit, units, rarest, note if len(calls.answers) else "no call has an answer"
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


def _first_values(first_times: FirstTimes, rarest_users: float) -> dict[str, ServiceValue]:
    rarest = rarest_users if first_times.unit == "puppet" else None
    note = first_times.absence_of_times()
    sample = _Sample(first_times.unit, first_times.units, rarest, note)
    return {
        name: _quantile(first_times.seconds, share, sample)
        for name, share in FIRST_QUANTILES.items()
    }


def _quantile(values: Floats, share: float, sample: _Sample) -> ServiceValue:
    n, n_least = len(values), math.ceil(1 / (1 - share) - 1e-9)
    if n == 0:
        return sample.value(None, None, None)
    if n < n_least:
        answers = "1 answer" if n == 1 else f"{n} answers"
        return sample.value(None, None, f"{answers}, and {n_least} are needed")
    shortage = sample.shortage()
    clusters = None if sample.unit == "call" else sample.units
    interval = None if shortage else quantile_interval(values, share, clusters)
    if interval is None and shortage is None:
        shortage = (
            f"no interval: {n} answers, and {values_needed(share)} independent ones are needed"
        )
    return sample.value(quantile(values, share), interval, shortage)


def _ratio(numerators: Floats, denominators: Floats, sample: _Sample) -> ServiceValue:
    """Sum of the one over sum of the other, with the interval over units: a mean, where all are 1."""
    if not len(numerators):
        return sample.value(None, None, None)
    above, below = math.fsum(numerators), math.fsum(denominators)
    value, n_units = above / below, sample.n_units
    shortage = sample.shortage()
    if shortage is None and n_units < 2:
        shortage = "no interval: there are no two units"
    if shortage:
        return sample.value(value, None, shortage)
    # in one order, so that the order of the answers moves no bit
    order = np.lexsort((denominators, numerators, sample.units))
    units = sample.units[order]
    left_out = (above - np.bincount(units, numerators[order])) / (
        below - np.bincount(units, denominators[order])
    )
    interval = unit_interval(value, left_out - value, rarest_users=sample.rarest_users)
    reason = "no interval: all units are alike" if interval is None else None
    return sample.value(value, interval, reason)


# ---- prices of right answers and points ----------------------------------------------------------------


def _prices(values: Mapping[str, ServiceValue], score: PointScore) -> dict[str, ServiceValue]:
    """US dollars a right answer, and US dollars and seconds a point above chance, of a run."""
    points = score.above_chance.times(POINTS)
    return {
        "usd_right": _over(values[USD], score.whole),
        "usd_point": _over(values[USD].times(score.n_items), points),
        "s_point": _over(values[LATENCY].times(score.n_items), points),
    }


def _over(amount: ServiceValue, score: ScoreValue) -> ServiceValue:
    """An amount divided by a score, with the interval of the ratio."""
    if amount.value is None:
        return amount
    if score.value is None or score.value <= 0:
        return amount._replace(value=None, interval=None, reason=score.reason)
    interval, reason = None, amount.reason
    if score.interval is None:
        reason = "; ".join(filter(None, (amount.reason, "no interval: the score has none")))
    elif amount.interval is not None:
        interval = ratio_interval(
            BoundedValue(amount.value, amount.interval), BoundedValue(score.value, score.interval)
        )
        if interval is None:
            reason = "; ".join(filter(None, (reason, "no interval: the score may be chance alone")))
    return amount._replace(value=amount.value / score.value, interval=interval, reason=reason)

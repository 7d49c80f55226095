"""The table of waiting times and prices: every arm beside the baseline."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from fieldwork.metrics.service.calls import ArmCalls, CallCounts, FirstTimes, ServiceArm
from fieldwork.metrics.service.scores import PointScore
from fieldwork.metrics.service.values import ServiceValue, service_values
from fieldwork.records.service import ServiceMeasure
from fieldwork.statistics.intervals import Interval, difference_interval
from fieldwork.statistics.user_intervals import RAREST_USERS


class ArmService(NamedTuple):
    """The counts of an arm and its measures, by name."""

    counts: CallCounts
    values: Mapping[str, ServiceValue]


class _Difference(NamedTuple):
    value: float | None
    interval: Interval | None
    reason: str | None


NO_STREAMS: Mapping[ServiceArm, FirstTimes] = {}
_NO_DIFFERENCE = _Difference(None, None, None)


def measure_service(
    arms: Iterable[ArmCalls],
    scores: Mapping[ServiceArm, PointScore],
    first_times: Mapping[ServiceArm, FirstTimes] = NO_STREAMS,
    *,
    baseline: str,
    rarest_users: float = RAREST_USERS,
) -> list[ServiceMeasure]:
    """A row for each arm and measure; no calls give no rows.

    Args:
        scores: of the arms whose task has right answers.
        first_times: of the arms of which calls were sent as streams.
        rarest_users: share of users of the rarest kind that intervals cover.
    """
    services: dict[ServiceArm, ArmService] = {}
    for calls in arms:
        arm = calls.counts.arm
        values = service_values(calls, scores.get(arm), first_times.get(arm), rarest_users)
        services[arm] = ArmService(calls.counts, values)
    return [
        row
        for arm, service in services.items()
        for row in _rows(service, services.get(arm._replace(condition=baseline)), baseline)
    ]


def _rows(
    service: ArmService, reference: ArmService | None, baseline: str
) -> Iterator[ServiceMeasure]:
    counts = service.counts
    for measure, value in service.values.items():
        difference = _NO_DIFFERENCE
        if counts.arm.condition != baseline:
            difference = _difference(measure, service, reference)
        ends, difference_ends = value.interval, difference.interval
        yield ServiceMeasure(
            *counts.arm,
            baseline=baseline,
            measure=measure,
            estimate=value.value,
            ci_low=ends.low if ends else None,
            ci_high=ends.high if ends else None,
            difference=difference.value,
            difference_low=difference_ends.low if difference_ends else None,
            difference_high=difference_ends.high if difference_ends else None,
            n_calls=counts.n_calls,
            n_errors=counts.n_errors,
            n_resends=counts.n_resends,
            n_answers=value.n_answers,
            n_units=value.n_units,
            unit=value.unit,
            dispatch=counts.dispatch,
            reason="; ".join(filter(None, (value.reason, difference.reason))) or None,
        )


def _difference(measure: str, service: ArmService, reference: ArmService | None) -> _Difference:
    """How much more a condition takes than the baseline.

    The sides are taken as independent. Where they share calls, the interval is too wide.
    """
    amount = service.values[measure]
    if amount.value is None:
        return _NO_DIFFERENCE
    other = reference.values.get(measure) if reference else None
    if reference is None or other is None or other.value is None:
        return _Difference(None, None, "no difference: the baseline has no value")
    if measure.startswith("usd") and service.counts.dispatch != reference.counts.dispatch:
        ways = f"{service.counts.dispatch} and {reference.counts.dispatch}"
        return _Difference(None, None, f"no difference: sent otherwise ({ways})")
    sides = amount.bound(), other.bound()
    if sides[0] is None or sides[1] is None:
        reason = "no interval of the difference: the baseline has none" if sides[0] else None
        return _Difference(amount.value - other.value, None, reason)
    interval = difference_interval(sides[0], [sides[1]])
    return _Difference(amount.value - other.value, interval, None)

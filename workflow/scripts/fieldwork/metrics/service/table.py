"""The table of waiting times and prices: every arm beside the baseline."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import pandas as pd

from fieldwork.estimates.answer_sets import Arm
from fieldwork.estimates.quantity import Quantity
from fieldwork.estimates.reasons import join_reasons
from fieldwork.metrics.service.calls import ArmCalls
from fieldwork.metrics.service.scores import PointScore
from fieldwork.metrics.service.values import ServiceValue, service_values
from fieldwork.records.service import ServiceMeasure
from fieldwork.statistics.intervals import difference_interval
from fieldwork.statistics.user_intervals import RAREST_USERS


class ArmService(NamedTuple):
    """The calls of an arm and its measures, by name."""

    calls: ArmCalls
    values: Mapping[str, ServiceValue]


NO_STREAMS: Mapping[Arm, pd.DataFrame] = {}


def measure_service(
    arms: Iterable[ArmCalls],
    scores: Mapping[Arm, PointScore],
    first_times: Mapping[Arm, pd.DataFrame] = NO_STREAMS,
    *,
    baseline: str,
    rarest_users: float = RAREST_USERS,
) -> list[ServiceMeasure]:
    """A row for each arm and measure; no calls give no rows.

    Args:
        scores: of the arms whose task has right answers.
        first_times: of the arms of which calls were sent as streams, as `read_first_times` gives them.
        rarest_users: share of users of the rarest kind that intervals cover.
    """
    services: dict[Arm, ArmService] = {}
    for calls in arms:
        arm = calls.arm
        values = service_values(calls, scores.get(arm), first_times.get(arm), rarest_users)
        services[arm] = ArmService(calls, values)
    return [
        row
        for arm, service in services.items()
        for row in _rows(service, services.get(arm._replace(condition=baseline)), baseline)
    ]


def _rows(
    service: ArmService, reference: ArmService | None, baseline: str
) -> Iterator[ServiceMeasure]:
    calls = service.calls
    for measure, (quantity, sample) in service.values.items():
        difference = Quantity()
        if calls.arm.condition != baseline:
            difference = _difference(measure, service, reference)
        yield ServiceMeasure(
            model=calls.arm.model,
            task=calls.arm.task,
            condition=calls.arm.condition,
            baseline=baseline,
            measure=measure,
            **quantity.columns(),
            **difference.columns("difference", "difference_low", "difference_high"),
            n_calls=calls.n_calls,
            n_errors=calls.n_calls - len(calls.answers),
            n_resends=calls.n_resends,
            n_answers=len(sample.units),
            n_units=sample.n_units,
            unit=sample.unit,
            dispatch=calls.dispatch,
            reason=join_reasons(quantity.reason, difference.reason),
        )


def _difference(measure: str, service: ArmService, reference: ArmService | None) -> Quantity:
    """How much more a condition takes than the baseline.

    The sides are taken as independent. Where they share calls, the interval is too wide.
    """
    amount = service.values[measure].quantity
    other = reference.values.get(measure) if reference else None
    if amount.value is None:
        return Quantity()
    if reference is None or other is None or other.quantity.value is None:
        return Quantity(reason="no difference: the baseline has no value")
    if measure.startswith("usd") and service.calls.dispatch != reference.calls.dispatch:
        ways = f"{service.calls.dispatch} and {reference.calls.dispatch}"
        return Quantity(reason=f"no difference: sent otherwise ({ways})")
    difference = Quantity(amount.value - other.quantity.value)
    if amount.bounded_value is None:
        return difference
    if other.quantity.bounded_value is None:
        return difference.because("no interval of the difference: the baseline has none")
    interval = difference_interval(amount.bounded_value, [other.quantity.bounded_value])
    return difference._replace(interval=interval)

"""The sentence about waiting times and prices; empty where no answer has a time."""

from collections.abc import Sequence

from fieldwork.metrics.findings.outline import StudyOutline, study_rows
from fieldwork.metrics.findings.wording import interval_cell, number_text
from fieldwork.records.service import ServiceMeasure

_THOUSAND = 1000


def waiting_sentence(rows: Sequence[ServiceMeasure], outline: StudyOutline) -> str:
    """How long the slowest answers take, and what a user's context costs more."""
    slowest = _furthest(
        [
            (row.estimate, row)
            for row in _rows("latency_p95_s", rows, list(outline.conditions), outline)
        ]
    )
    if slowest is None or slowest.estimate is None:
        return ""
    seconds = f"{number_text(slowest.estimate, _digits(slowest.estimate))} s"
    sentence = f"95 % of answers come within {seconds}"
    extras = [_extra_seconds(rows, outline), _extra_dollars(rows, outline)]
    return "; ".join([sentence, *filter(None, extras)])


def _rows(
    measure: str, rows: Sequence[ServiceMeasure], conditions: Sequence[str], outline: StudyOutline
) -> list[ServiceMeasure]:
    return study_rows([row for row in rows if row.measure == measure], outline, conditions)


def _furthest(pairs: Sequence[tuple[float | None, ServiceMeasure]]) -> ServiceMeasure | None:
    """The row with the largest value; the first of equal ones."""
    candidates = [(value, row) for value, row in pairs if value is not None]
    return max(candidates, key=lambda pair: pair[0])[1] if candidates else None


def _most_extra(
    measure: str, rows: Sequence[ServiceMeasure], outline: StudyOutline
) -> ServiceMeasure | None:
    """The condition with a simulated user that takes most more than the baseline."""
    user_rows = _rows(measure, rows, outline.simulated_users, outline)
    return _furthest([(row.difference, row) for row in user_rows])


def _extra_seconds(rows: Sequence[ServiceMeasure], outline: StudyOutline) -> str:
    row = _most_extra("latency_mean_s", rows, outline)
    if row is None:
        return ""
    if (row.difference or 0.0) <= 0:
        return "a user's context takes no longer"
    return f"a user's context takes up to {_difference(row, 1)} s more a call"


def _extra_dollars(rows: Sequence[ServiceMeasure], outline: StudyOutline) -> str:
    row = _most_extra("usd_call", rows, outline)
    if row is None:
        return ""
    if (row.difference or 0.0) <= 0:
        return "it costs no more"
    amount = _difference(row, _THOUSAND)
    return f"1,000 calls cost up to {amount} US dollars more"


def _difference(row: ServiceMeasure, scale: float) -> str:
    """A difference with its interval."""
    value = scale * (row.difference or 0.0)
    return interval_cell(
        row.difference,
        row.difference_low,
        row.difference_high,
        digits=_digits(value),
        scale=scale,
    )


def _digits(value: float) -> int:
    return 1 if abs(value) >= 10 else 2

"""The sentence about waiting times and prices; empty where no answer has a time."""

from collections.abc import Iterable

from fieldwork.metrics.findings.evidence import StudyEvidence
from fieldwork.metrics.findings.wording import interval_cell, number_text
from fieldwork.records.service import ServiceMeasure

_THOUSAND = 1000


def waiting_sentence(study: StudyEvidence) -> str:
    """How long the slowest answers take, and what a user's context costs more."""
    slowest = max(
        (
            row.estimate
            for row in study.rows(ServiceMeasure, measure="latency_p95_s")
            if row.estimate is not None
        ),
        default=None,
    )
    if slowest is None:
        return ""
    seconds = f"95 % of answers come within {number_text(slowest, _digits(slowest))} s"
    return "; ".join([seconds, *_extras(study)])


def _extras(study: StudyEvidence) -> Iterable[str]:
    """What the condition with a simulated user takes that takes most more than the baseline."""
    for measure, scale, nothing, words in (
        (
            "latency_mean_s",
            1,
            "a user's context takes no longer",
            "a user's context takes up to {} s more a call",
        ),
        ("usd_call", _THOUSAND, "it costs no more", "1,000 calls cost up to {} US dollars more"),
    ):
        rows = study.rows(ServiceMeasure, study.outline.simulated_users, measure=measure)
        differences = [(row.difference, row) for row in rows if row.difference is not None]
        if differences:
            value, row = max(differences, key=lambda pair: pair[0])
            ends = row.difference_low, row.difference_high
            digits = _digits(scale * value)
            amount = interval_cell(value, *ends, digits=digits, scale=scale)
            yield words.format(amount) if value > 0 else nothing


def _digits(value: float) -> int:
    return 1 if abs(value) >= 10 else 2

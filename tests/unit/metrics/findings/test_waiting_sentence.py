"""What the findings say of waiting times and prices."""

from typing import Any

import pytest

from fieldwork.metrics.findings.page import findings_page
from fieldwork.metrics.findings.service import waiting_sentence
from fieldwork.records.service import ServiceMeasure
from unit.metrics.findings.finding_rows import evidence


def service_row(measure: str, estimate: float | None, **changes: Any) -> ServiceMeasure:
    plain = {
        **{"model": "m", "task": "mmlu", "condition": "rag", "baseline": "offline"},
        **{"measure": measure, "estimate": estimate, "ci_low": None, "ci_high": None},
        **{"difference": None, "difference_low": None, "difference_high": None},
        **{"n_calls": 9, "n_errors": 0, "n_resends": 0, "n_answers": 9, "n_units": 9},
        **{"unit": "call", "dispatch": "live", "reason": None},
    }
    return ServiceMeasure(**plain | changes)


P95 = "latency_p95_s"
DIFFERENCE = {"difference": 0.714, "difference_low": 0.41, "difference_high": 1.02}


def test_the_slowest_condition_and_what_a_context_takes_more_are_named() -> None:
    rows = [
        service_row(P95, 2.0, condition="offline"),
        service_row(P95, 4.127),
        service_row("latency_mean_s", 1.7, **DIFFERENCE),
        service_row("latency_mean_s", 1.2, condition="history", difference=0.2),
        service_row("usd_call", 0.01, condition="history", difference=0.0072),
        service_row("usd_call", 0.004, difference=0.001),
    ]
    assert waiting_sentence(evidence(*rows)) == (
        "95 % of answers come within 4.13 s; a user's context takes up to 0.71 (0.41…1.02) s more a "
        "call; 1,000 calls cost up to 7.20 (none) US dollars more"
    )


def test_a_context_that_takes_no_more_is_said_to_take_no_more() -> None:
    rows = [
        service_row(P95, 2.0),
        service_row("latency_mean_s", 1.0, difference=-0.5),
        service_row("usd_call", 1.0, difference=0.0),
    ]
    assert waiting_sentence(evidence(*rows)).endswith(
        "; a user's context takes no longer; it costs no more"
    )


@pytest.mark.parametrize("rows", [[], [service_row(P95, None), service_row("usd_call", 0.1)]])
def test_without_times_nothing_is_said(rows: list[ServiceMeasure]) -> None:
    assert waiting_sentence(evidence(*rows)) == ""
    assert "Waiting" not in findings_page(evidence(*rows), [], [], [])

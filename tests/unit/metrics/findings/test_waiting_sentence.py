"""What the findings say of waiting times and prices."""

from typing import Any

import pytest

from fieldwork.metrics.findings.page import findings_page
from fieldwork.metrics.findings.service import waiting_sentence
from fieldwork.records.service import ServiceMeasure
from unit.metrics.findings.finding_rows import evidence, row_maker

service_row = row_maker(
    ServiceMeasure, "measure estimate", task="mmlu", baseline="offline", dispatch="live"
)


SLOWEST = service_row("latency_p95_s", 4.127)


LONGER = {"difference": 0.714, "difference_low": 0.41, "difference_high": 1.02}
ROWS = [
    service_row("latency_p95_s", 2.0, condition="offline"),
    service_row("latency_mean_s", 1.7, **LONGER),
    service_row("latency_mean_s", 1.2, condition="history", difference=0.2),
    # a control is no user's context
    service_row("latency_mean_s", 3.0, condition="again", difference=2.0),
    service_row("usd_call", 0.01, condition="history", difference=0.0072),
    service_row("usd_call", 0.004, difference=0.001),
]
MORE = (
    "; a user's context takes up to 0.71 (0.41…1.02) s more a call; 1,000 calls cost up to 7.20 "
    "(none) US dollars more"
)
LESS = [
    service_row("latency_mean_s", 1.0, difference=-0.5),
    service_row("usd_call", 1.0, difference=0.0),
]


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (ROWS, MORE),
        (LESS, "; a user's context takes no longer; it costs no more"),
        ([service_row("usd_call", None)], ""),
    ],
)
def test_the_slowest_condition_and_what_a_context_takes_more(rows: Any, sentence: str) -> None:
    start = "95 % of answers come within 4.13 s"
    assert waiting_sentence(evidence(SLOWEST, *rows)) == start + sentence
    page = findings_page(evidence(SLOWEST, *rows), [], [], [])
    assert f"\nWaiting: {start}" in page.partition("## How it was made")[2]
    study = evidence(service_row("latency_p95_s", None), service_row("usd_call", 0.1))
    assert waiting_sentence(study) == waiting_sentence(evidence()) == ""

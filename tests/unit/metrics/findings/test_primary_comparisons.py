"""The primary comparisons have the numbers of the sections below them."""

from typing import Any

from fieldwork.metrics.claims.families import PrimaryTests
from fieldwork.metrics.claims.table import measure_claims
from fieldwork.metrics.findings.overview import primary_comparisons
from fieldwork.records.claims import Claim
from fieldwork.records.values import ValueComparison
from unit.metrics.findings.finding_rows import OUTLINE, RULES, cells, filled


def primary_cells(**values: Any) -> list[str]:
    """Measure, difference and verdict of a comparison of scales that the study is about."""
    names = {"model": "m", "task": "mmlu", "condition": "rag", "versus": "offline", "kind": "scale"}
    numbers = {"difference": -0.732, "ci_low": -1.05, "ci_high": -0.41, "p_value": 0.001}
    row = filled(ValueComparison, **names | numbers | {"item_id": "jobs", "p_least": 1e-6} | values)
    rules = RULES._replace(primary=[PrimaryTests("value", tasks=["mmlu"])])
    section = primary_comparisons(measure_claims({"value_comparisons": [row]}, rules), OUTLINE)
    (line,) = cells(section)
    return [line[-4], line[-3], line[-1]]


def test_a_difference_of_means_has_its_interval_and_a_minus() -> None:
    assert primary_cells() == ["scales and numbers: jobs, scale", "−0.73 (−1.05…−0.41)", "lower"]
    lost = {"ci_low": None, "ci_high": None, "reason": "no interval: 36 users answer"}
    assert primary_cells(**lost)[1:] == ["−0.73 (none)", "differs"]


def test_scales_together_are_called_so() -> None:
    assert primary_cells(item_id=None)[0] == "scales and numbers: all scales together"


def test_where_nothing_can_be_tested_no_number_of_tests_is_told() -> None:
    claim = filled(
        Claim,
        family="primary",
        measure="share_who",
        model="m",
        task="mmlu",
        condition="rag",
        n_tests=0,
        reason="no puppet answers twice",
    )
    section = primary_comparisons([claim], OUTLINE)
    assert section.question.endswith("Nothing of this can be tested here.")
    assert "0 tests" not in section.question

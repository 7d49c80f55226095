"""The section about conditions side by side."""

from typing import Any

import pytest
from tests.unit.metrics.findings.finding_rows import OUTLINE, cells, filled

from fieldwork.metrics.findings.arms import arm_sections
from fieldwork.records.arms import ArmTest


def row(**values: Any) -> ArmTest:
    names = {"measure": "share_who", "test": "difference", "condition": "history", "other": "rag"}
    test = {"estimate": 0.1, "ci_low": 0.02, "ci_high": 0.18, "p_value": 0.01, "p_holm": 0.03}
    made: ArmTest = filled(
        ArmTest, **names | test | {"n_puppets": 40, "n_puppets_other": 38} | values
    )
    return made


def test_a_study_without_arms_has_no_section() -> None:
    assert arm_sections([], OUTLINE) == []


def test_a_pair_and_a_trend_are_named_with_their_difference() -> None:
    (section,) = arm_sections([row(), row(test="trend", p_holm=0.2)], OUTLINE)
    pair, trend = cells(section)
    assert pair[-6:] == (
        "History − RAG",
        "variance between contexts, points",
        "+10.0 (2.0…18.0)",
        "40, 38",
        "0.030",
        "higher",
    )
    assert trend[-6] == "trend, History to RAG"
    assert trend[-1] == "not detected"


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ({"estimate": -0.1}, "lower"),
        ({"ci_low": None, "ci_high": None}, "differs"),
        ({"p_holm": 0.05}, "not detected"),
        ({"p_holm": None, "reason": "no test: two puppets"}, "no test: two puppets"),
    ],
)
def test_a_direction_is_said_where_test_and_interval_show_it(values, verdict: str) -> None:
    (section,) = arm_sections([row(**values)], OUTLINE)
    assert cells(section)[0][-1] == verdict

"""The section of exact estimates: by probabilities beside drawn answers, and no test."""

from fieldwork.metrics.findings.probabilities import exact_estimates
from unit.metrics.findings.finding_rows import OUTLINE, cells, exact_row


def test_both_estimates_stand_side_by_side_with_what_they_cost() -> None:
    (row,) = cells(exact_estimates([exact_row()], OUTLINE))
    assert row == (
        *("rec", "RAG", "variance between contexts, %", "6.3 (5.1…7.9)", "5.3 (−6.0…15.8)"),
        *("240", "1,480", "no test"),
    )


def test_the_baseline_has_its_score_alone_and_others_without_users_nothing() -> None:
    blank = {"n_users": 0, "ci_low": None, "ci_high": None}
    rows = [
        exact_row("score", condition="offline", **blank),
        exact_row("novelty", condition="offline", **blank),
        exact_row("score", condition="again", **blank),
        exact_row("novelty", estimate=None),
    ]
    (row,) = cells(exact_estimates(rows, OUTLINE))
    assert row[1:4] == ("T1", "mean score, %", "6.3 (none)")


def test_a_study_without_probabilities_says_so() -> None:
    section = exact_estimates([], OUTLINE)
    assert section.findings == []
    assert "No model of this study states" in section.absence

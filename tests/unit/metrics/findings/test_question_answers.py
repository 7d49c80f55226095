"""What is said of a question is what its claims say: of answers, of an option, of values."""

import pytest

from fieldwork.metrics.findings.question_answers import NO_DIFFERENCE, question_answers
from fieldwork.records.values import ValueComparison, ValueEstimate
from unit.metrics.findings.finding_rows import (
    FIELD_OUTLINE,
    OUTLINE,
    comparison_row,
    evidence,
    filled,
    shift_row,
)

AGAIN = {"condition": "again"}


def value_rows(
    p: float | None, superiority: float = 0.8, **values: object
) -> dict[str, list[object]]:
    """A number that is higher with a user, with its test."""
    item = {"item_id": "price", "kind": "number", **values}
    rows = [
        filled(ValueEstimate, condition="offline", median=607.0, n_units=40, **item),
        filled(ValueEstimate, median=490.0, n_units=39, n_missing=1, **item),
    ]
    test = {"superiority": superiority, "p_value": p, "difference": -117.0, "versus": "offline"}
    return {"values": rows, "value_comparisons": [filled(ValueComparison, **test, **item)]}


def test_shares_stand_by_condition_with_the_baseline_first() -> None:
    rows = [
        shift_row(0.01, share=0.175),
        shift_row(0.9, 0.1, answer="Fiat", baseline_share=0.2, share=0.3),
        shift_row(0.9, -0.1, share=0.5, **AGAIN),
    ]
    (question,) = question_answers(evidence(shifts=rows))
    assert question.options == ["Tesla", "Fiat"]
    assert [(row.condition, [*row.values], row.verdict.text) for row in question.rows] == [
        ("offline", [0.575, 0.2], ""),
        # nobody named the other option when asked again
        ("again", [0.5, 0.0], NO_DIFFERENCE),
        ("rag", [0.175, 0.3], "yes"),
    ]
    furthest = question.furthest(OUTLINE.simulated_users)
    assert furthest is not None
    assert (furthest.condition, furthest.size) == ("rag", 0.4)
    (question,) = question_answers(
        evidence(shift_row(0.01, condition="field"), outline=FIELD_OUTLINE)
    )
    assert question.furthest(FIELD_OUTLINE.simulated_users) is None


ONE_NAME = shift_row(1.0, 0.0, n_named=1, n_named_baseline=0)


@pytest.mark.parametrize(
    ("rows", "verdict"),
    [
        ([shift_row(0.9)], NO_DIFFERENCE),
        # answers differ, though no single option is shown to
        ([shift_row(0.9), comparison_row(0.01, "cars")], "yes"),
        ([shift_row(0.9), comparison_row(0.01, "other")], NO_DIFFERENCE),
        ([ONE_NAME, comparison_row(1.0, "cars", p_least=0.5)], "cannot tell"),
    ],
)
def test_any_claim_about_a_question_decides(rows: list[object], verdict: str) -> None:
    (question,) = question_answers(evidence(*rows))
    assert question.rows[-1].verdict.text == verdict
    assert (question.furthest(OUTLINE.simulated_users) is None) == (verdict != "yes")


def test_questions_that_differ_stand_first_the_largest_before() -> None:
    shifts = {"a": (0.9, -0.5), "b": (0.01, 0.2), "c": (0.01, -0.4)}
    rows = [shift_row(*shift, item_id=item) for item, shift in shifts.items()]
    rows.append(shift_row(0.9, 0.0, item_id="d", task="mmlu"))
    questions = question_answers(evidence(shifts=rows))
    assert [question.item_id for question in questions] == ["c", "b", "a", "d"]
    # without answers of the baseline there is no question
    assert question_answers(evidence(shift_row(0.01, n_baseline=0))) == []


@pytest.mark.parametrize(("p", "verdict"), [(0.01, "yes, lower"), (0.3, NO_DIFFERENCE)])
def test_a_number_has_its_median_and_the_direction_that_its_test_shows(
    p: float, verdict: str
) -> None:
    (question,) = question_answers(evidence(**value_rows(p, 0.2)))
    baseline, user = question.rows
    assert (baseline.values, user.values) == ([607.0], [490.0])
    assert (user.verdict.text, user.n, user.n_missing) == (verdict, 39, 1)
    assert user.size == pytest.approx(0.6)

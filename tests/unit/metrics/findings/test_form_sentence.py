"""The summary speaks of the form of answers only where a difference is clear."""

import dataclasses
from typing import Any

import pytest

from fieldwork.metrics.findings.evidence import FindingsTables
from fieldwork.metrics.findings.form import form_sentence
from fieldwork.metrics.findings.summary import in_short
from fieldwork.records.answer_form import AnswerForm
from unit.metrics.findings.finding_rows import OUTLINE, PHRASES

STUDY = OUTLINE._replace(phrases=PHRASES)


def form_row(**values: Any) -> AnswerForm:
    blank = dict.fromkeys(column.name for column in dataclasses.fields(AnswerForm))
    arm = {"model": "m", "task": "rec", "condition": "rag", "measure": "words"}
    numbers = {"difference": 30.0, "difference_low": 12.0, "difference_high": 51.0, "p_holm": 0.01}
    return AnswerForm(**{**blank, **arm, **numbers, **values})  # type: ignore[arg-type]


def test_a_clear_difference_has_a_sentence() -> None:
    sentence = form_sentence([form_row()], STUDY)
    assert sentence == (
        "answers have 30.0 (12.0 to 51.0) more words after the most similar conversation"
    )
    (line,) = [s for s in in_short(FindingsTables(answer_form=[form_row()]), STUDY) if "Form" in s]
    assert line == f"**Form:** {sentence}."


def test_the_largest_of_each_measure_is_named() -> None:
    ease = {"measure": "reading_ease", "difference": -8.0, "difference_low": -12.0}
    rows = [
        form_row(),
        form_row(condition="history", difference=40.0),
        form_row(**ease, difference_high=-4.0),
    ]
    assert form_sentence(rows, STUDY) == (
        "answers have 40.0 (12.0 to 51.0) more words after a user's conversation; 8.0 (4.0 to 12.0) "
        "fewer points of reading ease after the most similar conversation"
    )


@pytest.mark.parametrize(
    "change",
    [
        {"difference_low": -1.0},
        {"difference_low": None, "difference_high": None},
        {"p_holm": 0.2},
        {"p_holm": None},
        {"measure": "tables"},
        {"condition": "again"},
        {"group": "x", "variable": "v"},
    ],
)
def test_anything_else_has_none(change: dict[str, Any]) -> None:
    assert form_sentence([form_row(**change)], STUDY) == ""

"""The summary speaks of the form of answers only where a difference is clear."""

from fieldwork.metrics.findings.form import form_sentence
from fieldwork.records.estimates import Estimate
from unit.metrics.findings.finding_rows import OUTLINE, PHRASES, evidence, row_maker

STUDY = OUTLINE._replace(phrases=PHRASES)


form_row = row_maker(
    Estimate, measure="words", reference="baseline", versus="offline", p_value=0.01,
    difference=30.0, difference_low=12.0, difference_high=51.0,
)  # fmt: skip


def said(*rows: Estimate) -> str:
    return form_sentence(evidence(*rows, outline=STUDY))


def test_the_largest_clear_difference_of_each_measure_is_named() -> None:
    ease = {"measure": "reading_ease", "difference": -8.0, "difference_low": -12.0}
    rows = [form_row(condition="history", difference=40.0), form_row(**ease, difference_high=-4.0)]
    assert said(form_row(), *rows) == (
        "answers have 40.0 (12.0 to 51.0) more words after a user's conversation; 8.0 (4.0 to 12.0) "
        "fewer points of reading ease after the most similar conversation"
    )


def test_anything_else_has_none_and_counts_in_the_correction() -> None:
    for change in (
        *({"difference_low": -1.0}, {"p_value": 0.2}, {"measure": "tables"}),
        *({"condition": "again"}, {"group": "x", "variable": "v"}),
    ):
        assert said(form_row(**change)) == ""
    others = [form_row(condition="again", p_value=0.9), form_row(group="x", p_value=0.9)]
    assert said(form_row(p_value=0.02))
    assert said(form_row(p_value=0.02), *others) == ""

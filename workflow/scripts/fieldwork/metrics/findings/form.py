"""What the summary says of the form of answers: whether they are longer or read harder with a user."""

from collections.abc import Iterable, Mapping

from fieldwork.metrics.findings.outline import StudyOutline, arm_name, study_rows
from fieldwork.metrics.findings.wording import number_text, signed_number
from fieldwork.records.answer_form import AnswerForm, FormMeasure
from fieldwork.statistics.families import LEVEL

_UNITS: Mapping[FormMeasure, str] = {"words": "words", "reading_ease": "points of reading ease"}


def form_sentence(rows: Iterable[AnswerForm], outline: StudyOutline) -> str:
    """The largest clear difference of each measure from the baseline; empty where none is clear.

    Clear is a difference whose interval excludes 0, and whose test holds after Holm's correction.
    """
    clear_rows = [
        row
        for row in study_rows(rows, outline, outline.users)
        if row.group is None and _is_clear(row)
    ]
    phrases = []
    for measure, unit in _UNITS.items():
        differences = [row for row in clear_rows if row.measure == measure]
        if differences:
            row = max(differences, key=lambda row: abs(row.difference or 0.0))
            phrases.append(f"{_amount(row)} {unit} in {arm_name(row, outline)}")
    if not phrases:
        return ""
    return f"answers differ in form from {outline.label(outline.baseline)}: {'; '.join(phrases)}"


def _is_clear(row: AnswerForm) -> bool:
    if row.difference_low is None or row.difference_high is None or row.p_holm is None:
        return False
    return row.p_holm < LEVEL and not row.difference_low <= 0 <= row.difference_high


def _amount(row: AnswerForm) -> str:
    low, high = (number_text(end or 0.0, 1) for end in (row.difference_low, row.difference_high))
    return f"{signed_number(row.difference or 0.0, 1)} ({low}…{high})"

"""What the summary says of the form of answers: whether they are longer or read harder with a user."""

from collections.abc import Iterable, Mapping

from fieldwork.metrics.findings.outline import StudyOutline, study_rows
from fieldwork.metrics.findings.wording import number_text
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
            phrases.append(f"{_amount(row)} {unit} {outline.phrase(row.condition)}")
    if not phrases:
        return ""
    return f"answers have {'; '.join(phrases)}"


def _is_clear(row: AnswerForm) -> bool:
    if row.difference_low is None or row.difference_high is None or row.p_holm is None:
        return False
    return row.p_holm < LEVEL and not row.difference_low <= 0 <= row.difference_high


def _amount(row: AnswerForm) -> str:
    """`0.4 fewer (0.2 to 0.7)`."""
    direction = "more" if (row.difference or 0.0) > 0 else "fewer"
    ends = sorted(abs(end or 0.0) for end in (row.difference_low, row.difference_high))
    low, high = (number_text(end, 1) for end in ends)
    return f"{number_text(abs(row.difference or 0.0), 1)} ({low} to {high}) {direction}"

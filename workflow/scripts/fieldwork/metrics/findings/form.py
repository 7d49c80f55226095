"""What the summary says of the form of answers: whether they are longer or read harder with a user."""

from collections.abc import Mapping

from fieldwork.metrics.findings.evidence import StudyEvidence
from fieldwork.metrics.findings.wording import number_text
from fieldwork.records.estimates import Estimate
from fieldwork.statistics.families import LEVEL, holm

_UNITS: Mapping[str, str] = {"words": "words", "reading_ease": "points of reading ease"}


def form_sentence(study: StudyEvidence) -> str:
    """The largest clear difference of each measure from the baseline; empty where none is clear.

    Clear is a difference whose interval excludes 0, and whose test holds after Holm's correction over all
    tests of the form of answers.
    """
    tests = [
        row
        for row in study.of(Estimate)
        if row.measure in _UNITS and row.difference_low is not None and row.p_value is not None
    ]
    p_values = holm([row.p_value or 0.0 for row in tests])
    clear_rows = study.in_order(
        (
            row
            for row, p_value in zip(tests, p_values, strict=True)
            if row.group is None and p_value < LEVEL and _is_clear(row)
        ),
        study.outline.users,
    )
    phrases = []
    for measure, unit in _UNITS.items():
        differences = [row for row in clear_rows if row.measure == measure]
        if differences:
            row = max(differences, key=lambda row: abs(row.difference or 0.0))
            phrases.append(f"{_amount(row)} {unit} {study.outline.phrase(row.condition)}")
    if not phrases:
        return ""
    return f"answers have {'; '.join(phrases)}"


def _is_clear(row: Estimate) -> bool:
    low, high = row.difference_low or 0.0, row.difference_high or 0.0
    return not low <= 0 <= high


def _amount(row: Estimate) -> str:
    """`0.4 fewer (0.2 to 0.7)`."""
    direction = "more" if (row.difference or 0.0) > 0 else "fewer"
    ends = sorted(abs(end or 0.0) for end in (row.difference_low, row.difference_high))
    low, high = (number_text(end, 1) for end in ends)
    return f"{number_text(abs(row.difference or 0.0), 1)} ({low} to {high}) {direction}"

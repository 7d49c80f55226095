"""The section and the sentence about scales and numbers."""

from collections.abc import Sequence

from fieldwork.markdown_text import literal
from fieldwork.metrics.claims.keys import arm_of
from fieldwork.metrics.findings.evidence import StudyEvidence
from fieldwork.metrics.findings.sections import ARM, Section, TableColumn, interval
from fieldwork.metrics.findings.verdicts import FindingVerdict
from fieldwork.metrics.findings.wording import (
    HUNDREDTHS,
    NOTHING,
    join_words,
    number_cell,
    p_cell,
    percent,
    signed_number,
)
from fieldwork.records.field import FIELD
from fieldwork.records.values import ValueComparison


def _question(study: StudyEvidence) -> str:
    """How to read the table, and what `none` stands for where it stands."""
    question = (
        "How far are answers from those without a user, and from real users'? Scales are compared by "
        "their means; numbers, which a few huge ones could carry, by their medians and by how often "
        "an answer is the higher one. Higher is the chance that an answer of the condition is above "
        "one of the other, ties counted half: 50 % is no difference. The distance is the earth "
        "mover's, of a scale as a share of its length; in brackets what chance alone makes. n counts "
        "the answers with a value on both sides, and after the plus those without one: refused, "
        "unreadable or beside the scale. All scales together count from 0 to 1."
    )
    if any(
        row.ci_low is None and (row.reason or "").startswith("no interval")
        for row in study.of(ValueComparison)
    ):
        question += (
            " Where a difference is without an interval too few answer (metrics.rarest\\_users)."
        )
    return question


def _rows(study: StudyEvidence) -> list[ValueComparison]:
    outline = study.outline
    return study.rows(ValueComparison, [outline.baseline, *outline.users, *outline.controls])


def _measure(row: ValueComparison) -> str:
    return "field_value" if row.versus == FIELD else "value"


def _verdict(row: ValueComparison, study: StudyEvidence) -> FindingVerdict:
    return study.verdict(_measure(row), row)


def _sizes(row: ValueComparison, _: StudyEvidence) -> str:
    return " / ".join(
        f"{n:,} + {n_missing:,}" if n_missing else f"{n:,}"
        for n, n_missing in (
            (row.n_units, row.n_missing),
            (row.n_units_versus, row.n_missing_versus),
        )
    )


VALUES = Section(
    "Scales and numbers",
    _question,
    ["values", "value_comparisons"],
    _rows,
    [
        *ARM,
        TableColumn(
            "Question",
            lambda row, _: literal(row.item_id) if row.item_id else "all scales together",
        ),
        TableColumn("Compared with", lambda row, study: study.outline.label(row.versus)),
        TableColumn("n", _sizes),
        TableColumn("Difference", interval("difference", HUNDREDTHS.as_difference)),
        TableColumn(
            "Higher",
            lambda row, _: NOTHING if row.superiority is None else percent(row.superiority),
        ),
        TableColumn(
            "Distance",
            lambda row, _: f"{number_cell(row.distance, 2)} ({number_cell(row.distance_same, 2)})",
        ),
        TableColumn("p", lambda row, study: p_cell(study.claims.p_value(_measure(row), row))),
    ],
    _verdict,
    lambda row, _: row.item_id is None,
)


def _together(study: StudyEvidence, conditions: Sequence[str]) -> list[ValueComparison]:
    """Comparisons of all scales of a task with the baseline."""
    baseline = study.outline.baseline
    return study.rows(ValueComparison, conditions, item_id=None, versus=baseline)


def values_sentence(study: StudyEvidence) -> str:
    """Where the scales together move; empty where there are not several."""
    outline = study.outline
    tests = [
        row for row in _together(study, outline.simulated_users) if _verdict(row, study).is_tested
    ]
    shifts = [row for row in tests if _verdict(row, study).is_shown]
    if not shifts:
        return "no user is shown to move the scales together" if tests else ""
    places = {arm_of(row)[:2] for row in shifts}
    controls = [
        signed_number(row.difference, 2)
        for row in _together(study, outline.controls)
        if arm_of(row)[:2] in places and row.difference is not None
    ]
    control_moves = f"; asking again moved them by {join_words(controls)}" if controls else ""
    return f"the scales together move {join_words([_move(row, study) for row in shifts])}{control_moves}"


def _move(row: ValueComparison, study: StudyEvidence) -> str:
    """A condition and how far it moves the scales, where an interval shows the direction."""
    phrase = study.outline.phrase(row.condition)
    if row.difference is None or row.ci_low is None:
        return phrase
    return f"by {signed_number(row.difference, 2)} of their length {phrase}"

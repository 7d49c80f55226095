"""The section and the sentence about scales and numbers."""

from collections.abc import Sequence

from fieldwork.markdown_text import literal
from fieldwork.metrics.findings.layout import Finding, FindingsSection
from fieldwork.metrics.findings.outline import StudyOutline, arm_columns, row_cells, study_rows
from fieldwork.metrics.findings.verdicts import FindingVerdict, StudyClaims
from fieldwork.metrics.findings.wording import (
    interval_cell,
    join_words,
    number_cell,
    p_cell,
    percent,
    signed_number,
)
from fieldwork.records.field import FIELD
from fieldwork.records.values import ValueComparison


def value_sections(
    rows: Sequence[ValueComparison], claims: StudyClaims, outline: StudyOutline
) -> list[FindingsSection]:
    """The section, where scales or numbers are asked for."""
    if not rows:
        return []
    findings = [_finding(row, claims, outline) for row in study_rows(rows, outline, _all(outline))]
    return [
        FindingsSection(
            "Scales and numbers",
            "How far are answers from those without a user, and from real users'? Scales are compared by "
            "their means; numbers, which a few huge ones could carry, by their medians and by how often "
            "an answer is the higher one. Higher is the chance that an answer of the condition is above "
            "one of the other, ties counted half: 50 % is no difference. The distance is the earth "
            "mover's, of a scale as a share of its length; in brackets what chance alone makes. n counts "
            "the answers with a value on both sides, and after the plus those without one: refused, "
            "unreadable or beside the scale. All scales together count from 0 to 1."
            f"{_interval_note(rows)}",
            (
                *arm_columns(outline),
                *("Question", "Compared with", "n", "Difference", "Higher", "Distance", "p"),
                "Verdict",
            ),
            findings,
            ["values", "value_comparisons"],
            "No scale or number is answered.",
        )
    ]


def _interval_note(rows: Sequence[ValueComparison]) -> str:
    """What `none` stands for, where it stands; the table has each row's numbers."""
    if not any(row.ci_low is None and (row.reason or "").startswith("no interval") for row in rows):
        return ""
    return " Where a difference is without an interval too few answer (metrics.rarest\\_users)."


def _all(outline: StudyOutline) -> list[str]:
    return [outline.baseline, *outline.users, *outline.controls]


def _measure(row: ValueComparison) -> str:
    return "field_value" if row.versus == FIELD else "value"


def _verdict(row: ValueComparison, claims: StudyClaims) -> FindingVerdict:
    return claims.verdict(_measure(row), row)


def _finding(row: ValueComparison, claims: StudyClaims, outline: StudyOutline) -> Finding:
    cells = (
        literal(row.item_id) if row.item_id else "all scales together",
        outline.label(row.versus),
        f"{_count(row.n_units, row.n_missing)} / {_count(row.n_units_versus, row.n_missing_versus)}",
        interval_cell(row.difference, row.ci_low, row.ci_high, digits=2, is_difference=True),
        "–" if row.superiority is None else percent(row.superiority),
        f"{number_cell(row.distance, 2)} ({number_cell(row.distance_same, 2)})",
        p_cell(claims.p_value(_measure(row), row)),
    )
    is_together = row.item_id is None
    return Finding((*row_cells(row, outline), *cells), _verdict(row, claims), is_together)


def _count(n: int, n_missing: int) -> str:
    return f"{n:,} + {n_missing:,}" if n_missing else f"{n:,}"


def values_sentence(
    rows: Sequence[ValueComparison], claims: StudyClaims, outline: StudyOutline
) -> str:
    """Where the scales together move; empty where there are not several."""
    together = [
        row
        for row in study_rows(rows, outline, outline.simulated_users)
        if row.versus == outline.baseline
        and row.item_id is None
        and _verdict(row, claims).is_tested
    ]
    if not together:
        return ""
    shifts = [row for row in together if _verdict(row, claims).is_shown]
    if not shifts:
        return "no user is shown to move the scales together"
    moves = join_words([_move(row, outline) for row in shifts])
    return f"the scales together move {moves}{_control_moves(shifts, rows, outline)}"


def _control_moves(
    shifts: Sequence[ValueComparison], rows: Sequence[ValueComparison], outline: StudyOutline
) -> str:
    """How far asking again without a user moved the same scales."""
    arms = {(row.model, row.task) for row in shifts}
    controls = [
        row
        for row in study_rows(rows, outline, outline.controls)
        if row.item_id is None
        and row.versus == outline.baseline
        and (row.model, row.task) in arms
        and row.difference is not None
    ]
    moves = join_words([signed_number(row.difference or 0.0, 2) for row in controls])
    return f"; asking again moved them by {moves}" if controls else ""


def _move(row: ValueComparison, outline: StudyOutline) -> str:
    """A condition and how far it moves the scales, where an interval shows the direction."""
    has_interval = row.difference is not None and row.ci_low is not None
    distance = (
        f"by {signed_number(row.difference or 0.0, 2)} of their length " if has_interval else ""
    )
    return f"{distance}{outline.phrase(row.condition)}"

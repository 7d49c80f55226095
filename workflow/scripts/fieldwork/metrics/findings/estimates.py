"""The sections of declared measures: a section for each question of `fieldwork/measures` with tests."""

from collections.abc import Sequence

from fieldwork.estimates.declaration import Measure, ReaderQuestion
from fieldwork.measures import questions
from fieldwork.metrics.findings.layout import Finding, FindingsSection
from fieldwork.metrics.findings.outline import StudyOutline, arm_columns, row_cells, study_rows
from fieldwork.metrics.findings.verdicts import FindingVerdict, StudyClaims
from fieldwork.metrics.findings.wording import (
    interval_cell,
    number_cell,
    number_text,
    p_cell,
)
from fieldwork.records.estimates import Estimate


def measure_sections(
    rows: Sequence[Estimate], claims: StudyClaims, outline: StudyOutline
) -> list[FindingsSection]:
    """The means over prompts of each question, and whether they are the baseline's."""
    means = [row for row in rows if row.item_id is None and row.reference == "baseline"]
    return [
        _section(name, question, means, claims, outline)
        for name, question in questions().items()
        if any(measure.is_claimed for measure in question.measures)
    ]


def _section(
    name: str,
    question: ReaderQuestion,
    rows: Sequence[Estimate],
    claims: StudyClaims,
    outline: StudyOutline,
) -> FindingsSection:
    claimed_measures = [measure for measure in question.measures if measure.is_claimed]
    conditions = [outline.baseline, *outline.users, *outline.controls]
    has_n = all(measure.of == "options" for measure in claimed_measures)
    has_prompts = any(measure.is_for_other_prompts for measure in claimed_measures)
    return FindingsSection(
        question.title,
        question.sentence,
        (
            *arm_columns(outline),
            *(["Measure", "Mean"] if len(claimed_measures) > 1 else [claimed_measures[0].title]),
            *(["n"] if has_n else []),
            *("Users or reruns", "Difference"),
            *(["For prompts like these"] if has_prompts else []),
            *("Prompts higher", "p", "Verdict"),
        ),
        [
            _finding(row, measure, len(claimed_measures) > 1, has_n, has_prompts, claims, outline)
            for measure in claimed_measures
            for row in study_rows(
                [row for row in rows if row.measure == measure.name], outline, conditions
            )
        ],
        [f"estimates/{name}"],
        question.absence,
    )


def _finding(
    row: Estimate,
    measure: Measure,
    is_named: bool,
    has_n: bool,
    has_prompts: bool,
    claims: StudyClaims,
    outline: StudyOutline,
) -> Finding:
    is_baseline = row.condition == outline.baseline
    cells = (
        *([measure.title] if is_named else []),
        interval_cell(
            row.value, row.ci_low, row.ci_high, digits=measure.digits, scale=measure.scale
        ),
        *([str(row.n_equal)] if has_n else []),
        str(row.n_units),
        _difference_cell(row, measure),
        *(
            [_ends(measure, row.prompts_difference_low, row.prompts_difference_high)]
            if has_prompts
            else []
        ),
        f"{'–' if row.n_higher is None or is_baseline else row.n_higher}/{row.n_items}",
        p_cell(claims.p_value(measure.name, row)),
    )
    is_reference = is_baseline and row.value is not None
    verdict = FindingVerdict("baseline") if is_reference else claims.verdict(measure.name, row)
    return Finding((*row_cells(row, outline), *cells), verdict, is_reference)


def beside_the_field(
    rows: Sequence[Estimate], claims: StudyClaims, outline: StudyOutline
) -> list[FindingsSection]:
    """The means over prompts of each question that is tested against real users, beside theirs."""
    sections = []
    for name, question in questions().items():
        for measure in question.measures:
            means = [row for row in rows if (row.measure, row.reference) == (measure.name, "field")]
            if measure.beside_field and means:
                sections.append(_field_section(name, question, measure, means, claims, outline))
    return sections


def _field_section(
    name: str,
    question: ReaderQuestion,
    measure: Measure,
    rows: Sequence[Estimate],
    claims: StudyClaims,
    outline: StudyOutline,
) -> FindingsSection:
    higher = measure.directions[0]
    return FindingsSection(
        f"{question.title} beside the field",
        f"Are answers as real users have them? {measure.title}, mean over prompts; above 0 the answers "
        f"of the condition are {higher}.",
        (
            *arm_columns(outline),
            *(measure.title, "Field", "n", "Participants", "Difference", "Prompts", "p", "Verdict"),
        ),
        [
            Finding(
                (
                    *row_cells(row, outline),
                    _value_cell(measure, row.value),
                    _value_cell(measure, _versus(row)),
                    "–" if row.n_equal is None else str(row.n_equal),
                    str(row.n_units_versus),
                    _difference_cell(row, measure),
                    str(row.n_items),
                    p_cell(claims.p_value(measure.beside_field or "", row)),
                ),
                claims.verdict(measure.beside_field or "", row),
            )
            for row in study_rows(rows, outline, list(outline.conditions))
        ],
        [f"estimates/{name}"],
        "No prompt is answered both here and in the field.",
    )


def _versus(row: Estimate) -> float | None:
    if row.value is None or row.difference is None:
        return None
    return row.value - row.difference


def _value_cell(measure: Measure, value: float | None) -> str:
    return number_cell(None if value is None else measure.scale * value, measure.digits)


def _difference_cell(row: Estimate, measure: Measure) -> str:
    return interval_cell(
        row.difference,
        row.difference_low,
        row.difference_high,
        digits=measure.digits,
        scale=measure.scale,
        is_difference=True,
    )


def _ends(measure: Measure, low: float | None, high: float | None) -> str:
    """An interval without its value."""
    if low is None or high is None:
        return "–"
    ends = [number_text(measure.scale * end, measure.digits) for end in (low, high)]
    return "…".join(ends)

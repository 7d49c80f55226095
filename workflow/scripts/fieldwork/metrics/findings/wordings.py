"""The sections about questions that are put otherwise, and the sentence about them in the summary."""

from collections.abc import Mapping, Sequence

from fieldwork.markdown_text import literal
from fieldwork.metrics.findings.layout import Finding, FindingsSection
from fieldwork.metrics.findings.links import answers_link
from fieldwork.metrics.findings.outline import (
    StudyOutline,
    arm_columns,
    row_cells,
    study_rows,
)
from fieldwork.metrics.findings.verdicts import FindingVerdict, StudyClaims
from fieldwork.metrics.findings.wording import interval_cell, number_text, points
from fieldwork.records.robustness import Robustness

_RowKey = tuple[str, str, str, str]


def wording_sections(
    rows: Sequence[Robustness], claims: StudyClaims, outline: StudyOutline
) -> list[FindingsSection]:
    """Scores and letters of changed questions beside those of the clean ones; none without any."""
    return [_scores(rows, claims, outline), _changes(rows, claims, outline)] if rows else []


def _scores(
    rows: Sequence[Robustness], claims: StudyClaims, outline: StudyOutline
) -> FindingsSection:
    scores = _estimates(rows, "accuracy")
    findings = []
    for row in _rows(rows, "accuracy_change", outline):
        cells = (
            *row_cells(row, outline),
            literal(row.origin),
            _percent_cell(scores.get(_key(row))),
            interval_cell(
                row.estimate, row.ci_low, row.ci_high, digits=1, scale=100, is_difference=True
            ),
            "–" if row.n_lost is None else f"{row.n_lost:,}, {row.n_won:,}",
        )
        findings.append(Finding(cells, claims.verdict("variant_accuracy", row)))
    return FindingsSection(
        "Questions put otherwise",
        "Does the score change where the same questions are put otherwise? Lost and won are first "
        "answers that became wrong, and right.",
        (*arm_columns(outline), "Of", "Score, %", "Change, points", "Lost, won", "Verdict"),
        findings,
        ["robustness"],
        "No question that is put otherwise has a right answer.",
    )


def _changes(
    rows: Sequence[Robustness], claims: StudyClaims, outline: StudyOutline
) -> FindingsSection:
    findings = []
    for kind in ("flips", "overlap"):
        changes, reruns = _estimates(rows, kind), _estimates(rows, f"{kind}_rerun")
        is_list = kind == "overlap"
        for row in _rows(rows, f"excess_{kind}", outline):
            cells = (
                *row_cells(row, outline),
                "options in common" if is_list else "letters that change",
                _percent_cell(changes.get(_key(row))),
                _percent_cell(reruns.get(_key(row))),
            )
            verdict = (
                FindingVerdict("no claim is made")
                if is_list
                else claims.verdict("variant_flips", row)
            )
            findings.append(Finding(cells, verdict))
    return FindingsSection(
        "Answers that the wording changes",
        "Do answers change more often than when the clean question is asked again?",
        (*arm_columns(outline), "Measure", "Put otherwise, %", "Asked again, %", "Verdict"),
        findings,
        ["robustness"],
        "No question is answered both clean and put otherwise.",
    )


def wording_sentence(rows: Sequence[Robustness], claims: StudyClaims, outline: StudyOutline) -> str:
    """How far scores move where questions are put otherwise; empty without any."""
    changes = _rows(rows, "accuracy_change", outline)
    verdicts = [(row, claims.verdict("variant_accuracy", row)) for row in changes]
    tests = [row for row, verdict in verdicts if verdict.is_tested]
    movers = [row for row, verdict in verdicts if verdict.is_shown]
    if not changes:
        return ""
    if not tests:
        return "whether scores change where questions are put otherwise cannot be tested"
    if not movers:
        return "no change of the score is shown where questions are put otherwise"
    furthest = max(movers, key=lambda row: abs(row.estimate or 0.0))
    amount = answers_link(
        points(furthest.estimate or 0.0, digits=1),
        model=furthest.model,
        task=furthest.task,
        condition=furthest.condition,
        base="counted",
    )
    return (
        f"scores change in {len(movers):,} of {len(tests):,} comparisons with the same questions put "
        f"otherwise, most by {amount} ({literal(furthest.task)})"
    )


def _rows(rows: Sequence[Robustness], metric: str, outline: StudyOutline) -> list[Robustness]:
    """Rows of a metric about single variants, in the study's order."""
    variants = [row for row in rows if row.metric == metric and row.task != row.origin]
    return study_rows(variants, outline, [*outline.conditions])


def _estimates(rows: Sequence[Robustness], metric: str) -> Mapping[_RowKey, float | None]:
    return {_key(row): row.estimate for row in rows if row.metric == metric}


def _key(row: Robustness) -> _RowKey:
    return row.model, row.origin, row.task, row.condition


def _percent_cell(share: float | None) -> str:
    return "–" if share is None else number_text(100 * share, 1)

"""The sections about questions that are put otherwise, and the sentence about them in the summary."""

from functools import partial

from fieldwork.markdown_text import literal
from fieldwork.metrics.findings.evidence import StudyEvidence
from fieldwork.metrics.findings.links import answers_link
from fieldwork.metrics.findings.sections import (
    ARM,
    Section,
    TableColumn,
    interval,
    text,
)
from fieldwork.metrics.findings.verdicts import FindingVerdict
from fieldwork.metrics.findings.wording import NOTHING, TENTHS_OF_PERCENT, number_cell, points
from fieldwork.records.robustness import Robustness


def _variants(metric: str, study: StudyEvidence) -> list[Robustness]:
    """Rows of a metric about single variants."""
    return [row for row in study.rows(Robustness, metric=metric) if row.task != row.origin]


def _percent_beside(row: Robustness, metric: str, study: StudyEvidence) -> str:
    """Another metric of the same variant, in percent."""
    estimate = study.value_beside("estimate", Robustness, row, origin=row.origin, metric=metric)
    return number_cell(estimate, 1, 100)


QUESTIONS_PUT_OTHERWISE = Section(
    "Questions put otherwise",
    "Does the score change where the same questions are put otherwise? Lost and won are first "
    "answers that became wrong, and right.",
    ["robustness"],
    partial(_variants, "accuracy_change"),
    [
        *ARM,
        TableColumn("Of", text("origin")),
        TableColumn("Score, %", lambda row, study: _percent_beside(row, "accuracy", study)),
        TableColumn("Change, points", interval("estimate", TENTHS_OF_PERCENT.as_difference)),
        TableColumn(
            "Lost, won",
            lambda row, _: NOTHING if row.n_lost is None else f"{row.n_lost:,}, {row.n_won:,}",
        ),
    ],
    "variant_accuracy",
)


def _is_of_lists(row: Robustness) -> bool:
    return row.metric == "excess_overlap"


def _change(row: Robustness) -> str:
    return row.metric.removeprefix("excess_")


ANSWERS_THAT_CHANGE = Section(
    "Answers that the wording changes",
    "Do answers change more often than when the clean question is asked again?",
    ["robustness"],
    lambda study: [*_variants("excess_flips", study), *_variants("excess_overlap", study)],
    [
        *ARM,
        TableColumn(
            "Measure",
            lambda row, _: "options in common" if _is_of_lists(row) else "letters that change",
        ),
        TableColumn(
            "Put otherwise, %", lambda row, study: _percent_beside(row, _change(row), study)
        ),
        TableColumn(
            "Asked again, %",
            lambda row, study: _percent_beside(row, f"{_change(row)}_rerun", study),
        ),
    ],
    lambda row, study: (
        FindingVerdict("no claim is made")
        if _is_of_lists(row)
        else study.verdict("variant_flips", row)
    ),
)


def wording_sentence(study: StudyEvidence) -> str:
    """How far scores move where questions are put otherwise; empty without any."""
    changes = _variants("accuracy_change", study)
    tests = study.tests("variant_accuracy", changes)
    movers = study.differences("variant_accuracy", changes)
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

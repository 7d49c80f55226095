"""The section about the study's conditions side by side: trends over length, and pairs of conditions."""

from collections.abc import Mapping

from fieldwork.metrics.findings.evidence import StudyEvidence
from fieldwork.metrics.findings.sections import MODEL, TASK, Section, TableColumn
from fieldwork.metrics.findings.verdicts import UNDECIDED_VERDICT, FindingVerdict, missing_test
from fieldwork.metrics.findings.wording import interval_cell, p_cell
from fieldwork.records.arms import ArmTest
from fieldwork.statistics.families import LEVEL

MEASURES: Mapping[str, tuple[str, float]] = {
    "from_baseline": ("squared distance from the baseline, points", 100),
    "share_who": ("variance between contexts, points", 100),
    "var_answers": ("variance of answers, points", 100),
    "em_strict": ("mean score, points", 100),
}
"""What the page calls the measures, and the factor by which their effects are printed."""


def _sides(row: ArmTest, study: StudyEvidence) -> str:
    first, second = study.outline.label(row.condition), study.outline.label(row.other)
    return f"trend, {first} to {second}" if row.test == "trend" else f"{first} − {second}"


def _difference(row: ArmTest, _: StudyEvidence) -> str:
    scale = MEASURES[row.measure][1]
    ends = row.ci_low, row.ci_high
    return interval_cell(row.estimate, *ends, digits=1, scale=scale, is_difference=True)


def _verdict(row: ArmTest, _: StudyEvidence) -> FindingVerdict:
    if row.p_holm is None or row.estimate is None:
        return missing_test(row.reason)
    if row.p_holm >= LEVEL:
        return FindingVerdict(UNDECIDED_VERDICT, True)
    # without an interval a test says that conditions differ, not which one is higher
    direction = "higher" if row.estimate > 0 else "lower"
    return FindingVerdict("differs" if row.ci_low is None else direction, True, True)


ARMS = Section(
    "Conditions side by side",
    "Do conditions differ from each other (`arms`)? A trend is the change from one number of "
    "conversations to the next. p is corrected over the pairs of a measure, intervals are not.",
    ["arms", "arm_tests"],
    lambda study: study.rows(ArmTest),
    [
        TASK,
        MODEL,
        TableColumn("Conditions", _sides),
        TableColumn("Measure", lambda row, _: MEASURES[row.measure][0]),
        TableColumn("Difference", _difference),
        TableColumn("Users", lambda row, _: f"{row.n_puppets}, {row.n_puppets_other}"),
        TableColumn("p", lambda row, _: p_cell(row.p_holm)),
    ],
    _verdict,
)

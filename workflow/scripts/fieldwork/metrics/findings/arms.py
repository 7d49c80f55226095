"""The section about the study's conditions side by side: trends over length, and pairs of conditions."""

from fieldwork.metrics.findings.evidence import StudyEvidence
from fieldwork.metrics.findings.sections import MODEL, TASK, Section, TableColumn, interval, word
from fieldwork.metrics.findings.verdicts import UNDECIDED_VERDICT, FindingVerdict, missing_test
from fieldwork.metrics.findings.wording import TENTHS_OF_PERCENT, p_cell
from fieldwork.records.arms import ArmTest
from fieldwork.statistics.families import LEVEL

_MEASURES = {
    "from_baseline": "squared distance from the baseline, points",
    "share_who": "variance between contexts, points",
    "var_answers": "variance of answers, points",
    "em_strict": "mean score, points",
}


def _sides(row: ArmTest, study: StudyEvidence) -> str:
    first, second = study.outline.label(row.condition), study.outline.label(row.other)
    return f"trend, {first} to {second}" if row.test == "trend" else f"{first} − {second}"


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
        TableColumn("Measure", word("measure", _MEASURES)),
        TableColumn("Difference", interval("estimate", TENTHS_OF_PERCENT.as_difference)),
        TableColumn("Users", lambda row, _: f"{row.n_puppets}, {row.n_puppets_other}"),
        TableColumn("p", lambda row, _: p_cell(row.p_holm)),
    ],
    _verdict,
)

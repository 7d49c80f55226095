"""The section about the study's conditions side by side: trends over length, and pairs of conditions."""

from collections.abc import Mapping, Sequence

from fieldwork.metrics.findings.layout import Finding, FindingsSection
from fieldwork.metrics.findings.outline import StudyOutline, arm_cells, arm_columns, ordered_rows
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


def arm_sections(rows: Sequence[ArmTest], outline: StudyOutline) -> list[FindingsSection]:
    """The section, where conditions are set side by side (`arms`)."""
    tests = ordered_rows(rows, outline, lambda row: (row.task, row.model, row.condition))
    if not tests:
        return []
    return [
        FindingsSection(
            "Conditions side by side",
            "Do conditions differ from each other (`arms`)? A trend is the change from one number of "
            "conversations to the next. p is corrected over the pairs of a measure, intervals are not.",
            (
                *arm_columns(outline)[:-1],
                *("Conditions", "Measure", "Difference", "Users", "p", "Verdict"),
            ),
            [_finding(row, outline) for row in tests],
            ["arms", "arm_tests"],
            "No conditions are set side by side.",
        )
    ]


def _finding(row: ArmTest, outline: StudyOutline) -> Finding:
    name, scale = MEASURES[row.measure]
    sides = outline.label(row.condition), outline.label(row.other)
    is_trend = row.test == "trend"
    cells = (
        f"trend, {sides[0]} to {sides[1]}" if is_trend else f"{sides[0]} − {sides[1]}",
        name,
        interval_cell(
            row.estimate, row.ci_low, row.ci_high, digits=1, scale=scale, is_difference=True
        ),
        f"{row.n_puppets}, {row.n_puppets_other}",
        p_cell(row.p_holm),
    )
    return Finding((*arm_cells(outline, row.task, row.model, "")[:-1], *cells), _verdict(row))


def _verdict(row: ArmTest) -> FindingVerdict:
    if row.p_holm is None or row.estimate is None:
        return missing_test(row.reason)
    if row.p_holm >= LEVEL:
        return FindingVerdict(UNDECIDED_VERDICT, True)
    # without an interval a test says that conditions differ, not which one is higher
    direction = "higher" if row.estimate > 0 else "lower"
    return FindingVerdict("differs" if row.ci_low is None else direction, True, True)

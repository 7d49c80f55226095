"""The section about estimates from the probabilities of options, where a model states them."""

from collections.abc import Mapping, Sequence

from fieldwork.metrics.findings.layout import Finding, FindingsSection
from fieldwork.metrics.findings.outline import StudyOutline, arm_columns, row_cells, study_rows
from fieldwork.metrics.findings.verdicts import FindingVerdict
from fieldwork.metrics.findings.wording import interval_cell
from fieldwork.records.metrics import ExactEstimate, ExactMeasure

MEASURES: Mapping[ExactMeasure, str] = {
    "share_who": "variance between contexts, %",
    "score": "mean score, %",
    "novelty": "questions with a new answer, %",
}


def exact_estimates(rows: Sequence[ExactEstimate], outline: StudyOutline) -> FindingsSection:
    """Estimates without the chance of drawing an answer, beside those of drawn answers."""
    conditions = [outline.baseline, *outline.simulated_users]
    return FindingsSection(
        "Without the chance of a draw",
        "How do questions with options look by the model's own probabilities, of which an answer is one "
        "draw? Intervals are over users; the baseline has none, nor have new answers, which few users "
        "decide. A probability takes one call, however many answers are drawn from it.",
        (
            *arm_columns(outline),
            *("Measure", "By probabilities", "By drawn answers", "Calls", "Drawn", "Verdict"),
        ),
        [
            _finding(row, outline)
            for row in study_rows(rows, outline, conditions)
            if row.estimate is not None and (row.n_users or row.measure == "score")
        ],
        ["exact_estimates"],
        "No model of this study states the probabilities of its answers.",
    )


def _finding(row: ExactEstimate, outline: StudyOutline) -> Finding:
    draws = interval_cell(row.sampled, row.sampled_low, row.sampled_high, digits=1, scale=100)
    cells = (
        MEASURES[row.measure],
        interval_cell(row.estimate, row.ci_low, row.ci_high, digits=1, scale=100),
        draws,
        f"{row.n_calls:,}",
        f"{row.n_answers:,}",
    )
    is_baseline = row.condition == outline.baseline
    return Finding((*row_cells(row, outline), *cells), FindingVerdict("no test"), is_baseline)

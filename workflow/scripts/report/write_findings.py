"""Say what the study found: sentences with numbers, intervals, n and tests.

In: <results>/metrics, <results>/answers/answers.parquet, <results>/responses. Out: <results>/findings.md.
"""

from itertools import chain
from typing import Any

from fieldwork import stage, tables
from fieldwork.metrics.findings import answers as answer_sections
from fieldwork.metrics.findings import calibration, field, page, scores
from fieldwork.records.field import Calibration, GroupDifference, ItemAgreement, RankAgreement
from fieldwork.records.generation import Response
from fieldwork.records.metrics import (
    Accuracy,
    CategoryVariance,
    Comparison,
    Novelty,
    PromptMean,
    Rank,
    ScoreComparison,
    Shift,
    VarianceShare,
)
from fieldwork.records.parsing import Answer


def main(
    answers: str,
    responses: list[str],
    metrics: list[str],
    findings: str,
    figures: list[str],
    study: dict[str, Any],
) -> None:
    """Write the findings."""
    inputs = {tables.stem(path): path for path in metrics}
    about = page.as_markdown(page.Study(**study))
    variance = tables.read_rows(inputs["variance"], VarianceShare)
    ranks = tables.read_rows(inputs["ranks"], Rank)
    names = ("model", "defects")
    replies = (tables.read_columns(path, Response, names) for path in responses)
    unnamed = page.count_unnamed(chain.from_iterable(replies))
    asked = page.count_answers(tables.read_frame(answers, Answer))
    sections = [
        answer_sections.who_asks(variance, about),
        answer_sections.distance(tables.read_rows(inputs["comparisons"], Comparison), about),
        answer_sections.options_moved(tables.read_rows(inputs["shifts"], Shift), about),
        answer_sections.heterogeneity(tables.read_rows(inputs["prompt_means"], PromptMean), about),
        scores.scores(
            tables.read_rows(inputs["accuracy"], Accuracy),
            tables.read_rows(inputs["score_comparisons"], ScoreComparison),
            about,
        ),
        # without a task of a leaderboard's own questions there are no places
        *([scores.places(ranks, about)] if ranks else []),
        scores.novelty(tables.read_rows(inputs["novelty"], Novelty), about),
        scores.categories(tables.read_rows(inputs["categories"], CategoryVariance), about),
        *field.sections(*_against_field(inputs), about),
        *(
            calibration.section(tables.read_rows(path, Calibration), about)
            for path in [inputs.get("calibration")]
            if path
        ),
        page.limits(asked, variance, about, unnamed),
    ]
    lines = page.render(sections, about, page.cautions(asked, about))
    if figures:
        lines += [f"Figures: {', '.join(f'figures/{f}.pdf' for f in figures)}", ""]
    lines.append("Tables: metrics/*.csv; SQL: study.duckdb (docs/data.md)")
    with tables.atomic_path(findings) as partial:
        partial.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _against_field(
    inputs: dict[str, str],
) -> tuple[list[GroupDifference], list[RankAgreement], list[ItemAgreement]]:
    """The tables of real users; empty where the study has none."""
    if "rank_agreement" not in inputs:
        return [], [], []
    return (
        tables.read_rows(inputs["group_differences"], GroupDifference),
        tables.read_rows(inputs["rank_agreement"], RankAgreement),
        tables.read_rows(inputs["item_agreement"], ItemAgreement),
    )


if __name__ == "__main__":
    stage.run_script(main, snakemake)

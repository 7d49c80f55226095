"""Say what the study found: sentences with numbers, intervals, n and tests.

In: <results>/metrics, <results>/answers/answers.parquet, <results>/responses. Out: <results>/findings.md.
"""

from itertools import chain
from typing import Any

from fieldwork import stage, tables
from fieldwork.metrics.findings import answers, calibration, field, page, scores
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


def main(inputs: dict[str, Any], written: str, figures: list[str], study: dict[str, Any]) -> None:
    """Write the findings."""
    about = page.as_markdown(page.Study(**study))
    variance = tables.read_rows(inputs["variance"], VarianceShare)
    ranks = tables.read_rows(inputs["ranks"], Rank)
    names = ("model", "defects")
    replies = (tables.read_columns(path, Response, names) for path in inputs["responses"])
    unnamed = page.count_unnamed(chain.from_iterable(replies))
    asked = page.count_answers(tables.read_frame(inputs["answers"], Answer))
    sections = [
        answers.who_asks(variance, about),
        answers.distance(tables.read_rows(inputs["comparisons"], Comparison), about),
        answers.options_moved(tables.read_rows(inputs["shifts"], Shift), about),
        answers.heterogeneity(tables.read_rows(inputs["prompt_means"], PromptMean), about),
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
            for path in inputs["calibration"]
        ),
        page.limits(asked, variance, about, unnamed),
    ]
    lines = page.render(sections, about, page.cautions(asked, about))
    if figures:
        lines += [f"Figures: {', '.join(f'figures/{f}.pdf' for f in figures)}", ""]
    lines.append("Tables: metrics/*.csv; SQL: study.duckdb (docs/data.md)")
    with tables.atomic_path(written) as partial:
        partial.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _against_field(
    inputs: dict[str, str],
) -> tuple[list[GroupDifference], list[RankAgreement], list[ItemAgreement]]:
    """The tables of real users; empty where the study has none."""
    if not inputs["rank_agreement"]:
        return [], [], []
    return (
        tables.read_rows(inputs["group_differences"], GroupDifference),
        tables.read_rows(inputs["rank_agreement"], RankAgreement),
        tables.read_rows(inputs["item_agreement"], ItemAgreement),
    )


if __name__ == "__main__":
    stage.run(
        main,
        log=snakemake.log[0],
        inputs={
            **dict(snakemake.input.items()),
            "responses": [*snakemake.input.responses],
            "calibration": [*snakemake.input.calibration],
        },
        written=snakemake.output.findings,
        figures=list(snakemake.params.figures),
        study=dict(snakemake.params.study),
    )

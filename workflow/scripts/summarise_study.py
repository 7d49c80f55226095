"""Say in a few lines what the study found and where to look.

In: results/metrics. Out: results/summary.txt.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.estimates import Novelty
from fieldwork.metrics.summary import summarise
from fieldwork.records import Accuracy, Heterogeneity, ItemShare


def main(
    heterogeneity: str,
    item_shares: str,
    accuracy: str,
    novelty: str,
    summary: str,
    baseline: str,
    figures: dict[str, str],
    drawing: dict[str, Any],
) -> None:
    """Write the summary."""
    lines = summarise(
        heterogeneity=tables.read_rows(heterogeneity, Heterogeneity),
        shares=tables.read_rows(item_shares, ItemShare),
        accuracy=tables.read_rows(accuracy, Accuracy),
        novelty=tables.read_rows(novelty, Novelty),
        baseline=baseline,
        figures=figures,
        drawing=drawing,
    )
    where = ", ".join(f"results/figures/{figure}.pdf" for figure in figures)
    lines += [f"Figures: {where}" if figures else "No figures.", "Tables: results/metrics/*.csv"]
    lines.append("SQL: duckdb results/study.duckdb (see docs/data.md)")
    with tables.atomic_path(summary) as partial:
        partial.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    stage.run(
        main,
        log=snakemake.log[0],
        heterogeneity=snakemake.input.heterogeneity,
        item_shares=snakemake.input.item_shares,
        accuracy=snakemake.input.accuracy,
        novelty=snakemake.input.novelty,
        summary=snakemake.output.summary,
        baseline=snakemake.params.baseline,
        figures=dict(snakemake.params.figures),
        drawing=snakemake.params.drawing,
    )

"""Draw figure 1: how varied recommendations are.

In: <results>/metrics/heterogeneity.parquet, the questions.
Out: <results>/figures/fig1 as PDF, SVG and PNG.
"""

from pathlib import Path
from typing import Any

from fieldwork import stage, tables
from fieldwork.figures import fig1, labels, style
from fieldwork.records.metrics import Heterogeneity
from fieldwork.records.tasks import Item


def main(
    heterogeneity: str,
    items: str,
    sheet: str,
    figures: list[str],
    task: str,
    baseline: str,
    drawing: dict[str, Any],
) -> None:
    """Draw and save."""
    style.use_style(Path(sheet))
    table = tables.read_frame(heterogeneity, Heterogeneity)
    options = fig1.Options(
        conditions=list(drawing["conditions"]),
        model_labels=drawing["models"],
        condition_labels=drawing["conditions"],
        questions=labels.by_key({task: tables.read_rows(items, Item)}),
        note=drawing["note"],
        baseline=baseline,
    )
    figure = fig1.draw(table[table["task"] == task], options=options)
    style.save(figure, [Path(path) for path in figures])


if __name__ == "__main__":
    stage.run(
        main,
        log=snakemake.log[0],
        heterogeneity=snakemake.input.heterogeneity,
        items=snakemake.input.task,
        sheet=snakemake.input.style,
        figures=list(snakemake.output),
        task=snakemake.params.task,
        baseline=snakemake.params.baseline,
        drawing=snakemake.params.drawing,
    )

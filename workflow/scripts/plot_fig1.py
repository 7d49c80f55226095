"""Draw figure 1: how varied recommendations are.

In: <results>/metrics/heterogeneity.parquet. Out: <results>/figures/fig1 as PDF, SVG and PNG.
"""

from pathlib import Path
from typing import Any

from fieldwork import stage, tables
from fieldwork.figures import fig1, style
from fieldwork.records import Heterogeneity


def main(
    heterogeneity: str, sheet: str, figures: list[str], task: str, drawing: dict[str, Any]
) -> None:
    """Draw and save."""
    style.use_style(Path(sheet))
    table = tables.read_frame(heterogeneity, Heterogeneity)
    options = fig1.Options(
        conditions=list(drawing["conditions"]),
        model_labels=drawing["models"],
        condition_labels=drawing["conditions"],
        note=drawing["note"],
    )
    figure = fig1.draw(table[table["task"] == task], options=options)
    style.save(figure, [Path(path) for path in figures])


if __name__ == "__main__":
    stage.run(
        main,
        log=snakemake.log[0],
        heterogeneity=snakemake.input.heterogeneity,
        sheet=snakemake.input.style,
        figures=list(snakemake.output),
        task=snakemake.params.task,
        drawing=snakemake.params.drawing,
    )

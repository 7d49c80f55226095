"""Draw figure 5: how many options so many answers may be expected to name.

In: <results>/metrics/rarefaction.parquet, the questions.
Out: <results>/figures/fig5 as PDF, SVG and PNG.
"""

from pathlib import Path
from typing import Any

from fieldwork import stage, tables
from fieldwork.figures import fig5, labels, style
from fieldwork.records.metrics import Rarefaction
from fieldwork.records.tasks import Item


def main(
    rarefaction: str,
    items: str,
    sheet: str,
    figures: list[str],
    task: str,
    drawing: dict[str, Any],
) -> None:
    """Draw and save."""
    style.use_style(Path(sheet))
    table = tables.read_frame(rarefaction, Rarefaction)
    options = fig5.Options(
        conditions=list(drawing["conditions"]),
        model_labels=drawing["models"],
        condition_labels=drawing["conditions"],
        questions=labels.by_key({task: tables.read_rows(items, Item)}),
        note=drawing["note"],
    )
    figure = fig5.draw(table[table["task"] == task], options=options)
    style.save(figure, [Path(path) for path in figures])


if __name__ == "__main__":
    stage.run(
        main,
        log=snakemake.log[0],
        rarefaction=snakemake.input.rarefaction,
        items=snakemake.input.task,
        sheet=snakemake.input.style,
        figures=list(snakemake.output),
        task=snakemake.params.task,
        drawing=snakemake.params.drawing,
    )

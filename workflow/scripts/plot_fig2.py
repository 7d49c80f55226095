"""Draw figure 2: the answers given to a few benchmark questions.

In: <results>/metrics/distributions.parquet. Out: <results>/figures/fig2 as PDF, SVG and PNG.
"""

from pathlib import Path
from typing import Any

from fieldwork import stage, tables
from fieldwork.figures import fig2, style
from fieldwork.records import AnswerShare


def main(
    distributions: str, sheet: str, figures: list[str], task: str, drawing: dict[str, Any]
) -> None:
    """Draw and save."""
    style.use_style(Path(sheet))
    table = tables.read_frame(distributions, AnswerShare)
    shown = table[table["task"] == task]
    options = fig2.Options(
        conditions=list(drawing["conditions"]),
        model_labels=drawing["models"],
        condition_labels=drawing["conditions"],
        item_labels={item: item.replace("_", " ") for item in shown["item_id"].unique()},
        note=drawing["note"],
    )
    figure = fig2.draw(shown, options=options)
    style.save(figure, [Path(path) for path in figures])


if __name__ == "__main__":
    stage.run(
        main,
        log=snakemake.log[0],
        distributions=snakemake.input.distributions,
        sheet=snakemake.input.style,
        figures=list(snakemake.output),
        task=snakemake.params.task,
        drawing=snakemake.params.drawing,
    )

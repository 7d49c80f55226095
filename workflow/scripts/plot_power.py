"""Draw how often a study of a size would find an effect.

In: <results>/power/power.parquet. Out: <results>/figures/power as PDF, SVG and PNG.
"""

from pathlib import Path
from typing import Any

from fieldwork import stage, tables
from fieldwork.figures import power as figure_of_power
from fieldwork.figures import style
from fieldwork.records.power import PowerRow


def main(
    power: str,
    sheet: str,
    figures: list[str],
    target: float,
    tasks: list[str],
    drawing: dict[str, Any],
) -> None:
    """Draw and save."""
    style.use_style(Path(sheet))
    options = figure_of_power.Options(
        conditions=list(drawing["conditions"]),
        model_labels=drawing["models"],
        condition_labels=drawing["conditions"],
        target=target,
        tasks=tasks,
    )
    figure = figure_of_power.draw(tables.read_frame(power, PowerRow), options=options)
    style.save(figure, [Path(path) for path in figures])


if __name__ == "__main__":
    stage.run(
        main,
        log=snakemake.log[0],
        power=snakemake.input.power,
        sheet=snakemake.input.style,
        figures=list(snakemake.output),
        target=snakemake.params.target,
        tasks=snakemake.params.tasks,
        drawing=snakemake.params.drawing,
    )

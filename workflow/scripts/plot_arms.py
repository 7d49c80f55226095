"""Draw the figure of arms: the study's conditions side by side.

In: <results>/metrics/arms.parquet and arm_tests.parquet.
Out: <results>/figures/{arms} as PDF, SVG and PNG.
"""

from pathlib import Path
from typing import Any, Literal

from fieldwork import stage, tables
from fieldwork.figures import arms as drawn
from fieldwork.figures import style
from fieldwork.records.metrics import ArmMeasure, ArmTest


def main(
    arms: str,
    tests: str,
    sheet: str,
    figures: list[str],
    x: Literal["condition", "conversations"],
    drawing: dict[str, Any],
) -> None:
    """Draw and save."""
    style.use_style(Path(sheet))
    options = drawn.Options(
        conditions=list(drawing["conditions"]),
        model_labels=drawing["models"],
        condition_labels=drawing["conditions"],
        note=drawing["note"],
        x=x,
    )
    figure = drawn.draw(
        tables.read_frame(arms, ArmMeasure), tables.read_frame(tests, ArmTest), options=options
    )
    style.save(figure, [Path(path) for path in figures])


if __name__ == "__main__":
    stage.run(
        main,
        log=snakemake.log[0],
        arms=snakemake.input.arms,
        tests=snakemake.input.tests,
        sheet=snakemake.input.style,
        figures=list(snakemake.output),
        x=snakemake.params.x,
        drawing=snakemake.params.drawing,
    )

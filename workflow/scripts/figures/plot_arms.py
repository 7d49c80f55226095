"""Draw the figure of arms: the study's conditions side by side.

In: <results>/metrics/arms.parquet and arm_tests.parquet.
Out: <results>/figures/{arms} as PDF, SVG and PNG.
"""

from typing import Any, Literal

from fieldwork import stage, tables
from fieldwork.figures import arms as arms_figure
from fieldwork.figures import style
from fieldwork.records.metrics import ArmMeasure, ArmTest


def main(
    arms: str,
    arm_tests: str,
    style_sheet: str,
    outputs: list[str],
    x: Literal["condition", "conversations"],
    drawing: dict[str, Any],
) -> None:
    """Draw and save."""
    style.use_style(style_sheet)
    settings = arms_figure.ArmsFigureSettings.of_study(drawing, x=x)
    figure = arms_figure.draw(
        tables.read_frame(arms, ArmMeasure), tables.read_frame(arm_tests, ArmTest), settings
    )
    style.save(figure, outputs)


if __name__ == "__main__":
    stage.run_script(main, snakemake)

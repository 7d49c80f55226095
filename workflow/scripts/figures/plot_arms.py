"""Draw the figure of arms: the study's conditions side by side.

In: <results>/metrics/arms.parquet and arm_tests.parquet.
Out: <results>/figures/{arms} as PDF, SVG and PNG, and its marks.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.figures import arms as arms_figure
from fieldwork.figures import style
from fieldwork.figures.marks import marks_of
from fieldwork.records.arms import ArmMeasure, ArmTest
from fieldwork.records.figures import FigureMark


def main(
    arms: str,
    arm_tests: str,
    style_sheet: str,
    drawings: list[str],
    marks: str,
    drawing: dict[str, Any],
) -> None:
    """Draw and save."""
    style.use_style(style_sheet)
    measures, tests = tables.read_frame(arms, ArmMeasure), tables.read_frame(arm_tests, ArmTest)
    figure = arms_figure.draw(measures, tests, arms_figure.ArmsFigureSettings(**drawing))
    style.save(figure, drawings)
    tables.write_table(marks, marks_of(figure), FigureMark)


if __name__ == "__main__":
    stage.run_script(main, snakemake)

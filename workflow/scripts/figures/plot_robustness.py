"""Draw figure `robustness`: what becomes of scores and answers where questions are put otherwise.

In: <results>/metrics/robustness. Out: <results>/figures/robustness as PDF, SVG and PNG, and its marks.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.figures import robustness as robustness_figure
from fieldwork.figures import style
from fieldwork.figures.marks import marks_of
from fieldwork.figures.robustness import RobustnessDrawing
from fieldwork.records.figures import FigureMark
from fieldwork.records.robustness import Robustness


def main(
    robustness: str,
    style_sheet: str,
    drawings: list[str],
    marks: str,
    drawing: dict[str, Any],
) -> None:
    """Draw and save."""
    style.use_style(style_sheet)
    table = tables.read_frame(robustness, Robustness)
    figure = robustness_figure.draw(table, RobustnessDrawing(**drawing))
    style.save(figure, drawings)
    tables.write_table(marks, marks_of(figure), FigureMark)


if __name__ == "__main__":
    stage.run_script(main, snakemake)

"""Draw how near weights bring the simulated answers to the field's.

In: <results>/metrics/calibration.parquet.
Out: <results>/figures/calibration as PDF, SVG and PNG, and its marks.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.figures import calibration as calibration_figure
from fieldwork.figures import style
from fieldwork.figures.marks import marks_of
from fieldwork.figures.settings import FigureSettings
from fieldwork.records.field import Calibration
from fieldwork.records.figures import FigureMark


def main(
    calibration: str,
    style_sheet: str,
    drawings: list[str],
    marks: str,
    drawing: dict[str, Any],
) -> None:
    """Draw and save."""
    style.use_style(style_sheet)
    table = tables.read_frame(calibration, Calibration)
    figure = calibration_figure.draw(table, FigureSettings(**drawing))
    style.save(figure, drawings)
    tables.write_table(marks, marks_of(figure), FigureMark)


if __name__ == "__main__":
    stage.run_script(main, snakemake)

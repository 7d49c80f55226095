"""Draw figure `drift`: what moved between waves of the same questions.

In: <results>/metrics/drift. Out: <results>/figures/drift as PDF, SVG and PNG, and its marks.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.figures import drift as drift_figure
from fieldwork.figures import style
from fieldwork.figures.drift import DriftDrawing
from fieldwork.figures.marks import marks_of
from fieldwork.records.drift import Drift
from fieldwork.records.figures import FigureMark


def main(
    drift: str,
    style_sheet: str,
    drawings: list[str],
    marks: str,
    drawing: dict[str, Any],
) -> None:
    """Draw and save."""
    style.use_style(style_sheet)
    figure = drift_figure.draw(tables.read_frame(drift, Drift), DriftDrawing(**drawing))
    style.save(figure, drawings)
    tables.write_table(marks, marks_of(figure), FigureMark)


if __name__ == "__main__":
    stage.run_script(main, snakemake)

"""Draw figure `values`: where answers to scales and numbers lie.

In: <results>/metrics/values.parquet, the questions.
Out: <results>/figures/values as PDF, SVG and PNG, and its marks.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.figures import style
from fieldwork.figures import values as values_figure
from fieldwork.figures.marks import marks_of
from fieldwork.figures.settings import FigureSettings
from fieldwork.records.figures import FigureMark
from fieldwork.records.values import ValueEstimate


def main(
    values: str,
    questions: str,
    style_sheet: str,
    drawings: list[str],
    marks: str,
    drawing: dict[str, Any],
) -> None:
    """Draw and save."""
    style.use_style(style_sheet)
    settings = FigureSettings(**drawing, questions=tables.read_questions([questions]))
    figure = values_figure.draw(tables.read_frame(values, ValueEstimate), settings)
    style.save(figure, drawings)
    tables.write_table(marks, marks_of(figure), FigureMark)


if __name__ == "__main__":
    stage.run_script(main, snakemake)

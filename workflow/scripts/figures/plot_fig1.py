"""Draw figure 1: how varied recommendations are.

In: <results>/metrics/estimates/lists.parquet, the questions.
Out: <results>/figures/fig1 as PDF, SVG and PNG, and its marks.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.figures import fig1, style
from fieldwork.figures.marks import marks_of
from fieldwork.records.estimates import Estimate
from fieldwork.records.figures import FigureMark


def main(
    estimates: str,
    questions: str,
    style_sheet: str,
    drawings: list[str],
    marks: str,
    drawing: dict[str, Any],
) -> None:
    """Draw and save."""
    style.use_style(style_sheet)
    settings = fig1.Fig1Settings(**drawing, questions=tables.read_questions([questions]))
    figure = fig1.draw(tables.read_frame(estimates, Estimate), settings)
    style.save(figure, drawings)
    tables.write_table(marks, marks_of(figure), FigureMark)


if __name__ == "__main__":
    stage.run_script(main, snakemake)

"""Draw figure 2: the answers given to a few benchmark questions.

In: <results>/metrics/distributions.parquet, the questions.
Out: <results>/figures/fig2 as PDF, SVG and PNG, and its marks.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.figures import fig2, style
from fieldwork.figures.marks import marks_of
from fieldwork.records.figures import FigureMark
from fieldwork.records.metrics import AnswerShare


def main(
    distributions: str,
    questions: str,
    style_sheet: str,
    drawings: list[str],
    marks: str,
    drawing: dict[str, Any],
) -> None:
    """Draw and save."""
    style.use_style(style_sheet)
    settings = fig2.Fig2Settings(**drawing, questions=tables.read_questions([questions]))
    figure = fig2.draw(tables.read_frame(distributions, AnswerShare), settings)
    style.save(figure, drawings)
    tables.write_table(marks, marks_of(figure), FigureMark)


if __name__ == "__main__":
    stage.run_script(main, snakemake)

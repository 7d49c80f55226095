"""Draw figure 5: how many options so many answers may be expected to name.

In: <results>/metrics/rarefaction.parquet, the questions.
Out: <results>/figures/fig5 as PDF, SVG and PNG, and its marks.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.figures import fig5, style
from fieldwork.figures.marks import marks_of
from fieldwork.records.figures import FigureMark
from fieldwork.records.metrics import Rarefaction


def main(
    rarefaction: str,
    questions: str,
    style_sheet: str,
    drawings: list[str],
    marks: str,
    drawing: dict[str, Any],
) -> None:
    """Draw and save."""
    style.use_style(style_sheet)
    settings = fig5.Fig5Settings(**drawing, questions=tables.read_questions([questions]))
    figure = fig5.draw(tables.read_frame(rarefaction, Rarefaction), settings)
    style.save(figure, drawings)
    tables.write_table(marks, marks_of(figure), FigureMark)


if __name__ == "__main__":
    stage.run_script(main, snakemake)

"""Draw figure 4: the options that a user moves furthest.

In: <results>/metrics/shifts.parquet and claims.parquet, the questions.
Out: <results>/figures/fig4 as PDF, SVG and PNG, and its marks.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.figures import fig4, style
from fieldwork.figures.marks import marks_of
from fieldwork.metrics.claims.lookup import read_corrected
from fieldwork.records.figures import FigureMark
from fieldwork.records.metrics import Shift


def main(
    shifts: str,
    claims: str,
    questions: str,
    style_sheet: str,
    drawings: list[str],
    marks: str,
    drawing: dict[str, Any],
) -> None:
    """Draw and save."""
    style.use_style(style_sheet)
    settings = fig4.Fig4Settings(**drawing, questions=tables.read_questions([questions]))
    options = read_corrected(shifts, Shift, claims, "option_share")
    figure = fig4.draw(options, settings)
    style.save(figure, drawings)
    tables.write_table(marks, marks_of(figure), FigureMark)


if __name__ == "__main__":
    stage.run_script(main, snakemake)

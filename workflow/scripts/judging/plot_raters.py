"""Draw what people and models say on each scale, and how far they agree.

In: <results>/metrics/judgements. Out: <results>/figures/raters as PDF, SVG and PNG, and its marks.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.figures import raters, style
from fieldwork.figures.marks import marks_of
from fieldwork.figures.settings import FigureSettings
from fieldwork.records.figures import FigureMark
from fieldwork.records.judging import JudgementEstimate


def main(
    judgements: str, style_sheet: str, drawings: list[str], marks: str, drawing: dict[str, Any]
) -> None:
    """Draw and save."""
    style.use_style(style_sheet)
    table = tables.read_frame(judgements, JudgementEstimate)
    figure = raters.draw(table, FigureSettings(**drawing))
    style.save(figure, drawings)
    tables.write_table(marks, marks_of(figure), FigureMark)


if __name__ == "__main__":
    stage.run_script(main, snakemake)

"""Draw what people and models say on each scale, and how far they agree.

In: <results>/metrics/judgements. Out: <results>/figures/raters as PDF, SVG and PNG, and its marks.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.figures import raters, style
from fieldwork.figures.marks import marks_of
from fieldwork.figures.settings import FigureSettings, ScaleAxis
from fieldwork.records.figures import FigureMark
from fieldwork.records.judging import JudgementEstimate
from fieldwork.sections.judging import Scale


def main(
    judgements: str,
    style_sheet: str,
    drawings: list[str],
    marks: str,
    drawing: dict[str, Any],
    scales: dict[str, Scale],
) -> None:
    """Draw and save."""
    style.use_style(style_sheet)
    table = tables.read_frame(judgements, JudgementEstimate)
    axes = {name: axis_of(scale) for name, scale in scales.items()}
    figure = raters.draw(table, FigureSettings(**drawing, scales=axes))
    style.save(figure, drawings)
    tables.write_table(marks, marks_of(figure), FigureMark)


def axis_of(scale: Scale) -> ScaleAxis:
    """The scale as its panel shows it."""
    options = scale.options
    yes_labels = [scale.label(option) for option in options if option in scale.accepted]
    points = {
        number: scale.label(option)
        for option in options
        if (number := scale.number(option)) is not None
    }
    return ScaleAxis(yes_labels, points)


if __name__ == "__main__":
    stage.run_script(main, snakemake)

"""Draw score against price and waiting time, and mark what no other beats.

In: <results>/metrics/trade_offs. Out: <results>/figures/pareto as PDF, SVG and PNG, and its marks.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.figures import pareto, style
from fieldwork.figures.marks import marks_of
from fieldwork.figures.settings import FigureSettings
from fieldwork.records.figures import FigureMark
from fieldwork.records.service import TradeOff


def main(
    trade_offs: str, style_sheet: str, drawings: list[str], marks: str, drawing: dict[str, Any]
) -> None:
    """Draw and save."""
    style.use_style(style_sheet)
    figure = pareto.draw(tables.read_frame(trade_offs, TradeOff), FigureSettings(**drawing))
    style.save(figure, drawings)
    tables.write_table(marks, marks_of(figure), FigureMark)


if __name__ == "__main__":
    stage.run_script(main, snakemake)

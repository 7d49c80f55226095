"""Draw how near weights bring the simulated answers to the field's.

In: <results>/metrics/calibration.parquet. Out: <results>/figures/calibration as PDF, SVG and PNG.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.figures import calibration as calibration_figure
from fieldwork.figures import style
from fieldwork.figures.settings import FigureSettings
from fieldwork.records.field import Calibration


def main(calibration: str, style_sheet: str, outputs: list[str], drawing: dict[str, Any]) -> None:
    """Draw and save."""
    style.use_style(style_sheet)
    table = tables.read_frame(calibration, Calibration)
    style.save(calibration_figure.draw(table, FigureSettings(**drawing)), outputs)


if __name__ == "__main__":
    stage.run_script(main, snakemake)

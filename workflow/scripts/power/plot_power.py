"""Draw how often a study of a size would find an effect.

In: <results>/power/power.parquet. Out: <results>/figures/power as PDF, SVG and PNG.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.figures import power as power_figure
from fieldwork.figures import style
from fieldwork.figures.settings import FigureSettings
from fieldwork.records.power import PowerRow


def main(power: str, style_sheet: str, outputs: list[str], drawing: dict[str, Any]) -> None:
    """Draw and save."""
    style.use_style(style_sheet)
    settings = FigureSettings(**drawing)
    style.save(power_figure.draw(tables.read_frame(power, PowerRow), settings), outputs)


if __name__ == "__main__":
    stage.run_script(main, snakemake)

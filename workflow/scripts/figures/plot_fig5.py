"""Draw figure 5: how many options so many answers may be expected to name.

In: <results>/metrics/rarefaction.parquet, the questions.
Out: <results>/figures/fig5 as PDF, SVG and PNG.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.figures import fig5, style
from fieldwork.records.metrics import Rarefaction


def main(
    rarefaction: str, questions: str, style_sheet: str, outputs: list[str], drawing: dict[str, Any]
) -> None:
    """Draw and save."""
    style.use_style(style_sheet)
    settings = fig5.Fig5Settings(**drawing, questions=tables.read_questions([questions]))
    figure = fig5.draw(tables.read_frame(rarefaction, Rarefaction), settings)
    style.save(figure, outputs)


if __name__ == "__main__":
    stage.run_script(main, snakemake)

"""Draw figure 5: how many options so many answers may be expected to name.

In: <results>/metrics/rarefaction.parquet, the questions.
Out: <results>/figures/fig5 as PDF, SVG and PNG.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.figures import fig5, labels, style
from fieldwork.records.metrics import Rarefaction
from fieldwork.records.tasks import Item


def main(
    rarefaction: str,
    questions: str,
    style_sheet: str,
    outputs: list[str],
    task: str,
    drawing: dict[str, Any],
) -> None:
    """Draw and save."""
    style.use_style(style_sheet)
    table = tables.read_frame(rarefaction, Rarefaction)
    settings = fig5.Fig5Settings.of_study(
        drawing,
        task=task,
        questions=labels.by_key({task: tables.read_rows(questions, Item)}),
    )
    figure = fig5.draw(table, settings)
    style.save(figure, outputs)


if __name__ == "__main__":
    stage.run_script(main, snakemake)

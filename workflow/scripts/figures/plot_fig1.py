"""Draw figure 1: how varied recommendations are.

In: <results>/metrics/heterogeneity.parquet, the questions.
Out: <results>/figures/fig1 as PDF, SVG and PNG.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.figures import fig1, labels, style
from fieldwork.records.metrics import Heterogeneity
from fieldwork.records.tasks import Item


def main(
    heterogeneity: str,
    questions: str,
    style_sheet: str,
    outputs: list[str],
    task: str,
    baseline: str,
    drawing: dict[str, Any],
) -> None:
    """Draw and save."""
    style.use_style(style_sheet)
    table = tables.read_frame(heterogeneity, Heterogeneity)
    settings = fig1.Fig1Settings.of_study(
        drawing,
        task=task,
        questions=labels.by_key({task: tables.read_rows(questions, Item)}),
        baseline=baseline,
    )
    figure = fig1.draw(table, settings)
    style.save(figure, outputs)


if __name__ == "__main__":
    stage.run_script(main, snakemake)

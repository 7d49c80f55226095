"""Draw figure 2: the answers given to a few benchmark questions.

In: <results>/metrics/distributions.parquet, the questions.
Out: <results>/figures/fig2 as PDF, SVG and PNG.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.figures import fig2, labels, style
from fieldwork.records.metrics import AnswerShare
from fieldwork.records.tasks import Item


def main(
    distributions: str,
    questions: str,
    style_sheet: str,
    outputs: list[str],
    task: str,
    drawing: dict[str, Any],
) -> None:
    """Draw and save."""
    style.use_style(style_sheet)
    table = tables.read_frame(distributions, AnswerShare)
    settings = fig2.Fig2Settings.of_study(
        drawing,
        task=task,
        questions=labels.by_key({task: tables.read_rows(questions, Item)}),
    )
    figure = fig2.draw(table, settings)
    style.save(figure, outputs)


if __name__ == "__main__":
    stage.run_script(main, snakemake)

"""Draw figure 4: the options that a user moves furthest.

In: <results>/metrics/shifts.parquet, the questions.
Out: <results>/figures/fig4 as PDF, SVG and PNG.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.figures import fig4, labels, style
from fieldwork.records.metrics import Shift
from fieldwork.records.tasks import Item


def main(
    shifts: str,
    questions: str,
    style_sheet: str,
    outputs: list[str],
    task: str,
    baseline: str,
    groups: dict[str, list[str]],
    drawing: dict[str, Any],
) -> None:
    """Draw and save."""
    style.use_style(style_sheet)
    table = tables.read_frame(shifts, Shift)
    conditions_compared = {baseline, *groups["users"], *groups["controls"]}
    settings = fig4.Fig4Settings.of_study(
        drawing,
        conditions=[
            condition for condition in drawing["conditions"] if condition in conditions_compared
        ],
        task=task,
        users=groups["users"],
        baseline=baseline,
        questions=labels.by_key({task: tables.read_rows(questions, Item)}),
    )
    figure = fig4.draw(table, settings)
    style.save(figure, outputs)


if __name__ == "__main__":
    stage.run_script(main, snakemake)

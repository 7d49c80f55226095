"""Draw whether the conditions put the prompts in the field's order.

In: <results>/metrics/item_agreement.parquet and rank_agreement.parquet, the questions.
Out: <results>/figures/field_ranks as PDF, SVG and PNG.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.figures import field_ranks, labels, style
from fieldwork.records.field import ItemAgreement, RankAgreement


def main(
    item_agreement: str,
    rank_agreement: str,
    questions: list[str],
    tasks: list[str],
    style_sheet: str,
    outputs: list[str],
    drawing: dict[str, Any],
) -> None:
    """Draw and save."""
    style.use_style(style_sheet)
    settings = field_ranks.RanksFigureSettings.of_study(
        drawing,
        questions=labels.by_key(tables.read_tasks(questions, tasks)),
    )
    figure = field_ranks.draw(
        tables.read_frame(item_agreement, ItemAgreement),
        tables.read_frame(rank_agreement, RankAgreement),
        settings,
    )
    style.save(figure, outputs)


if __name__ == "__main__":
    stage.run_script(main, snakemake)

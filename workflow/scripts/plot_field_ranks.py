"""Draw whether the conditions put the prompts in the field's order.

In: <results>/metrics/item_agreement.parquet and rank_agreement.parquet, the questions.
Out: <results>/figures/field_ranks as PDF, SVG and PNG.
"""

from pathlib import Path
from typing import Any

from fieldwork import stage, tables
from fieldwork.figures import field_ranks, labels, style
from fieldwork.records.field import ItemAgreement, RankAgreement
from fieldwork.records.tasks import Item


def main(
    near: str,
    ranks: str,
    items: dict[str, str],
    sheet: str,
    figures: list[str],
    drawing: dict[str, Any],
) -> None:
    """Draw and save."""
    style.use_style(Path(sheet))
    options = field_ranks.Options(
        conditions=list(drawing["conditions"]),
        model_labels=drawing["models"],
        condition_labels=drawing["conditions"],
        questions=labels.by_key({t: tables.read_rows(path, Item) for t, path in items.items()}),
        note=drawing["note"],
    )
    figure = field_ranks.draw(
        tables.read_frame(near, ItemAgreement),
        tables.read_frame(ranks, RankAgreement),
        options=options,
    )
    style.save(figure, [Path(path) for path in figures])


if __name__ == "__main__":
    stage.run(
        main,
        log=snakemake.log[0],
        near=snakemake.input.near,
        ranks=snakemake.input.ranks,
        items=dict(zip(snakemake.params.tasks, snakemake.input.task, strict=True)),
        sheet=snakemake.input.style,
        figures=list(snakemake.output),
        drawing=snakemake.params.drawing,
    )

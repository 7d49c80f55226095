"""Draw how varied the answers of groups of participants are, prompt by prompt.

In: <results>/metrics/groups.parquet and group_differences.parquet, the questions.
Out: <results>/figures/field_groups as PDF, SVG and PNG.
"""

from pathlib import Path
from typing import Any

from fieldwork import stage, tables
from fieldwork.figures import field_groups, labels, style
from fieldwork.records.field import GroupDifference, GroupEstimate
from fieldwork.records.tasks import Item


def main(
    groups: str,
    differences: str,
    items: dict[str, str],
    sheet: str,
    figures: list[str],
    drawing: dict[str, Any],
) -> None:
    """Draw and save."""
    style.use_style(Path(sheet))
    options = field_groups.Options(
        conditions=list(drawing["conditions"]),
        model_labels=drawing["models"],
        condition_labels=drawing["conditions"],
        questions=labels.by_key({t: tables.read_rows(path, Item) for t, path in items.items()}),
        note=drawing["note"],
    )
    figure = field_groups.draw(
        tables.read_frame(groups, GroupEstimate),
        tables.read_frame(differences, GroupDifference),
        options=options,
    )
    style.save(figure, [Path(path) for path in figures])


if __name__ == "__main__":
    stage.run(
        main,
        log=snakemake.log[0],
        groups=snakemake.input.groups,
        differences=snakemake.input.differences,
        items=dict(zip(snakemake.params.tasks, snakemake.input.task, strict=True)),
        sheet=snakemake.input.style,
        figures=list(snakemake.output),
        drawing=snakemake.params.drawing,
    )

"""Draw how varied the answers of groups of participants are, prompt by prompt.

In: <results>/metrics/groups.parquet and group_differences.parquet, the questions.
Out: <results>/figures/field_groups as PDF, SVG and PNG.
"""

from pathlib import Path
from typing import Any

from fieldwork import stage, tables
from fieldwork.figures import field_groups, labels, style
from fieldwork.records.field import GroupDifference, GroupEstimate


def main(
    groups: str,
    group_differences: str,
    questions: list[str],
    tasks: list[str],
    style_sheet: str,
    outputs: list[str],
    drawing: dict[str, Any],
) -> None:
    """Draw and save."""
    style.use_style(Path(style_sheet))
    options = field_groups.Options(
        conditions=list(drawing["conditions"]),
        model_labels=drawing["models"],
        condition_labels=drawing["conditions"],
        questions=labels.by_key(tables.read_tasks(questions, tasks)),
        note=drawing["note"],
    )
    figure = field_groups.draw(
        tables.read_frame(groups, GroupEstimate),
        tables.read_frame(group_differences, GroupDifference),
        options=options,
    )
    style.save(figure, [Path(path) for path in outputs])


if __name__ == "__main__":
    stage.run_script(main, snakemake)

"""Draw how varied the answers of groups of participants are, prompt by prompt.

In: <results>/metrics/groups.parquet and group_differences.parquet, the questions.
Out: <results>/figures/field_groups as PDF, SVG and PNG.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.figures import field_groups, style
from fieldwork.records.field import GroupDifference, GroupEstimate


def main(
    groups: str,
    group_differences: str,
    questions: list[str],
    style_sheet: str,
    outputs: list[str],
    drawing: dict[str, Any],
) -> None:
    """Draw and save."""
    style.use_style(style_sheet)
    items = tables.read_questions(questions)
    figure = field_groups.draw(
        tables.read_frame(groups, GroupEstimate),
        tables.read_frame(group_differences, GroupDifference),
        field_groups.GroupsFigureSettings(**drawing, questions=items),
    )
    style.save(figure, outputs)


if __name__ == "__main__":
    stage.run_script(main, snakemake)

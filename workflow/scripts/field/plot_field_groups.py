"""Draw how varied the answers of groups of participants are, prompt by prompt.

In: <results>/metrics/groups, group_differences and claims, the questions.
Out: <results>/figures/field_groups as PDF, SVG and PNG, and its marks.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.figures import field_groups, style
from fieldwork.figures.marks import marks_of
from fieldwork.metrics.claims.lookup import read_corrected
from fieldwork.records.field import GroupDifference, GroupEstimate
from fieldwork.records.figures import FigureMark


def main(
    groups: str,
    group_differences: str,
    claims: str,
    questions: list[str],
    style_sheet: str,
    drawings: list[str],
    marks: str,
    drawing: dict[str, Any],
) -> None:
    """Draw and save."""
    style.use_style(style_sheet)
    items = tables.read_questions(questions)
    figure = field_groups.draw(
        tables.read_frame(groups, GroupEstimate),
        read_corrected(group_differences, GroupDifference, claims, "group_difference"),
        field_groups.GroupsFigureSettings(**drawing, questions=items),
    )
    style.save(figure, drawings)
    tables.write_table(marks, marks_of(figure), FigureMark)


if __name__ == "__main__":
    stage.run_script(main, snakemake)

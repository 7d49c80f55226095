"""Draw how varied the answers of groups of participants are, prompt by prompt.

In: <results>/metrics/groups, group_differences and claims, the questions.
Out: <results>/figures/field_groups as PDF, SVG and PNG.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.figures import field_groups, style
from fieldwork.metrics.claims.lookup import add_corrections
from fieldwork.records.claims import Claim
from fieldwork.records.field import GroupDifference, GroupEstimate


def main(
    groups: str,
    group_differences: str,
    claims: str,
    questions: list[str],
    style_sheet: str,
    outputs: list[str],
    drawing: dict[str, Any],
) -> None:
    """Draw and save."""
    style.use_style(style_sheet)
    items = tables.read_questions(questions)
    tests = tables.read_rows(claims, Claim)
    differences = tables.read_frame(group_differences, GroupDifference)
    figure = field_groups.draw(
        tables.read_frame(groups, GroupEstimate),
        add_corrections(differences, tests, "group_difference"),
        field_groups.GroupsFigureSettings(**drawing, questions=items),
    )
    style.save(figure, outputs)


if __name__ == "__main__":
    stage.run_script(main, snakemake)

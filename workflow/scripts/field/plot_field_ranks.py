"""Draw whether the conditions put the prompts in the field's order.

In: <results>/metrics/item_agreement, rank_agreement and claims, the questions.
Out: <results>/figures/field_ranks as PDF, SVG and PNG, and its marks.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.figures import field_ranks, style
from fieldwork.figures.marks import marks_of
from fieldwork.metrics.claims.lookup import read_corrected
from fieldwork.records.field import ItemAgreement, RankAgreement
from fieldwork.records.figures import FigureMark


def main(
    item_agreement: str,
    rank_agreement: str,
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
    figure = field_ranks.draw(
        read_corrected(item_agreement, ItemAgreement, claims, "field_place"),
        read_corrected(rank_agreement, RankAgreement, claims, "field_order"),
        field_ranks.RanksFigureSettings(**drawing, questions=items),
    )
    style.save(figure, drawings)
    tables.write_table(marks, marks_of(figure), FigureMark)


if __name__ == "__main__":
    stage.run_script(main, snakemake)

"""Draw figure `who_asks`: how far do answers of users go beyond repeats?

In: <results>/metrics/variance, novelty and claims.
Out: <results>/figures/who_asks as PDF, SVG and PNG, and its marks.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.figures import style, who_asks
from fieldwork.figures.marks import marks_of
from fieldwork.metrics.claims.lookup import read_corrected
from fieldwork.records.figures import FigureMark
from fieldwork.records.metrics import Novelty, VarianceShare


def main(
    variance: str,
    novelty: str,
    claims: str,
    style_sheet: str,
    drawings: list[str],
    marks: str,
    drawing: dict[str, Any],
) -> None:
    """Draw and save."""
    style.use_style(style_sheet)
    shares = read_corrected(variance, VarianceShare, claims, "share_who")
    new_letters = read_corrected(novelty, Novelty, claims, "novelty")
    figure = who_asks.draw(shares, new_letters, who_asks.WhoAsksSettings(**drawing))
    style.save(figure, drawings)
    tables.write_table(marks, marks_of(figure), FigureMark)


if __name__ == "__main__":
    stage.run_script(main, snakemake)

"""Draw figure `categories`: does who asks matter more for some categories of subject?

In: <results>/metrics/subjects, categories and claims.
Out: <results>/figures/categories as PDF, SVG and PNG, and its marks.
"""

from typing import Any

from fieldwork import stage, tables
from fieldwork.figures import categories as categories_figure
from fieldwork.figures import style
from fieldwork.figures.marks import marks_of
from fieldwork.figures.settings import FigureSettings
from fieldwork.metrics.claims.lookup import read_corrected
from fieldwork.records.figures import FigureMark
from fieldwork.records.metrics import CategoryVariance, SubjectVariance


def main(
    subjects: str,
    categories: str,
    claims: str,
    style_sheet: str,
    drawings: list[str],
    marks: str,
    drawing: dict[str, Any],
) -> None:
    """Draw and save."""
    style.use_style(style_sheet)
    dots = tables.read_frame(subjects, SubjectVariance)
    means = read_corrected(categories, CategoryVariance, claims, "categories")
    figure = categories_figure.draw(dots, means, FigureSettings(**drawing))
    style.save(figure, drawings)
    tables.write_table(marks, marks_of(figure), FigureMark)


if __name__ == "__main__":
    stage.run_script(main, snakemake)

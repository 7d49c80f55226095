"""Draw figure `categories`: does who asks matter more for some categories of subject?

In: <results>/metrics/subjects and categories. Out: <results>/figures/categories as PDF, SVG and PNG.
"""

from pathlib import Path
from typing import Any

from fieldwork import stage, tables
from fieldwork.figures import categories as drawn
from fieldwork.figures import style
from fieldwork.records.metrics import CategoryVariance, SubjectVariance


def main(
    subjects: str,
    categories: str,
    sheet: str,
    figures: list[str],
    task: str,
    drawing: dict[str, Any],
) -> None:
    """Draw and save."""
    style.use_style(Path(sheet))
    options = drawn.Options(
        conditions=list(drawing["conditions"]),
        model_labels=drawing["models"],
        condition_labels=drawing["conditions"],
        note=drawing["note"],
        task=task,
    )
    dots = tables.read_frame(subjects, SubjectVariance)
    means = tables.read_frame(categories, CategoryVariance)
    figure = drawn.draw(dots, means, options=options)
    style.save(figure, [Path(path) for path in figures])


if __name__ == "__main__":
    stage.run(
        main,
        log=snakemake.log[0],
        subjects=snakemake.input.subjects,
        categories=snakemake.input.categories,
        sheet=snakemake.input.style,
        figures=list(snakemake.output),
        task=snakemake.params.task,
        drawing=snakemake.params.drawing,
    )

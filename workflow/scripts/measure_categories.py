"""Measure where who asks matters more: subject by subject, and by category of subject.

In: <results>/answers/answers.parquet, items, and the category of each subject. Out:
<results>/metrics/subjects and categories.
"""

from pathlib import Path

from fieldwork import stage, tables
from fieldwork.files.texts import read_texts
from fieldwork.metrics.categories import measure_categories, measure_subjects
from fieldwork.records.metrics import CategoryVariance, SubjectVariance
from fieldwork.records.parsing import Answer


def main(
    answers: str,
    items: list[str],
    tasks: list[str],
    categories_of: str,
    subjects: str,
    subjects_csv: str,
    categories: str,
    categories_csv: str,
    permutations: int,
    seed: int,
) -> None:
    """Measure and write."""
    names, kinds = (read_texts([Path(categories_of)], name) for name in ("subject", "category"))
    known = dict(zip(names, kinds, strict=True))
    measured = measure_subjects(
        tables.read_frame(answers, Answer), tables.read_items(items, tasks), known
    )
    tables.write_rows(
        subjects, measured, SubjectVariance, order_by="model, task, condition, subject"
    )
    tables.write_csv(subjects_csv, subjects)
    tested = measure_categories(measured, n_permutations=permutations, seed=seed)
    tables.write_rows(
        categories, tested, CategoryVariance, order_by="model, task, condition, category"
    )
    tables.write_csv(categories_csv, categories)


if __name__ == "__main__":
    stage.run(
        main,
        log=snakemake.log[0],
        answers=snakemake.input.answers,
        items=list(snakemake.input.task),
        tasks=snakemake.params.tasks,
        categories_of=snakemake.input.categories_of,
        subjects=snakemake.output.subjects,
        subjects_csv=snakemake.output.subjects_csv,
        categories=snakemake.output.categories,
        categories_csv=snakemake.output.categories_csv,
        permutations=snakemake.params.permutations,
        seed=snakemake.params.seed,
    )

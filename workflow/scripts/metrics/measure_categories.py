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
    questions: list[str],
    tasks: list[str],
    subject_categories: str,
    subjects: str,
    categories: str,
    permutations: int,
    seed: int,
) -> None:
    """Measure and write."""
    columns = (read_texts([Path(subject_categories)], name) for name in ("subject", "category"))
    rows = measure_subjects(
        tables.read_frame(answers, Answer),
        tables.read_items(questions, tasks),
        dict(zip(*columns, strict=True)),
    )
    tables.write_table(subjects, rows, SubjectVariance)
    tests = measure_categories(rows, n_permutations=permutations, seed=seed)
    tables.write_table(categories, tests, CategoryVariance)


if __name__ == "__main__":
    stage.run_script(main, snakemake)

"""Measure where who asks matters more: subject by subject, and by category of subject.

In: <results>/answers/answers.parquet, items, and the category of each subject. Out:
<results>/metrics/subjects and categories.
"""

from fieldwork import stage, tables
from fieldwork.metrics.categories import measure_categories, measure_subjects, read_categories
from fieldwork.records.metrics import CategoryVariance, SubjectVariance
from fieldwork.records.parsing import Answer


def main(
    answers: str,
    questions: list[str],
    subject_categories: str,
    subjects: str,
    categories: str,
    permutations: int,
    seed: int,
) -> None:
    """Measure and write."""
    frame, items = tables.read_frame(answers, Answer), tables.read_items(questions)
    rows = measure_subjects(frame, items, read_categories(subject_categories))
    tables.write_table(subjects, rows, SubjectVariance)
    tests = measure_categories(rows, n_permutations=permutations, seed=seed)
    tables.write_table(categories, tests, CategoryVariance)


if __name__ == "__main__":
    stage.run_script(main, snakemake)

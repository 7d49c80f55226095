"""Measure means, spread and differences of the answers to scales and numbers.

In: <results>/answers/answers.parquet, the items. Out: <results>/metrics/{values,value_comparisons}.
"""

from fieldwork import stage, tables
from fieldwork.metrics.values.comparisons import measure_value_comparisons
from fieldwork.metrics.values.estimates import measure_values
from fieldwork.records.parsing import Answer
from fieldwork.records.values import ValueComparison, ValueEstimate


def main(
    answers: str,
    questions: list[str],
    values: str,
    value_comparisons: str,
    baseline: str,
    permutations: int,
    rarest_users: float,
    seed: int,
) -> None:
    """Measure and write."""
    rows, items = tables.read_frame(answers, Answer), tables.read_items(questions)
    estimates = measure_values(rows, items, rarest_users=rarest_users)
    comparisons = measure_value_comparisons(
        rows,
        items,
        baseline=baseline,
        n_permutations=permutations,
        seed=seed,
        rarest_users=rarest_users,
    )
    tables.write_table(values, estimates, ValueEstimate)
    tables.write_table(value_comparisons, comparisons, ValueComparison)


if __name__ == "__main__":
    stage.run_script(main, snakemake)

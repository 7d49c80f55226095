"""Measure what the probabilities of letters add, beside what the letters drawn say.

In: <results>/answers/answers.parquet, variance, novelty, comparisons, estimates/accuracy and letters.
Out: <results>/metrics/exact_estimates.
"""

from fieldwork import stage, tables
from fieldwork.metrics.exact_estimates import MeasuredTables, measure_exactly
from fieldwork.records.estimates import Estimate
from fieldwork.records.metrics import Comparison, ExactEstimate, Novelty, VarianceShare
from fieldwork.records.parsing import Answer


def main(
    answers: str,
    variance: str,
    accuracy: str,
    letters: str,
    novelty: str,
    comparisons: str,
    exact_estimates: str,
    baseline: str,
    rarest_users: float,
    seed: int,
) -> None:
    """Measure and write."""
    study_tables = MeasuredTables(
        tables.read_rows(variance, VarianceShare),
        [row for path in (accuracy, letters) for row in tables.read_rows(path, Estimate)],
        tables.read_rows(novelty, Novelty),
        tables.read_rows(comparisons, Comparison),
    )
    rows = measure_exactly(
        tables.read_frame(answers, Answer),
        study_tables,
        baseline=baseline,
        rarest_users=rarest_users,
        seed=seed,
    )
    tables.write_table(exact_estimates, rows, ExactEstimate)


if __name__ == "__main__":
    stage.run_script(main, snakemake)

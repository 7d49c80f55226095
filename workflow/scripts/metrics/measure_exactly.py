"""Measure what the probabilities of letters say, beside what the drawn letters say.

In: <results>/answers/answers.parquet, items, variance, estimates/accuracy and novelty.
Out: <results>/metrics/exact_estimates.
"""

from fieldwork import stage, tables
from fieldwork.metrics.exact_estimates import measure_exactly
from fieldwork.records.estimates import Estimate
from fieldwork.records.metrics import ExactEstimate, Novelty, VarianceShare
from fieldwork.records.parsing import Answer


def main(
    answers: str,
    questions: list[str],
    variance: str,
    accuracy: str,
    novelty: str,
    exact_estimates: str,
    baseline: str,
    rarest_users: float,
) -> None:
    """Measure and write."""
    rows = measure_exactly(
        tables.read_frame(answers, Answer),
        tables.read_items(questions),
        tables.read_rows(variance, VarianceShare),
        tables.read_rows(accuracy, Estimate),
        tables.read_rows(novelty, Novelty),
        baseline=baseline,
        rarest_users=rarest_users,
    )
    tables.write_table(exact_estimates, rows, ExactEstimate)


if __name__ == "__main__":
    stage.run_script(main, snakemake)

"""Measure how much of the variance of answers comes from who asks.

In: <results>/answers/answers.parquet. Out: <results>/metrics/variance.
"""

from fieldwork import stage, tables
from fieldwork.metrics.variance import measure_variance
from fieldwork.records.metrics import VarianceShare
from fieldwork.records.parsing import Answer


def main(
    answers: str,
    variance: str,
    variance_csv: str,
    baseline: str,
    permutations: int,
    seed: int,
) -> None:
    """Measure and write."""
    measured = measure_variance(
        tables.read_frame(answers, Answer),
        baseline=baseline,
        n_permutations=permutations,
        seed=seed,
    )
    tables.write_rows(variance, measured, VarianceShare, order_by="model, task, condition, kind")
    tables.write_csv(variance_csv, variance)


if __name__ == "__main__":
    stage.run(
        main,
        log=snakemake.log[0],
        answers=snakemake.input.answers,
        variance=snakemake.output.variance,
        variance_csv=snakemake.output.variance_csv,
        baseline=snakemake.params.baseline,
        permutations=snakemake.params.permutations,
        seed=snakemake.params.seed,
    )

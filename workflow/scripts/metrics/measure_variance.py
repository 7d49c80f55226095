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
    baseline: str,
    permutations: int,
    rarest_users: float,
    seed: int,
) -> None:
    """Measure and write."""
    rows = measure_variance(
        tables.read_frame(answers, Answer),
        baseline=baseline,
        n_permutations=permutations,
        seed=seed,
        rarest_users=rarest_users,
    )
    tables.write_table(variance, rows, VarianceShare)


if __name__ == "__main__":
    stage.run_script(main, snakemake)

"""Set each condition's scores beside the baseline's: their difference, and how far they spread.

In: <results>/metrics/accuracy_runs. Out: <results>/metrics/score_comparisons.
"""

from fieldwork import stage, tables
from fieldwork.metrics.scores import measure_score_comparisons
from fieldwork.records.metrics import RunAccuracy, ScoreComparison


def main(
    accuracy_runs: str,
    score_comparisons: str,
    baseline: str,
    permutations: int,
    rarest_users: float,
    seed: int,
) -> None:
    """Measure and write."""
    rows = measure_score_comparisons(
        tables.read_rows(accuracy_runs, RunAccuracy),
        baseline=baseline,
        n_permutations=permutations,
        seed=seed,
        rarest_users=rarest_users,
    )
    tables.write_table(score_comparisons, rows, ScoreComparison)


if __name__ == "__main__":
    stage.run_script(main, snakemake)

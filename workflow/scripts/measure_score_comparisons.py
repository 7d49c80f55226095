"""Set each condition's scores beside the baseline's: their difference, and how far they spread.

In: <results>/metrics/accuracy_runs. Out: <results>/metrics/score_comparisons.
"""

from fieldwork import stage, tables
from fieldwork.metrics.scores import measure_score_comparisons
from fieldwork.records.metrics import RunAccuracy, ScoreComparison


def main(
    runs: str, comparisons: str, comparisons_csv: str, baseline: str, permutations: int, seed: int
) -> None:
    """Measure and write."""
    measured = measure_score_comparisons(
        tables.read_rows(runs, RunAccuracy),
        baseline=baseline,
        n_permutations=permutations,
        seed=seed,
    )
    order = "model, task, condition, metric"
    tables.write_rows(comparisons, measured, ScoreComparison, order_by=order)
    tables.write_csv(comparisons_csv, comparisons)


if __name__ == "__main__":
    stage.run(
        main,
        log=snakemake.log[0],
        runs=snakemake.input.runs,
        comparisons=snakemake.output.comparisons,
        comparisons_csv=snakemake.output.comparisons_csv,
        baseline=snakemake.params.baseline,
        permutations=snakemake.params.permutations,
        seed=snakemake.params.seed,
    )

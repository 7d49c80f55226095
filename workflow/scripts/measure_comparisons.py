"""Measure how far each condition's answers are from the baseline's.

In: <results>/answers/answers.parquet. Out: <results>/metrics/comparisons.
"""

from fieldwork import stage, tables
from fieldwork.metrics.comparisons import measure_comparisons
from fieldwork.records.metrics import Comparison
from fieldwork.records.parsing import Answer


def main(
    answers: str,
    comparisons: str,
    comparisons_csv: str,
    baseline: str,
    permutations: int,
    seed: int,
) -> None:
    """Measure and write."""
    measured = measure_comparisons(
        tables.read_frame(answers, Answer),
        baseline=baseline,
        n_permutations=permutations,
        seed=seed,
    )
    tables.write_rows(
        comparisons, measured, Comparison, order_by="model, task, condition, item_id, metric"
    )
    tables.write_csv(comparisons_csv, comparisons)


if __name__ == "__main__":
    stage.run(
        main,
        log=snakemake.log[0],
        answers=snakemake.input.answers,
        comparisons=snakemake.output.comparisons,
        comparisons_csv=snakemake.output.comparisons_csv,
        baseline=snakemake.params.baseline,
        permutations=snakemake.params.permutations,
        seed=snakemake.params.seed,
    )

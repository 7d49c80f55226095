"""Measure how far each condition's answers are from the baseline's.

In: <results>/answers/answers.parquet. Out: <results>/metrics/comparisons.
"""

from fieldwork import stage, tables
from fieldwork.metrics.comparisons import measure_comparisons
from fieldwork.records.metrics import Comparison
from fieldwork.records.parsing import Answer


def main(answers: str, comparisons: str, baseline: str, permutations: int, seed: int) -> None:
    """Measure and write."""
    rows = measure_comparisons(
        tables.read_frame(answers, Answer),
        baseline=baseline,
        n_permutations=permutations,
        seed=seed,
    )
    tables.write_table(comparisons, rows, Comparison)


if __name__ == "__main__":
    stage.run_script(main, snakemake)

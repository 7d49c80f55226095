"""Measure how many options so many answers may be expected to name.

In: <results>/answers/answers.parquet. Out: <results>/metrics/rarefaction.
"""

from fieldwork import stage, tables
from fieldwork.metrics.rarefaction import measure_rarefaction
from fieldwork.records.metrics import Rarefaction
from fieldwork.records.parsing import Answer


def main(answers: str, rarefaction: str) -> None:
    """Measure and write."""
    rows = measure_rarefaction(tables.read_frame(answers, Answer))
    tables.write_table(rarefaction, rows, Rarefaction)


if __name__ == "__main__":
    stage.run_script(main, snakemake)

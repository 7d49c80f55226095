"""Measure how many options so many answers may be expected to name.

In: <results>/answers/answers.parquet. Out: <results>/metrics/rarefaction.
"""

from fieldwork import stage, tables
from fieldwork.metrics.rarefaction import measure_rarefaction
from fieldwork.records.metrics import Rarefaction
from fieldwork.records.parsing import Answer


def main(answers: str, rarefaction: str, rarefaction_csv: str) -> None:
    """Measure and write."""
    measured = measure_rarefaction(tables.read_frame(answers, Answer))
    order = "model, task, condition, item_id NULLS FIRST, n_answers"
    tables.write_rows(rarefaction, measured, Rarefaction, order_by=order)
    tables.write_csv(rarefaction_csv, rarefaction)


if __name__ == "__main__":
    stage.run(
        main,
        log=snakemake.log[0],
        answers=snakemake.input.answers,
        rarefaction=snakemake.output.rarefaction,
        rarefaction_csv=snakemake.output.rarefaction_csv,
    )

"""Measure how far each condition moves the share of every option from the baseline's.

In: <results>/answers/answers.parquet. Out: <results>/metrics/shifts.
"""

from fieldwork import stage, tables
from fieldwork.metrics.shifts import measure_shifts
from fieldwork.records.metrics import Shift
from fieldwork.records.parsing import Answer


def main(answers: str, shifts: str, shifts_csv: str, baseline: str) -> None:
    """Measure and write."""
    measured = measure_shifts(tables.read_frame(answers, Answer), baseline=baseline)
    order = "model, task, condition, item_id, answer NULLS FIRST"
    tables.write_rows(shifts, measured, Shift, order_by=order)
    tables.write_csv(shifts_csv, shifts)


if __name__ == "__main__":
    stage.run(
        main,
        log=snakemake.log[0],
        answers=snakemake.input.answers,
        shifts=snakemake.output.shifts,
        shifts_csv=snakemake.output.shifts_csv,
        baseline=snakemake.params.baseline,
    )

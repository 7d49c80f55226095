"""Measure how far each condition moves the share of every option from the baseline's.

In: <results>/answers/answers.parquet. Out: <results>/metrics/shifts.
"""

from fieldwork import stage, tables
from fieldwork.metrics.shifts import measure_shifts
from fieldwork.records.metrics import Shift
from fieldwork.records.parsing import Answer


def main(answers: str, shifts: str, baseline: str) -> None:
    """Measure and write."""
    rows = measure_shifts(tables.read_frame(answers, Answer), baseline=baseline)
    tables.write_table(shifts, rows, Shift)


if __name__ == "__main__":
    stage.run_script(main, snakemake)

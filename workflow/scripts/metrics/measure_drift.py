"""Measure what moved between waves of the same questions.

In: <results>/answers/answers.parquet, answers/forms and responses of the waves, items.
Out: <results>/metrics/drift.
"""

from fieldwork import stage, tables
from fieldwork.metrics.drift.calls import read_calls_of_waves
from fieldwork.metrics.drift.table import WavePlan, measure_drift
from fieldwork.records.drift import Drift
from fieldwork.records.parsing import Answer


def main(
    answers: str,
    forms: list[str],
    responses: list[str],
    questions: list[str],
    drift: str,
    waves: dict[str, str],
    series: dict[str, str],
    seed: int,
    looks: int = 52,
) -> None:
    """Measure and write; `waves` and `series` are by condition, `looks` are planned after the first."""
    frame, items = tables.read_frame(answers, Answer), tables.read_items(questions)
    calls = read_calls_of_waves(frame, items, forms, responses, [*waves])
    rows = measure_drift(calls, WavePlan(waves, series, looks, seed))
    tables.write_table(drift, rows, Drift)


if __name__ == "__main__":
    stage.run_script(main, snakemake)

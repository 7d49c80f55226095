"""Score every run of the tasks that have gold letters.

In: <results>/answers/answers.parquet and items. Out: <results>/metrics/accuracy_runs and accuracy.
"""

from fieldwork import stage, tables
from fieldwork.metrics.accuracy import measure_accuracy, measure_runs
from fieldwork.records.metrics import Accuracy, RunAccuracy
from fieldwork.records.parsing import Answer


def main(
    answers: str,
    items: list[str],
    tasks: list[str],
    runs: str,
    runs_csv: str,
    accuracy: str,
    accuracy_csv: str,
) -> None:
    """Measure and write."""
    frame = tables.read_frame(answers, Answer)
    scored = measure_runs(frame, tables.read_items(items, tasks))
    tables.write_rows(runs, scored, RunAccuracy, order_by="model, task, condition, run")
    tables.write_csv(runs_csv, runs)
    spread = measure_accuracy(scored)
    tables.write_rows(accuracy, spread, Accuracy, order_by="model, task, condition, metric")
    tables.write_csv(accuracy_csv, accuracy)


if __name__ == "__main__":
    stage.run(
        main,
        log=snakemake.log[0],
        answers=snakemake.input.answers,
        items=list(snakemake.input.task),
        tasks=snakemake.params.tasks,
        runs=snakemake.output.runs,
        runs_csv=snakemake.output.runs_csv,
        accuracy=snakemake.output.accuracy,
        accuracy_csv=snakemake.output.accuracy_csv,
    )

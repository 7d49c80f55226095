"""Score every run of the tasks that have gold letters.

In: <results>/answers/answers.parquet and items. Out: <results>/metrics/accuracy_runs and accuracy.
"""

from fieldwork import stage, tables
from fieldwork.metrics.accuracy import measure_accuracy, measure_runs
from fieldwork.records.metrics import Accuracy, RunAccuracy
from fieldwork.records.parsing import Answer


def main(
    answers: str, questions: list[str], accuracy_runs: str, accuracy: str, rarest_users: float
) -> None:
    """Measure and write."""
    runs = measure_runs(tables.read_frame(answers, Answer), tables.read_items(questions))
    tables.write_table(accuracy_runs, runs, RunAccuracy)
    rows = measure_accuracy(runs, rarest_users=rarest_users)
    tables.write_table(accuracy, rows, Accuracy)


if __name__ == "__main__":
    stage.run_script(main, snakemake)

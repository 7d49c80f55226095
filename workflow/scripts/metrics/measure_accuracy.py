"""Score every run of the tasks that have gold letters.

In: <results>/answers/answers.parquet and items. Out: <results>/metrics/accuracy_runs and accuracy.
"""

from fieldwork import stage, tables
from fieldwork.metrics.accuracy import measure_accuracy, measure_runs
from fieldwork.records.metrics import Accuracy, RunAccuracy
from fieldwork.records.parsing import Answer


def main(answers: str, questions: list[str], accuracy_runs: str, accuracy: str) -> None:
    """Measure and write."""
    runs = measure_runs(tables.read_frame(answers, Answer), tables.read_items(questions))
    tables.write_table(accuracy_runs, runs, RunAccuracy)
    tables.write_table(accuracy, measure_accuracy(runs), Accuracy)


if __name__ == "__main__":
    stage.run_script(main, snakemake)

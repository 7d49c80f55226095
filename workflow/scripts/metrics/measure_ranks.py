"""Say which places a model's runs would take on a leaderboard, and how often users change them.

In: <results>/metrics/accuracy_runs, leaderboards. Out: <results>/metrics/ranks and order_changes.
"""

from fieldwork import stage, tables
from fieldwork.files.leaderboards import read_leaderboard
from fieldwork.metrics.ranks import measure_order_changes, measure_ranks, require_names
from fieldwork.records.metrics import OrderChange, Rank, RunAccuracy


def main(
    accuracy_runs: str,
    leaderboards: list[str],
    tasks: list[str],
    ranks: str,
    order_changes: str,
    baseline: str,
    names: dict[str, str | None],
) -> None:
    """Measure and write.

    Args:
        leaderboards: a file for each of `tasks`, the tasks whose questions are the leaderboard's own.
        names: what the study's models are called on leaderboards, where they are on one.
    """
    runs = tables.read_rows(accuracy_runs, RunAccuracy)
    models = {model: name for model, name in names.items() if name}
    boards = {t: read_leaderboard(path) for t, path in zip(tasks, leaderboards, strict=True)}
    require_names([*boards.values()], models)
    places: list[Rank] = []
    for task, board in boards.items():
        runs_of_task = [run for run in runs if run.task == task]
        places += measure_ranks(runs_of_task, board, baseline=baseline, own_names=models)
    tables.write_table(ranks, places, Rank)
    tables.write_table(order_changes, measure_order_changes(runs, baseline=baseline), OrderChange)


if __name__ == "__main__":
    stage.run_script(main, snakemake)

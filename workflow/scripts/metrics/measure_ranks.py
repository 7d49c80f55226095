"""Say which places a model's runs would take on a leaderboard, and how often users change them.

In: <results>/metrics/accuracy_runs, leaderboards. Out: <results>/metrics/ranks.
"""

from fieldwork import stage, tables
from fieldwork.files.leaderboards import read_leaderboard
from fieldwork.metrics.ranks import measure_places
from fieldwork.records.metrics import Rank, RunAccuracy


def main(
    accuracy_runs: str,
    leaderboards: list[str],
    tasks: list[str],
    ranks: str,
    baseline: str,
    names: dict[str, str],
) -> None:
    """Measure and write; each of `tasks` has its leaderboard, and `names` are the models' there."""
    runs = tables.read_rows(accuracy_runs, RunAccuracy)
    boards = dict(zip(tasks, map(read_leaderboard, leaderboards), strict=True))
    places = measure_places(runs, boards, baseline=baseline, own_names=names)
    tables.write_table(ranks, places, Rank)


if __name__ == "__main__":
    stage.run_script(main, snakemake)

"""Say which places a model's runs would take on a leaderboard, and how often users change them.

In: <results>/metrics/accuracy_runs, leaderboards. Out: <results>/metrics/ranks and order_changes.
"""

from fieldwork import stage, tables
from fieldwork.files.leaderboards import read_leaderboard
from fieldwork.metrics.ranks import measure_order_changes, measure_ranks, require_names
from fieldwork.records.metrics import OrderChange, Rank, RunAccuracy


def main(
    runs: str,
    leaderboards: dict[str, str],
    ranks: str,
    ranks_csv: str,
    orders: str,
    orders_csv: str,
    baseline: str,
    own_names: dict[str, str | None],
) -> None:
    """Measure and write; `leaderboards` are files, by the task whose questions are the leaderboard's."""
    scored = tables.read_rows(runs, RunAccuracy)
    named = {model: name for model, name in own_names.items() if name}
    boards = {task: read_leaderboard(path) for task, path in leaderboards.items()}
    require_names([*boards.values()], named)
    places: list[Rank] = []
    for task, board in boards.items():
        own = [run for run in scored if run.task == task]
        places += measure_ranks(own, board, baseline=baseline, own_names=named)
    tables.write_rows(ranks, places, Rank, order_by="model, task, condition, metric")
    tables.write_csv(ranks_csv, ranks)
    turned = measure_order_changes(scored, baseline=baseline)
    order = "model, other, task, condition, metric"
    tables.write_rows(orders, turned, OrderChange, order_by=order)
    tables.write_csv(orders_csv, orders)


if __name__ == "__main__":
    stage.run(
        main,
        log=snakemake.log[0],
        runs=snakemake.input.runs,
        leaderboards=dict(zip(snakemake.params.tasks, snakemake.input.leaderboards, strict=True)),
        ranks=snakemake.output.ranks,
        ranks_csv=snakemake.output.ranks_csv,
        orders=snakemake.output.orders,
        orders_csv=snakemake.output.orders_csv,
        baseline=snakemake.params.baseline,
        own_names=snakemake.params.own_names,
    )

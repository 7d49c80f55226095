"""Say which places a model's runs would take on the leaderboard, and how often users change them.

In: <results>/metrics/accuracy_runs, the leaderboard. Out: <results>/metrics/ranks and order_changes.
"""

from fieldwork import stage, tables, texts
from fieldwork.estimates import OrderChange, Rank
from fieldwork.metrics.ranks import (
    Leaderboard,
    measure_order_changes,
    measure_ranks,
    read_places,
)
from fieldwork.records import RunAccuracy


def main(
    runs: str,
    leaderboard: str,
    ranks: str,
    ranks_csv: str,
    orders: str,
    orders_csv: str,
    task: str,
    baseline: str,
    own_names: dict[str, str | None],
    note: str | None,
) -> None:
    """Measure and write."""
    scored = [run for run in tables.read_rows(runs, RunAccuracy) if run.task == task]
    named = {model: name for model, name in own_names.items() if name}
    board = Leaderboard(read_places(texts.read_csv(leaderboard)), named, note)
    placed = measure_ranks(scored, board, baseline=baseline)
    tables.write_rows(ranks, placed, Rank, order_by="model, task, condition, metric")
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
        leaderboard=snakemake.input.leaderboard,
        ranks=snakemake.output.ranks,
        ranks_csv=snakemake.output.ranks_csv,
        orders=snakemake.output.orders,
        orders_csv=snakemake.output.orders_csv,
        task=snakemake.params.task,
        baseline=snakemake.params.baseline,
        own_names=snakemake.params.own_names,
        note=snakemake.params.note,
    )

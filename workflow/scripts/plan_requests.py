"""Lay out who is asked what, and how often.

In: items, and the condition's contexts if it has any. Out: <results>/requests/{task}/{condition}.parquet.
"""

from fieldwork import stage, tables
from fieldwork.generation.requests import ContextRef, plan_requests
from fieldwork.records.generation import Request
from fieldwork.records.puppets import Context
from fieldwork.records.tasks import Item


def main(items: str, contexts: str, requests: str, runs: int, replicates: int, first: int) -> None:
    """Plan and write."""
    item_ids = [item.item_id for item in tables.read_rows(items, Item)]
    if contexts:
        columns = tables.read_columns(contexts, Context, ContextRef._fields)
        planned = plan_requests(item_ids, [ContextRef(*row) for row in columns], replicates)
    else:
        planned = plan_requests(item_ids, [ContextRef(None, None, None)], runs, first=first)
    order = "context_id NULLS FIRST, puppet_id, item_id, replicate"
    tables.write_rows(requests, planned, Request, order_by=order)


if __name__ == "__main__":
    stage.run(
        main,
        log=snakemake.log[0],
        items=snakemake.input.task,
        contexts=str(snakemake.input.contexts or ""),
        requests=snakemake.output.requests,
        runs=snakemake.params.runs,
        replicates=snakemake.params.replicates,
        first=snakemake.params.first,
    )

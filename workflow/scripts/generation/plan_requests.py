"""Lay out who is asked what, and how often.

In: items, and the condition's contexts if it has any. Out: <results>/requests/{task}/{condition}.parquet.
"""

from fieldwork import stage, tables
from fieldwork.generation.requests import ContextRef, plan_requests
from fieldwork.records.generation import Request
from fieldwork.records.puppets import Context
from fieldwork.records.tasks import Item


def main(
    questions: str, contexts: list[str], requests: str, runs: int, replicates: int, first: int
) -> None:
    """Plan and write."""
    item_ids = [item.item_id for item in tables.read_rows(questions, Item)]
    if contexts:
        columns = tables.read_columns(contexts[0], Context, ContextRef._fields)
        rows = plan_requests(item_ids, [ContextRef(*row) for row in columns], replicates)
    else:
        rows = plan_requests(item_ids, [ContextRef(None, None, None)], runs, first=first)
    tables.write_table(requests, rows, Request)


if __name__ == "__main__":
    stage.run_script(main, snakemake)

"""Lay out who is asked what, and how often.

In: items, those of tasks that `study.primary` names items of, and the condition's contexts if it has any.
Out: <results>/requests/{task}/{condition}.parquet.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from fieldwork import stage, tables
from fieldwork.config.primary import require_items
from fieldwork.generation.requests import ContextRef, plan_requests
from fieldwork.records.generation import Request
from fieldwork.records.puppets import Context
from fieldwork.records.tasks import Item


def main(
    questions: str,
    contexts: list[str],
    primary_questions: list[str],
    requests: str,
    runs: int,
    replicates: int,
    first: int,
    primary: Mapping[str, Mapping[str, Sequence[str]]],
) -> None:
    """Plan and write."""
    require_items(primary, {Path(path).stem: _item_ids(path) for path in primary_questions})
    item_ids = _item_ids(questions)
    if contexts:
        columns = tables.read_columns(contexts[0], Context, ContextRef._fields)
        rows = plan_requests(item_ids, [ContextRef(*row) for row in columns], replicates)
    else:
        rows = plan_requests(item_ids, [ContextRef(None, None, None)], runs, first=first)
    tables.write_table(requests, rows, Request)


def _item_ids(questions: str) -> list[str]:
    return [item.item_id for item in tables.read_rows(questions, Item)]


if __name__ == "__main__":
    stage.run_script(main, snakemake)

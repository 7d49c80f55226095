"""Lay out who is asked what, and how often.

In: items, also of tasks that `study.primary` names items of, and contexts where conditions have any.
Out: <results>/requests/{task}/{condition}.parquet, of one arm or of all of a study.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fieldwork import stage, tables
from fieldwork.config.primary import require_items
from fieldwork.generation.requests import ContextRef, plan_requests
from fieldwork.records.generation import Request
from fieldwork.records.puppets import Context
from fieldwork.records.tasks import Item


def main(
    questions: list[str],
    contexts: list[str],
    primary_questions: list[str],
    requests: list[str],
    arms: list[dict[str, Any]],
    primary: Mapping[str, Mapping[str, Sequence[str]]],
) -> None:
    """Plan and write; each of `requests` is of the arm in its place.

    Args:
        arms: `task` and `condition`, the `replicates` of a context, and the number of the `first`.
    """
    require_items(primary, _item_ids(primary_questions))
    item_ids = _item_ids(questions)
    context_paths = {tuple(Path(path).with_suffix("").parts[-2:]): path for path in contexts}
    for arm, path in zip(arms, requests, strict=True):
        refs = [ContextRef(None, None, None)]
        if context_path := context_paths.get((arm["task"], arm["condition"])):
            columns = tables.read_columns(context_path, Context, ContextRef._fields)
            refs = [ContextRef(*row) for row in columns]
        with stage.making(path):
            rows = plan_requests(item_ids[arm["task"]], refs, arm["replicates"], first=arm["first"])
            tables.write_table(path, rows, Request)


def _item_ids(questions: list[str]) -> dict[str, list[str]]:
    """The items of each task."""
    return {
        Path(path).stem: [item.item_id for item in tables.read_rows(path, Item)]
        for path in questions
    }


if __name__ == "__main__":
    stage.run_script(main, snakemake)

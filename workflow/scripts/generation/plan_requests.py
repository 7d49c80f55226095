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
from fieldwork.records.tasks import Item, ItemKind


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
        arms: `task` and `condition`, the `replicates` of a context or the `option_calls` of a choice,
            and the number of the `first`.
    """
    require_items(primary, {task: [*kinds] for task, kinds in _kinds(primary_questions).items()})
    kinds_of = _kinds(questions)
    context_paths = {tuple(Path(path).with_suffix("").parts[-2:]): path for path in contexts}
    for arm, path in zip(arms, requests, strict=True):
        refs = [ContextRef(None, None, None)]
        if context_path := context_paths.get((arm["task"], arm["condition"])):
            columns = tables.read_columns(context_path, Context, ContextRef._fields)
            refs = [ContextRef(*row) for row in columns]
        kinds, times = kinds_of[arm["task"]], arm["replicates"]
        choices = [item for item, kind in kinds.items() if kind == "choice"]
        fewer = dict.fromkeys(choices, arm.get("option_calls", times))
        with stage.making(path):
            rows = plan_requests([*kinds], refs, times, first=arm["first"], fewer=fewer)
            tables.write_table(path, rows, Request)


def _kinds(questions: list[str]) -> dict[str, dict[str, ItemKind]]:
    """The kind of each item of each task."""
    return {
        Path(path).stem: {item.item_id: item.kind for item in tables.read_rows(path, Item)}
        for path in questions
    }


if __name__ == "__main__":
    stage.run_script(main, snakemake)

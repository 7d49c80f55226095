"""Answers to a task and its variants, in as few words as a test needs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace

import pandas as pd

from fieldwork.estimates.quantity import ChanceSettings
from fieldwork.metrics.robustness.table import measure_robustness
from fieldwork.records.parsing import Answer
from fieldwork.records.robustness import Robustness
from unit.metrics.metric_frames import answer_frame, chosen, listed, question

SETTINGS = ChanceSettings(199, 1)


def letters(
    task: str, by_item: Mapping[str, str], *, puppet: str | None = None, condition: str = "c"
) -> list[Answer]:
    """One answer a letter of each item's text, in order of reruns; `?` is unreadable, `-` missing."""
    return [
        replace(answer, task=task, replicate=rerun)
        for item, text in by_item.items()
        for rerun, letter in enumerate(text)
        if letter != "-"
        for answer in chosen(
            [None if letter == "?" else letter], item_id=item, puppet_id=puppet, condition=condition
        )
    ]


def lists(
    task: str, by_item: Mapping[str, Sequence[Sequence[str] | None]], *, puppet: str | None = None
) -> list[Answer]:
    """One list a rerun of each item."""
    return [
        replace(answer, task=task)
        for item, responses in by_item.items()
        for answer in listed(*responses, item_id=item, puppet_id=puppet)
    ]


def questions(
    tasks: Iterable[str],
    items: Sequence[str],
    *,
    gold: str | None = "A",
    left_out: Mapping[str, Sequence[str]] | None = None,
) -> pd.DataFrame:
    """The items of several tasks; `left_out` are those that a variant could not change."""
    # the first task is the origin
    rows = [
        asdict(question(name, gold=gold))
        | {"task": task, "applied": name not in (left_out or {}).get(task, ()) if place else None}
        for place, task in enumerate(tasks)
        for name in items
    ]
    return pd.DataFrame(rows)


def measured(
    answers: Iterable[Answer],
    items: pd.DataFrame,
    variants: Mapping[str, str],
    settings: ChanceSettings = SETTINGS,
) -> dict[tuple[str, str], Robustness]:
    """Rows by task and metric."""
    rows = measure_robustness(answer_frame(answers), items, variants=variants, settings=settings)
    return {(row.task, row.metric): row for row in rows}

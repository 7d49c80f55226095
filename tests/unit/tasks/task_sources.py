"""Sources of items for the tests of tasks."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from fieldwork.errors import StudyError
from fieldwork.records.tasks import Item
from fieldwork.tasks.items import load_items
from fieldwork.tasks.own_items import TaskSource

OWN = TaskSource(format="items", dataset="mine")
MMLU_ROWS = [
    ["Two and two, is?", "3", "4", "5", "six, or so", "B"],
    ['"Quoted"\nline', *"wxyz", "D"],
]


def changed(source: TaskSource, **settings: Any) -> TaskSource:
    """A source with other settings."""
    return TaskSource(**source.model_dump() | settings)


def csv_file(path: Path, rows: Sequence[Sequence[object]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as handle:
        csv.writer(handle).writerows(rows)
    return path


def items_of(folder: Path, text: str, **settings: Any) -> list[Item]:
    """The items of somebody's own file of a text."""
    file = folder / "items.csv"
    file.write_text(text, encoding="utf-8")
    return load_items([file], changed(OWN, **settings), {})


def complaint(files: list[Path], source: TaskSource) -> str:
    with pytest.raises(StudyError) as caught:
        load_items(files, source, {})
    assert "\n" not in str(caught.value)
    return str(caught.value)

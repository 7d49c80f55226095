"""Which rows, conditions, models and items of a table a figure draws."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import pandas as pd

from fieldwork.figures.settings import FigureSettings
from fieldwork.records.shared import ItemKey

LETTERS_LEFT_OUT = "Multiple-choice questions are in the tables only."
"""Printed where only lists are drawn."""


class CountRange(NamedTuple):
    """Smallest and largest of some counts."""

    low: int
    high: int

    def __str__(self) -> str:
        return f"{self.low}" if self.low == self.high else f"{self.low}–{self.high}"


class ItemSelection(NamedTuple):
    """The items to draw, and a remark to print where some are left out."""

    items: list[ItemKey]
    remark: str | None


def rows_of(table: pd.DataFrame) -> list[Any]:
    """Rows of a table, its columns as attributes."""
    return list(table.itertuples(index=False))


def rows_of_task(table: pd.DataFrame, settings: FigureSettings) -> pd.DataFrame:
    """The part of a table that belongs to the task of the figure."""
    return table if settings.task is None else table[table["task"] == settings.task]


def absence_reason(table: pd.DataFrame, settings: FigureSettings) -> str | None:
    """Why a table gives nothing to draw, or None where it does."""
    if table.empty:
        return "the table has no rows"
    if not conditions_in(table, settings):
        conditions = ", ".join(settings.conditions) or "none"
        return f"the table has none of the conditions to draw ({conditions})"
    return None


def conditions_in(table: pd.DataFrame, settings: FigureSettings) -> list[str]:
    """The conditions of the settings that the table holds, in the order of the settings."""
    conditions = set(table["condition"])
    return [c for c in dict.fromkeys(settings.conditions) if c in conditions]


def models_in(table: pd.DataFrame, settings: FigureSettings) -> list[str]:
    """Models of the table: those with a label in the order of the labels, then the rest by name."""
    models = {str(model) for model in table["model"]}
    with_label = [model for model in settings.model_labels if model in models]
    return with_label + sorted(models - set(with_label))


def select_items(item_keys: Iterable[ItemKey], *, at_most: int) -> ItemSelection:
    """The first items, each once."""
    keys = list(dict.fromkeys(item_keys))
    if len(keys) <= at_most:
        return ItemSelection(keys, None)
    return ItemSelection(
        keys[:at_most],
        f"Only the first {at_most} of {len(keys)} items are drawn; the table has all of them.",
    )


def first_reason(table: pd.DataFrame, otherwise: str) -> str:
    """The first reason that a table gives for a NULL."""
    return next((str(r) for r in table["reason"] if not pd.isna(r)), otherwise)


def float_or_none(value: Any) -> float | None:
    """A cell as a float, None where the table holds NULL."""
    return None if pd.isna(value) else float(value)


def range_of(counts: Iterable[int]) -> CountRange | None:
    """Smallest and largest count, None of no counts."""
    numbers = [int(count) for count in counts]
    return CountRange(min(numbers), max(numbers)) if numbers else None

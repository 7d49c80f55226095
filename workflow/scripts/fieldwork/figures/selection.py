"""Which rows, conditions, models and items of a table a figure draws."""

from collections.abc import Iterable
from typing import Any

import pandas as pd

from fieldwork.figures.settings import FigureSettings
from fieldwork.statistics.families import LEVEL

LETTERS_LEFT_OUT = "Multiple-choice questions are in the tables only."
"""Printed where only lists are drawn."""


class NothingToDrawError(Exception):
    """Why a figure has nothing to draw; the figure says so."""


def rows_of(table: pd.DataFrame) -> list[Any]:
    """Rows of a table, its columns as attributes."""
    return list(table.itertuples(index=False))


def rows_by(table: pd.DataFrame, *columns: str) -> dict[tuple[Any, ...], list[Any]]:
    """Rows of a table by the values of columns, in its order; NULL is None."""
    rows: dict[tuple[Any, ...], list[Any]] = {}
    for row in rows_of(table):
        values = (getattr(row, column) for column in columns)
        rows.setdefault(tuple(None if pd.isna(one) else one for one in values), []).append(row)
    return rows


def row_by(table: pd.DataFrame, *columns: str) -> dict[tuple[Any, ...], Any]:
    """The row of a table by the values of columns, which tell its rows apart; NULL is None."""
    return {key: rows[-1] for key, rows in rows_by(table, *columns).items()}


def rows_of_task(table: pd.DataFrame, settings: FigureSettings) -> pd.DataFrame:
    """The part of a table that belongs to the task of the figure."""
    return table if settings.task is None else table[table["task"] == settings.task]


def rows_to_draw(table: pd.DataFrame, settings: FigureSettings, about: str = "") -> pd.DataFrame:
    """The rows of the task and the conditions to draw.

    Raises:
        NothingToDrawError: there is none; the reason begins with what the table is `about`.
    """
    table = table if table.empty else rows_of_task(table, settings)
    if table.empty:
        raise NothingToDrawError(f"{about}the table has no rows")
    part = table[table["condition"].isin(list(settings.conditions))]
    if part.empty:
        conditions = ", ".join(settings.conditions) or "none"
        reason = f"{about}the table has none of the conditions to draw ({conditions})"
        raise NothingToDrawError(reason)
    return part


def conditions_in(table: pd.DataFrame, settings: FigureSettings) -> list[str]:
    """The conditions of the settings that the table holds, in the order of the settings."""
    conditions = set(table["condition"])
    return [c for c in dict.fromkeys(settings.conditions) if c in conditions]


def models_in(table: pd.DataFrame, settings: FigureSettings) -> list[str]:
    """Models of the table: those with a label in the order of the labels, then the rest by name."""
    models = {str(model) for model in table["model"]}
    with_label = [model for model in settings.model_labels if model in models]
    return with_label + sorted(models - set(with_label))


def rest_remark(
    n_drawn: int, n: int, noun: str = "items", *, tables: str = "the table has"
) -> str | None:
    """That only the first are drawn, and where the rest is; None where all are drawn."""
    if n_drawn == n:
        return None
    return f"Only the first {n_drawn} of {n} {noun} are drawn; {tables} all of them."


def first_reason(table: pd.DataFrame, otherwise: str) -> str:
    """The first reason that a table gives for a NULL."""
    return next((str(r) for r in table["reason"] if not pd.isna(r)), otherwise)


def float_or_none(value: Any) -> float | None:
    """A cell as a float, None where the table holds NULL."""
    return None if pd.isna(value) else float(value)


def text_or_none(value: Any) -> str | None:
    """A cell's text, None where the table holds NULL, however pandas holds it."""
    return value if isinstance(value, str) else None


def is_shown(row: Any) -> bool:
    """Whether a test, corrected over the study, shows what the row says."""
    p_corrected = float_or_none(row.p_corrected)
    return p_corrected is not None and p_corrected < LEVEL


def range_of(counts: Iterable[Any], *, none: str = "0") -> str:
    """Smallest and largest count, `40` or `38–40`; NULLs do not count, and `none` stands for none."""
    numbers = sorted(int(count) for count in counts if not pd.isna(count))
    return "–".join(dict.fromkeys(f"{number}" for number in (*numbers[:1], *numbers[-1:]))) or none

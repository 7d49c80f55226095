"""Answers to scales and numbers as the metrics read them."""

from collections.abc import Iterable
from typing import Any

import pandas as pd

POINTS = [1.0, 2.0, 3.0, 4.0, 5.0]


def answer(condition: str, user: str | None, value: float | None, **changes: Any) -> dict[str, Any]:
    """An answer to the scale `q`; answers without a user get a replicate each by `changes`."""
    letter = "ABCDE"[int(value) - 1] if value is not None and 1 <= value <= 5 else None
    row = {"model": "m", "task": "t", "condition": condition, "item_id": "q", "kind": "scale"}
    row |= {"puppet_id": user, "replicate": 0, "outcome": "ok", "items": None}
    return row | {"letter": letter, "value": value} | changes


def frame(rows: Iterable[dict[str, Any]]) -> pd.DataFrame:
    """As `tables.read_frame` gives it: values that are NULL are NaN."""
    return pd.DataFrame(list(rows)).astype({"value": "float64"})


def scale_items(*names: str) -> pd.DataFrame:
    """The items of the task."""
    return pd.DataFrame(
        {"item_id": names, "kind": "scale", "task": "t", "points": [POINTS] * len(names)}
    )


NUMBER_ITEMS = pd.DataFrame({"item_id": ["q"], "kind": ["number"], "task": ["t"], "points": [None]})

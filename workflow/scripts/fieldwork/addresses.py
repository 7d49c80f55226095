"""Addresses of the views of a study's page: what comes after `explorer/index.html`.

Owns the names of the views and of their filters, which figures and findings write and the page reads.
"""

from collections.abc import Mapping
from typing import Literal
from urllib.parse import quote

View = Literal["study", "question", "compare", "user", "answers", "answer", "doubtful"]
Filter = Literal[
    "model", "task", "item", "condition", "puppet", "replicate", "kind", "option", "base", "other"
]

PAGE = "explorer/index.html"
"""The page, from the study's folder."""


def address(view: View, filters: Mapping[Filter, str | int | None]) -> str:
    """`#/answers?task=trivia&condition=history`: filters that are None or empty are left out."""
    pairs = [
        f"{name}={quote(str(value), safe='')}"
        for name, value in filters.items()
        if value is not None and value != ""
    ]
    return f"#/{view}" + (f"?{'&'.join(pairs)}" if pairs else "")

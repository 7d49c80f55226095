"""What the contexts of a condition really hold: conversations, those left out, tokens."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from fieldwork import tables
from fieldwork.records.puppets import Context


class ContextMeans(NamedTuple):
    """Means over the contexts of a task and condition.

    Attributes:
        conversations: conversations that a context holds.
        n_dropped: conversations that did not fit into it.
        tokens: length of a context.
    """

    conversations: float
    n_dropped: float
    tokens: float


def average_contexts(rows: Sequence[tuple[int, int, int]]) -> ContextMeans:
    """Means over contexts.

    Args:
        rows: conversations, conversations left out, and tokens of each context; at least one.
    """
    return ContextMeans(*(math.fsum(values) / len(rows) for values in zip(*rows, strict=True)))


def read_contexts(paths: Sequence[str]) -> dict[tuple[str, str], ContextMeans]:
    """Means over contexts, by task and condition, which name folder and file of each path."""
    means, columns = {}, ("conversation_ids", "n_dropped", "n_tokens")
    for path in paths:
        rows = [(len(ids), *counts) for ids, *counts in tables.read_columns(path, Context, columns)]
        means[Path(path).parent.name, tables.stem(path)] = average_contexts(rows)
    return means

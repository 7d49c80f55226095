"""What the contexts of a condition really hold: conversations, those left out, tokens."""

from collections.abc import Sequence
from pathlib import Path

from fieldwork import tables
from fieldwork.metrics.arms.table import Brought, brought
from fieldwork.records.puppets import Context


def read_contexts(paths: Sequence[str]) -> dict[tuple[str, str], Brought]:
    """Means over contexts, by task and condition, which name folder and file of each path."""
    means, columns = {}, ("conversation_ids", "n_dropped", "n_tokens")
    for path in paths:
        rows = [(len(ids), *more) for ids, *more in tables.read_columns(path, Context, columns)]
        means[Path(path).parent.name, tables.stem(path)] = brought(rows)
    return means

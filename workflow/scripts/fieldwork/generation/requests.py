"""Who is asked what, and how often."""

from collections.abc import Sequence
from typing import NamedTuple

from fieldwork.records import Request


class ContextRef(NamedTuple):
    """A context by name; all None is the blank context of an offline condition."""

    context_id: str | None
    puppet_id: str | None
    item_id: str | None


def plan_requests(
    item_ids: Sequence[str], contexts: Sequence[ContextRef], replicates: int, *, first: int = 0
) -> list[Request]:
    """Every item after every context made for it, `replicates` times each, counted from `first`."""
    return [
        Request(item_id, context.context_id, context.puppet_id, replicate)
        for context in contexts
        for item_id in ([context.item_id] if context.item_id else item_ids)
        for replicate in range(first, first + replicates)
    ]

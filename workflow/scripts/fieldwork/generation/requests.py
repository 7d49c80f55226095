"""Who is asked what, and how often."""

from collections.abc import Sequence
from typing import NamedTuple

from fieldwork.errors import StudyError
from fieldwork.records.generation import MOST_REQUESTS, Request


def require_bearable(n_requests: int) -> None:
    """StudyError where requests of one task and condition are more than a whole study may ask."""
    if n_requests > MOST_REQUESTS:
        raise StudyError(
            f"tasks.*.runs: {n_requests:,} requests of one task and condition are more than the "
            f"{MOST_REQUESTS:,} that a study may ask; lower runs or conditions.*.replicates, or keep "
            f"fewer items (tasks.*.sources.*.item_ids; plan.items where they are assumed)"
        )


class ContextRef(NamedTuple):
    """A context by name; all None is the blank context of an offline condition."""

    context_id: str | None
    puppet_id: str | None
    item_id: str | None


def plan_requests(
    item_ids: Sequence[str], contexts: Sequence[ContextRef], replicates: int, *, first: int = 0
) -> list[Request]:
    """Every item after every context made for it, `replicates` times each, counted from `first`.

    Raises:
        StudyError: there would be more than a study may ask.
    """
    n_asks = sum(1 if context.item_id else len(item_ids) for context in contexts)
    require_bearable(n_asks * replicates)
    return [
        Request(item_id, context.context_id, context.puppet_id, replicate)
        for context in contexts
        for item_id in ([context.item_id] if context.item_id else item_ids)
        for replicate in range(first, first + replicates)
    ]

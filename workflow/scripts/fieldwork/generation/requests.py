"""Which requests a study makes: every item after every context, so many times each."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from fieldwork.errors import StudyError
from fieldwork.records.generation import MOST_REQUESTS, Request


def check_request_count(n_requests: int) -> None:
    """StudyError where one task and condition has more requests than a whole study may have."""
    if n_requests > MOST_REQUESTS:
        raise StudyError(
            f"tasks.*.runs: one task and condition has {n_requests:,} requests, but a study may have at "
            f"most {MOST_REQUESTS:,}; lower runs or conditions.*.replicates, or use fewer items "
            f"(tasks.*.sources.*.item_ids; plan.items where the plan assumes their number)"
        )


class ContextRef(NamedTuple):
    """A context by its ids. All are None for the blank context of an offline condition."""

    context_id: str | None
    puppet_id: str | None
    item_id: str | None


def plan_requests(
    item_ids: Sequence[str],
    contexts: Sequence[ContextRef],
    replicates: int,
    *,
    first: int = 0,
    fewer: Mapping[str, int] = MappingProxyType({}),
) -> list[Request]:
    """Every item after every context made for it, `replicates` times each, counted from `first`.

    Args:
        fewer: how often items are asked that are asked less often.

    Raises:
        StudyError: there would be more requests than a study may have.
    """
    n_questions = sum(1 if context.item_id else len(item_ids) for context in contexts)
    check_request_count(n_questions * replicates)
    return [
        Request(item_id, context.context_id, context.puppet_id, replicate)
        for context in contexts
        for item_id in ([context.item_id] if context.item_id else item_ids)
        for replicate in range(first, first + fewer.get(item_id, replicates))
    ]

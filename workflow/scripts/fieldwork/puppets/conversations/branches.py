"""Branches of a conversation: an edited question and a regenerated answer stand beside the first ones.

Owns the path that a reader of the chat saw last. Exports name for each message the one that it follows,
and some name the last message of the path. Promises that messages of a list without parents, or of one
that is a chain, all stay.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple


class BranchMessage(NamedTuple):
    """What places a message in the tree of its conversation; None where the file does not say."""

    message_id: str | None
    parent_id: str | None


def path_to(leaf: str | None, parents: Mapping[str, str | None]) -> list[str]:
    """The ids from the root to a leaf; a loop ends the path."""
    path: dict[str, None] = {}
    node_id = leaf
    while node_id is not None and node_id in parents and node_id not in path:
        path[node_id] = None
        node_id = parents[node_id]
    return [*reversed(path)]


def chosen_branch(messages: Sequence[BranchMessage], leaf: str | None = None) -> list[int]:
    """Places of the messages on the path to the leaf, from the first; all where there is no tree.

    Args:
        messages: in the order in which they were sent.
        leaf: the last message of the path; the latest one where the file names none.
    """
    places = {m.message_id: k for k, m in enumerate(messages) if m.message_id is not None}
    parents = {m.message_id: m.parent_id for m in messages if m.message_id is not None}
    is_tree = len(places) == len(messages) and any(p in places for p in parents.values())
    if not is_tree:
        return [*range(len(messages))]
    last = leaf if leaf in places else messages[-1].message_id
    return [places[message_id] for message_id in path_to(last, parents)]

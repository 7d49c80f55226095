"""What sub-packages share that is no table: keys of items, leaderboards, how rows of estimates begin."""

from collections.abc import Sequence
from typing import NamedTuple

from fieldwork.records.columns import column, row


class ItemKey(NamedTuple):
    """An item: ids are unique within their task only."""

    task: str
    item_id: str


class LeaderboardPlace(NamedTuple):
    """A model on a leaderboard; its rank is 1 + the number of models that score higher."""

    rank: int
    model: str
    score: float


class Leaderboard(NamedTuple):
    """The models on a leaderboard, the best first; `source` is its file, for messages."""

    name: str
    source: str
    places: Sequence[LeaderboardPlace]


NO_LEADERBOARD = Leaderboard("", "", ())
"""The leaderboard of a task that has none."""


@row
class ConditionEstimate:
    """What a row about one model, task and condition begins with."""

    model: str = column("model")
    task: str = column("task")
    condition: str = column("condition")

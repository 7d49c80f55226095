"""What sub-packages share that is no row of a table: keys of items, and leaderboards of tasks."""

from collections.abc import Sequence
from typing import NamedTuple


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

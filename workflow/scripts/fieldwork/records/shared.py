"""What sub-packages share that is no table: keys of items, leaderboards, how rows begin."""

from collections.abc import Sequence
from typing import NamedTuple

from fieldwork.records.columns import Name, column, row


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
class ArmRow:
    """What a row about one model, task and condition begins with."""

    model: Name = column("model, by its name in the config")
    task: Name = column("task")
    condition: Name = column("condition")


@row
class BaselineRow(ArmRow):
    """What a row about a condition beside the baseline begins with."""

    baseline: Name = column("the condition compared with")


@row
class ItemRow(ArmRow):
    """What a row about the answers of a condition to an item begins with."""

    item_id: Name = column("the item")


@row
class CallRow(ItemRow):
    """What a row about one call of a model begins with."""

    context_id: Name | None = column("the context, NULL offline")
    puppet_id: Name | None = column("the puppet, NULL offline")
    replicate: int = column("repeat index")


@row
class AnswerRow(ItemRow):
    """What a row about one answer, of a model to a puppet or to a real user, begins with."""

    condition: Name = column("condition; `field` for real users")
    puppet_id: Name | None = column("the puppet or participant, NULL offline")
    replicate: int = column("repeat index")

"""Two samples of one prompt: the answers of a condition beside those that they are compared with."""

from collections.abc import Iterator, Mapping
from typing import Generic, NamedTuple, TypeVar

from fieldwork.estimates.answer_sets import Arm

Item = TypeVar("Item")
Sample = TypeVar("Sample")


class Pair(NamedTuple, Generic[Item, Sample]):
    """The samples of an arm and of the condition `versus`, which are compared."""

    arm: Arm
    versus: str
    item: Item
    first: Sample
    second: Sample


def pairs(
    arms: Mapping[Arm, Mapping[Item, Sample]], versus: str, nothing: Sample
) -> Iterator[Pair[Item, Sample]]:
    """Every item of every arm but those of `versus`.

    Args:
        nothing: the sample of an item that the other side lacks.
    """
    for arm, items in arms.items():
        if arm.condition != versus:
            other_items = arms.get(arm._replace(condition=versus), {})
            for item, sample in items.items():
                yield Pair(arm, versus, item, sample, other_items.get(item, nothing))


def unread_side(item: str, n_answers: int, n_versus: int, versus: str) -> str | None:
    """Why there is nothing to compare: a side without an answer; None where both have some."""
    if n_answers and n_versus:
        return None
    place = f" under the baseline condition {versus}" if n_answers else ""
    return f"no answer to {item} can be read{place}"

"""Checks of the users' own questions, before any call is paid for.

Owns what can be wrong with a question that has the right form. Benchmarks are left as they were
published.
"""

import re
from collections.abc import Sequence
from string import ascii_uppercase

from fieldwork.errors import StudyError
from fieldwork.records.tasks import Item

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def require_distinct(items: Sequence[Item]) -> None:
    """Raise StudyError where two item ids are equal, or differ in spaces alone."""
    first_items: dict[str, Item] = {}
    for item in items:
        first = first_items.setdefault(" ".join(item.item_id.split()), item)
        if first is item:
            continue
        spaces = (
            "" if first.item_id == item.item_id else f" (as {first.item_id!r}, with other spaces)"
        )
        elsewhere = "" if first.provenance == item.provenance else f", first in {first.provenance}"
        raise StudyError(
            f"{item.provenance}: item_id {item.item_id!r} occurs twice{spaces}{elsewhere}; rename one"
        )


def require_sound(items: Sequence[Item]) -> None:
    """Raise StudyError for the first question with invisible characters or equal options."""
    for item in items:
        place = f"{item.provenance}: item {item.item_id!r}"
        if item.item_id != item.item_id.strip():
            raise StudyError(f"{place}: the item_id begins or ends with a space; delete the space")
        for part in (item.item_id, item.question, item.prompt, *item.choices, item.subject or ""):
            if control := _CONTROL.search(part):
                raise StudyError(
                    f"{place}: the question holds the control character U+{ord(control[0]):04X}; readers "
                    f"do not see it, but a model may; delete it"
                )
        if item.kind == "choice":
            _require_distinct_options(item, place)


def _require_distinct_options(item: Item, place: str) -> None:
    letters: dict[str, str] = {}
    for letter, option in zip(ascii_uppercase, item.choices, strict=False):
        text = " ".join(option.split())
        if text in letters:
            raise StudyError(
                f"{place}: options {letters[text]} and {letter} have the same text {text[:60]!r}, so one "
                f"answer has two letters; change or delete one of them"
            )
        letters[text] = letter

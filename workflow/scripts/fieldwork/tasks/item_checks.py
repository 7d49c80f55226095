"""Questions that cannot be asked as they are meant: found before anything is paid for them.

Owns what is wrong with a question beside its form. Benchmarks are left as they were published; these
checks are for questions of one's own.
"""

import re
from collections.abc import Sequence
from string import ascii_uppercase

from fieldwork.errors import StudyError
from fieldwork.records.tasks import Item

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def require_distinct(items: Sequence[Item]) -> None:
    """Raise StudyError when an item id occurs twice, blanks aside."""
    seen: dict[str, Item] = {}
    for item in items:
        first = seen.setdefault(" ".join(item.item_id.split()), item)
        if first is item:
            continue
        but = "" if first.item_id == item.item_id else f" but for blanks, as {first.item_id!r}"
        where = "" if first.provenance == item.provenance else f", first in {first.provenance}"
        raise StudyError(
            f"{item.provenance}: item_id {item.item_id!r} occurs twice{but}{where}; rename one"
        )


def require_sound(items: Sequence[Item]) -> None:
    """Raise StudyError for the first question that does not say what its writer meant."""
    for item in items:
        where = f"{item.provenance}: item {item.item_id!r}"
        if item.item_id != item.item_id.strip():
            raise StudyError(f"{where}: its item_id begins or ends with a blank; remove the blank")
        for part in (item.item_id, item.question, item.prompt, *item.choices, item.subject or ""):
            if found := _CONTROL.search(part):
                raise StudyError(
                    f"{where}: it holds the control character U+{ord(found[0]):04X}, which no "
                    f"reader sees and a model may; remove it"
                )
        if item.kind == "choice":
            _require_distinct_options(item, where)


def _require_distinct_options(item: Item, where: str) -> None:
    letters: dict[str, str] = {}
    for letter, option in zip(ascii_uppercase, item.choices, strict=False):
        text = " ".join(option.split())
        if text in letters:
            raise StudyError(
                f"{where}: options {letters[text]} and {letter} have the same text {text[:60]!r}, so "
                f"one answer has two letters; change one, or remove it"
            )
        letters[text] = letter

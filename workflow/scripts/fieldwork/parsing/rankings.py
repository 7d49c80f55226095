"""The order in which a reply names the options that it was asked to rank.

Owns one reading: the earliest place of each name in the reply, whatever its letter case. A name that the
reply lacks has no place, and none is guessed.
"""

import re
from collections.abc import Sequence

from fieldwork.errors import StudyError


def rank_names(reply: str, names: Sequence[str]) -> list[int | None]:
    """The place of each name in the reply's order, 1 the first; None for names that it lacks.

    A name counts as a whole: Ann Lee is not in Joann Lee. Any run of spaces fits another one.

    Raises:
        StudyError: a name is empty, or is there twice.
    """
    keys = [" ".join(name.casefold().split()) for name in names]
    if not all(keys) or len(set(keys)) < len(keys):
        raise StudyError(
            f"names to rank: {list(names)} has an empty name, or one twice; give each option its own"
        )
    text = reply.casefold()
    starts = [_find(key, text) for key in keys]
    order = sorted(start for start in starts if start is not None)
    return [None if start is None else 1 + order.index(start) for start in starts]


def missing_names(places: Sequence[int | None], names: Sequence[str]) -> list[str]:
    """The names that have no place."""
    return [name for name, place in zip(names, places, strict=True) if place is None]


def _find(key: str, text: str) -> int | None:
    """Where a name begins first in a text; None where it does not."""
    pattern = r"\s+".join(map(re.escape, key.split()))
    match = re.search(rf"(?<!\w){pattern}(?!\w)", text)
    return match.start() if match else None

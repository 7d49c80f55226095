"""Ids of participants: when one may be looked for in any file, and how messages leave it out.

Ids come from a file and not from the command line, which a shell keeps.
"""

import re
from collections.abc import Collection, Iterable
from pathlib import Path

from fieldwork.field.columns import identity
from fieldwork.files import texts
from fieldwork.files.text_search import Mark

LEAST_LENGTH = 8
"""Characters of an id below which other things are called so by chance."""
ID_MASK = "[id]"


def read_ids(path: Path) -> dict[str, int]:
    """The ids in a file, one a line, with the number of the line; none where there is no file.

    Raises:
        StudyError: the file is no UTF-8 text.
    """
    if not path.exists():
        return {}
    lines = texts.read_text(path).removeprefix("\ufeff").splitlines()
    pairs = [(identity(line), number) for number, line in enumerate(lines, start=1)]
    return {id_: number for id_, number in reversed(pairs) if id_}


def is_distinctive(participant_id: str) -> bool:
    """Whether an id can be looked for in any file: nothing else is written like it by chance."""
    has_letter_and_digit = re.search(r"[^\W\d_]", participant_id) and re.search(
        r"\d", participant_id
    )
    return len(participant_id) >= LEAST_LENGTH and (
        bool(has_letter_and_digit) or "@" in participant_id
    )


def distinctive_mark(participant_id: str, all_ids: Collection[str]) -> Mark:
    """The mark of a telling id: as a word only where it is part of another participant's id."""
    folded_id = participant_id.casefold()
    is_part = any(
        folded_id in other_id.casefold() for other_id in all_ids if other_id != participant_id
    )
    return Mark(participant_id, is_word=is_part)


def without_ids(text: str, ids: Iterable[str]) -> str:
    """The text with `[id]` for each id in it, so that a file can be named that is called after one."""
    for participant_id in sorted(ids, key=len, reverse=True):
        pattern = re.escape(participant_id)
        if not is_distinctive(participant_id):
            pattern = rf"(?<![^\W_]){pattern}(?![^\W_])"
        text = re.sub(pattern, lambda _: ID_MASK, text, flags=re.IGNORECASE)
    return text

"""From what stands in the files to rows that may be kept: ids hashed, texts masked.

Owns the step after which nothing names a participant any more. Promises that of a participant's id
only its keyed hash goes on, and that no id of another participant stays in a text, nor in the name
that a file is told by.
"""

import os
import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from fieldwork.field.privacy import mask, pseudonym
from fieldwork.field.raw_answers import RawAnswer, RawField
from fieldwork.records.field import FieldAnswer, Participant

_SHORTEST = 8
"""Characters of an id from which it is looked for in texts: shorter ones are words and numbers."""
_ID = "[id]"


class Kept(NamedTuple):
    """What may be written of the field."""

    answers: list[FieldAnswer]
    participants: list[Participant]


def keep(raw: RawField, key: bytes) -> Kept:
    """Hash and mask: a row for each answer, not checked yet, and one for each membership."""
    ids = {answer.participant for answer in raw.answers} | {m.participant for m in raw.members}
    names = {who: pseudonym(who, key) for who in sorted(ids)}
    files = told_files(sorted({answer.path for answer in raw.answers}), ids)
    told = sorted((who for who in ids if len(who) >= _SHORTEST), key=len, reverse=True)
    return Kept(
        [_answer(a, names[a.participant], files[a.path], told) for a in raw.answers],
        [Participant(names[m.participant], m.variable, m.group) for m in raw.members],
    )


def told_files(paths: Sequence[Path], ids: Collection[str]) -> Mapping[Path, str]:
    """What each file is called: its name, or only its number where that would name a participant."""
    if not paths:
        return {}
    folder = Path(os.path.commonpath([path.parent for path in paths]))
    lower = {name.casefold() for name in ids}
    told: dict[Path, str] = {}
    for number, path in enumerate(paths, start=1):
        name = path.relative_to(folder).as_posix()
        words = set(re.split(r"[^\w-]|_", name.casefold()))
        names_one = words & lower or any(len(i) > 5 and i in name.casefold() for i in lower)
        told[path] = f"file {number}{path.suffix}" if names_one else name
    return told


def _answer(raw: RawAnswer, name: str, file: str, ids: Sequence[str]) -> FieldAnswer:
    text, n_masked = raw.text, 0
    if text is not None:
        # as ids are compared: an id may be written with other code points, and in other case
        text, n_masked = mask(unicodedata.normalize("NFC", text), participant=raw.participant)
        folded = text.casefold()
        for who in ids:
            if who.casefold() in folded:
                text, n_ids = re.subn(_pattern(who), _ID, text, flags=re.IGNORECASE)
                n_masked += n_ids
    return FieldAnswer(
        participant_id=name,
        platform=raw.platform,
        model=raw.model,
        task=raw.prompt.task,
        item_id=raw.prompt.item_id,
        replicate=raw.replicate,
        position=raw.position,
        text=text,
        n_masked=n_masked,
        file=file,
        row=raw.row,
        flags=[],
        excluded_for=None,
    )


def _pattern(who: str) -> str:
    """An id with a digit is one wherever it stands; one of letters only as a word of its own."""
    literal = re.escape(who)
    return literal if re.search(r"\d", who) else rf"(?<!\w){literal}(?!\w)"

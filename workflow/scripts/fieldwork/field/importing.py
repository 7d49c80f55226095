"""From what stands in the files to rows that may be kept: ids hashed, texts masked.

Owns the step after which nothing names a participant any more. Promises that of a participant's id
only its keyed hash goes on, and that no id of another participant stays in a text, nor in the name
that a file is told by.
"""

import os
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from fieldwork.field.columns import RawAnswer, RawField
from fieldwork.field.privacy import mask, pseudonym
from fieldwork.participants import FieldAnswer, Participant

_WORD = re.compile(r"\w[\w-]{6,98}\w")
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
    return Kept(
        [_answer(answer, names, files[answer.path]) for answer in raw.answers],
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


def _answer(raw: RawAnswer, names: Mapping[str, str], file: str) -> FieldAnswer:
    text, n_masked = raw.text, 0
    if text is not None:
        text, n_masked = mask(text, participant=raw.participant)
        words = [word for word in _WORD.findall(text) if word in names]
        text = _WORD.sub(lambda found: _ID if found[0] in names else found[0], text)
        n_masked += len(words)
    return FieldAnswer(
        participant_id=names[raw.participant],
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

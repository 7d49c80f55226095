"""Raw answers turned into rows that may be stored: ids hashed, texts masked.

Owns the step after which nothing names a participant any more. Promises that only the keyed hash of an
id is stored, and that no participant's id stays in a text or in the label of a file.
"""

import logging
import os
import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from fieldwork.config.field import READABLE
from fieldwork.downloads.manifest import local_files
from fieldwork.errors import StudyError
from fieldwork.field.columns import ColumnMap, read_field
from fieldwork.field.deletion.record import refuse_return
from fieldwork.field.raw_answers import RawAnswer, RawField
from fieldwork.field.sources import read_sheet
from fieldwork.privacy import mask, pseudonym, read_key
from fieldwork.records.field import FieldAnswer, Participant

logger = logging.getLogger(__name__)

_LEAST_CHARACTERS = 8
"""Characters of an id from which it is looked for in texts: shorter ones are words and numbers."""
_ID_MASK = "[id]"


class PseudonymousField(NamedTuple):
    """What of the field may be written: ids are hashed, texts are masked."""

    answers: list[FieldAnswer]
    participants: list[Participant]


def import_field(
    files: Sequence[str], deletions: Sequence[str], column_map: ColumnMap
) -> PseudonymousField:
    """Read the field's files; ids become keyed hashes, and texts are masked.

    Args:
        files: those that the setting `field` names, or the manifest of its download.
        deletions: the record of those who were forgotten, if there is one.

    Raises:
        StudyError: nothing can be read, the map does not fit a file, or it brings back a participant who
            was forgotten.
    """
    readable = [path for path in local_files(files) if path.suffix.lower() in READABLE]
    if not readable:
        raise StudyError(f"{files[0]}: no file of a kind that is read; correct field.osf.files")
    raw = read_field([read_sheet(path) for path in readable], column_map)
    logger.info(
        "%d file(s), %d answers read; %d rows left out by field.rows, field.models or field.skip_prompts",
        len(readable),
        len(raw.answers),
        raw.n_left_out,
    )
    if raw.n_repeats:
        logger.warning(
            "%d rows stand in two files, or twice in one, and count once: exports that hold earlier ones",
            raw.n_repeats,
        )
    key = read_key(Path(column_map.field["key_file"]))
    refuse_return(raw, key, deletions)
    return pseudonymise(raw, key)


def pseudonymise(raw: RawField, key: bytes) -> PseudonymousField:
    """Hash ids and mask texts: a row for each answer, not checked yet, and one for each membership."""
    ids = {answer.participant for answer in raw.answers} | {m.participant for m in raw.members}
    names = {id_: pseudonym(id_, key) for id_ in sorted(ids)}
    files = file_labels(sorted({answer.path for answer in raw.answers}), ids)
    maskable_ids = sorted(
        (id_ for id_ in ids if len(id_) >= _LEAST_CHARACTERS), key=len, reverse=True
    )
    return PseudonymousField(
        [_answer(a, names[a.participant], files[a.path], maskable_ids) for a in raw.answers],
        [Participant(names[m.participant], m.variable, m.group) for m in raw.members],
    )


def file_labels(paths: Sequence[Path], ids: Collection[str]) -> Mapping[Path, str]:
    """What each file is called: its name, or only its number where that would name a participant."""
    if not paths:
        return {}
    folder = Path(os.path.commonpath([path.parent for path in paths]))
    folded_ids = {name.casefold() for name in ids}
    labels: dict[Path, str] = {}
    for number, path in enumerate(paths, start=1):
        name = path.relative_to(folder).as_posix()
        words = set(re.split(r"[^\w-]|_", name.casefold()))
        names_participant = words & folded_ids or any(
            len(i) > 5 and i in name.casefold() for i in folded_ids
        )
        labels[path] = f"file {number}{path.suffix}" if names_participant else name
    return labels


def _answer(raw: RawAnswer, name: str, file: str, ids: Sequence[str]) -> FieldAnswer:
    text, n_masked = raw.text, 0
    if text is not None:
        # as ids are compared: an id may be written with other code points, and in other case
        text, n_masked = mask(unicodedata.normalize("NFC", text), participant=raw.participant)
        folded_text = text.casefold()
        for participant_id in ids:
            if participant_id.casefold() in folded_text:
                text, n_ids = re.subn(_pattern(participant_id), _ID_MASK, text, flags=re.IGNORECASE)
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


def _pattern(participant_id: str) -> str:
    """An id with a digit is one wherever it stands; one of letters only as a word of its own."""
    literal = re.escape(participant_id)
    return literal if re.search(r"\d", participant_id) else rf"(?<!\w){literal}(?!\w)"

"""What a person corrects in answers: names of options, and readings of replies.

Owns the files of `parsing.overrides` and how a reading is applied. A file is an edited `items.csv`, the
`corrections.csv` of the study's page, or both in one. Promises that a person's word wins over the parser,
that rows which are wrong or contradict each other are refused with their place, and that a reading of a
reply which is gone changes nothing.
"""

import dataclasses
import logging
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from string import ascii_uppercase
from typing import NamedTuple

from fieldwork.errors import StudyError
from fieldwork.files import sheets, texts
from fieldwork.files.cells import plain_cell
from fieldwork.files.headers import name_list
from fieldwork.files.rows import cell_text
from fieldwork.parsing.answers import expected_length, point_of
from fieldwork.records.parsing import NO_ANSWER, REFUSALS, Answer
from fieldwork.records.shared import ItemKey
from fieldwork.records.tasks import LETTER_KINDS, Item

logger = logging.getLogger(__name__)

SETTING = "parsing.overrides"
_SCOPE = ("task", "item_id")
_NAMES = ("canonical", "raw")
_READING = ("text_sha256", "reading")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_LINE_ENDS = re.compile(r"\r\n?|\n")
"""Not all that Python splits lines at: U+2028 and others may stand within a name."""


class PersonReading(NamedTuple):
    """What a person reads in every reply of one text to an item.

    Attributes:
        lines: the options of a list, the letter of a choice, the letter or number of a scale's option,
            or a number; none where there is no answer.
        place: file and row.
    """

    task: str
    item_id: str
    text_sha256: str
    lines: tuple[str, ...]
    place: str


class PersonCorrections(NamedTuple):
    """The rows of all files of `parsing.overrides`.

    Attributes:
        names: rows with task, item_id, raw and canonical, as `merge_items` takes them.
    """

    names: list[dict[str, str]]
    readings: list[PersonReading]


# ---- files -------------------------------------------------------------------------------------------


def read_corrections(paths: Iterable[str]) -> PersonCorrections:
    """The rows of files of corrections, without the guards of their cells.

    Raises:
        StudyError: a file or row is wrong, or two rows contradict each other.
    """
    corrections = PersonCorrections([], [])
    place_by_key: dict[tuple[str, ...], tuple[tuple[str, ...], str]] = {}
    for path in paths:
        for place, row in _rows(Path(path)):
            reading = _person_reading(row, place)
            if reading is None:
                corrections.names.append(row)
                key = (*_cells(row, _SCOPE), row["raw"], "raw")
            else:
                corrections.readings.append(reading)
                key = (*reading[:3], "text_sha256")
            word = (row["canonical"],) if reading is None else reading.lines
            earlier_word, earlier_place = place_by_key.setdefault(key, (word, place))
            if earlier_word != word:
                raise StudyError(
                    f"{place} contradicts {earlier_place}: both are of the same "
                    f"{'option' if reading is None else 'reply'} of {row['item_id'] or 'all items'}; "
                    "delete one of the two rows"
                )
    return corrections


def _rows(path: Path) -> Iterable[tuple[str, dict[str, str]]]:
    """The rows of a file with their places; a column that the file may lack is empty."""
    try:
        columns = sheets.column_names(path)
        has_readings = not set(columns).isdisjoint(_READING)
        has_names = not has_readings or not set(columns).isdisjoint(_NAMES)
        needs = [*_SCOPE, *_NAMES * has_names, *_READING * has_readings]
        if missing := [name for name in needs if name not in columns]:
            raise StudyError(
                f"{path}: no column {missing[0]!r} (its columns are {name_list(columns)}); add it, or "
                "rename one"
            )
        if has_readings and path.suffix.lower() in (".csv", ".tsv"):
            # the page writes UTF-8; another encoding may have lost letters
            texts.read_text(path)
        for place, fields in sheets.stream_records(path):
            row = {name: plain_cell(cell_text(fields.get(name))) for name in columns}
            yield (
                f"{SETTING}: {path}: {place}",
                {name: row.get(name, "") for name in (*_SCOPE, *_NAMES, *_READING)},
            )
    except StudyError as error:
        raise StudyError(f"{SETTING}: {error}") from error


def _person_reading(row: Mapping[str, str], place: str) -> PersonReading | None:
    """The reading that a row sets; None for a row that names an option."""
    text_sha256 = row["text_sha256"].strip().lower()
    lines = tuple(line.strip() for line in _LINE_ENDS.split(row["reading"]) if line.strip())
    names_option = bool(row["raw"] or row["canonical"])
    if names_option and (text_sha256 or lines):
        raise StudyError(
            f"{place} both names an option (raw, canonical) and reads a reply (text_sha256, reading); "
            "make two rows of it"
        )
    if names_option:
        if not (row["raw"] and row["canonical"]):
            raise StudyError(
                f"{place} has only one of raw and canonical; write the other, or delete the row"
            )
        return None
    if not text_sha256:
        raise StudyError(
            f"{place} has neither a text_sha256 nor raw and canonical; write one of them, or delete the "
            "row"
        )
    if not _SHA256.fullmatch(text_sha256):
        raise StudyError(
            f"{place}: its text_sha256 is not the SHA-256 of a text, which has 64 digits from 0 to f; "
            "copy it from the study's page again"
        )
    task, item_id = (cell.strip() for cell in _cells(row, _SCOPE))
    if not (task and item_id):
        raise StudyError(f"{place} reads a reply without task and item_id; write both")
    return PersonReading(task, item_id, text_sha256, lines, place)


def _cells(row: Mapping[str, str], names: Sequence[str]) -> tuple[str, ...]:
    return tuple(row[name] for name in names)


# ---- application -------------------------------------------------------------------------------------


def correct_answers(
    answers: Sequence[Answer],
    replies: Sequence[str | None],
    items: Mapping[ItemKey, Item],
    readings: Iterable[PersonReading],
) -> list[Answer]:
    """The answers with a person's readings in place of the parser's, in the same order.

    Readings of tasks without items here are of another study or step, and are left alone.

    Args:
        replies: the text of each answer.

    Raises:
        StudyError: a reading is of an item that its task does not have, or gives a choice item a letter
            that it does not have.
    """
    tasks = {key.task for key in items}
    by_text: dict[tuple[str, str], dict[str, PersonReading]] = {}
    for reading in readings:
        if reading.task in tasks:
            _check(reading, items)
            by_text.setdefault((reading.task, reading.item_id), {})[reading.text_sha256] = reading
    corrected_answers = []
    for answer, reply in zip(answers, replies, strict=True):
        by_hash = by_text.get((answer.task, answer.item_id))
        if by_hash and reply is not None and answer.outcome != "failed":
            match = by_hash.get(text_hash(reply))
            if match is not None:
                answer = _correct(answer, match, items[ItemKey(answer.task, answer.item_id)])
        corrected_answers.append(answer)
    n_corrected = sum(answer.correction is not None for answer in corrected_answers)
    if by_text:
        logger.info("%d of %d answers are read by a person", n_corrected, len(answers))
    return corrected_answers


def text_hash(reply: str) -> str:
    """SHA-256 of a reply as UTF-8, the key of its correction."""
    return sha256(reply.encode("utf-8", "replace")).hexdigest()


def _check(reading: PersonReading, items: Mapping[ItemKey, Item]) -> None:
    """Refuse a reading that its item cannot have."""
    item = items.get(ItemKey(reading.task, reading.item_id))
    if item is None:
        raise StudyError(
            f"{reading.place}: task {reading.task} has no item {reading.item_id} in this study; correct "
            "item_id, or delete the row"
        )
    if not reading.lines or item.kind == "list":
        return
    expectation = None
    if item.kind in LETTER_KINDS and _option_letter(reading, item) is None:
        marks = item.marks or ascii_uppercase[: len(item.choices)]
        noun = "numbers" if item.marks else "letters"
        expectation = f"is none of the {noun} {marks[0]} to {marks[-1]} of item {item.item_id}"
    elif item.kind == "number" and _number(reading) is None:
        expectation = f"is not one number, as item {item.item_id} asks for"
    if expectation:
        raise StudyError(
            f"{reading.place}: its reading {expectation}; write one, or leave the cell empty where there "
            f"is no answer"
        )


def _option_letter(reading: PersonReading, item: Item) -> str | None:
    """The letter of the option that a person writes as its letter, or as its number on a scale."""
    letters = ascii_uppercase[: len(item.choices)]
    line = reading.lines[0].upper()
    if len(reading.lines) > 1:
        return None
    if item.marks and line in item.marks:
        return letters[item.marks.index(line)]
    return line if line in set(letters) else None


def _number(reading: PersonReading) -> float | None:
    """The number that a person writes, with a point for decimals."""
    try:
        value = float(reading.lines[0]) if len(reading.lines) == 1 else math.nan
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _correct(answer: Answer, reading: PersonReading, item: Item) -> Answer:
    """The answer as a person reads it.

    `letter_strict` says whether the reply keeps to the form, which no person changes: it is set only
    where the strict parser read a letter too. A refusal in which a person sees no answer stays a refusal.
    """
    read_answer = dataclasses.replace(
        answer, correction=reading.text_sha256, reason=None, read_by="correction"
    )
    if not reading.lines:
        reason = answer.reason if answer.reason in REFUSALS else NO_ANSWER
        return dataclasses.replace(
            read_answer,
            raw_items=None,
            letter=None,
            letter_strict=None,
            value=None,
            reason=reason,
            read_by=None,
        )
    if item.kind == "list":
        return dataclasses.replace(
            read_answer, raw_items=list(reading.lines), n_asked=expected_length(item)
        )
    if item.kind == "number":
        return dataclasses.replace(read_answer, value=_number(reading))
    letter = _option_letter(reading, item)
    strict = letter if answer.letter_strict is not None else None
    value = point_of(item, letter) if letter and item.kind == "scale" else None
    return dataclasses.replace(read_answer, letter=letter, letter_strict=strict, value=value)


def log_unused(answers: Iterable[Answer], readings: Sequence[PersonReading]) -> None:
    """Say how many readings are of replies that are gone, of the tasks that there are answers to."""
    tasks, uses = set(), set()
    for answer in answers:
        tasks.add(answer.task)
        uses.add((answer.task, answer.item_id, answer.correction))
    of_study = [reading for reading in readings if reading.task in tasks]
    n_unused = sum(reading[:3] not in uses for reading in of_study)
    if n_unused:
        logger.info(
            "%s: %d of %d readings by a person are of replies that this study no longer has; they change "
            "nothing",
            SETTING,
            n_unused,
            len(of_study),
        )

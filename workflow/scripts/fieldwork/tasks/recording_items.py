"""Questions that a recording of answers holds: each distinct item of its files, once.

Where a recording has no wording, the item's id stands for it, and its provenance says so. The options of
a choice question are those that the recording names, or those that its question lists as (A), (B), …
"""

import dataclasses
import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from fieldwork.errors import StudyError
from fieldwork.files.recordings.answers import RecordedAnswer, read_answers
from fieldwork.files.rows import cell_text
from fieldwork.records.tasks import LETTER_KINDS, Item
from fieldwork.tasks.listed_options import listed_options
from fieldwork.tasks.own_items import MAX_CHOICES, TaskSource, gold_letter
from fieldwork.tasks.value_items import MAX_OPTIONS, number_fields, scale_of

logger = logging.getLogger(__name__)

TABLE = "table"
"""The format whose columns anybody may have made: only there the source says how the right option is."""


def recording_items(files: Sequence[Path], options: TaskSource) -> Iterator[Item]:
    """The items of a recording, in the order in which they first occur.

    A choice question with more options than are read, or with one at most, is left out with a warning.

    Raises:
        StudyError: an answer names no item, or no choice question has options that are read.
    """
    assert options.recording is not None, "the format comes with how its files are read"
    if options.gold != "auto" and options.recording.format != TABLE:
        raise StudyError(
            f"recordings.{options.dataset}: files of format {options.recording.format} say themselves "
            f"which option is right; remove `gold: {options.gold}` from the task's source"
        )
    item_ids: set[str] = set()
    refusals: list[str] = []
    for answer in read_answers(files, options.recording):
        if options.subjects and answer.subject not in options.subjects:
            continue
        if answer.item is None:
            raise StudyError(
                f"recordings.{options.dataset}: {answer.source} names no item; name the column with its "
                f"id in columns.item"
            )
        if answer.item in item_ids:
            continue
        item_ids.add(answer.item)
        choices = _choices(answer, options)
        limit = MAX_OPTIONS if options.kind == "scale" else MAX_CHOICES
        has_labels = options.kind == "scale" and bool(options.scale.labels) and not choices
        if not has_labels and choices is not None and not 2 <= len(choices) <= limit:
            refusals.append(f"{answer.item[:60]!r} ({answer.source}) has {len(choices)}")
        else:
            yield _item(answer, answer.item, choices, options)
    _judge(refusals, len(item_ids), options)


def _judge(refusals: Sequence[str], n_items: int, options: TaskSource) -> None:
    """Warn of questions that are left out, or refuse a recording in which all are."""
    if not refusals:
        return
    kind, limit = ("scale", MAX_OPTIONS) if options.kind == "scale" else ("choice", MAX_CHOICES)
    problem = (
        f"recordings.{options.dataset}: {len(refusals)} of {n_items} {kind} questions do not have 2 to "
        f"{limit} options: {refusals[0]}"
    )
    if len(refusals) == n_items:
        way_out = "say kind: list in the task's source"
        if options.kind == "scale":
            way_out = "write them once for all in scale.labels of the task's source"
        raise StudyError(
            f"{problem}; name the column with the list of them in columns.options, or {way_out}"
        )
    logger.warning("%s; they are left out", problem, extra={"is_shown": True})


def _item(
    answer: RecordedAnswer, item_id: str, choices: list[str] | None, options: TaskSource
) -> Item:
    wording = answer.question or answer.prompt
    note = "" if wording else "; it does not hold the wording"
    kind = options.usual_kind if options.kind != "mixed" or choices else "list"
    place = f"recordings.{options.dataset}: item {item_id!r} ({answer.source})"
    has_gold = bool(choices) and kind == "choice"
    item = Item(
        item_id=item_id,
        kind=kind,
        question=wording or item_id,
        prompt=answer.prompt or wording or item_id,
        choices=choices or [],
        gold=_gold(answer.gold, choices or [], place, options) if has_gold else None,
        subject=answer.subject,
        provenance=f"{options.dataset}: {answer.source}{note}",
        list_length=options.list_length if kind == "list" else None,
    )
    match kind:
        case "scale":
            scale = scale_of(place, _no_cell, item.choices, options.scale)
            return dataclasses.replace(item, **scale._asdict())
        case "number":
            return dataclasses.replace(item, **number_fields(place, _no_cell, options.number))
        case _:
            return item


def _no_cell(role: str) -> None:
    """Recordings have no cells for what is said of scales and numbers: the source says it."""


def _choices(answer: RecordedAnswer, options: TaskSource) -> list[str] | None:
    """The options of a question of letters; None for others."""
    if options.kind not in ("mixed", *LETTER_KINDS):
        return None
    choices = [*answer.options] or listed_options(answer.question or answer.prompt or "")
    return None if options.kind == "mixed" and not choices else choices


def _gold(gold: Any, choices: Sequence[str], place: str, options: TaskSource) -> str | None:
    """The letter of the right option; None where the file names none, or not one alone."""
    if isinstance(gold, list):
        gold = gold[0] if len(gold) == 1 else None
    text = cell_text(gold).strip()
    if not text:
        return None
    assert options.recording is not None
    if options.recording.format == TABLE:
        return gold_letter(text, choices, options.gold, place)
    return named_letter(text, choices)


def named_letter(text: str, choices: Sequence[str]) -> str | None:
    """The letter of the option that the log of a tool names by its text or letter, else None."""
    texts = [choice.strip() for choice in choices]
    if text in texts:
        return ascii_uppercase[texts.index(text)]
    folds = [choice.casefold() for choice in texts]
    if folds.count(text.casefold()) == 1:
        return ascii_uppercase[folds.index(text.casefold())]
    letter = text.strip("(.:) ").upper()
    return letter if len(letter) == 1 and letter in ascii_uppercase[: len(choices)] else None

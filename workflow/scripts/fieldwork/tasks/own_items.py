"""Questions in files that people write: one question a row, in CSV, Excel, JSON or Parquet.

Owns what the columns of such a file mean, how a row says which option is right, and what can be wrong
with a question of the right form. Columns go by their usual names, or by those in the setting `columns`.
Messages name the file, the row and its columns.
"""

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, time
from pathlib import Path
from string import ascii_lowercase, ascii_uppercase
from typing import Any, Literal, NamedTuple, get_args

from pydantic import Field

from fieldwork.errors import StudyError
from fieldwork.files import sheets
from fieldwork.files.headers import name_list
from fieldwork.files.json_values import json_value
from fieldwork.files.recordings.answers import Recording, RowChoice
from fieldwork.files.rows import cell_text, is_empty
from fieldwork.readable_texts import look_of
from fieldwork.records.tasks import LETTER_KINDS, Item, ItemKind
from fieldwork.sections.tasks import ItemSource
from fieldwork.tasks.listed_options import listed_options
from fieldwork.tasks.prompts import ChoiceQuestion, number_prompt, plain_prompt, scale_prompt
from fieldwork.tasks.question_kinds import kind_of_word
from fieldwork.tasks.value_items import number_fields, scale_of

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
MAX_CHOICES = 10
MAX_LIST_LENGTH = 100

GoldForm = Literal["auto", "letter", "text", "from_0", "from_1"]
"""How a row names the right option; `auto` takes a letter, or the text of an option."""

ColumnMap = Mapping[str, str | Sequence[str]]
"""Columns of a file by what they hold: `item_id`, `question`, `prompt`, `options`, `gold`, `subject`,
`kind`, `list_length`, `reversed`, `unit`, `lowest`, `highest`. `options` names several columns in order,
or one column of lists or of prompts that list their options by letters."""


class TaskSource(ItemSource):
    """A source of a task's items, with what its settings stand for.

    Attributes:
        files: that it is read from, or the manifest of a download.
        recording: how files of format recording are read.
    """

    files: list[str] = Field([])
    recording: Recording | None = None

    @property
    def usual_kind(self) -> ItemKind:
        return "choice" if self.kind == "mixed" else self.kind


class _QuestionRow(NamedTuple):
    """A row of a file: its place for messages, its cells by column, and the columns by what they hold."""

    place: str
    fields: Mapping[str, Any]
    columns: ColumnMap

    def text(self, role: str) -> str | None:
        """A cell's text, None where the column or its value is missing; 0 is a value."""
        name = str(self.columns.get(role, role))
        return _text(self.fields.get(name), f"{self.place}: {name}")


def own_items(files: Sequence[Path], source: TaskSource) -> Iterator[Item]:
    """The questions of some files, in order.

    Raises:
        StudyError: a file cannot be read, lacks a column that `columns` names, or a row is not a
            question.
    """
    choice = RowChoice(source.rows, f"rows of the task's source {source.dataset}")
    for path in files:
        for number, (place, fields) in enumerate(sheets.stream_records(path)):
            if not number:
                _refuse_missing(path, fields, source)
            if not choice.accepts(fields):
                continue
            row = _QuestionRow(f"{path}: {place}", fields, source.columns)
            try:
                item = _item(row, path, number, source)
            except StudyError:
                # a row that is not asked may be of another kind
                if not source.item_ids or _item_id(row, path, number) in source.item_ids:
                    raise
                continue
            yield item
    choice.require_some(name_list([path.name for path in files]))


def _refuse_missing(path: Path, fields: Mapping[str, Any], source: TaskSource) -> None:
    settings = {f"columns.{role}": column for role, column in source.columns.items()}
    settings |= {f"rows.{column}": column for column in source.rows}
    for setting, column in settings.items():
        for name in [column] if isinstance(column, str) else column:
            if name not in fields:
                raise StudyError(
                    f"{path}: has no column {name!r}, which `{setting}` of the task's source names; "
                    f"correct that setting, the columns of the file are {name_list(fields)}"
                )


def _item(row: _QuestionRow, path: Path, number: int, source: TaskSource) -> Item:
    item_id = _item_id(row, path, number)
    row = row._replace(place=f"{row.place}: item {item_id!r}")
    question = row.text("question") or row.text("prompt")
    if question is None:
        names = [str(row.columns.get(role, role)) for role in ("question", "prompt")]
        if empty := next((name for name in names if name in row.fields), None):
            raise StudyError(
                f"{row.place}: the column {empty!r} is empty; write the question there, or delete the row"
            )
        raise StudyError(
            f"{row.place} has neither a column `question` nor a column `prompt`; name the column with "
            f"the question in `columns` of the task's source, the columns of the file are "
            f"{name_list(row.fields)}"
        )
    kind = _kind(row, source.usual_kind)
    item = Item(
        item_id=item_id,
        kind=kind,
        question=question,
        prompt=question,
        choices=_choices(row) if kind != "number" else [],
        gold=None,
        subject=row.text("subject") or row.text("domain"),
        provenance=f"{source.dataset}: {path.name}",
    )
    item = dataclasses.replace(item, **_fields_of_kind(item, row, source))
    return dataclasses.replace(item, prompt=row.text("prompt") or item.prompt)


def _fields_of_kind(item: Item, row: _QuestionRow, source: TaskSource) -> dict[str, Any]:
    """What is said of an item by questions of its kind alone, and its usual prompt."""
    match item.kind:
        case "choice":
            _check_choices(row, item.choices)
            gold = _gold(row, item.choices, source.gold)
            question = ChoiceQuestion(item.question, tuple(item.choices), gold)
            return {"gold": gold, "prompt": plain_prompt(question)}
        case "scale":
            scale = scale_of(row.place, row.text, item.choices, source.scale)
            prompt = scale_prompt(item.question, scale.marks, scale.choices)
            return {**scale._asdict(), "prompt": prompt}
        case "number":
            fields = number_fields(row.place, row.text, source.number)
            return {**fields, "prompt": number_prompt(item.question, fields["unit"])}
        case "list":
            return {"list_length": _list_length(row)}
        case _:
            return {}


def _item_id(row: _QuestionRow, path: Path, number: int) -> str:
    """The id of a row; in a file without ids its number, counted from 0."""
    column = str(row.columns.get("item_id", "item_id"))
    if column not in row.fields:
        return usual_id(path, number)
    item_id = row.text("item_id")
    if item_id is None:
        raise StudyError(
            f"{row.place}: the column {column!r} is empty; write an id there, or delete the row"
        )
    return item_id


def usual_id(path: Path, number: int) -> str:
    """The id of a row in a file without ids."""
    return f"{path.name.split('.')[0]}-{number:03d}"


def _text(value: Any, place: str) -> str | None:
    if is_empty(value) or not cell_text(value):
        return None
    if isinstance(value, date | time):
        raise StudyError(
            f"{place} is a date in the workbook; format the cell as text and type its content again"
        )
    if isinstance(value, list | dict):
        raise StudyError(f"{place} holds a list or an object; write a text instead")
    return cell_text(value)


def _kind(row: _QuestionRow, default: ItemKind) -> ItemKind:
    word = (row.text("kind") or "").strip()
    kind = kind_of_word(word) if word else default
    if kind is None:
        raise StudyError(
            f"{row.place}: kind {word!r} is unknown; write one of {', '.join(get_args(ItemKind))}"
        )
    return kind


def _list_length(row: _QuestionRow) -> int | None:
    text = row.text("list_length")
    if text is None:
        return None
    whole = text.strip().removesuffix(".0")
    if not (whole.isascii() and whole.isdigit() and 0 < int(whole) <= MAX_LIST_LENGTH):
        raise StudyError(
            f"{row.place}: `list_length` is {text!r}; write a whole number from 1 to "
            f"{MAX_LIST_LENGTH}, or leave it empty and the number is read from the prompt"
        )
    return int(whole)


# ---- options -------------------------------------------------------------------------------------


def _choices(row: _QuestionRow) -> list[str]:
    columns = row.columns.get("options", "choices")
    if isinstance(columns, str):
        choices = _option_list(row.fields.get(columns), row.place, columns)
        if choices is not None or "options" in row.columns:
            return choices or []
        # all letters, so that too many options are refused and not cut
        columns = [f"option_{letter}" for letter in ascii_lowercase]
    options = [_text(row.fields.get(name), f"{row.place}: {name}") for name in columns]
    choices = [option for option in options if option is not None]
    if None in options[: len(choices)]:
        raise StudyError(
            f"{row.place}: there is an empty option before the last one, so the letters would shift; "
            f"move the options up"
        )
    return choices


def _option_list(value: Any, place: str, name: str) -> list[str] | None:
    """The options in one cell: a list, an object by letters, or JSON of these; None for an empty cell."""
    if is_empty(value):
        return None
    if isinstance(value, str):
        if lettered_options := listed_options(value):
            return lettered_options
        if "|" in value and not value.lstrip().startswith(("[", "{")):
            return [part.strip() for part in value.split("|")]
        try:
            value = json_value(value)
        except ValueError as error:
            raise StudyError(
                f"{place}: the column `{name}` does not hold a JSON list ({error}); write one such as "
                '["yes", "no"]'
            ) from error
    if isinstance(value, dict) and sorted(value) == list(ascii_uppercase[: len(value)]):
        value = [value[letter] for letter in sorted(value)]
    if not isinstance(value, list):
        raise StudyError(
            f'{place}: the column `{name}` does not hold a list; write one such as ["yes", "no"]'
        )
    options = [_text(choice, f"{place}: an option") for choice in value]
    if None in options:
        raise StudyError(
            f"{place}: the list in the column `{name}` has an empty option; write its text, or delete it"
        )
    return [option for option in options if option is not None]


def _check_choices(row: _QuestionRow, choices: Sequence[str]) -> None:
    if 2 <= len(choices) <= MAX_CHOICES:
        return
    columns = "" if choices else f" (its columns are {name_list(row.fields)})"
    raise StudyError(
        f"{row.place}: a choice question needs 2 to {MAX_CHOICES} options, but this one has "
        f"{len(choices)}{columns}; write them in option_a, option_b, … or as a list in `choices`, name "
        f"their columns in `columns` of the task's source, or say kind: list for a question without "
        f"options"
    )


# ---- the right option ----------------------------------------------------------------------------


def _gold(row: _QuestionRow, choices: Sequence[str], source: GoldForm) -> str | None:
    """The letter of the right option; None where the cell is empty."""
    text = row.text("gold")
    return None if text is None else gold_letter(text.strip(), choices, source, row.place)


def gold_letter(text: str, choices: Sequence[str], source: GoldForm, place: str) -> str:
    """The letter of the option that a cell names.

    Raises:
        StudyError: it names none, or two.
    """
    places = _gold_places(text, choices, source)
    if len(places) == 1:
        return ascii_uppercase[places.pop()]
    if places:
        raise StudyError(
            f"{place}: the right option {text!r} is the letter of one option and the text of "
            f"another; say `gold: letter` or `gold: text` in the task's source"
        )
    number_hint = ", or say `gold: from_0` or `gold: from_1` in the task's source if it is a number"
    raise StudyError(
        f"{place}: the right option {text!r} is neither the letter nor the text of one of the "
        f"{len(choices)} options; correct it{number_hint if text.isdecimal() else ''}"
    )


def _gold_places(text: str, choices: Sequence[str], source: GoldForm) -> set[int]:
    """Positions, counted from 0, of the options that a cell may mean."""
    if source in ("from_0", "from_1"):
        place = int(text) - (source == "from_1") if text.isdecimal() else -1
        return {place} & set(range(len(choices)))
    letters, texts = set[int](), set[int]()
    letter = text.strip("(.:) ").upper()
    if source in ("auto", "letter") and len(letter) == 1:
        letters = {ascii_uppercase.find(letter)} & set(range(len(choices)))
    if source in ("auto", "text"):
        texts = {n for n, choice in enumerate(choices) if look_of(choice) == look_of(text)}
        # upper and lower case are ignored only where no option equals the cell
        texts = texts or {
            n for n, c in enumerate(choices) if look_of(c).casefold() == look_of(text).casefold()
        }
    return letters | texts


# ---- checks before any call is paid for; benchmarks are left as they were published --------------


def require_distinct(items: Sequence[Item]) -> None:
    """Raise StudyError where two item ids are equal, or differ in what nobody sees, such as spaces."""
    first_items: dict[str, Item] = {}
    for item in items:
        first = first_items.setdefault(look_of(item.item_id), item)
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
        if item.kind in LETTER_KINDS:
            _require_distinct_options(item, place)


def _require_distinct_options(item: Item, place: str) -> None:
    letters: dict[str, str] = {}
    for letter, option in zip(ascii_uppercase, item.choices, strict=False):
        # of ordered labels none differ in upper and lower case alone
        text = look_of(option)
        text = text.casefold() if item.kind == "scale" else text
        if text in letters:
            raise StudyError(
                f"{place}: options {letters[text]} and {letter} have the same text {text[:60]!r}, so one "
                f"answer has two letters; change or delete one of them"
            )
        letters[text] = letter

"""Questions in files that people write: a row a question, in CSV, Excel, JSON or Parquet.

Owns what the columns of such a file mean, under their own names or those that `columns` maps to them, and
how a row says which option is right. Messages name the file, the row and the columns that are there.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, time
from pathlib import Path
from string import ascii_lowercase, ascii_uppercase
from typing import Any, Literal, NamedTuple

from fieldwork.errors import StudyError
from fieldwork.files import sheets
from fieldwork.files.headers import listed
from fieldwork.files.rows import cell_text, is_empty
from fieldwork.records.tasks import Item, ItemKind
from fieldwork.tasks.prompts import Question, plain_prompt

MAX_CHOICES = 10
MAX_LIST_LENGTH = 100

GoldForm = Literal["auto", "letter", "text", "from_0", "from_1"]
"""How a row names the right option; `auto` takes a letter, or the text of an option."""

SourceKind = ItemKind | Literal["mixed"]
"""What a file of questions holds; in a mixed one each row says its own kind."""

ColumnMap = Mapping[str, str | Sequence[str]]
"""Columns of a file by what they hold: `item_id`, `question`, `prompt`, `options`, `gold`, `subject`,
`kind`, `list_length`. `options` are columns in order, or the one that holds a list."""


class OwnFormat(NamedTuple):
    """How the files of a source are read.

    Attributes:
        name: what provenance calls the source.
        kind: kind of the items whose row says none.
        columns: columns under other names than those of docs/own_data.md.
        gold: what the column of the right option holds.
    """

    name: str
    kind: ItemKind
    columns: ColumnMap
    gold: GoldForm


class _Cells(NamedTuple):
    """A row: where it is, and its cells by what the columns hold."""

    where: str
    fields: Mapping[str, Any]
    columns: ColumnMap

    def text(self, role: str) -> str | None:
        """A cell's text, None where the column or its value is missing; 0 is a value."""
        name = str(self.columns.get(role, role))
        return _text(self.fields.get(name), f"{self.where}: {name}")


def own_items(files: Sequence[Path], form: OwnFormat) -> Iterator[Item]:
    """The questions of some files, in order.

    Raises:
        StudyError: a file cannot be read, lacks a mapped column, or has a row that is no question.
    """
    for path in files:
        for number, (place, fields) in enumerate(sheets.stream_records(path)):
            if not number:
                _refuse_missing(path, fields, form.columns)
            cells = _Cells(f"{path}: {place}", fields, form.columns)
            yield _item(cells, path, number, form)


def _refuse_missing(path: Path, fields: Mapping[str, Any], columns: ColumnMap) -> None:
    for role, mapped in columns.items():
        for name in [mapped] if isinstance(mapped, str) else mapped:
            if name not in fields:
                raise StudyError(
                    f"{path}: has no column {name!r}, which `columns.{role}` of the task's source names; "
                    f"there are {listed(fields)}"
                )


def _item(cells: _Cells, path: Path, number: int, form: OwnFormat) -> Item:
    item_id = _item_id(cells, path, number)
    cells = cells._replace(where=f"{cells.where}: item {item_id!r}")
    question = cells.text("question") or cells.text("prompt")
    if question is None:
        names = [str(cells.columns.get(role, role)) for role in ("question", "prompt")]
        if empty := next((name for name in names if name in cells.fields), None):
            raise StudyError(
                f"{cells.where}: {empty} is empty; write the question there, or remove the row"
            )
        raise StudyError(
            f"{cells.where} has neither `question` nor `prompt`; there are "
            f"{listed(cells.fields)}: name the one with the question in `columns` of the task's source"
        )
    kind = _kind(cells, form.kind)
    choices = _choices(cells)
    gold, written = None, question
    if kind == "choice":
        _check_choices(cells, choices)
        gold = _gold(cells, choices, form.gold)
        written = plain_prompt(Question(question, tuple(choices), gold))
    return Item(
        item_id=item_id,
        kind=kind,
        question=question,
        prompt=cells.text("prompt") or written,
        choices=choices,
        gold=gold,
        subject=cells.text("subject") or cells.text("domain"),
        provenance=f"{form.name}: {path.name}",
        list_length=_list_length(cells) if kind == "list" else None,
    )


def _item_id(cells: _Cells, path: Path, number: int) -> str:
    """The id of a row; in a file without ids its number, counted from 0."""
    if cells.columns.get("item_id", "item_id") not in cells.fields:
        return f"{path.name.split('.')[0]}-{number:03d}"
    item_id = cells.text("item_id")
    if item_id is None:
        raise StudyError(f"{cells.where}: every row needs a value in column 'item_id'")
    return item_id


def _text(value: Any, where: str) -> str | None:
    if is_empty(value) or not cell_text(value):
        return None
    if isinstance(value, date | time):
        raise StudyError(
            f"{where} is a date in the workbook; make the cell a text and write it again"
        )
    if isinstance(value, list | dict):
        raise StudyError(f"{where} is a list or an object; write a text")
    return cell_text(value)


def _kind(cells: _Cells, default: ItemKind) -> ItemKind:
    kinds: dict[str, ItemKind] = {"list": "list", "choice": "choice", "": default}
    written = (cells.text("kind") or "").strip()
    if written not in kinds:
        raise StudyError(f"{cells.where}: kind {written!r} is neither `list` nor `choice`")
    return kinds[written]


def _list_length(cells: _Cells) -> int | None:
    """How many options the item asks for, where the row says so."""
    written = cells.text("list_length")
    if written is None:
        return None
    whole = written.strip().removesuffix(".0")
    if not (whole.isascii() and whole.isdigit() and 0 < int(whole) <= MAX_LIST_LENGTH):
        raise StudyError(
            f"{cells.where}: `list_length` is {written!r}; write a whole number from 1 to "
            f"{MAX_LIST_LENGTH}, or leave it empty and the number is read from the prompt"
        )
    return int(whole)


# ---- options -------------------------------------------------------------------------------------


def _choices(cells: _Cells) -> list[str]:
    mapped = cells.columns.get("options", "choices")
    if isinstance(mapped, str):
        listed = _listed(cells.fields.get(mapped), cells.where, mapped)
        if listed is not None or "options" in cells.columns:
            return listed or []
        # all letters: what is too much must be refused, not cut
        mapped = [f"option_{letter}" for letter in ascii_lowercase]
    options = [_text(cells.fields.get(name), f"{cells.where}: {name}") for name in mapped]
    filled = [option for option in options if option is not None]
    if None in options[: len(filled)]:
        raise StudyError(
            f"{cells.where}: an option is empty before the last one, so letters would shift"
        )
    return filled


def _listed(value: Any, where: str, name: str) -> list[str] | None:
    """The options in one cell, a list, an object by letters, or JSON of these; None where it is empty."""
    if is_empty(value):
        return None
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError as error:
            raise StudyError(f"{where}: `{name}` is no JSON list ({error})") from error
    if isinstance(value, dict) and sorted(value) == list(ascii_uppercase[: len(value)]):
        value = [value[letter] for letter in sorted(value)]
    if not isinstance(value, list):
        raise StudyError(f"{where}: `{name}` is no list")
    options = [_text(choice, f"{where}: an option") for choice in value]
    if None in options:
        raise StudyError(f"{where}: one of its `{name}` is empty")
    return [option for option in options if option is not None]


def _check_choices(cells: _Cells, choices: Sequence[str]) -> None:
    if 2 <= len(choices) <= MAX_CHOICES:
        return
    there = "" if choices else f" (there are {listed(cells.fields)})"
    raise StudyError(
        f"{cells.where}: a choice item has 2 to {MAX_CHOICES} options, this one {len(choices)}{there}; "
        f"write them as option_a, option_b, … or as a list in `choices`, name their columns in `columns` "
        f"of the task's source, or say kind: list"
    )


# ---- the right option ----------------------------------------------------------------------------


def _gold(cells: _Cells, choices: Sequence[str], form: GoldForm) -> str | None:
    """The letter of the right option; None where the row says none."""
    written = cells.text("gold")
    if written is None:
        return None
    places = _gold_places(written.strip(), choices, form)
    if len(places) == 1:
        return ascii_uppercase[places.pop()]
    if places:
        raise StudyError(
            f"{cells.where}: gold {written!r} is the letter of one option and the text of another; say "
            f"`gold: letter` or `gold: text` in the task's source"
        )
    number = " or, where it is a number, say `gold: from_0` or `gold: from_1` in the task's source"
    raise StudyError(
        f"{cells.where}: gold {written!r} is no letter and no text of its {len(choices)} options; "
        f"correct it{number if written.strip().isdecimal() else ''}"
    )


def _gold_places(written: str, choices: Sequence[str], form: GoldForm) -> set[int]:
    """Places of the options, from 0, that a cell may mean."""
    if form in ("from_0", "from_1"):
        place = int(written) - (form == "from_1") if written.isdecimal() else -1
        return {place} & set(range(len(choices)))
    letters, texts = set[int](), set[int]()
    letter = written.strip("(.:) ").upper()
    if form in ("auto", "letter") and len(letter) == 1:
        letters = {ascii_uppercase.find(letter)} & set(range(len(choices)))
    if form in ("auto", "text"):
        texts = {n for n, choice in enumerate(choices) if choice.strip() == written}
        # other letter case counts only where no option is written as the cell is
        texts = texts or {
            n for n, c in enumerate(choices) if c.strip().casefold() == written.casefold()
        }
    return letters | texts

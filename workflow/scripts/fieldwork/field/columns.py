"""The column map: from rows of a file to who answered which prompt, with which model, and what.

Owns what `field.columns`, `field.prompts` and `field.models` mean, for wide files (a row a
participant, a column a prompt) and long ones (a row an answer). Promises that no cell is guessed at
and that no message quotes one: it names file, row and setting.
"""

import difflib
import math
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, time
from typing import Any, NamedTuple

from fieldwork.errors import StudyError
from fieldwork.field.raw_answers import (
    Membership,
    Prompt,
    RawAnswer,
    RawField,
    join,
    numbered,
    refuse_copies,
    refuse_silence,
)
from fieldwork.files.rows import SheetRow, is_empty
from fieldwork.files.sheets import Sheet

_MOST_NAMED = 12
_LONGEST_SHOWN = 40
_MOST_DIGITS = 6  # of a place in an order
_LEAST_ID = 8  # characters of an id below which a group may be called the same
_ANSWER_LIKE = re.compile(
    r"@\w|^[\d.,:/ -]+$|^\d{4}-\d\d-\d\d|^(?=.*\d)[0-9A-Fa-f-]{12,}$|^R_\w{10,}$|[\r\n].*[\r\n]"
)
"""An address, a number, a date, an id of a panel or a survey tool, or a list: no name of a column."""
_ONCE = ("participant", "platform", "model", "prompt", "answer", "position")


class Map(NamedTuple):
    """What the config says of the files, and what the study asks."""

    field: Mapping[str, Any]
    prompts: Sequence[Prompt]
    models: Sequence[str]

    def column(self, role: str) -> str | None:
        """The column that `field.columns` names for a role."""
        name: str | None = self.field["columns"][role]
        return name

    def groups(self) -> Mapping[str, str]:
        """The column of each variable that groups are told apart by."""
        groups: Mapping[str, str] = self.field["columns"]["groups"]
        return groups

    @property
    def is_wide(self) -> bool:
        """Whether a row is a participant."""
        return bool(self.field["layout"] == "wide")


def read_field(sheets: Sequence[Sheet], told: Map) -> RawField:
    """Read every answer and membership out of the files.

    `replicate` counts the participant's earlier texts for the prompt and model, in the order of files
    and rows; empty answers are numbered after the texts.

    Raises:
        StudyError: the map does not fit a file, a cell cannot be read as what the map says it is, a
            participant is in two groups, a file repeats another, nobody answered, or nobody of a group.
    """
    wanted = _wanted(told)
    _refuse_missing(sheets, wanted)
    answers: list[RawAnswer] = []
    members: dict[tuple[str, str], Membership] = {}
    n_left_out = 0
    for sheet in sheets:
        read = _Reader(sheet, told)
        for row in sheet.rows:
            participant = read.participant(row)
            for found in read.memberships(row, participant):
                join(members, found)
            answers += read.answers(row, participant)
        n_left_out += read.n_left_out
    refuse_copies(answers)
    refuse_silence(answers, list(members.values()), [sheet.path for sheet in sheets])
    return RawField(numbered(answers), list(members.values()), n_left_out)


# ---- prompts, models -----------------------------------------------------------------------------


def find_prompt(name: str, prompts: Sequence[Prompt]) -> Prompt:
    """The item that `item_id` or `task/item_id` names.

    Raises:
        StudyError: there is none, or several.
    """
    found = [p for p in prompts if name in (p.item_id, f"{p.task}/{p.item_id}")]
    if len(found) == 1:
        return found[0]
    if found:
        tasks = " or ".join(f"{p.task}/{p.item_id}" for p in found)
        raise StudyError(f"field.prompts: {name!r} is in several tasks; write {tasks}")
    near = _nearest(name, [p.item_id for p in prompts])
    raise StudyError(
        f"field.prompts: {name!r} is no item of the study's tasks{near}; correct it, or select its task"
    )


def _prompts_by_value(told: Map) -> dict[str, Prompt]:
    """The prompt of each column (wide) or of each value of the prompt column (long)."""
    given: Mapping[str, str] = told.field["prompts"]
    found = {value.strip(): find_prompt(name, told.prompts) for name, value in given.items()}
    twice = {p for p in found.values() if list(found.values()).count(p) > 1}
    if twice:
        task, item_id = min(twice)
        raise StudyError(f"field.prompts: {task}/{item_id} is given twice; leave one of them out")
    return found


def _by_name(prompts: Sequence[Prompt]) -> dict[str, Prompt]:
    """Prompts by `task/item_id`, and by `item_id` where that says it all."""
    ids = [p.item_id for p in prompts]
    short = {p.item_id: p for p in prompts if ids.count(p.item_id) == 1}
    return short | {f"{p.task}/{p.item_id}": p for p in prompts}


# ---- the columns of a file -----------------------------------------------------------------------


class _Wanted(NamedTuple):
    """Columns by the setting that names them; a file has answers if it has one of `answering`."""

    columns: dict[str, str]
    answering: frozenset[str]


def _wanted(told: Map) -> _Wanted:
    named = {f"field.columns.{role}": told.column(role) for role in _ONCE}
    named |= {f"field.columns.groups.{v}": column for v, column in told.groups().items()}
    answering = {"field.columns.prompt", "field.columns.answer"}
    if told.is_wide:
        prompts = {f"field.prompts.{name}": c for name, c in told.field["prompts"].items()}
        named = {s: c for s, c in named.items() if s not in answering} | prompts
        answering = set(prompts)
    columns = {setting: column.strip() for setting, column in named.items() if column is not None}
    return _Wanted(columns, frozenset(answering))


def _refuse_missing(sheets: Sequence[Sheet], wanted: _Wanted) -> None:
    """Every column is in a file, and what a file needs is in each that has answers."""
    for sheet in sheets:
        present = {s for s, c in wanted.columns.items() if c in sheet.header}
        has_answers = bool(present & wanted.answering)
        has_groups = any(s.startswith("field.columns.groups.") for s in present)
        for setting, column in wanted.columns.items():
            if sheet.header.count(column) > 1:
                raise StudyError(
                    f"{sheet.path}: row {sheet.header_row} has the column {column!r} twice "
                    f"({setting}); rename one"
                )
            if setting in present or not _is_needed(setting, has_answers, has_groups):
                continue
            raise _no_column(setting, column, sheet)
    for setting, column in wanted.columns.items():
        if not any(column in sheet.header for sheet in sheets):
            raise _no_column(setting, column, sheets[0])


def _is_needed(setting: str, has_answers: bool, has_groups: bool) -> bool:
    if setting == "field.columns.participant":
        return True
    role = setting.removeprefix("field.columns.")
    if role in _ONCE:
        return has_answers or not has_groups
    # columns of prompts and groups may be spread over files
    return not has_answers and not has_groups


def _no_column(setting: str, column: str, sheet: Sheet) -> StudyError:
    there = [name for name in sheet.header if name]
    missing = f"{sheet.path}: row {sheet.header_row} has no column {column!r} ({setting})"
    # a file without a header would have its first participant told
    if any(_ANSWER_LIKE.search(name) for name in there):
        return StudyError(
            f"{missing}, and looks like an answer rather than a header; put the columns' names there"
        )
    more = f" and {len(there) - _MOST_NAMED} more" if len(there) > _MOST_NAMED else ""
    shown = ", ".join(_shortened(name) for name in there[:_MOST_NAMED])
    return StudyError(f"{missing}{_nearest(column, there)}; there are {shown or 'none'}{more}")


def _shortened(name: str) -> str:
    line = " ".join(name.split())
    return line if len(line) <= _LONGEST_SHOWN else f"{line[:_LONGEST_SHOWN]}…"


def _nearest(name: str, known: Sequence[str]) -> str:
    lower = {other.casefold(): other for other in known}
    near = difflib.get_close_matches(name.casefold(), lower, n=1, cutoff=0.6)
    return f" (nearest: {_shortened(lower[near[0]])!r})" if near else ""


# ---- cells ---------------------------------------------------------------------------------------


def _word(cell: Any) -> str:
    """A cell as text: what a person sees, without spaces around it."""
    if is_empty(cell) or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell).strip()


def identity(cell: Any) -> str:
    """The id in a cell, in the one form that ids are compared in; empty where there is none."""
    return unicodedata.normalize("NFC", _word(cell))


def _kind(cell: Any) -> str | None:
    """What a spreadsheet made of an answer, where that is no text."""
    if isinstance(cell, str) or cell is None:
        return None
    if isinstance(cell, date | time):
        return "a date"
    if isinstance(cell, float) and math.isnan(cell):
        return "an error value"
    return "a number" if isinstance(cell, int | float) else "no text"


class _Reader:
    """Reads the rows of one file by the map."""

    def __init__(self, sheet: Sheet, told: Map) -> None:
        self._sheet, self._told = sheet, told
        self._prompts = _prompts_by_value(told)
        self._names = _by_name(told.prompts) | self._prompts
        self.n_left_out = 0
        self._skipped = {value.strip() for value in told.field["skip_prompts"]}
        self._at = {name: sheet.header.index(name) for name in sheet.header if name}
        self._read: Callable[[SheetRow, str], Iterator[RawAnswer]] = (
            self._wide if told.is_wide else self._long
        )

    def participant(self, row: SheetRow) -> str:
        """The participant's id as the file has it."""
        name = identity(self._cell(row, "participant"))
        if not name:
            raise self._error(row, "participant", "is empty; fill in the id, or delete the row")
        return name

    def memberships(self, row: SheetRow, participant: str) -> Iterator[Membership]:
        """The groups that this row puts the participant in; an empty cell says nothing."""
        for variable, column in self._told.groups().items():
            at = self._at.get(column.strip())
            group = "" if at is None else _word(row.cells[at])
            self._refuse_id(row, column, group, participant, f"groups.{variable}")
            if group:
                yield Membership(participant, variable, group, self._sheet.path, row.number)

    def answers(self, row: SheetRow, participant: str) -> Iterator[RawAnswer]:
        """The answers in this row; none where the file only has groups."""
        return self._read(row, participant)

    def _wide(self, row: SheetRow, participant: str) -> Iterator[RawAnswer]:
        here = {prompt: c for c, prompt in self._prompts.items() if c in self._at}
        if not here:
            return
        model = self._model(row)
        if model is None:
            self.n_left_out += 1
            return
        order = self._order(row)
        for prompt, column in here.items():
            text = self._text(row, column, f"field.prompts, {prompt.task}/{prompt.item_id}")
            yield self._answer(row, participant, model, prompt, order.get(prompt), text)

    def _long(self, row: SheetRow, participant: str) -> Iterator[RawAnswer]:
        column = self._told.column("answer") or ""
        if column.strip() not in self._at:
            return
        value = _word(self._cell(row, "prompt"))
        model = self._model(row)
        if value in self._skipped or model is None:
            self.n_left_out += 1
            return
        prompt = self._names.get(value)
        if prompt is None:
            what = "is empty" if not value else "holds a prompt that is none of field.prompts"
            way = "add it there, or to field.skip_prompts to leave such rows out"
            raise self._error(row, "prompt", f"{what}; {way}")
        text = self._text(row, column.strip(), "field.columns.answer")
        yield self._answer(row, participant, model, prompt, self._position(row), text)

    def _answer(
        self,
        row: SheetRow,
        participant: str,
        model: str,
        prompt: Prompt,
        position: int | None,
        text: str | None,
    ) -> RawAnswer:
        platform = _word(self._cell(row, "platform")) or None
        self._refuse_id(row, self._told.column("platform"), platform, participant, "platform")
        path = self._sheet.path
        return RawAnswer(participant, platform, model, prompt, 0, position, text, path, row.number)

    def _model(self, row: SheetRow) -> str | None:
        """The model's name in the config; None where `field.models` leaves its rows out."""
        models: Mapping[str, str | None] = self._told.field["models"]
        asked = self._told.models
        role = "model" if self._told.column("model") else "platform"
        # with one model a platform is only told, unless it is mapped
        if len(asked) == 1 and (
            self._told.column(role) is None or (role, models) == ("platform", {})
        ):
            return asked[0]
        value = _word(self._cell(row, role))
        if value in models:
            return models[value]
        if value in asked:
            return value
        known = ", ".join([*models, *(m for m in asked if m not in models)])
        what = "is empty" if not value else "holds a value that field.models does not know"
        raise self._error(row, role, f"{what} (it knows {known}); add it there")

    def _position(self, row: SheetRow) -> int | None:
        word = _word(self._cell(row, "position"))
        if not word:
            return None
        if not word.isdecimal() or len(word) > _MOST_DIGITS or int(word) < 1:
            raise self._error(row, "position", "is no whole number from 1; correct or empty it")
        return int(word)

    def _order(self, row: SheetRow) -> dict[Prompt, int]:
        """Places of the prompts in a participant's order; names that are no prompt take one too."""
        word = _word(self._cell(row, "position"))
        names = [name.strip() for name in word.split("|" if "|" in word else ",")]
        found = {
            self._names[name]: place
            for place, name in reversed([*enumerate(names, start=1)])
            if name in self._names
        }
        if word and not found:
            raise self._error(
                row, "position", "names no prompt; give item ids or columns with | between them"
            )
        return found

    def _text(self, row: SheetRow, column: str, setting: str) -> str | None:
        cell = row.cells[self._at[column]]
        kind = _kind(cell)
        if kind is not None:
            raise StudyError(
                f"{self._sheet.path}: row {row.number}, column {column!r} ({setting}) holds {kind} "
                f"where an answer should be; format the column as text, paste the answer again as it "
                f"was given, or export the survey as CSV"
            )
        return None if is_empty(cell) else str(cell)

    def _refuse_id(
        self, row: SheetRow, column: str | None, value: str | None, participant: str, role: str
    ) -> None:
        """Platforms and groups are kept as the file says them, so none may be who answered."""
        if len(participant) >= _LEAST_ID and value == participant:
            raise StudyError(
                f"{self._sheet.path}: row {row.number}, column {column!r} (field.columns.{role}) holds "
                f"the participant's id, which must not be kept; name another column"
            )

    def _cell(self, row: SheetRow, role: str) -> Any:
        column = self._told.column(role)
        return None if column is None else row.cells[self._at[column.strip()]]

    def _error(self, row: SheetRow, role: str, problem: str) -> StudyError:
        column = self._told.column(role)
        return StudyError(
            f"{self._sheet.path}: row {row.number}, column {column!r} (field.columns.{role}) {problem}"
        )

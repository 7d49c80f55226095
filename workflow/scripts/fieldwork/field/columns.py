"""The column map: which participant gave which answer to which prompt of which model, row by row.

Owns what `field.columns`, `field.prompts` and `field.models` mean, for wide files (a row a
participant, a column a prompt) and long ones (a row an answer). Promises that no cell is guessed at
and that no message quotes one: it names file, row and setting.
"""

import difflib
import math
import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date, time
from pathlib import Path
from typing import Any, NamedTuple

from fieldwork.errors import StudyError
from fieldwork.field.raw_answers import (
    FieldPrompt,
    Membership,
    RawAnswer,
    RawField,
    enter_membership,
    refuse_copies,
    refuse_missing_answers,
    with_replicates,
)
from fieldwork.files.recordings.answers import matches
from fieldwork.files.rows import SheetRow, cell_text, is_empty
from fieldwork.files.sheets import Sheet

_MOST_NAMES = 12
_LONGEST_NAME = 40
_MOST_DIGITS = 6  # of a place in an order
_LEAST_ID = 8  # characters of an id below which a group may be called the same
_ANSWER_LIKE = re.compile(
    r"@\w|^[\d.,:/ -]+$|^\d{4}-\d\d-\d\d|^(?=.*\d)[0-9A-Fa-f-]{12,}$|^R_\w{10,}$|[\r\n].*[\r\n]"
)
"""An address, a number, a date, an id of a panel or a survey tool, or a list: no name of a column."""
_ANSWER_SETTINGS = ("field.prompts.", "field.columns.prompt", "field.columns.answer")
"""A file with a column of one of these has answers."""
_ROLES = ("participant", "platform", "model", "prompt", "answer", "position")


class ColumnMap(NamedTuple):
    """What the config says of the files, and what the study asks.

    Attributes:
        numeric_prompts: of the prompts, those whose answer may be a number: scales and numbers.
    """

    field: Mapping[str, Any]
    prompts: Sequence[FieldPrompt]
    models: Sequence[str]
    numeric_prompts: Collection[FieldPrompt] = ()

    def column(self, role: str) -> str | None:
        """The column that `field.columns` names for a role, without spaces around it."""
        name: str | None = self.field["columns"][role]
        return None if name is None else name.strip()

    def groups(self) -> Mapping[str, str]:
        """The column of each variable that participants are grouped by."""
        return dict(self.field["columns"]["groups"])


def read_field(sheets: Sequence[Sheet], column_map: ColumnMap) -> RawField:
    """Read every answer and membership out of the files.

    A row that stands in two files, or twice in one, counts once, unless nothing in a long file could tell
    it from an answer given again. `replicate` counts the participant's earlier texts for the prompt and
    model, in the order of files and rows; empty answers are numbered after the texts.

    Raises:
        StudyError: the map does not fit a file, a row repeats the header, a cell cannot be read as what
            the map says it is, a participant is in two groups, a file repeats another, nobody answered,
            or nobody of a group.
    """
    _refuse_missing(sheets, _required_columns(column_map))
    answers: list[RawAnswer] = []
    members: dict[tuple[str, str], Membership] = {}
    n_left_out = 0
    first_sheets: dict[frozenset[tuple[str, str]], Sheet] = {}
    repeats: set[tuple[Path, int]] = set()
    for sheet in sheets:
        reader = _SheetReader(sheet, column_map)
        for row in sheet.rows:
            if not reader.is_chosen(row):
                n_left_out += 1
                continue
            participant = reader.participant(row)
            first_sheet = first_sheets.setdefault(reader.content(row), sheet)
            if first_sheet is not sheet or (reader.is_seen(row) and reader.tells_repeats):
                repeats.add((sheet.path, row.number))
            for membership in reader.memberships(row, participant):
                enter_membership(members, membership)
            answers += reader.answers(row, participant)
        n_left_out += reader.n_left_out
    refuse_copies(answers)
    refuse_missing_answers(answers, list(members.values()), [sheet.path for sheet in sheets])
    answers = [answer for answer in answers if (answer.path, answer.row) not in repeats]
    return RawField(with_replicates(answers), list(members.values()), n_left_out, len(repeats))


# ---- prompts, models -----------------------------------------------------------------------------


def find_prompt(name: str, prompts: Sequence[FieldPrompt]) -> FieldPrompt:
    """The item that `item_id` or `task/item_id` names.

    Raises:
        StudyError: there is none, or several.
    """
    matches = [p for p in prompts if name in (p.item_id, f"{p.task}/{p.item_id}")]
    if len(matches) == 1:
        return matches[0]
    if matches:
        tasks = " or ".join(f"{p.task}/{p.item_id}" for p in matches)
        raise StudyError(f"field.prompts: {name!r} is in several tasks; write {tasks}")
    nearest = _nearest(name, [p.item_id for p in prompts])
    raise StudyError(
        f"field.prompts: {name!r} is not an item of the study's tasks{nearest}; correct the "
        f"name, or add its task to the study"
    )


def _prompts_by_value(column_map: ColumnMap) -> dict[str, FieldPrompt]:
    """The prompt of each column (wide) or of each value of the prompt column (long)."""
    columns_or_values: Mapping[str, str] = column_map.field["prompts"]
    prompts = {
        value.strip(): find_prompt(name, column_map.prompts)
        for name, value in columns_or_values.items()
    }
    repeated_prompts = {p for p in prompts.values() if list(prompts.values()).count(p) > 1}
    if repeated_prompts:
        task, item_id = min(repeated_prompts)
        raise StudyError(f"field.prompts: {task}/{item_id} is listed twice; remove one of the two")
    return prompts


# ---- the columns of a file -----------------------------------------------------------------------


def _required_columns(column_map: ColumnMap) -> dict[str, str]:
    """Columns by the setting that names them."""
    is_wide = column_map.field["layout"] == "wide"
    prompts = column_map.field["prompts"] if is_wide else {}
    roles = [r for r in _ROLES if not (is_wide and r in ("prompt", "answer"))]
    columns_by_setting = {f"field.columns.{role}": column_map.column(role) for role in roles}
    columns_by_setting |= {f"field.columns.groups.{v}": c for v, c in column_map.groups().items()}
    columns_by_setting |= {f"field.rows.{column}": column for column in column_map.field["rows"]}
    columns_by_setting |= {f"field.prompts.{name}": column for name, column in prompts.items()}
    return {setting: c.strip() for setting, c in columns_by_setting.items() if c is not None}


def _refuse_missing(sheets: Sequence[Sheet], required_columns: Mapping[str, str]) -> None:
    """Refuse a column that no file has, and a file with answers that lacks a column it needs."""
    for sheet in sheets:
        present = {s for s, c in required_columns.items() if c in sheet.header}
        has_answers = any(s.startswith(_ANSWER_SETTINGS) for s in present)
        has_groups = any(s.startswith("field.columns.groups.") for s in present)
        for setting, column in required_columns.items():
            if sheet.header.count(column) > 1:
                raise StudyError(
                    f"{sheet.path}: row {sheet.header_row} has two columns {column!r} "
                    f"({setting}); rename one"
                )
            if setting not in present and _is_needed(setting, has_answers, has_groups):
                raise _no_column(setting, column, sheet)
    for setting, column in required_columns.items():
        if not any(column in sheet.header for sheet in sheets):
            raise _no_column(setting, column, sheets[0])


def _is_needed(setting: str, has_answers: bool, has_groups: bool) -> bool:
    if setting == "field.columns.participant":
        return True
    role = setting.removeprefix("field.columns.")
    if role in _ROLES:
        return has_answers or not has_groups
    # columns of prompts and groups may be spread over files
    return not has_answers and not has_groups


def _no_column(setting: str, column: str, sheet: Sheet) -> StudyError:
    names = [name for name in sheet.header if name]
    problem = f"{sheet.path}: row {sheet.header_row} has no column {column!r} ({setting})"
    # where there is no header, the names are a participant's cells, which no message may quote
    if any(_ANSWER_LIKE.search(name) for name in names):
        return StudyError(
            f"{problem}; the row looks like an answer, not a header: put the names of the columns there"
        )
    rest = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    listed_names = ", ".join(_short(name) for name in names[:_MOST_NAMES])
    return StudyError(
        f"{problem}{_nearest(column, names)}; there are {listed_names or 'none'}{rest}"
    )


def _short(name: str) -> str:
    line = " ".join(name.split())
    return line if len(line) <= _LONGEST_NAME else f"{line[:_LONGEST_NAME]}…"


def _nearest(name: str, names: Sequence[str]) -> str:
    name_by_folded_name = {other.casefold(): other for other in names}
    matches = difflib.get_close_matches(name.casefold(), name_by_folded_name, n=1, cutoff=0.6)
    return f" (nearest: {_short(name_by_folded_name[matches[0]])!r})" if matches else ""


# ---- cells ---------------------------------------------------------------------------------------


def identity(cell: Any) -> str:
    """The id in a cell, in the one form that ids are compared in; empty where there is none."""
    return unicodedata.normalize("NFC", cell_text(cell).strip())


def _kind_of_cell(cell: Any) -> str | None:
    """What a spreadsheet made of an answer that is no longer text; None where it is text."""
    if isinstance(cell, str) or cell is None:
        return None
    if isinstance(cell, date | time):
        return "a date"
    if isinstance(cell, float) and math.isnan(cell):
        return "an error value"
    return "a number" if isinstance(cell, int | float) else "something other than text"


class _SheetReader:
    def __init__(self, sheet: Sheet, column_map: ColumnMap) -> None:
        self._sheet, self._column_map = sheet, column_map
        self._prompts = _prompts_by_value(column_map)
        ids = [p.item_id for p in column_map.prompts]
        # by `item_id` where that says it all
        self._names = {p.item_id: p for p in column_map.prompts if ids.count(p.item_id) == 1}
        self._names |= {f"{p.task}/{p.item_id}": p for p in column_map.prompts} | self._prompts
        self.n_left_out = 0
        self._contents: set[frozenset[tuple[str, str]]] = set()
        is_wide = column_map.field["layout"] == "wide"
        mapped_columns = set(_required_columns(column_map).values())
        self.tells_repeats = is_wide or not mapped_columns.issuperset(filter(None, sheet.header))
        """Whether a row that comes again is a copy: a column, such as a time, would differ."""
        self._skipped_prompts = {value.strip() for value in column_map.field["skip_prompts"]}
        self._index_by_column = {name: sheet.header.index(name) for name in sheet.header if name}
        self.answers = self._wide if column_map.field["layout"] == "wide" else self._long
        """The answers in a row of a participant; none where the file only has groups."""

    def participant(self, row: SheetRow) -> str:
        name = identity(self._cell(row, "participant"))
        if not name:
            raise self._error(row, "participant", "is empty; fill in the id, or delete the row")
        if all(column == text for column, text in self.content(row) if text):
            raise StudyError(
                f"{self._sheet.path}: row {row.number} repeats the names of the columns; delete the row"
            )
        return name

    def content(self, row: SheetRow) -> frozenset[tuple[str, str]]:
        """The cells of a row with their columns."""
        columns = self._index_by_column.items()
        return frozenset((name, cell_text(row.cells[k]).strip()) for name, k in columns)

    def is_seen(self, row: SheetRow) -> bool:
        """Whether an earlier row of the file has the same content."""
        content = self.content(row)
        is_seen = content in self._contents
        self._contents.add(content)
        return is_seen

    def is_chosen(self, row: SheetRow) -> bool:
        """Whether `field.rows` chooses a row."""
        rule = self._column_map.field["rows"]
        cells = {
            name: row.cells[self._index_by_column[name]]
            for name in rule
            if name in self._index_by_column
        }
        return matches(cells, {name: value for name, value in rule.items() if name in cells})

    def memberships(self, row: SheetRow, participant: str) -> Iterator[Membership]:
        """The groups that this row puts the participant in; an empty cell says nothing."""
        for variable, column in self._column_map.groups().items():
            index = self._index_by_column.get(column.strip())
            group = "" if index is None else cell_text(row.cells[index]).strip()
            self._refuse_id(row, column, group, participant, f"groups.{variable}")
            if group:
                yield Membership(participant, variable, group, self._sheet.path, row.number)

    def _wide(self, row: SheetRow, participant: str) -> Iterator[RawAnswer]:
        column_by_prompt = {
            prompt: c for c, prompt in self._prompts.items() if c in self._index_by_column
        }
        if not column_by_prompt:
            return
        model = self._model(row)
        if model is None:
            self.n_left_out += 1
            return
        order = self._order(row)
        for prompt, column in column_by_prompt.items():
            setting = f"field.prompts, {prompt.task}/{prompt.item_id}"
            text = self._text(row, column, setting, prompt)
            yield self._answer(row, participant, model, prompt, order.get(prompt), text)

    def _long(self, row: SheetRow, participant: str) -> Iterator[RawAnswer]:
        column = self._column_map.column("answer") or ""
        if column not in self._index_by_column:
            return
        value = cell_text(self._cell(row, "prompt")).strip()
        model = self._model(row)
        if value in self._skipped_prompts or model is None:
            self.n_left_out += 1
            return
        prompt = self._names.get(value)
        if prompt is None:
            problem = "is empty" if not value else "holds a prompt that field.prompts does not list"
            remedy = "add it there, or add it to field.skip_prompts to leave such rows out"
            raise self._error(row, "prompt", f"{problem}; {remedy}")
        text = self._text(row, column, "field.columns.answer", prompt)
        yield self._answer(row, participant, model, prompt, self._position(row), text)

    def _answer(
        self,
        row: SheetRow,
        participant: str,
        model: str,
        prompt: FieldPrompt,
        position: int | None,
        text: str | None,
    ) -> RawAnswer:
        platform = cell_text(self._cell(row, "platform")).strip() or None
        self._refuse_id(row, self._column_map.column("platform"), platform, participant, "platform")
        path = self._sheet.path
        return RawAnswer(participant, platform, model, prompt, 0, position, text, path, row.number)

    def _model(self, row: SheetRow) -> str | None:
        """The model's name in the config; None where `field.models` leaves its rows out."""
        models: Mapping[str, str | None] = self._column_map.field["models"]
        study_models = self._column_map.models
        role = "model" if self._column_map.column("model") else "platform"
        # with one model the platform is only a description, unless it is mapped
        if len(study_models) == 1 and (
            self._column_map.column(role) is None or (role, models) == ("platform", {})
        ):
            return study_models[0]
        value = cell_text(self._cell(row, role)).strip()
        if value in models:
            return models[value]
        if value in study_models:
            return value
        names = ", ".join([*models, *(m for m in study_models if m not in models)])
        problem = "is empty" if not value else "holds a value that field.models does not list"
        raise self._error(row, role, f"{problem} (it lists {names}); add it there")

    def _position(self, row: SheetRow) -> int | None:
        word = cell_text(self._cell(row, "position")).strip()
        if not word:
            return None
        if not word.isdecimal() or len(word) > _MOST_DIGITS or int(word) < 1:
            raise self._error(
                row, "position", "is not a whole number from 1 up; correct the cell or empty it"
            )
        return int(word)

    def _order(self, row: SheetRow) -> dict[FieldPrompt, int]:
        """Positions of the prompts in a participant's order; other names take a position too."""
        word = cell_text(self._cell(row, "position")).strip()
        names = [name.strip() for name in word.split("|" if "|" in word else ",")]
        positions = {
            self._names[name]: position
            for position, name in reversed([*enumerate(names, start=1)])
            if name in self._names
        }
        if word and not positions:
            raise self._error(
                row, "position", "names no prompt; give item ids or columns with | between them"
            )
        return positions

    def _text(self, row: SheetRow, column: str, setting: str, prompt: FieldPrompt) -> str | None:
        cell = row.cells[self._index_by_column[column]]
        kind = _kind_of_cell(cell)
        if kind == "a number" and prompt in self._column_map.numeric_prompts:
            return cell_text(cell)
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
        column = self._column_map.column(role)
        return None if column is None else row.cells[self._index_by_column[column]]

    def _error(self, row: SheetRow, role: str, problem: str) -> StudyError:
        column = self._column_map.column(role)
        return StudyError(
            f"{self._sheet.path}: row {row.number}, column {column!r} (field.columns.{role}) {problem}"
        )

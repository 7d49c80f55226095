"""A guess of what the columns of a file of questions hold, for a person to check.

Owns the usual names of such columns in English, German and French.
`make study` writes the guess into a study file; the study itself reads by that file and guesses nothing.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, get_args

from fieldwork.errors import StudyError
from fieldwork.files.headers import bare_name, find_column, name_list
from fieldwork.files.json_values import json_value
from fieldwork.files.rows import cell_text, is_empty
from fieldwork.files.sheets import stream_records
from fieldwork.records.tasks import Item, ItemKind
from fieldwork.tasks.own_items import ColumnMap, GoldForm, TaskSource, own_items, usual_id
from fieldwork.tasks.question_kinds import is_missing_option, kind_of_word, scale_order

_NAMES = {
    "question": "question questiontext frage fragetext fragestellung stem item aufgabe enonce text "
    "prompt",
    "prompt": "prompt fullprompt message",
    "gold": "gold correctanswer correctoption correct rightanswer answerkey key solution answer label "
    "richtigeantwort richtig antwort losung bonnereponse reponsecorrecte reponse solutioncorrecte",
    "item_id": "itemid id questionid qid uid frageid fragenummer fragenr nr no number numero code",
    "subject": "subject topic category domain theme fach thema kategorie bereich gebiet sujet categorie "
    "matiere",
    "kind": "kind type questiontype art fragetyp",
    "reversed": "reversed reverse reversescored umgekehrt",
    "unit": "unit units einheit unite",
    "lowest": "lowest",
    "highest": "highest",
}
_KINDS_OF: Mapping[str, tuple[ItemKind, ...]] = {
    "gold": ("choice",),
    "reversed": ("scale",),
    "unit": ("number",),
    "lowest": ("number",),
    "highest": ("number",),
}
"""Kinds that have a column of their own; all have the others."""
AGREEMENT = (
    "Strongly disagree",
    "Disagree",
    "Neither agree nor disagree",
    "Agree",
    "Strongly agree",
)
"""Points of a scale whose file has no labels."""
_LIST_NAMES = "choices options answers antworten antwortmoglichkeiten choix reponses"
_OPTION = re.compile(
    r"(|option|opt|answer|ans|choice|alternative|antwort|antwortmoglichkeit|auswahl|reponse|choix|"
    r"proposition)([a-j]|\d{1,2})"
)
_NUMBERS = tuple(str(number) for number in range(11))
_LETTERS = "abcdefghij"


class QuestionGuess(NamedTuple):
    """How the questions of one kind in a file are read.

    Attributes:
        path: the file.
        kind: kind of its questions.
        columns: columns by what they hold.
        gold: how the right option is written, for the setting `gold`.
        items: the questions, read by this guess.
        unused_columns: columns that questions of no kind read.
        doubts: what a person should check, one sentence each.
        rows: the setting of that name: which rows are of this kind; empty for all.
        item_ids: the setting of that name, where no column tells the kinds apart; empty for all.
        scale: the setting of that name, where it is not the usual one.
    """

    path: Path
    kind: ItemKind
    columns: ColumnMap
    gold: GoldForm
    items: Sequence[Item]
    unused_columns: Sequence[str]
    doubts: Sequence[str]
    rows: Mapping[str, list[str]] = MappingProxyType({})
    item_ids: Sequence[str] = ()
    scale: Mapping[str, Any] = MappingProxyType({})

    def columns_setting(self) -> dict[str, str | list[str]]:
        """The setting `columns`: columns that have other names than the usual ones."""
        usual = [f"option_{letter}" for letter in _LETTERS]
        return {
            role: column if isinstance(column, str) else list(column)
            for role, column in self.columns.items()
            if column != ("choices" if role == "options" else role)
            and column != usual[: len(column)]
        }


class _FileRows(NamedTuple):
    """The rows of a file, with the names of its columns, and those of options and of kinds."""

    path: Path
    rows: Sequence[Mapping[str, Any]]
    names: Sequence[str]
    options: str | list[str] | None
    kind_column: str | None

    def choices(self, row: Mapping[str, Any]) -> list[str]:
        """The options of a row; empty where it has none."""
        return [text for text in _texts(row, self.options or []) if text]


def guess_questions(path: Path, kind: ItemKind | None = None) -> list[QuestionGuess]:
    """Guess what the columns of a file hold, and read its questions by the guess, kind by kind.

    A row says its kind in the column `kind`. Else it is a number where it has a unit or limits, a scale
    where its options are points of one, a choice where it has other options, and a list without any.

    Args:
        kind: that of all rows, instead of a guess.

    Raises:
        StudyError: the file cannot be read by the guess, or no column has the name of a question.
    """
    rows = [fields for _, fields in stream_records(path)]
    if not rows:
        raise StudyError(f"{path}: has a header but no rows; write one question a row")
    names = list(dict.fromkeys(name for row in rows for name in row))
    file = _FileRows(path, rows, names, _options(rows, names), _kind_column(rows, names))
    kinds = [kind or _kind_of_row(row, file) for row in rows]
    guesses = [_guess_kind(file, kinds, one) for one in dict.fromkeys(kinds)]
    not_read = [name for name in names if all(name in guess.unused_columns for guess in guesses)]
    return [guess._replace(unused_columns=not_read) for guess in guesses]


def _guess_kind(file: _FileRows, kinds: Sequence[ItemKind], kind: ItemKind) -> QuestionGuess:
    rows = [row for row, one in zip(file.rows, kinds, strict=True) if one == kind]
    columns = _columns(file, kind)
    doubts: list[str] = []
    gold: GoldForm = "auto"
    if kind == "choice" and "gold" in columns:
        gold = _gold_form(rows, columns, doubts)
    scale = _scale_setting(rows, file, doubts) if kind == "scale" else {}
    settings: dict[str, Any] = {"kind": kind, "columns": columns, "gold": gold, "scale": scale}
    settings |= _rows_of_kind(file, kinds, kind, columns) if len({*kinds}) > 1 else {}
    source = TaskSource(format="items", dataset=file.path.stem, **settings)
    ids = {*source.item_ids}
    items = [row for row in own_items([file.path], source) if not ids or row.item_id in ids]
    used_columns = {name for value in columns.values() for name in _as_list(value)} | {*source.rows}
    unused_columns = [name for name in file.names if name and name not in used_columns]
    return QuestionGuess(
        file.path,
        kind,
        columns,
        gold,
        items,
        unused_columns,
        doubts,
        settings.get("rows", {}),
        source.item_ids,
        scale,
    )


def _kind_of_row(row: Mapping[str, Any], file: _FileRows) -> ItemKind:
    word = cell_text(row.get(file.kind_column or "")).strip()
    if word:
        kind = kind_of_word(word)
        if kind is None:
            raise StudyError(
                f"{file.path}: kind {word!r} is unknown; write one of {', '.join(get_args(ItemKind))}"
            )
        return kind
    if any(
        not is_empty(row.get(column))
        for role in ("unit", "lowest", "highest")
        if (column := _role_column(file.names, role))
    ):
        return "number"
    choices = file.choices(row)
    has_gold = (gold := _role_column(file.names, "gold")) and not is_empty(row.get(gold))
    if choices and not has_gold and scale_order(choices):
        return "scale"
    # options that nobody has filled in yet are asked for
    is_blank = bool(file.options) and not any(map(file.choices, file.rows))
    return "choice" if choices or is_blank else "list"


def _kind_column(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> str | None:
    """The column that names kinds; one of another name than `kind` has to name nothing else."""
    column = _role_column(names, "kind")
    words = {cell_text(row.get(column or "")).strip() for row in rows} - {""}
    return column if column == "kind" or (words and all(map(kind_of_word, words))) else None


def _role_column(names: Sequence[str], role: str) -> str | None:
    return find_column(names, _NAMES[role].split())


def _rows_of_kind(
    file: _FileRows, kinds: Sequence[ItemKind], kind: ItemKind, columns: ColumnMap
) -> dict[str, Any]:
    """The setting that leaves the rows of a kind: by the column of kinds, else by the ids."""
    column = file.kind_column
    if column:
        by_word: dict[str, set[ItemKind]] = {}
        for row, one in zip(file.rows, kinds, strict=True):
            by_word.setdefault(cell_text(row.get(column)), set()).add(one)
        if "" not in by_word:
            return {"rows": {column: [word for word in by_word if by_word[word] == {kind}]}}
    id_column = str(columns.get("item_id", "item_id"))
    return {
        "item_ids": [
            cell_text(row[id_column]) if id_column in row else usual_id(file.path, place)
            for place, (row, one) in enumerate(zip(file.rows, kinds, strict=True))
            if one == kind
        ]
    }


def _scale_setting(
    rows: Sequence[Mapping[str, Any]], file: _FileRows, doubts: list[str]
) -> dict[str, Any]:
    """The setting `scale`: labels of rows without options, options beside it, which end is high."""
    scales = [choices for row in rows if (choices := file.choices(row))]
    setting: dict[str, Any] = {}
    if len(scales) < len(rows):
        setting["labels"] = [*AGREEMENT]
        doubts.append(
            "rows without options are asked on five points from Strongly disagree to Strongly agree; "
            "change `scale.labels`"
        )
    missing = dict.fromkeys(
        option for scale in scales for option in scale if is_missing_option(option)
    )
    if missing:
        setting["missing_options"] = [*missing]
    orders = {scale_order(scale) for scale in scales}
    if orders == {"descending"}:
        setting["order"] = "descending"
    elif "descending" in orders:
        doubts.append(
            "some scales begin with their high end and others with their low end; write them alike, or "
            "put them into files of their own"
        )
    elif None in orders:
        doubts.append("the first option of a scale is taken for its low end; see `scale.order`")
    return setting


def _columns(file: _FileRows, kind: ItemKind) -> dict[str, str | list[str]]:
    columns: dict[str, str | list[str]] = {}
    has_options = kind in ("choice", "scale")
    used_columns = set(_as_list(file.options or []))
    for role, candidates in _NAMES.items():
        free = [name for name in file.names if name not in used_columns]
        name = file.kind_column if role == "kind" else find_column(free, candidates.split())
        if name is not None:
            used_columns.add(name)
            if kind in _KINDS_OF.get(role, (kind,)):
                columns[role] = name
    if "question" not in columns:
        raise StudyError(
            f"{file.path}: no column has a usual name of the question (its columns are "
            f"{name_list(file.names)}); name one of them `question`"
        )
    if file.options and has_options:
        columns["options"] = file.options
    return columns


def _as_list(value: str | Sequence[str]) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


# ---- options -------------------------------------------------------------------------------------


def _options(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> str | list[str] | None:
    """The columns of the options in order, or the one column with a list of them."""
    lists = [n for n in names if any(_is_list(row.get(n)) for row in rows)]
    list_column = find_column(lists, _LIST_NAMES.split())
    if list_column is not None:
        return list_column
    groups: dict[str, dict[str, str]] = {}
    for name in names:
        if match := _OPTION.fullmatch(bare_name(name)):
            groups.setdefault(match[1], {}).setdefault(match[2], name)
    runs = [columns for group in groups.values() if len(columns := _in_order(group)) > 1]
    # a prefix says more than a bare letter or number
    return max(runs, key=len, default=None)


def _in_order(group: Mapping[str, str]) -> list[str]:
    """The columns that count on from A, 1 or 0 without a gap."""
    for marks in (_LETTERS, _NUMBERS[1:], _NUMBERS):
        run = []
        for mark in marks:
            if mark not in group:
                break
            run.append(group[mark])
        if len(run) > 1:
            return run
    return []


def _is_list(value: Any) -> bool:
    is_json = isinstance(value, str) and value.lstrip().startswith(("[", "{"))
    return isinstance(value, list | dict) or is_json or (isinstance(value, str) and "|" in value)


# ---- the right option ----------------------------------------------------------------------------


def _gold_form(
    rows: Sequence[Mapping[str, Any]], columns: ColumnMap, doubts: list[str]
) -> GoldForm:
    """How the right option is written: numbers that are not the text of an option count the options."""
    name = str(columns["gold"])
    pairs = [
        (cell_text(row.get(name)).strip(), _texts(row, columns.get("options", [])))
        for row in rows
        if not is_empty(row.get(name))
    ]
    if not pairs or not all(gold.isdecimal() and gold not in texts for gold, texts in pairs):
        return "auto"
    numbers = [int(gold) for gold, _ in pairs]
    if min(numbers) == 0:
        return "from_0"
    if not any(int(gold) == len(texts) for gold, texts in pairs):
        doubts.append(
            f"{name} holds numbers from {min(numbers)} to {max(numbers)}, read as options counted from "
            f"1; if they count from 0, change `gold: from_1` to `gold: from_0`"
        )
    return "from_1"


def _texts(row: Mapping[str, Any], options: str | Iterable[str]) -> list[str]:
    if isinstance(options, str):
        choices = row.get(options)
        if isinstance(choices, str) and choices.strip():
            is_json = choices.lstrip().startswith(("[", "{"))
            choices = json_value(choices) if is_json else choices.split("|")
        choices = list(choices.values()) if isinstance(choices, dict) else choices or []
        return [cell_text(v).strip() for v in choices]
    cells = (cell_text(row.get(name)).strip() for name in options)
    return [cell for cell in cells if cell]

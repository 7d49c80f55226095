"""A guess of what the columns of a file of questions hold, for a person to check.

Owns the usual names of such columns in English, German and French.
`make study` writes the guess into a study file; the study itself reads by that file and guesses nothing.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fieldwork.errors import StudyError
from fieldwork.files.headers import bare_name, find_column, name_list
from fieldwork.files.json_values import json_value
from fieldwork.files.rows import cell_text, is_empty
from fieldwork.files.sheets import stream_records
from fieldwork.records.tasks import Item, ItemKind
from fieldwork.tasks.own_items import ColumnMap, GoldForm, SourceKind, SourceOptions, own_items

_NAMES = {
    "question": "question questiontext frage fragetext fragestellung stem item aufgabe enonce text "
    "prompt",
    "prompt": "prompt fullprompt message",
    "gold": "gold correctanswer correctoption correct rightanswer answerkey key solution answer label "
    "richtigeantwort richtig antwort losung bonnereponse reponsecorrecte reponse solutioncorrecte",
    "item_id": "itemid id questionid qid uid frageid fragenummer fragenr nr no number numero code",
    "subject": "subject topic category domain theme fach thema kategorie bereich gebiet sujet categorie "
    "matiere",
    "kind": "kind",
}
_LIST_NAMES = "choices options answers antworten antwortmoglichkeiten choix reponses"
_OPTION = re.compile(
    r"(|option|opt|answer|ans|choice|alternative|antwort|antwortmoglichkeit|auswahl|reponse|choix|"
    r"proposition)([a-j]|\d{1,2})"
)
_NUMBERS = tuple(str(number) for number in range(11))
_LETTERS = "abcdefghij"


class QuestionGuess(NamedTuple):
    """How a file of questions is read.

    Attributes:
        path: the file.
        kind: kind of its questions; `mixed` where its column `kind` names both.
        columns: columns by what they hold.
        gold: how the right option is written, for the setting `gold`.
        items: the questions, read by this guess.
        unused_columns: columns that are not read.
        doubts: what a person should check, one sentence each.
    """

    path: Path
    kind: SourceKind
    columns: ColumnMap
    gold: GoldForm
    items: Sequence[Item]
    unused_columns: Sequence[str]
    doubts: Sequence[str]

    def columns_setting(self) -> dict[str, str | list[str]]:
        """The setting `columns`: columns that have other names than the usual ones."""
        usual = [f"option_{letter}" for letter in _LETTERS]
        return {
            role: column if isinstance(column, str) else list(column)
            for role, column in self.columns.items()
            if column != ("choices" if role == "options" else role)
            and column != usual[: len(column)]
        }


def guess_questions(path: Path, kind: ItemKind | None = None) -> QuestionGuess:
    """Guess what the columns of a file hold, and read its questions by the guess.

    Without a kind they are choice questions where there are options, else list questions.

    Raises:
        StudyError: the file cannot be read by the guess, or no column has the name of a question.
    """
    rows = [fields for _, fields in stream_records(path)]
    if not rows:
        raise StudyError(f"{path}: has a header but no rows; write one question a row")
    names = list(dict.fromkeys(name for row in rows for name in row))
    options = _options(rows, names)
    kind = kind or ("choice" if options else "list")
    columns = _columns(path, names, options, kind)
    gold: GoldForm = "auto"
    doubts: list[str] = []
    if kind == "choice" and "gold" in columns:
        gold = _gold_form(rows, columns, doubts)
    items = list(
        own_items([path], SourceOptions("items", path.stem, kind, columns=columns, gold=gold))
    )
    kinds = {item.kind for item in items}
    kind_in_file: SourceKind = kinds.pop() if len(kinds) == 1 else "mixed"
    used_columns = {name for value in columns.values() for name in _as_list(value)}
    unused_columns = [name for name in names if name and name not in used_columns]
    return QuestionGuess(path, kind_in_file, columns, gold, items, unused_columns, doubts)


def _columns(
    path: Path, names: Sequence[str], options: str | list[str] | None, kind: ItemKind
) -> dict[str, str | list[str]]:
    columns: dict[str, str | list[str]] = {}
    used_columns = set(_as_list(options or []))
    for role, candidates in _NAMES.items():
        free = [name for name in names if name not in used_columns]
        name = find_column(free, candidates.split())
        # a list question has no right option
        if name is not None and not (role == "gold" and kind == "list"):
            columns[role] = name
            used_columns.add(name)
    if "question" not in columns:
        raise StudyError(
            f"{path}: no column has a usual name of the question (its columns are {name_list(names)}); "
            f"name one of them `question`"
        )
    if options:
        columns["options"] = options
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
    return isinstance(value, list | dict) or is_json


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
            choices = json_value(choices)
        choices = list(choices.values()) if isinstance(choices, dict) else choices or []
        return [cell_text(v).strip() for v in choices]
    cells = (cell_text(row.get(name)).strip() for name in options)
    return [cell for cell in cells if cell]

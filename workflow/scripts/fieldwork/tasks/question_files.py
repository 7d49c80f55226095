"""What the columns of somebody's file of questions hold: a guess, for a person to look at.

Owns the names that columns of questions go by, in English, German and French, and how the right option is
written. The guess is written into a study file; the study itself reads by that file and guesses nothing.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fieldwork.errors import StudyError
from fieldwork.files.headers import bare_name, column_called, listed
from fieldwork.files.rows import cell_text, is_empty
from fieldwork.files.sheets import stream_records
from fieldwork.records.tasks import Item, ItemKind
from fieldwork.tasks.own_items import ColumnMap, GoldForm, OwnFormat, SourceKind, own_items

_CALLED = {
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
_LISTS = "choices options answers antworten antwortmoglichkeiten choix reponses"
_OPTION = re.compile(
    r"(|option|opt|answer|ans|choice|alternative|antwort|antwortmoglichkeit|auswahl|reponse|choix|"
    r"proposition)([a-j]|\d{1,2})"
)
_NUMBERS = tuple(str(number) for number in range(11))
_LETTERS = "abcdefghij"


class QuestionGuess(NamedTuple):
    """What a file of questions was taken for.

    Attributes:
        path: the file.
        kind: what its questions are; `mixed` where its column `kind` names both.
        columns: columns by what they hold, for the setting `columns`.
        gold: how the right option is written, for the setting `gold`.
        items: the questions, read by this guess.
        unused: columns that nothing is read of.
        doubts: what a person should look at, a sentence each.
    """

    path: Path
    kind: SourceKind
    columns: ColumnMap
    gold: GoldForm
    items: Sequence[Item]
    unused: Sequence[str]
    doubts: Sequence[str]

    def mapped(self) -> dict[str, str | list[str]]:
        """The columns that go by other names than those which are read anyway."""
        usual = [f"option_{letter}" for letter in _LETTERS]
        return {
            role: column if isinstance(column, str) else list(column)
            for role, column in self.columns.items()
            if column != ("choices" if role == "options" else role)
            and column != usual[: len(column)]
        }


def guess_questions(path: Path, kind: ItemKind | None = None) -> QuestionGuess:
    """Guess what the columns of a file hold, and read its questions by the guess.

    Args:
        kind: what the questions are; None for choice items where there are options, else list items.

    Raises:
        StudyError: the file cannot be read by the guess, or no column looks like a question.
    """
    rows = [fields for _, fields in stream_records(path)]
    if not rows:
        raise StudyError(f"{path}: has a header and no rows; write a question a row")
    names = list(dict.fromkeys(name for row in rows for name in row))
    options = _options(rows, names)
    kind = kind or ("choice" if options else "list")
    columns = _columns(path, names, options, kind)
    gold: GoldForm = "auto"
    doubts: list[str] = []
    if kind == "choice" and "gold" in columns:
        gold = _gold_form(rows, columns, doubts)
    items = list(own_items([path], OwnFormat(path.stem, kind, columns, gold)))
    kinds = {item.kind for item in items}
    held: SourceKind = kinds.pop() if len(kinds) == 1 else "mixed"
    used = {name for value in columns.values() for name in _as_list(value)}
    unused = [name for name in names if name and name not in used]
    return QuestionGuess(path, held, columns, gold, items, unused, doubts)


def _columns(
    path: Path, names: Sequence[str], options: str | list[str] | None, kind: ItemKind
) -> dict[str, str | list[str]]:
    columns: dict[str, str | list[str]] = {}
    taken = set(_as_list(options or []))
    for role, called in _CALLED.items():
        free = [name for name in names if name not in taken]
        name = column_called(free, called.split())
        # the right option of a list question would mean nothing
        if name is not None and not (role == "gold" and kind == "list"):
            columns[role] = name
            taken.add(name)
    if "question" not in columns:
        raise StudyError(
            f"{path}: no column looks like the question (there are {listed(names)}); write a header "
            f"that calls one `question`"
        )
    if options:
        columns["options"] = options
    return columns


def _as_list(value: str | Sequence[str]) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


# ---- options -------------------------------------------------------------------------------------


def _options(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> str | list[str] | None:
    """The columns of the options in their order, or the one that holds a list of them."""
    lists = [n for n in names if any(_is_list(row.get(n)) for row in rows)]
    listed = column_called(lists, _LISTS.split())
    if listed is not None:
        return listed
    groups: dict[str, dict[str, str]] = {}
    for name in names:
        if match := _OPTION.fullmatch(bare_name(name)):
            groups.setdefault(match[1], {}).setdefault(match[2], name)
    found = [columns for group in groups.values() if len(columns := _in_order(group)) > 1]
    # a prefix says more than a bare letter or number
    return max(found, key=len, default=None)


def _in_order(group: Mapping[str, str]) -> list[str]:
    """The columns that follow one another from A, 1 or 0 on."""
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
    """How the right option is written; numbers that are no option's text count the options."""
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
            f"{name} holds numbers from {min(numbers)} to {max(numbers)}, which are taken to count the "
            f"options from 1; where they count from 0, change `gold: from_1` to `gold: from_0`"
        )
    return "from_1"


def _texts(row: Mapping[str, Any], options: str | Iterable[str]) -> list[str]:
    if isinstance(options, str):
        listed = row.get(options)
        if isinstance(listed, str) and listed.strip():
            listed = json.loads(listed)
        listed = list(listed.values()) if isinstance(listed, dict) else listed or []
        return [cell_text(v).strip() for v in listed]
    cells = (cell_text(row.get(name)).strip() for name in options)
    return [cell for cell in cells if cell]

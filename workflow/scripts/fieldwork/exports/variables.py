"""Columns of tables as variables of statistics programs: names, kinds and values.

Owns what becomes of a column. A text that repeats is a code with a label, a list is several variables,
and a variable has one name in all files, which SPSS, Stata and R take as it is.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from fieldwork.records.columns import Column, columns_of

VariableKind = Literal["code", "yes_no", "number", "time", "text"]

LONGEST_NAME = 32
"""Characters: Stata's limit; that of SPSS is 64 bytes."""
MOST_LIST_VARIABLES = 25
"""Longer lists, such as candidates, are one text."""
SEPARATOR = "; "

FREE_TEXTS = frozenset(
    {
        *("text", "question", "prompt", "provenance", "choices", "raw_items", "correction"),
        *("reason", "prompts_reason", "detail", "direction", "left_out"),
    }
)
"""Columns whose texts are read one by one. All other texts repeat, so that they are codes."""

_SAME_CODES: Mapping[str, str] = {
    "letter_strict": "letter",
    "gold": "letter",
    "baseline": "condition",
    "control": "condition",
    "predictor": "condition",
}
# fmt: off
_PROGRAM_WORDS = frozenset({
    "all", "and", "by", "eq", "ge", "gt", "le", "lt", "ne", "not", "or", "to", "with",
    "byte", "double", "float", "if", "in", "int", "long", "str", "strl", "using",
})
# fmt: on
"""Words of SPSS, and further ones of Stata."""


class Variable(NamedTuple):
    """A variable of a file.

    Attributes:
        column: of the table that it is made from.
        label: what the column means.
        code_set: name of the codes it has, shared by variables of all tables; None where it has none.
        place: in the lists of the column, from 1; None where the column is no list, or is joined.
    """

    name: str
    column: str
    label: str
    kind: VariableKind
    code_set: str | None
    place: int | None


def variables_of(row_type: type[Any], longest_lists: Mapping[str, int]) -> list[Variable]:
    """The variables of a table.

    Args:
        longest_lists: entries of the longest list of each column that is one.
    """
    parts = [
        (column, place)
        for column in columns_of(row_type)
        for place in _places(column.kind, longest_lists.get(column.name, 0))
    ]
    names = variable_names(c.name if n is None else f"{c.name}_{n}" for c, n in parts)
    return [_variable(name, *part) for name, part in zip(names, parts, strict=True)]


def _places(kind: str, longest: int) -> Sequence[int | None]:
    """A list of texts is spread; there is one variable where all lists are empty."""
    is_spread = kind == "VARCHAR[]" and longest <= MOST_LIST_VARIABLES
    return range(1, max(longest, 1) + 1) if is_spread else [None]


def _variable(name: str, column: Column, place: int | None) -> Variable:
    variable_kind = _kind_of(column.name, column.kind, place)
    code_set = _SAME_CODES.get(column.name, column.name) if variable_kind == "code" else None
    # the word of SQL is not the reader's
    meaning = column.description.replace("NULL", "missing")
    label = meaning if place is None else f"{place}. {meaning}"
    return Variable(name, column.name, label, variable_kind, code_set, place)


def _kind_of(column: str, kind: str, place: int | None) -> VariableKind:
    match kind:
        case "BOOLEAN":
            return "yes_no"
        case "BIGINT" | "DOUBLE":
            return "number"
        case "TIMESTAMPTZ":
            return "time"
    is_one_text = kind == "VARCHAR" or place is not None
    return "code" if is_one_text and column not in FREE_TEXTS else "text"


def variable_names(columns: Iterable[str]) -> Iterator[str]:
    """A name for each column that every program takes; those that would be equal get a number."""
    taken_names = set[str]()
    for column in columns:
        base = re.sub(r"\W", "_", column, flags=re.ASCII)
        if not base[:1].isalpha() or base.casefold() in _PROGRAM_WORDS:
            base = f"v_{base}"
        name, number = base[:LONGEST_NAME], 1
        # SPSS does not tell upper from lower case
        while name.casefold() in taken_names:
            number += 1
            name = f"{base[: LONGEST_NAME - len(str(number)) - 1]}_{number}"
        taken_names.add(name.casefold())
        yield name


def value_of(variable: Variable, cell: Any) -> Any:
    """What a variable has of a cell: an entry of its list, the list as one text, 0 or 1, or the cell."""
    if variable.place is not None:
        return cell[variable.place - 1] if cell and len(cell) >= variable.place else None
    if isinstance(cell, list):
        return SEPARATOR.join(map(_entry_text, cell))
    return int(cell) if isinstance(cell, bool) else cell


def _entry_text(entry: Any) -> str:
    return "=".join(map(str, entry.values())) if isinstance(entry, dict) else str(entry)

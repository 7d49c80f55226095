"""How a table and its columns are declared, and what a reader is told of them.

A table is a frozen dataclass, a column one line of it. These classes are the only declaration of the
tables: `fieldwork.tables` derives the Parquet schema from them, sorts and checks each table on write, and
the rules derive the files of a table from its path. `columns_of` gives what every description says: the
metadata of Parquet files, the comments in study.duckdb, `snakemake describe`, codebooks and Croissant.
"""

import re
from collections.abc import Callable, Hashable, Iterator
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from datetime import datetime
from functools import cache
from pathlib import PurePosixPath
from types import ModuleType, NoneType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    TypeGuard,
    TypeVar,
    cast,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

RowType = TypeVar("RowType")

Name = Annotated[str, "name"]
"""An id, a name of the study, or a word of this workflow: nothing that somebody wrote."""

Holding = Literal[
    "words of users",
    "words of questions",
    "words of answers",
    "words of raters",
    "groups of users",
]
"""What a column of texts holds, which decides whether it may be handed on (`snakemake archive`)."""

_COUNTS = ("metrics/", "power/", "figures/")
"""Folders of tables that count: what these may name is decided where they are made."""

Part = Literal[
    "every study",
    "arms",
    "controls",
    "nests",
    "values",
    "variants",
    "practice",
    "service",
    "waves",
    "field",
    "calibration",
    "judging",
    "memory",
    "learning",
    "memory reference",
]

_KINDS: dict[Any, str] = {
    str: "VARCHAR",
    int: "BIGINT",
    float: "DOUBLE",
    bool: "BOOLEAN",
    bytes: "BLOB",
    datetime: "TIMESTAMPTZ",
}
_UNITS = {
    r"(_|^)usd(_|$)": "US dollars",
    r"_s$|^seconds$|^latency_": "seconds",
    r"^minutes$": "minutes",
    r"_token_hours$": "token hours",
    r"(^|_)tokens(_most)?$": "tokens",
    r"_bits$|entropy": "bits",
    r"^(left|top|width|height)$": "points",
}
"""What the name of a column of numbers says of their unit."""


class Table(NamedTuple):
    """Where the rows of a type are kept, and in which order.

    Attributes:
        path: of the file, from the study's folder.
        order_by: SQL list of columns that together tell any two rows apart; empty for a table that is
            written in the order in which its rows are made.
        part: the part of a study that has the table.
        name: what it is called in the database and in descriptions; no other table has this name.
    """

    path: str
    order_by: str
    part: Part
    name: str

    @property
    def has_csv(self) -> bool:
        """Whether the Parquet file has a twin for spreadsheets, `{path}.csv`: tables of estimates do."""
        return self.path.startswith(("metrics/", "power/")) and self.path.endswith(".parquet")


def column(meaning: str, default: Any = MISSING, *, holds: Holding | None = None) -> Any:
    """Declare a column.

    Args:
        meaning: its entry in the data dictionary.
        holds: whose words are in a column of texts; those of type `Name` hold nobody's.
    """
    return field(default=default, metadata={"meaning": meaning, "holds": holds})


@dataclass_transform(frozen_default=True, field_specifiers=(column,))
def row(row_type: type[RowType]) -> type[RowType]:
    """Make a class of columns the type of a row, or of a part of rows."""
    return dataclass(frozen=True, slots=True)(row_type)


@dataclass_transform(frozen_default=True, field_specifiers=(column,))
def table(
    path: str, order_by: str = "", *, part: Part = "every study", name: str | None = None
) -> Callable[[type[RowType]], type[RowType]]:
    """Declare that a class is a row of a table; the arguments are those of `Table`.

    Its name is that of its file, or of the folder that has its files, unless one is given.

    Raises:
        TypeError: a column of texts does not say what it holds.
    """
    places = [place for place in PurePosixPath(path).with_suffix("").parts if "{" not in place]

    def declare(row_type: type[RowType]) -> type[RowType]:
        rows = row(row_type)
        for column_name in _undeclared_texts(rows) if not path.startswith(_COUNTS) else ():
            raise TypeError(
                f"{path}: the column {column_name} of {row_type.__name__} is text, and does not say what "
                f"it holds; give it the type Name if it is an id or a name, else say "
                f"column(..., holds=...)"
            )
        rows.__table__ = Table(path, order_by, part, name or places[-1])  # type: ignore[attr-defined]
        return rows

    return declare


def _undeclared_texts(row_type: Any) -> Iterator[str]:
    """Columns in which anybody's words may be, and which do not say whose."""
    hints = get_type_hints(row_type, include_extras=True)
    for one in fields(row_type):
        if one.metadata.get("holds") is None and _has_free_text(hints[one.name]):
            yield one.name


def _has_free_text(hint: Any) -> bool:
    if hint == Name:
        return False
    inner = (
        get_type_hints(hint, include_extras=True).values() if is_dataclass(hint) else get_args(hint)
    )
    return hint is str or any(map(_has_free_text, inner))


def columns_that_hold(row_types: list[type[Any]], *holdings: Holding) -> tuple[str, ...]:
    """The names of the columns of some tables that hold one of these."""
    columns = (one for row_type in row_types for one in fields(row_type))
    return tuple(
        dict.fromkeys(one.name for one in columns if one.metadata.get("holds") in holdings)
    )


class Column(NamedTuple):
    """A column, as whoever reads a table is told of it.

    Attributes:
        kind: its type in SQL.
        hint: its type in Python, without None; None for a column of a view.
        is_nullable: whether it may be NULL; None for a column of a view.
        unit: of its numbers, where the column has one; estimates have that of their measure.
        values: the texts that it may hold, where they are a closed set; else empty.
    """

    name: str
    kind: str
    hint: Any
    is_nullable: bool | None
    description: str
    unit: str | None
    values: tuple[str, ...]

    @property
    def text(self) -> str:
        """The description, with the unit and the values where it does not name them itself."""
        parts = [self.description]
        if self.unit and not re.search(rf"\b{self.unit}\b", self.description):
            parts.append(f"in {self.unit}")
        if not all(f"`{value}`" in self.description for value in self.values):
            parts.append("one of " + ", ".join(f"`{value}`" for value in self.values))
        return "; ".join(parts)

    @property
    def metadata(self) -> dict[str, str]:
        """What a Parquet file keeps beside the column."""
        entries = {
            "description": self.description,
            "unit": self.unit,
            "values": ", ".join(self.values),
        }
        return {key: entry for key, entry in entries.items() if entry}


def columns_of(row_type: type[Any]) -> tuple[Column, ...]:
    """The columns of a row type, in their order."""
    return _columns_of(cast(Hashable, row_type))


@cache
def _columns_of(row_type: Any) -> tuple[Column, ...]:
    hints = get_type_hints(row_type)
    return tuple(_column(f.name, hints[f.name], f.metadata["meaning"]) for f in fields(row_type))


def _column(name: str, declared: Any, meaning: str) -> Column:
    is_nullable = NoneType in get_args(declared)
    hint = (
        next(part for part in get_args(declared) if part is not NoneType)
        if is_nullable
        else declared
    )
    units = (unit for form, unit in _UNITS.items() if re.search(form, name))
    unit = next(units, None) if hint in (int, float) else None
    values = get_args(hint) if get_origin(hint) is Literal else ()
    return Column(name, _kind(hint), hint, is_nullable, meaning, unit, values)


def is_row_type(hint: Any) -> TypeGuard[type[Any]]:
    """Whether values of this type are rows in a row."""
    return isinstance(hint, type) and is_dataclass(hint)


def _kind(hint: Any) -> str:
    if get_origin(hint) is Literal:
        return "VARCHAR"
    if get_origin(hint) is list:
        (inner,) = get_args(hint)
        # lists of floats are embeddings, and encoders have the precision of float32
        return "FLOAT[]" if inner is float else f"{_kind(inner)}[]"
    if is_row_type(hint):
        parts = ", ".join(f"{column.name} {column.kind}" for column in columns_of(hint))
        return f"STRUCT({parts})"
    return _KINDS[hint]


def row_of(row_type: type[RowType], **values: Any) -> RowType:
    """A row of these values; columns that may be NULL and are not named are NULL."""
    nulls = {column.name: None for column in columns_of(row_type) if column.is_nullable}
    return row_type(**(nulls | values))


def table_of(row_type: type[Any]) -> Table:
    """The table that a row type is declared to be.

    Raises:
        AttributeError: it is not a table of its own.
    """
    declaration: Table = row_type.__table__
    return declaration


def row_types_of(stage: ModuleType) -> list[type[Any]]:
    """The row types that a module declares as tables, in its order."""
    return [
        value
        for value in vars(stage).values()
        if hasattr(value, "__table__") and value.__module__ == stage.__name__
    ]

"""How a table and its columns are declared.

A table is a frozen dataclass, a column one line of it. These classes are the only declaration of the
tables: `fieldwork.tables` derives the Parquet schema from them, sorts and checks each table on write, the
rules derive the files of a table from its path, and `docs/data.md` is generated from the same lines.
"""

from collections.abc import Callable, Hashable, Iterator
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import cache
from pathlib import PurePosixPath
from types import ModuleType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    TypeVar,
    cast,
    dataclass_transform,
    get_args,
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


class Table(NamedTuple):
    """Where the rows of a type are kept, and in which order.

    Attributes:
        path: of the file, from the study's folder.
        order_by: SQL list of columns that together tell any two rows apart; empty for a table that is
            written in the order in which its rows are made.
        part: the part of a study that has the table.
    """

    path: str
    order_by: str
    part: Part

    @property
    def name(self) -> str:
        """The table's name in the database: of its file, or of the folder that has its files."""
        path = PurePosixPath(self.path)
        return path.parent.name if "{" in path.stem else path.stem

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
    path: str, order_by: str = "", *, part: Part = "every study"
) -> Callable[[type[RowType]], type[RowType]]:
    """Declare that a class is a row of a table; the arguments are those of `Table`.

    Raises:
        TypeError: a column of texts does not say what it holds.
    """

    def declare(row_type: type[RowType]) -> type[RowType]:
        rows = row(row_type)
        for name in _undeclared_texts(rows) if not path.startswith(_COUNTS) else ():
            raise TypeError(
                f"{path}: the column {name} of {row_type.__name__} is text, and does not say what it "
                f"holds; give it the type Name if it is an id or a name, else say column(..., holds=...)"
            )
        rows.__table__ = Table(path, order_by, part)  # type: ignore[attr-defined]
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


def row_of(row_type: type[RowType], **values: Any) -> RowType:
    """A row of these values; columns that may be NULL and are not named are NULL."""
    return row_type(**(_nulls(cast(Hashable, row_type)) | values))


@cache
def _nulls(row_type: Any) -> dict[str, None]:
    hints = get_type_hints(row_type)
    return {name: None for name, hint in hints.items() if type(None) in get_args(hint)}


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

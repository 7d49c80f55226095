"""The files of a corpus as DuckDB sees them: which columns they have, and how a query names them.

Owns the place of a row, by which a second reading of the files is joined to the first.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol


class Database(Protocol):
    """What is used of a connection from `tables.open_database`."""

    def execute(self, query: str, /) -> Any:
        """Run a statement."""

    def sql(self, query: str, /) -> Any:
        """Describe a query."""

    def register(self, name: str, rows: Any, /) -> Any:
        """Name a table or reader for queries to read from."""

    def unregister(self, name: str, /) -> Any:
        """Forget a name."""

    def cursor(self) -> Any:
        """Another connection to the same tables, for another thread."""


class Read(NamedTuple):
    """Files that one query reads; `first` is the number of the first among all of them."""

    files: tuple[Path, ...]
    first: int

    @property
    def row_key(self) -> str:
        """The position in all files: it joins the second pass over them to the first."""
        return f"((file_index::BIGINT + {self.first:d}) << 40) | file_row_number::BIGINT"

    def has(self, row_key: str) -> str:
        """SQL that is true of a row key of these files."""
        return f"{row_key} >> 40 BETWEEN {self.first:d} AND {self.first + len(self.files) - 1:d}"


class Columns(NamedTuple):
    """Columns of the files, the fields of those that are lists of structs, and all types in full."""

    types: dict[str, str]
    fields: dict[str, dict[str, str]]
    signature: tuple[str, ...]

    def has(self, column: str, field: str | None = None) -> bool:
        """Whether there is such a column, or such a field in a list of structs."""
        if field is None:
            return column in self.types
        return field in self.fields.get(column, {})


def literal(value: str) -> str:
    """A string as an SQL literal."""
    return "'" + value.replace("'", "''") + "'"


def parquet(files: Sequence[Path]) -> str:
    """What a query reads the files from."""
    paths = ", ".join(literal(str(file)) for file in files)
    return f"read_parquet([{paths}], union_by_name = true, utf8_validation = 'replace')"


def columns_of(database: Database, files: Sequence[Path]) -> Columns:
    """The columns of the files together."""
    relation = database.sql(f"SELECT * FROM {parquet(files)} LIMIT 0")
    types = dict(zip(relation.columns, relation.types, strict=True))
    return Columns(
        {name: str(kind.id) for name, kind in types.items()},
        {name: _element_fields(kind) for name, kind in types.items()},
        tuple(sorted(f"{name} {kind}" for name, kind in types.items())),
    )


def _element_fields(kind: Any) -> dict[str, str]:
    if kind.id != "list":
        return {}
    element = kind.children[0][1]
    return (
        {name: str(inner.id) for name, inner in element.children} if element.id == "struct" else {}
    )


def files_of(reads: Sequence[Read]) -> list[Path]:
    """All files, in order."""
    return [file for read in reads for file in read.files]


def count_rows(database: Database, reads: Sequence[Read]) -> int:
    """Rows of all files."""
    return int(
        database.execute(f"SELECT count(*) FROM {parquet(files_of(reads))}").fetchall()[0][0]
    )

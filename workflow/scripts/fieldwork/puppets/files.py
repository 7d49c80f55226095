"""The files of a corpus as DuckDB reads them: their columns, and how a query names them.

Owns the row key, which joins a second reading of the files to the first.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

Database = Any
"""A connection of `tables.open_database`."""


class FileGroup(NamedTuple):
    """Files that one query reads; `first` is the number of its first file among all files."""

    files: tuple[Path, ...]
    first: int

    @property
    def row_key(self) -> str:
        """SQL for the position of a row in all files, which joins the second reading to the first."""
        return f"((file_index::BIGINT + {self.first:d}) << 40) | file_row_number::BIGINT"

    def has(self, row_key: str) -> str:
        """SQL that is true for a row key of these files."""
        return f"{row_key} >> 40 BETWEEN {self.first:d} AND {self.first + len(self.files) - 1:d}"


class ParquetColumns(NamedTuple):
    """Types of the columns, fields of those that are lists of structs, and all names with full types."""

    types: dict[str, str]
    fields: dict[str, dict[str, str]]
    signature: tuple[str, ...]

    def has(self, column: str, field: str | None = None) -> bool:
        """Whether there is such a column, or such a field in a list of structs."""
        if field is None:
            return column in self.types
        return field in self.fields.get(column, {})


def literal(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def parquet(files: Sequence[Path]) -> str:
    """The table function that reads the files in a query."""
    paths = ", ".join(literal(str(file)) for file in files)
    return f"read_parquet([{paths}], union_by_name = true, utf8_validation = 'replace')"


def read_columns(database: Database, files: Sequence[Path]) -> ParquetColumns:
    """The columns that the files have together."""
    relation = database.sql(f"SELECT * FROM {parquet(files)} LIMIT 0")
    types = dict(zip(relation.columns, relation.types, strict=True))
    return ParquetColumns(
        {name: str(kind.id) for name, kind in types.items()},
        {name: _element_fields(kind) for name, kind in types.items()},
        tuple(sorted(f"{name} {kind}" for name, kind in types.items())),
    )


def _element_fields(kind: Any) -> dict[str, str]:
    if kind.id != "list":
        return {}
    element = kind.children[0][1]
    fields = element.children if element.id == "struct" else []
    return {name: str(inner.id) for name, inner in fields}


def all_files(groups: Sequence[FileGroup]) -> list[Path]:
    return [file for group in groups for file in group.files]


def count_rows(database: Database, groups: Sequence[FileGroup]) -> int:
    query = f"SELECT count(*) FROM {parquet(all_files(groups))}"
    return int(database.execute(query).fetchall()[0][0])

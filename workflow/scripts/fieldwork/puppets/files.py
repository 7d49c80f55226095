"""The files of a corpus as DuckDB and pyarrow read them, and rows that exceed memory.

Owns the row key, which joins a second reading of the files to the first. Reading single fields of nested
columns leaves the texts beside them compressed. Rows that exceed memory wait on disk, so memory is that
of the largest part and a batch; they come in the order of the keys.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

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


# ---- pyarrow -------------------------------------------------------------------------------------

READ_ERRORS: tuple[type[Exception], ...] = (pa.ArrowException,)
"""Errors of a damaged file, besides `OSError`."""
ROWS_PER_READ = 65_536
ROWS_PER_BATCH = 2_048

Fields = Mapping[str, Collection[str]]
"""Columns to read, each with the fields to read if it is nested."""


def read_fields(path: Path, fields: Fields) -> Iterator[pa.Table]:
    """Some columns and nested fields of a Parquet file, `ROWS_PER_READ` rows at a time.

    As in DuckDB, `file_row_number` counts a file's rows from 0, and `file_index` its files: here one.
    Columns that the file lacks are left out.
    """
    source = pq.ParquetFile(path)
    leaves = [leaf for leaf in _leaves(source) if _is_wanted(leaf.split("."), fields)]
    start = 0
    for batch in source.iter_batches(ROWS_PER_READ, columns=leaves, use_threads=False):
        n = batch.num_rows
        yield (
            pa.Table.from_batches([batch])
            .append_column("file_row_number", pa.array(np.arange(start, start + n)))
            .append_column("file_index", pa.array(np.zeros(n, np.int64)))
        )
        start += n


def _leaves(source: pq.ParquetFile) -> list[str]:
    return [source.schema.column(n).path for n in range(len(source.schema))]


def _is_wanted(leaf: list[str], fields: Fields) -> bool:
    column, *inside = leaf
    return column in fields and (not inside or inside[-1] in fields[column])


def stored_bytes(path: Path, column: str, field: str) -> int:
    """Bytes of a field of a nested column before compression, from the footer of a Parquet file."""
    source = pq.ParquetFile(path)
    numbers = [
        number
        for number, leaf in enumerate(_leaves(source))
        if _is_wanted(leaf.split("."), {column: {field}})
    ]
    groups = [source.metadata.row_group(n) for n in range(source.num_row_groups)]
    return sum(group.column(n).total_uncompressed_size for group in groups for n in numbers)


def split_rows(readers: Iterable[Any], folder: Path, *, wide: str) -> Iterator[pa.Table]:
    """Write rows to one file for each value of their column `part`.

    Yields one table for each reader: its rows without the column `wide`.
    """
    with ExitStack() as stack:
        files: dict[int, Any] = {}
        for reader in readers:
            narrow = [reader.schema.empty_table().drop_columns([wide])]
            for batch in reader:
                for part, rows in _split_by_part(batch):
                    if part not in files:
                        # uncompressed, because it is read again at once
                        file = pa.ipc.new_file(_path(folder, part), reader.schema)
                        files[part] = stack.enter_context(file)
                    files[part].write(rows)
                narrow.append(pa.Table.from_batches([batch]).drop_columns([wide]))
            yield pa.concat_tables(narrow)


def _path(folder: Path, part: int) -> str:
    return str(folder / f"{part:06d}.arrow")


def _split_by_part(batch: pa.RecordBatch) -> Iterator[tuple[int, pa.RecordBatch]]:
    sorted_rows = batch.take(pc.sort_indices(batch["part"]))
    start = 0
    for count in sorted_rows["part"].value_counts():
        n = count["counts"].as_py()
        yield count["values"].as_py(), sorted_rows.slice(start, n)
        start += n


def take_rows(folder: Path, part: int, keys: pa.Array, *, by: str) -> Iterator[pa.Table]:
    """The rows of a part in the order of some keys, a batch at a time; the part's file is deleted."""
    path = _path(folder, part)
    with pa.memory_map(path) as file:
        rows = pa.concat_batches(pa.ipc.open_file(file).read_all().to_batches())
    Path(path).unlink()
    places = pc.index_in(keys, value_set=rows[by])
    for start in range(0, len(places), ROWS_PER_BATCH):
        # taking from a table, and not from one batch, is twenty times slower
        batch = rows.take(places.slice(start, ROWS_PER_BATCH))
        yield pa.Table.from_batches([batch])

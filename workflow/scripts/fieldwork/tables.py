"""Reading and writing of tables with pyarrow and DuckDB: tables are checked, sorted, written atomically.

A table's columns come from its row type in `fieldwork.records`. Rows are sorted before they are written,
and the writer's options are fixed, so equal rows give equal bytes.
"""

import csv
import dataclasses
import re
import typing
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from itertools import islice
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from fieldwork.errors import StudyError, first_line
from fieldwork.files.cells import guard_cell
from fieldwork.records.columns import columns_of, is_row_type, table_of
from fieldwork.records.shared import ItemKey
from fieldwork.records.tasks import Item

if typing.TYPE_CHECKING:  # pandas takes half a second to import, and most stages never need it
    import pandas as pd

Row = TypeVar("Row")

DATABASE_ERRORS: tuple[type[Exception], ...] = (duckdb.Error,)
"""Exceptions of a connection of `open_database`; `OUT_OF_MEMORY` is one of them."""
OUT_OF_MEMORY: type[Exception] = duckdb.OutOfMemoryException

# rows held as objects while their columns are made
ROWS_AT_ONCE = 4_096

# of a table that is sorted in memory; opening a database takes longer than sorting most tables
MOST_BYTES_SORTED = 64_000_000

_SCALARS: dict[object, pa.DataType] = {
    str: pa.string(),
    int: pa.int64(),
    float: pa.float64(),
    bool: pa.bool_(),
    bytes: pa.binary(),
    datetime: pa.timestamp("us", tz="UTC"),
}


def schema_of(row_type: type[Any]) -> pa.Schema:
    """Arrow schema of a row type; only columns of type `X | None` are nullable.

    Each column carries its description, unit and values as metadata, which Parquet keeps.
    """
    fields = [
        pa.field(column.name, _type(column.hint), column.is_nullable, column.metadata)
        for column in columns_of(row_type)
    ]
    return pa.schema(fields, {"description": row_type.__doc__ or ""})


def _type(hint: Any) -> pa.DataType:
    if typing.get_origin(hint) is typing.Literal:
        return pa.string()
    if typing.get_origin(hint) is list:
        (inner,) = typing.get_args(hint)
        # lists of floats are embeddings, and encoders have the precision of float32
        return pa.list_(pa.float32() if inner is float else _type(inner))
    return pa.struct(list(schema_of(hint))) if is_row_type(hint) else _SCALARS[hint]


def write_table(path: str | Path, rows: Iterable[Row], row_type: type[Row]) -> None:
    """Write a table as its row type declares it: as CSV, as Parquet, or as Parquet with a CSV twin.

    Raises:
        StudyError: the rows do not fit the row type, or the disk refuses the file.
    """
    if Path(path).suffix == ".csv":
        write_csv_rows(path, rows, row_type)
        return
    write_rows(path, rows, row_type)
    if table_of(row_type).has_csv:
        write_csv(Path(path).with_suffix(".csv"), path)


def write_rows(path: str | Path, rows: Iterable[Row], row_type: type[Row]) -> None:
    """Write rows as Parquet, in the order that the row type declares.

    Rows are taken one by one, and only their Arrow columns are kept.

    Raises:
        StudyError: the rows do not fit the row type, or the disk refuses the file.
    """
    schema, remaining, parts = schema_of(row_type), iter(rows), []
    while batch := list(islice(remaining, ROWS_AT_ONCE)):
        # column by column: dataclasses.asdict would copy every value of every row
        columns = {column.name: _values(batch, column) for column in schema}
        try:
            parts.append(_arrow_table(columns, schema))
        except (pa.ArrowException, OverflowError) as error:
            raise StudyError(f"{path}: a row does not fit {row_type.__name__}: {error}") from error
    table = pa.concat_tables(parts) if parts else schema.empty_table()
    refuse_nulls(path, table, schema)
    if order := table_of(row_type).order_by:
        table = _sort(table, order)
    typed_table = _cast(path, table, row_type)
    with atomic_path(path) as partial:
        pq.write_table(typed_table, partial, compression="zstd", row_group_size=65_536)


def _sort(table: pa.Table, order: str) -> pa.Table:
    """The rows in an order of SQL, of columns that each may be DESC or have NULLS FIRST."""
    if table.nbytes > MOST_BYTES_SORTED:
        with open_database() as database:
            database.register("unordered", table)
            return database.sql(f"SELECT * FROM unordered ORDER BY {order}").to_arrow_table()
    keys = []
    for name, *words in (term.split() for term in order.split(", ")):
        direction = "descending" if "DESC" in words else "ascending"
        keys.append((name.strip('"'), direction, "at_start" if "FIRST" in words else "at_end"))
    places = pc.sort_indices(table, sort_keys=keys)
    return table.take(places)


def _values(rows: Sequence[Any], column: pa.Field) -> list[Any]:
    """One column, with nested rows as mappings, which Arrow turns into structs."""
    values = list(map(attrgetter(column.name), rows))
    if not (pa.types.is_list(column.type) and pa.types.is_struct(column.type.value_type)):
        return values
    return [value and [dataclasses.asdict(row) for row in value] for value in values]


def _arrow_table(columns: dict[str, list[Any]], schema: pa.Schema) -> pa.Table:
    try:
        return pa.Table.from_pydict(columns, schema=schema)
    except UnicodeEncodeError:
        storable_columns = {name: without_surrogates(values) for name, values in columns.items()}
        return pa.Table.from_pydict(storable_columns, schema=schema)


def without_surrogates(value: Any) -> Any:
    """The value with U+FFFD for each lone surrogate: JSON can carry them, UTF-8 cannot."""
    if isinstance(value, str):
        return re.sub("[\ud800-\udfff]", "\ufffd", value)
    if isinstance(value, dict):
        return {key: without_surrogates(inner) for key, inner in value.items()}
    return [without_surrogates(inner) for inner in value] if isinstance(value, list) else value


def refuse_nulls(path: str | Path, table: pa.Table, schema: pa.Schema) -> None:
    """StudyError where a column that must have a value in every row lacks one."""
    for column in schema:
        if not column.nullable and table[column.name].null_count:
            raise StudyError(
                f"{path}: {table[column.name].null_count} rows have no {column.name}, but every row "
                f"must have one (docs/data.md)"
            )


def _cast(path: str | Path, table: pa.Table, row_type: type[Any]) -> pa.Table:
    try:
        return table.cast(schema_of(row_type))
    except (pa.ArrowException, ValueError) as error:
        raise StudyError(
            f"{path}: a column does not fit {row_type.__name__} (docs/data.md): {first_line(error)}"
        ) from error


def read_rows(path: str | Path, row_type: type[Row]) -> list[Row]:
    """Read a table back into its rows, nested rows included."""
    table = read_arrow(path, row_type)
    build = row_builder(row_type)
    return [build(record) for record in table.to_pylist()]


def read_row_lists(
    paths: Iterable[str | Path], row_types: Mapping[str, type[Any]]
) -> dict[str, list[Any]]:
    """The rows of each table, by its name, which its row type is listed under; others are not read."""
    files = files_by_table(paths)
    return {
        name: [row for path in files[name] for row in read_rows(path, row_type)]
        for name, row_type in row_types.items()
        if name in files
    }


def row_builder(row_type: type[Any]) -> Callable[[dict[str, Any]], Any]:
    """A function that makes a row, with its nested rows, from the mapping that Arrow reads."""
    builders = {
        column.name: row_builder(inner)
        for column in columns_of(row_type)
        for inner in typing.get_args(column.hint)
        if is_row_type(inner)
    }

    def build(record: dict[str, Any]) -> Any:
        for name, inner in builders.items():
            # NULL stays NULL
            record[name] = record[name] and [inner(value) for value in record[name]]
        return row_type(**record)

    return build


def read_arrow(path: str | Path, row_type: type[Any] | None = None) -> pa.Table:
    """Read a Parquet file and, where `row_type` is given, check its columns.

    Raises:
        StudyError: the file is missing, is not Parquet, or its columns differ from the row type's.
    """
    table = _read_parquet(path)
    if row_type is None:
        return table
    names = schema_of(row_type).names
    if sorted(table.schema.names) != sorted(names):
        raise StudyError(
            f"{path}: its columns are {table.schema.names} instead of {names} (docs/data.md); under "
            f"results/, delete the file so that it is made again"
        )
    return _cast(path, table.select(names), row_type)


def _read_parquet(path: str | Path, **options: Any) -> pa.Table:
    try:
        return pq.read_table(path, **options)
    except (pa.ArrowException, OSError) as error:
        raise unreadable_parquet(path, error) from error


def unreadable_parquet(path: str | Path, error: BaseException) -> StudyError:
    """The error for a Parquet file that a library cannot read."""
    return StudyError(
        f"{path}: cannot be read as Parquet ({first_line(error)}); replace the file or, under results/, "
        f"delete it so that it is made again"
    )


def read_frame(path: str | Path, row_type: type[Any] | None = None) -> "pd.DataFrame":
    """Read a Parquet file as a data frame; NULL is pandas' missing value, lists are arrays."""
    return typing.cast("pd.DataFrame", read_arrow(path, row_type).to_pandas())


def write_csv_rows(path: str | Path, rows: Iterable[Row], row_type: type[Row]) -> None:
    """Write rows as CSV, for tables that people read or edit: NULL is an empty cell."""
    names = [column.name for column in columns_of(row_type)]
    write_csv_tuples(path, names, ([getattr(row, name) for name in names] for row in rows))


def write_csv(path: str | Path, source: str | Path) -> None:
    """Write a Parquet table beside itself as CSV, for spreadsheets: NULL is an empty cell."""
    table = read_arrow(source)
    batches = table.to_batches()
    cells = (row for b in batches for row in zip(*(c.to_pylist() for c in b.columns), strict=True))
    write_csv_tuples(path, table.schema.names, cells)


def write_csv_tuples(path: str | Path, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write plain rows under a header; texts that a spreadsheet would run as formulas are guarded."""
    with atomic_path(path) as partial, partial.open("w", newline="", encoding="utf-8") as handle:
        writer = csv.writer(_LineFeedWriter(handle))
        writer.writerow(names)
        writer.writerows([_csv_cell(cell) for cell in row] for row in rows)


class _LineFeedWriter:
    """Ends lines in a line feed, while csv.writer assumes CR LF and therefore quotes a CR in a text."""

    def __init__(self, handle: typing.TextIO) -> None:
        self._handle = handle

    def write(self, line: str) -> None:
        self._handle.write(line.removesuffix("\r\n") + "\n")


def _csv_cell(cell: Any) -> Any:
    storable = without_surrogates(cell)
    return guard_cell(storable) if isinstance(storable, str) else storable


def read_lookup(
    path: str | Path, row_type: type[Row], column: str, values: Iterable[str]
) -> list[Row]:
    """The rows of a Parquet table whose `column` is one of `values`; the others are not loaded."""
    lookup_values = pa.array(sorted(set(values)), pa.string())
    build = row_builder(row_type)
    rows: list[Row] = []
    try:
        with pq.ParquetFile(path) as file:
            # one row group at a time, because a scan reads ahead and conversations are large
            for group in range(file.num_row_groups):
                is_wanted = pc.is_in(file.read_row_group(group, [column])[column], lookup_values)
                if pc.any(is_wanted).as_py():
                    matches = file.read_row_group(group).filter(is_wanted)
                    typed_rows = _cast(path, matches.select(schema_of(row_type).names), row_type)
                    rows += map(build, typed_rows.to_pylist())
    except (pa.ArrowException, OSError, KeyError) as error:
        raise unreadable_parquet(path, error) from error
    return rows


def read_by_key(
    path: str | Path, row_type: type[Row], column: str, values: Iterable[str]
) -> dict[str, Row]:
    """The rows of `read_lookup`, by that column, whose values are each in one row."""
    return {getattr(row, column): row for row in read_lookup(path, row_type, column, values)}


def read_columns(
    path: str | Path, row_type: type[Any], columns: Sequence[str]
) -> list[tuple[Any, ...]]:
    """Some columns of a Parquet table, row by row; the others are not loaded."""
    table = _read_parquet(path, columns=list(columns), schema=schema_of(row_type))
    return list(zip(*(table[name].to_pylist() for name in columns), strict=True))


def drop_rows(source: str | Path, target: str | Path, numbers: Collection[int]) -> None:
    """Write a Parquet table without some rows, counted from 0; types, order and compression stay."""
    try:
        with pq.ParquetFile(source) as file:
            table, groups = file.read(), file.metadata
        rows = pa.array([n for n in range(table.num_rows) if n not in numbers], pa.int64())
        codec = groups.row_group(0).column(0).compression if groups.num_row_groups else "SNAPPY"
        pq.write_table(
            table.take(rows), target, compression="NONE" if codec == "UNCOMPRESSED" else codec
        )
    except (pa.ArrowException, OSError) as error:
        raise unreadable_parquet(source, error) from error


def blank_columns(
    source: str | Path, target: str | Path, names: Collection[str], filler: str
) -> None:
    """Write a Parquet table without what stands in some columns, which are never read.

    NULL takes its place, or `filler` where a text or a list of messages may not be NULL, or an empty
    list; rows, their order and all types stay. A name that is no column of the table is passed over.

    Raises:
        StudyError: the table cannot be read, or the disk refuses the new one.
    """
    schema = _read_schema(source)
    rest = _read_parquet(source, columns=[name for name in schema.names if name not in names])
    columns = [
        rest[field.name] if field.name not in names else _blank(field, rest.num_rows, filler)
        for field in schema
    ]
    with atomic_path(target) as partial:
        pq.write_table(pa.Table.from_arrays(columns, schema=schema), partial, compression="zstd")


def _read_schema(path: str | Path) -> pa.Schema:
    try:
        return pq.read_schema(path)
    except (pa.ArrowException, OSError) as error:
        raise unreadable_parquet(path, error) from error


def _blank(field: pa.Field, n_rows: int, filler: str) -> pa.Array:
    if field.nullable:
        return pa.nulls(n_rows, field.type)
    value: Any = filler
    if pa.types.is_list(field.type):
        value = [{"role": "user", "content": filler}] if _is_message(field.type.value_type) else []
    return pa.array([value] * n_rows, field.type)


def _is_message(kind: pa.DataType) -> bool:
    return pa.types.is_struct(kind) and {field.name for field in kind} == {"role", "content"}


def read_groups(path: str | Path, key: str, value: str) -> dict[str, list[str]]:
    """For each value of column `key` the sorted values of column `value` beside it."""
    groups: dict[str, list[str]] = {}
    table = _read_parquet(path, columns=[key, value])
    for group, member in zip(table[key].to_pylist(), table[value].to_pylist(), strict=True):
        groups.setdefault(group, []).append(member)
    return {group: sorted(groups[group]) for group in sorted(groups)}


def read_items(paths: Sequence[str | Path]) -> "pd.DataFrame":
    """The item tables of several tasks as one frame with a column `task`: the name of the file."""
    import pandas as pd

    frames = [read_frame(path, Item).assign(task=stem(path)) for path in paths]
    return pd.concat(frames, ignore_index=True)


def read_tasks(paths: Sequence[str | Path]) -> dict[str, list[Item]]:
    """The items of several tasks, by task: the name of the file."""
    return {stem(path): read_rows(path, Item) for path in paths}


def read_questions(paths: Sequence[str | Path]) -> dict[ItemKey, Item]:
    """The items of several tasks, by task and item id."""
    by_task = read_tasks(paths)
    return {ItemKey(task, item.item_id): item for task, items in by_task.items() for item in items}


def write_text(path: str | Path, text: str) -> None:
    """Write a text as UTF-8; the file appears whole or not at all."""
    with atomic_path(path) as partial:
        partial.write_text(text, encoding="utf-8")


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """A path to write to; it becomes `path` if the block succeeds, and is deleted otherwise.

    Raises:
        StudyError: the disk refuses the file.
    """
    target = Path(path)
    partial = target.with_name(f".{target.name}.partial")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        yield partial
        partial.replace(target)
    except OSError as error:
        raise StudyError(
            f"{target}: cannot be written ({error.strerror or error}); free disk space, or choose "
            f"another place with snakemake --directory"
        ) from error
    finally:
        # a folder that refused the file also refuses this, and was reported
        with suppress(OSError):
            partial.unlink()


@contextmanager
def open_database(
    *, memory_limit: str = "2GB", threads: int = 1, file: str | Path = ":memory:"
) -> Iterator[duckdb.DuckDBPyConnection]:
    """A DuckDB connection with bounded memory that spills to a temporary folder.

    One thread by default, because float sums over several threads differ in their last bits between runs.

    Raises:
        KeyboardInterrupt: a query was interrupted; DuckDB raises another error.
    """
    with TemporaryDirectory(prefix="fieldwork-") as spill:
        settings: dict[str, Any] = {
            "memory_limit": memory_limit,
            "threads": threads,
            "temp_directory": spill,
        }
        connection = duckdb.connect(str(file), config=settings)
        try:
            # global, so that it holds for all cursors
            connection.execute("SET GLOBAL TimeZone = 'UTC'")
            yield connection
        except RuntimeError as error:
            # DuckDB's error after Ctrl-C
            if str(error) != "Query interrupted":
                raise
            raise KeyboardInterrupt from error
        finally:
            connection.close()


def stem(path: str | Path) -> str:
    """Name of a table: its file's name without folder and ending."""
    return Path(path).stem


def files_by_table(paths: Iterable[str | Path]) -> dict[str, list[str]]:
    """Files of tables of `metrics/` by the names of the tables, which may have a folder of files."""
    files: dict[str, list[str]] = {}
    for path in paths:
        folder = Path(path).parent
        name = folder.name if folder.parent.name == "metrics" else stem(path)
        files.setdefault(name, []).append(str(path))
    return files

"""Tables larger than memory: rows in batches, vectors in blocks of float32, never value by value.

A vector is stored as its bytes (little-endian float32). Parquet reads them several times faster than a
list of numbers, and a search through a million vectors is mostly reading. Memory is that of a batch or
block, however many rows there are. Equal rows give equal bytes.
"""

from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from fieldwork.errors import StudyError, first_line
from fieldwork.records.puppets import ConversationVector
from fieldwork.tables import (
    DATABASE_ERRORS,
    OUT_OF_MEMORY,
    atomic_path,
    refuse_nulls,
    row_builder,
    schema_of,
    unreadable_parquet,
)

Row = TypeVar("Row")

ROWS_PER_BATCH = 1_024
ROWS_PER_COPY = 512
ROWS_PER_BLOCK = 16_384
# Zstandard's level 1; the database's default, 3, takes half as long again and saves a tenth of the bytes.
# Arrow keeps its schema, with what it says of columns, under that key.
COPY = f"""COPY (FROM copied) TO $path (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1,
    ROW_GROUP_SIZE {ROWS_PER_COPY}, KV_METADATA {{'ARROW:schema': $schema}})"""
STORED_TYPE = np.dtype("<f4")


def stream_rows(path: str | Path, row_type: type[Row]) -> Iterator[list[Row]]:
    """The rows of a Parquet table, a batch at a time, in the order of the file.

    Raises:
        StudyError: the file cannot be read, or its columns differ from the row type's.
    """
    source, names = _open(path), schema_of(row_type).names
    _expect(path, source, names)
    build = row_builder(row_type)
    try:
        for batch in source.iter_batches(ROWS_PER_BATCH, columns=names):
            yield [build(record) for record in batch.to_pylist()]
    except (pa.ArrowException, OSError) as error:
        raise unreadable_parquet(path, error) from error


def column_names(path: str | Path) -> frozenset[str]:
    """Names of a Parquet file's columns; of lists of structs also their fields, as `column.field`.

    Raises:
        StudyError: the file cannot be read.
    """
    names = set[str]()
    for field in _open(path).schema_arrow:
        names.add(field.name)
        element = field.type.value_type if pa.types.is_list(field.type) else None
        if element is not None and pa.types.is_struct(element):
            names |= {f"{field.name}.{inner.name}" for inner in element}
    return frozenset(names)


def stream_values(path: str | Path) -> Iterator[dict[str, Any]]:
    """The rows of any Parquet file by the names of their columns, a batch at a time.

    Raises:
        StudyError: the file cannot be read.
    """
    source = _open(path)
    try:
        for batch in source.iter_batches(ROWS_PER_BATCH):
            yield from batch.to_pylist()
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise unreadable_parquet(path, error) from error


def stream_list_sizes(path: str | Path, key: str, column: str) -> Iterator[tuple[str, int]]:
    """The key of each row of a Parquet table, and how many structs its column holds.

    Only one field of the structs is read, the one that takes the fewest bytes.

    Raises:
        StudyError: the file cannot be read.
    """
    source = _open(path)
    leaves = [source.schema.column(n).path for n in range(len(source.schema))]
    fields = [leaf for leaf in leaves if leaf.startswith(f"{column}.")]
    sizes = {leaf: _stored_bytes(source, leaves.index(leaf)) for leaf in fields}
    smallest = min(fields, key=lambda leaf: sizes[leaf])
    try:
        for batch in source.iter_batches(ROWS_PER_BLOCK, columns=[key, smallest]):
            counts = pc.list_value_length(batch[column])
            yield from zip(batch[key].to_pylist(), counts.to_pylist(), strict=True)
    except (pa.ArrowException, OSError) as error:
        raise unreadable_parquet(path, error) from error


def _stored_bytes(source: pq.ParquetFile, leaf: int) -> int:
    groups = (source.metadata.row_group(n) for n in range(source.metadata.num_row_groups))
    return sum(group.column(leaf).total_compressed_size for group in groups)


def write_parts(
    paths: Sequence[str | Path], rows: Iterable[tuple[int, Row]], row_type: type[Row]
) -> None:
    """Write each row to the table of its number, in the order given; all files appear, some empty.

    Args:
        rows: numbers, indices of `paths`, with the rows.

    Raises:
        StudyError: the disk refuses a file.
    """
    schema = schema_of(row_type)
    waiting: list[list[Row]] = [[] for _ in paths]
    with ExitStack() as stack:
        partial = [stack.enter_context(atomic_path(path)) for path in paths]
        files = [
            stack.enter_context(pq.ParquetWriter(path, schema, compression="zstd"))
            for path in partial
        ]
        for part, row in rows:
            waiting[part].append(row)
            if len(waiting[part]) == ROWS_PER_BATCH:
                files[part].write_table(_columns(waiting[part], schema))
                waiting[part] = []
        for file, last_rows in zip(files, waiting, strict=True):
            if last_rows:
                file.write_table(_columns(last_rows, schema))


def _columns(rows: Sequence[Any], schema: pa.Schema) -> pa.Table:
    return pa.table({n: [getattr(row, n) for row in rows] for n in schema.names}, schema=schema)


def copy_tables(
    database: Any, batches: Iterable[pa.Table], path: str | Path, row_type: type[Any]
) -> None:
    """Stream rows in the order given to one Parquet table of `row_type`.

    Every row group but the last is full, so bytes depend neither on the bounds of batches nor on the
    threads of the database, all of which compress. Memory is the database's limit and a batch. The
    database cannot mark columns that every row must have, so missing values are refused here.

    Args:
        database: from `open_database`; the source of the batches may query it meanwhile.

    Raises:
        StudyError: a row lacks a value that every row must have, or the disk refuses the file.
    """
    schema = schema_of(row_type)
    failures: list[Exception] = []
    groups = _recorded_failures(_checked_groups(path, batches, schema), failures)
    with atomic_path(path) as partial, database.cursor() as writer:
        writer.execute("SET preserve_insertion_order = true")
        writer.register("copied", pa.RecordBatchReader.from_batches(schema, groups))
        try:
            arrow_schema = b64encode(schema.serialize()).decode()
            writer.execute(COPY, {"path": str(partial), "schema": arrow_schema})
        except OUT_OF_MEMORY:
            raise
        except DATABASE_ERRORS as error:
            raise (failures[0] if failures else OSError(first_line(error))) from error


def _recorded_failures(rows: Iterable[Any], failures: list[Exception]) -> Iterator[Any]:
    """The rows; records exceptions, of which a database that reads the rows keeps only the message."""
    try:
        yield from rows
    except (StudyError, OSError, pa.ArrowException, *DATABASE_ERRORS) as error:
        failures.append(error)
        raise


def _checked_groups(
    path: str | Path, batches: Iterable[pa.Table], schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    for table in _in_groups_of(ROWS_PER_COPY, batches):
        refuse_nulls(path, table, schema)
        yield from table.combine_chunks().select(schema.names).cast(schema).to_batches()


def _in_groups_of(size: int, tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """The rows of the tables in tables of so many rows; the last one may have fewer."""
    waiting: list[pa.Table] = []
    n_waiting = 0
    for table in tables:
        waiting, n_waiting = [*waiting, table], n_waiting + table.num_rows
        while n_waiting >= size:
            rows = pa.concat_tables(waiting)
            yield rows.slice(0, size)
            waiting, n_waiting = [rows.slice(size)], n_waiting - size
    if n_waiting:
        yield pa.concat_tables(waiting)


class VectorBlock(NamedTuple):
    """Some rows of a table of vectors.

    Attributes:
        ids: conversation ids, one a row of `vectors`.
        vectors: float32, shape (len(ids), dimensions).
    """

    ids: list[str]
    vectors: npt.NDArray[np.float32]


class KeyedBlock(NamedTuple):
    """Rows to write: ids, the hashes of the texts that were embedded, and their vectors."""

    ids: Sequence[str]
    keys: Sequence[str]
    vectors: npt.NDArray[np.float32]


def write_blocks(path: str | Path, blocks: Iterable[KeyedBlock]) -> None:
    """Write blocks one after the other.

    The caller's blocks must be in the order of the ids. Row groups have `ROWS_PER_BLOCK` rows, whatever
    the bounds of the blocks.

    Raises:
        StudyError: the disk refuses the file.
        ValueError: the ids do not ascend, within or between blocks.
    """
    schema = schema_of(ConversationVector)
    last: list[str] = []
    # float32 noise does not compress, and reading compressed data takes longer
    with (
        atomic_path(path) as partial,
        pq.ParquetWriter(partial, schema, compression="none", use_dictionary=False) as out,
    ):
        for table in _in_groups_of(ROWS_PER_BLOCK, (_table(block, schema) for block in blocks)):
            ids = table["conversation_id"].to_pylist()
            if any(a >= b for a, b in pairwise([*last, *ids])):
                raise ValueError(f"{path}: conversation ids do not ascend")
            out.write_table(table, row_group_size=ROWS_PER_BLOCK)
            last = ids[-1:]


def decompress_zstandard(content: bytes, name: str) -> bytes:
    """The bytes that Zstandard compressed, in one frame or several; `name` stands for them in messages.

    Raises:
        StudyError: they are damaged.
    """
    try:
        with pa.CompressedInputStream(pa.BufferReader(content), "zstd") as stream:
            return bytes(stream.read())
    except (OSError, pa.ArrowException) as error:
        raise StudyError(
            f"{name}: cannot be decompressed ({first_line(error)}); copy the file again"
        ) from error


def _table(block: KeyedBlock, schema: pa.Schema) -> pa.Table:
    n = len(block.ids)
    content = np.ascontiguousarray(block.vectors, STORED_TYPE)
    width = content.shape[1] * STORED_TYPE.itemsize if n else 0
    starts = np.fromiter(accumulate([width] * n, initial=0), np.int32, n + 1)
    buffers = [None, pa.py_buffer(starts), pa.py_buffer(content)]
    vectors = pa.BinaryArray.from_buffers(pa.binary(), n, buffers)
    columns = {
        "conversation_id": pa.array(block.ids, pa.string()),
        "text_sha256": pa.array(block.keys, pa.string()),
        "vector": vectors,
    }
    return pa.table(columns, schema=schema)


def count_rows(paths: Iterable[str | Path]) -> int:
    """Rows of several Parquet tables, from their footers."""
    return sum(_open(path).metadata.num_rows for path in paths)


def read_blocks(paths: Iterable[str | Path]) -> Iterator[VectorBlock]:
    """The rows of several tables of vectors, file by file, a block at a time.

    Raises:
        StudyError: a file cannot be read, has other columns, or its vectors differ in length.
    """
    dimensions: set[int] = set()
    for path in paths:
        source = _open(path)
        _expect(path, source, schema_of(ConversationVector).names)
        for number in range(source.num_row_groups):
            block = _block(path, source, number)
            dimensions.add(block.vectors.shape[1])
            if len(dimensions) > 1:
                raise StudyError(
                    f"{path}: vectors have different lengths "
                    f"({' and '.join(map(str, sorted(dimensions)))} numbers); delete the folder of this "
                    f"file so that they are made again"
                )
            yield block


def _open(path: str | Path) -> Any:
    try:
        return pq.ParquetFile(path)
    except (pa.ArrowException, OSError) as error:
        raise unreadable_parquet(path, error) from error


def _expect(path: str | Path, source: Any, names: Sequence[str]) -> None:
    if sorted(source.schema_arrow.names) != sorted(names):
        raise StudyError(
            f"{path}: its columns are {source.schema_arrow.names} instead of {names} (docs/data.md); "
            f"delete the file so that it is made again"
        )


def _block(path: str | Path, source: Any, number: int) -> VectorBlock:
    try:
        # one thread, because the others multiply matrices meanwhile
        table = source.read_row_group(
            number, columns=["conversation_id", "vector"], use_threads=False
        ).combine_chunks()
        ids, column = table["conversation_id"].to_pylist(), table["vector"].chunk(0)
    except (pa.ArrowException, OSError) as error:
        raise unreadable_parquet(path, error) from error
    _, starts, content = column.buffers()
    bounds = np.frombuffer(starts, np.int32)[column.offset : column.offset + len(column) + 1]
    widths = np.unique(np.diff(bounds))
    if len(widths) != 1 or widths[0] % STORED_TYPE.itemsize:
        raise StudyError(
            f"{path}: its vectors differ in length; delete the file so that it is made again"
        )
    flat = np.frombuffer(content, np.uint8)[bounds[0] : bounds[-1]].view(STORED_TYPE)
    return VectorBlock(ids, flat.reshape(len(ids), -1))

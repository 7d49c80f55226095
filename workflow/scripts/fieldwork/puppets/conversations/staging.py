"""Conversations of any file, written once in the form in which corpora are filtered.

That form has WildChat's columns, so that filters, users and ids are those of every corpus. Promises that
files are streamed (memory is that of the largest conversation, the database's limit and a batch), that
rows of one conversation need not stand together, and that the log says what was taken for what, and what
was left out.
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby, islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from fieldwork.puppets.conversations import exports
from fieldwork.puppets.conversations.chatgpt import TreeReader
from fieldwork.puppets.conversations.chats import Chat, Line, RowReader, gathered, user_hash
from fieldwork.puppets.conversations.columns import ColumnMap, Layout, find_layout
from fieldwork.puppets.conversations.exports import ConversationFile
from fieldwork.puppets.conversations.formats import CHATGPT
from fieldwork.puppets.conversations.messages import MessageReader
from fieldwork.puppets.files import Database, literal
from fieldwork.tables import storable

logger = logging.getLogger(__name__)

STAGED = "wildchat"
"""The format in which conversations are written."""
ROWS_PER_BATCH = 1_024
CHARACTERS_PER_BATCH = 16_000_000
_SAMPLE = 200
_TEXT, _FLAG, _TIME = pa.string(), pa.bool_(), pa.timestamp("us", tz="UTC")
_ABOUT = [("language", _TEXT), ("model", _TEXT), ("toxic", _FLAG), ("redacted", _FLAG)]
_STAGED = pa.schema(
    [
        ("conversation_hash", _TEXT),
        ("hashed_ip", _TEXT),
        ("timestamp", _TIME),
        *_ABOUT,
        ("conversation", pa.list_(pa.struct([("role", _TEXT), ("content", _TEXT)]))),
    ]
)
_LINES = pa.schema(
    [
        ("file", pa.int64()),
        ("number", pa.int64()),
        ("conversation_id", _TEXT),
        ("user_id", _TEXT),
        ("position", pa.float64()),
        ("sent_at", _TIME),
        *_ABOUT,
        ("role", _TEXT),
        ("content", _TEXT),
    ]
)
_OPTIONAL = ("started_at", *(name for name, _ in _ABOUT))

Row = TypeVar("Row", Chat, Line)


class OwnReading(NamedTuple):
    """What the config says of files of one's own.

    Attributes:
        columns: columns by what they hold; what is missing is known by its name.
        roles: what roles are, by what the files call them.
    """

    columns: ColumnMap = MappingProxyType({})
    roles: Mapping[str, str | None] = MappingProxyType({})


OWN_NAMES = OwnReading()
"""Files whose columns and roles are known by their names."""


class Staged(NamedTuple):
    """The file that was written, and which optional columns have a value in it."""

    path: Path
    present: frozenset[str]


def stage(
    database: Database,
    files: Sequence[ConversationFile],
    folder: Path,
    *,
    format: str,
    reading: OwnReading,
) -> Staged:
    """Write the conversations of some files to a Parquet file in `folder`.

    Raises:
        StudyError: a file cannot be read, its columns or roles are not understood, or its rows do not
            say who speaks in which conversation.
    """
    left_out = Counter[str]()
    chats = (
        _of_trees(files, left_out)
        if format == CHATGPT
        else _of_rows(database, files, folder, reading, left_out)
    )
    path, filled, total = folder / "staged.parquet", set[str](), 0
    with pq.ParquetWriter(path, _STAGED, compression="zstd", compression_level=1) as out:
        for batch in _batches(
            chats, lambda chat: sum(len(m["content"] or "") for m in chat.messages)
        ):
            total += len(batch)
            filled |= {n for n in _OPTIONAL if any(getattr(chat, n) is not None for chat in batch)}
            out.write_table(_table(_STAGED, map(_staged_row, batch)))
    listed = ", ".join(f"{n} {what}" for what, n in sorted(left_out.items()) if n)
    logger.info("%d conversations read; left out: %s", total, listed or "nothing")
    return Staged(path, frozenset(filled))


def _staged_row(chat: Chat) -> tuple[Any, ...]:
    about = (chat.language, chat.model, chat.toxic, chat.redacted)
    return (chat.conversation_id, chat.user_id, chat.started_at, *about, chat.messages)


def _of_trees(files: Sequence[ConversationFile], left_out: Counter[str]) -> Iterator[Chat]:
    reader = TreeReader()
    users = {file.export for file in files}
    logger.info("ChatGPT's export: %d files, each export is one user (%d)", len(files), len(users))
    for file in files:
        for place, value in exports.stream_json(file):
            yield reader.read(value, user_hash(file.export), f"{file.name}: {place}")
    left_out.update(reader.left_out)


def _of_rows(
    database: Database,
    files: Sequence[ConversationFile],
    folder: Path,
    reading: OwnReading,
    left_out: Counter[str],
) -> Iterator[Chat]:
    messages = MessageReader(reading.roles)
    waiting = folder / "lines.parquet"
    with pq.ParquetWriter(waiting, _LINES, compression="zstd", compression_level=1) as out:
        for number, file in enumerate(files):
            records = exports.stream_records(file)
            sample = list(islice(records, _SAMPLE))
            if not sample:
                logger.warning("%s: has no rows", file.name)
                continue
            layout = find_layout(file.name, sample, reading.columns, messages.knows)
            logger.info("%s: %s", file.name, layout.sentence())
            reader, rows = RowReader(layout, messages), chain(sample, records)
            if layout.keys is not None:
                yield from reader.chats(rows)
            else:
                lines = reader.lines(number, rows, file.name)
                for batch in _batches(lines, lambda line: len(line.content)):
                    out.write_table(_table(_LINES, batch))
            _warn_of_unread(file, layout, reader)
    messages.refuse_unknown(", ".join(file.name for file in files[:3]))
    yield from _gathered(database, waiting, files)
    left_out.update(messages.left_out)


def _warn_of_unread(file: ConversationFile, layout: Layout, reader: RowReader) -> None:
    forms = {"time": "write 2025-03-04 12:30", "order": "write numbers"}
    for role, n in reader.unread.items():
        column = layout.columns.get(role) or (layout.keys or {}).get(role)
        logger.warning(
            "%s: %d cells of column %s cannot be read as %s and count as empty; %s",
            *(file.name, n, column, role, forms.get(role, "write true or false")),
        )


def _gathered(
    database: Database, waiting: Path, files: Sequence[ConversationFile]
) -> Iterator[Chat]:
    """The conversations of messages that were written as they came."""
    ordered = f"""
        SELECT {", ".join(_LINES.names)} FROM read_parquet({literal(str(waiting))})
        ORDER BY file, conversation_id, number"""
    batches = database.sql(ordered).to_arrow_reader(ROWS_PER_BATCH)
    lines = (Line(*row) for batch in batches for row in zip(*_columns(batch), strict=True))
    for (file, _), rows in groupby(lines, key=lambda line: (line.file, line.conversation_id)):
        yield from gathered(list(rows), files[file].name)


def _columns(batch: pa.RecordBatch) -> list[list[Any]]:
    return [column.to_pylist() for column in batch.columns]


def _batches(rows: Iterable[Row], size: Callable[[Row], int]) -> Iterator[list[Row]]:
    """Rows together, as many as there are, up to a number and a size."""
    held: list[Row] = []
    held_size = 0
    for row in rows:
        held.append(row)
        held_size += size(row)
        if len(held) == ROWS_PER_BATCH or held_size >= CHARACTERS_PER_BATCH:
            yield held
            held, held_size = [], 0
    if held:
        yield held


def _table(schema: pa.Schema, rows: Iterable[Sequence[Any]]) -> pa.Table:
    columns = dict(zip(schema.names, map(list, zip(*rows, strict=True)), strict=True))
    try:
        return pa.table(columns, schema=schema)
    except UnicodeEncodeError:
        # half of a surrogate pair, which JSON can carry and UTF-8 cannot
        return pa.table({name: storable(values) for name, values in columns.items()}, schema=schema)

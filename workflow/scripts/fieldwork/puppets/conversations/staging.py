"""Conversations of any file, converted once into the form in which corpora are filtered.

That form has WildChat's columns, so that filters, users and ids are the same for every corpus. Files are
streamed: memory is that of the largest conversation, the database's limit and a batch. Rows of one
conversation need not follow one another. The log says how columns were read and what was left out.
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby, islice, pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from fieldwork.puppets.conversations import exports
from fieldwork.puppets.conversations.chatgpt import TreeReader
from fieldwork.puppets.conversations.chats import (
    Chat,
    MessageRow,
    RowReader,
    gather_chats,
)
from fieldwork.puppets.conversations.columns import ColumnMap, ConversationLayout, find_layout
from fieldwork.puppets.conversations.exports import CHATGPT, ConversationFile
from fieldwork.puppets.conversations.messages import MessageReader
from fieldwork.puppets.conversations.spellings import joined_spellings
from fieldwork.puppets.files import Database, literal
from fieldwork.tables import without_surrogates

logger = logging.getLogger(__name__)

STAGED_FORMAT = "wildchat"
"""The format that conversations are converted into."""
ROWS_PER_BATCH = 1_024
CHARACTERS_PER_BATCH = 16_000_000
_SAMPLE = 200
_TEXT, _FLAG, _TIME = pa.string(), pa.bool_(), pa.timestamp("us", tz="UTC")
_ABOUT = [("language", _TEXT), ("model", _TEXT), ("toxic", _FLAG), ("redacted", _FLAG)]
# the fields of a `Chat`, in their order
_CORPUS_SCHEMA = pa.schema(
    [
        ("conversation_hash", _TEXT),
        ("hashed_ip", _TEXT),
        ("timestamp", _TIME),
        *_ABOUT,
        ("conversation", pa.list_(pa.struct([("role", _TEXT), ("content", _TEXT)]))),
    ]
)
_MESSAGE_ROWS_SCHEMA = pa.schema(
    [
        *[("file", pa.int64()), ("number", pa.int64())],
        *[("conversation_id", _TEXT), ("user_id", _TEXT)],
        *[("position", pa.float64()), ("sent_at", _TIME), *_ABOUT],
        *[("role", _TEXT), ("content", _TEXT), ("message_id", _TEXT), ("parent_id", _TEXT)],
    ]
)
_OPTIONAL = {
    "started_at": "started_at",
    "language": "language",
    "model": "model",
    "toxic": "is_toxic",
    "redacted": "is_redacted",
}
"""Columns that a corpus may lack, each with the field of a `Chat` that fills it."""

ChatOrRow = TypeVar("ChatOrRow", Chat, MessageRow)


class ColumnsAndRoles(NamedTuple):
    """The settings `columns` and `roles` of a corpus.

    Attributes:
        columns: columns by what they hold; other columns are known by their usual names.
        roles: meaning of each role that the files name in an unusual way.
    """

    columns: ColumnMap = MappingProxyType({})
    roles: Mapping[str, str | None] = MappingProxyType({})


USUAL_NAMES = ColumnsAndRoles()
"""The settings for files whose columns and roles have usual names."""


class StagedCorpus(NamedTuple):
    """The converted file, and which of its optional columns hold a value."""

    path: Path
    present: frozenset[str]


def stage(
    database: Database,
    files: Sequence[ConversationFile],
    folder: Path,
    *,
    format: str,
    reading: ColumnsAndRoles,
) -> StagedCorpus:
    """Convert the conversations of some files into one Parquet file in `folder`.

    Raises:
        StudyError: a file cannot be read, its columns or roles are not understood, or its rows do not
            say who speaks in which conversation.
    """
    left_out = Counter[str]()
    chats = (
        _chats_of_trees(files, left_out)
        if format == CHATGPT
        else _chats_of_rows(database, files, folder, reading, left_out)
    )
    path, present, total = folder / "staged.parquet", set[str](), 0
    n_doubled_answers = 0
    with pq.ParquetWriter(path, _CORPUS_SCHEMA, compression="zstd", compression_level=1) as out:
        for batch in _batches(
            chats, lambda chat: sum(len(m["content"] or "") for m in chat.messages)
        ):
            total += len(batch)
            n_doubled_answers += sum(_doubled_answers(chat) for chat in batch)
            present |= {
                column
                for column, field in _OPTIONAL.items()
                if any(getattr(chat, field) is not None for chat in batch)
            }
            out.write_table(_table(_CORPUS_SCHEMA, batch))
    counts = ", ".join(f"{n} {kind}" for kind, n in sorted(left_out.items()) if n)
    logger.info("%d conversations read; left out: %s", total, counts or "nothing")
    if n_doubled_answers:
        logger.info(
            "%d answers follow another answer: where they are many, the file may hold answers that were "
            "thrown away",
            n_doubled_answers,
        )
    return StagedCorpus(path, frozenset(present))


def _doubled_answers(chat: Chat) -> int:
    roles = [message["role"] for message in chat.messages]
    return sum(pair == ("assistant", "assistant") for pair in pairwise(roles))


def _chats_of_trees(files: Sequence[ConversationFile], left_out: Counter[str]) -> Iterator[Chat]:
    reader = TreeReader()
    users = {file.export for file in files}
    logger.info(
        "ChatGPT's export: %d files of %d users, one user an export", len(files), len(users)
    )
    for file in files:
        for place, value in exports.stream_json(file):
            yield reader.read(value, file.export, f"{file.name}: {place}")
    left_out.update(reader.left_out)


def _chats_of_rows(
    database: Database,
    files: Sequence[ConversationFile],
    folder: Path,
    reading: ColumnsAndRoles,
    left_out: Counter[str],
) -> Iterator[Chat]:
    messages = MessageReader(reading.roles)
    waiting = folder / "message_rows.parquet"
    with pq.ParquetWriter(
        waiting, _MESSAGE_ROWS_SCHEMA, compression="zstd", compression_level=1
    ) as out:
        for number, file in enumerate(files):
            records = exports.stream_records(file)
            records = joined_spellings(file.name, records, reading.columns)
            sample = list(islice(records, _SAMPLE))
            if not sample:
                logger.warning("%s: has no rows", file.name)
                continue
            layout = find_layout(file.name, sample, reading.columns, messages.knows)
            logger.info("%s: %s", file.name, layout.sentence())
            reader, rows = RowReader(layout, messages), chain(sample, records)
            if layout.has_conversations:
                yield from reader.chats(rows)
            else:
                message_rows = reader.message_rows(number, rows, file.name)
                for batch in _batches(message_rows, lambda row: len(row.content or "")):
                    out.write_table(_table(_MESSAGE_ROWS_SCHEMA, batch))
            _warn_of_unread(file, layout, reader)
    messages.refuse_unknown(", ".join(file.name for file in files[:3]))
    yield from _waiting_chats(database, waiting, files, messages.left_out)
    left_out.update(messages.left_out)


def _warn_of_unread(file: ConversationFile, layout: ConversationLayout, reader: RowReader) -> None:
    forms = {"time": "write 2025-03-04 12:30", "order": "write numbers"}
    for role, n in reader.unread_cells.items():
        column = layout.columns.get(role) or (layout.keys or {}).get(role)
        logger.warning(
            "%s: %d cells of column %s cannot be read as %s and count as empty; to have them read, %s",
            *(file.name, n, column, role, forms.get(role, "write true or false")),
        )


def _waiting_chats(
    database: Database,
    waiting: Path,
    files: Sequence[ConversationFile],
    left_out: Counter[str],
) -> Iterator[Chat]:
    """The conversations of the message rows that wait in a file, in the order of their ids."""
    query = f"""
        SELECT {", ".join(_MESSAGE_ROWS_SCHEMA.names)} FROM read_parquet({literal(str(waiting))})
        ORDER BY file, conversation_id, number"""
    batches = database.sql(query).to_arrow_reader(ROWS_PER_BATCH)
    columns = ([column.to_pylist() for column in batch.columns] for batch in batches)
    message_rows = (MessageRow(*row) for batch in columns for row in zip(*batch, strict=True))
    for (file, _), rows in groupby(message_rows, key=lambda row: (row.file, row.conversation_id)):
        yield from gather_chats(list(rows), files[file].name, left_out)


def _batches(
    rows: Iterable[ChatOrRow], size: Callable[[ChatOrRow], int]
) -> Iterator[list[ChatOrRow]]:
    """Rows in batches, each up to a number of rows and a size."""
    batch: list[ChatOrRow] = []
    batch_size = 0
    for row in rows:
        batch.append(row)
        batch_size += size(row)
        if len(batch) == ROWS_PER_BATCH or batch_size >= CHARACTERS_PER_BATCH:
            yield batch
            batch, batch_size = [], 0
    if batch:
        yield batch


def _table(schema: pa.Schema, rows: Iterable[Sequence[Any]]) -> pa.Table:
    columns = dict(zip(schema.names, map(list, zip(*rows, strict=True)), strict=True))
    try:
        return pa.table(columns, schema=schema)
    except UnicodeEncodeError:
        # half of a surrogate pair, which JSON can carry and UTF-8 cannot
        return pa.table(
            {name: without_surrogates(values) for name, values in columns.items()}, schema=schema
        )

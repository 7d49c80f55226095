"""How each public corpus is read: one SQL query for each format, all with the same columns.

Owns the schemas of WildChat, LMSYS-Chat-1M and OASST2. Ids come as pseudonyms, so that a query needs
the macro of `pseudonyms`. Optional columns are looked for, not assumed, so
a later release with a column more or less can still be read. Text that is not valid UTF-8, such as a lone
surrogate, is read with `?` in its place.

A corpus is read twice: first without its texts (`slim`), then the texts of the conversations that pass
the filters (`full`). `SourceQuery.present` names the optional columns that the corpus has.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from fieldwork.errors import StudyError
from fieldwork.pseudonyms import CONVERSATION, USER
from fieldwork.puppets.files import (
    Database,
    Fields,
    FileGroup,
    ParquetColumns,
    all_files,
    count_rows,
    parquet,
    read_columns,
    stored_bytes,
)

CHOSEN_ROWS = "chosen"
SLIM_ROWS = "slim_rows"
SLIM_COLUMNS = {
    "place": "VARCHAR",
    "known_id": "VARCHAR",
    "known_user": "VARCHAR",
    "started_at": "TIMESTAMPTZ",
    "language": "VARCHAR",
    "model": "VARCHAR",
    "n_user_turns": "BIGINT",
}
"""Columns of a conversation that can be read without its texts, with their types.

`known_id` and `known_user` are NULL where only the texts can give them. `place` is where the id will be,
roughly, in the order of ids."""


class SourceRead(NamedTuple):
    """What one query can read: a file, or all files where their columns differ.

    Attributes:
        slim: query for `row_key, user_id, toxic, redacted, n_messages` and `SLIM_COLUMNS`. A row key
            stands for a user whom only the texts can give.
        full: query for `row_key, conversation_id, user_id, started_at, language, model,
            n_user_turns, messages` of the rows in the table `CHOSEN_ROWS`, which has their row keys and
            `SLIM_COLUMNS`.
        quick: the same as `slim`, read from `SLIM_ROWS`, which holds the `slim_fields` of `file`.
        file: None where there is no quick query.
    """

    slim: str
    full: str
    quick: str = ""
    file: Path | None = None


class SourceQuery(NamedTuple):
    """A corpus as SQL.

    `reads` together are the corpus. `present` names the optional columns they fill. `n_rows` counts the
    rows of the files (messages in OASST2, conversations elsewhere), and `text_bytes` the bytes of their
    texts.
    """

    reads: tuple[SourceRead, ...]
    present: frozenset[str]
    n_rows: int
    text_bytes: int


class _CorpusFormat(NamedTuple):
    """What a format must have: columns (`a|b` is either of them), and perhaps a list of messages."""

    required_columns: tuple[str, ...]
    list_column: str | None
    build: Callable[[Database, Sequence[FileGroup], ParquetColumns], SourceQuery]


def open_source(database: Database, files: Sequence[Path], *, format: str) -> SourceQuery:
    """Check the files against the format and say how to read them.

    Raises:
        StudyError: unknown format, or a file lacks columns the format needs.
    """
    if format not in CORPUS_FORMATS:
        raise StudyError(
            f"`format: {format}` is unknown; choose one of {', '.join(CORPUS_FORMATS)}"
        )
    corpus_format = CORPUS_FORMATS[format]
    columns_by_file = [read_columns(database, [file]) for file in files]
    for file, columns in zip(files, columns_by_file, strict=True):
        missing = _missing(columns, corpus_format)
        if missing:
            raise StudyError(
                f"{file}: has no column {', '.join(missing)}, which `format: {format}` needs (its "
                f"columns are {', '.join(columns.types) or 'none'}); correct `format`, or the `path` of "
                f"the corpus"
            )
    groups, columns = [FileGroup((file,), n) for n, file in enumerate(files)], columns_by_file[0]
    if len({file_columns.signature for file_columns in columns_by_file}) > 1:
        # one query over all files fills a column that a file lacks with NULL
        groups, columns = [FileGroup(tuple(files), 0)], read_columns(database, files)
    return corpus_format.build(database, groups, columns)


def _missing(columns: ParquetColumns, format: _CorpusFormat) -> list[str]:
    missing = [
        alternatives.replace("|", " or ")
        for alternatives in format.required_columns
        if not any(columns.has(name) for name in alternatives.split("|"))
    ]
    if format.list_column is None:
        return missing
    if not columns.has(format.list_column):
        return [*missing, format.list_column]
    return missing + [
        f"{format.list_column}.{field}"
        for field in ("role", "content")
        if not columns.has(format.list_column, field)
    ]


# a conversation without a user is a user of its own
_USER_OF_KNOWN_ID = f"pseudonym('{USER}', known_id)"
_USER_OF_ID = f"pseudonym('{USER}', conversation_id)"

# A hash of the row's content and not of its place, so that ids do not change with other rows or files.
# DuckDB computes an expression that a query names twice for every row, needed or not. So this one is
# named once, and joins with `string_agg`, because `array_to_string` names its argument twice.
_FINGERPRINT = """sha256(concat_ws(chr(31),
    coalesce(known_user, ''), coalesce(epoch_us(started_at), 0), coalesce(list_aggregate(
        list_transform(messages, lambda m: concat(m.role, chr(31), m.content)),
        'string_agg', chr(30)), if(len(messages) = 0, '', NULL))))"""


def _instant(expression: str, kind: str) -> str:
    if kind.startswith("timestamp") or kind == "date":
        return f"TRY_CAST({expression} AS TIMESTAMPTZ)"
    return f"TRY_CAST({expression}::VARCHAR AS TIMESTAMPTZ)"


def _coalesce(parts: Sequence[str], *, kind: str) -> str:
    return f"coalesce({', '.join([*parts, f'NULL::{kind}'])})"


def _optional(columns: ParquetColumns, name: str, kind: str) -> str:
    return f"{name}::{kind}" if columns.has(name) else f"NULL::{kind}"


def _any_turn(columns: ParquetColumns, column: str, field: str) -> list[str]:
    """SQL that is true where any element of a list column has the flag set."""
    if not columns.has(column, field):
        return []
    return [f"len(list_filter({column}, lambda t: coalesce(t.{field}, false))) > 0"]


def _flag(columns: ParquetColumns, name: str) -> list[str]:
    whole = [f"{name}::BOOLEAN"] if columns.has(name) else []
    return whole + _any_turn(columns, "conversation", name)


def slim_fields() -> Fields:
    """The columns and fields of a file that the first reading needs: all but the texts."""
    turn = ("role", "turn_identifier", "timestamp", "hashed_ip", "toxic", "redacted")
    ids = ("conversation_hash", "conversation_id", "hashed_ip", "timestamp")
    labels = ("language", "model", "toxic", "redacted")
    lists = {"conversation": turn, "openai_moderation": ("flagged",)}
    return lists | dict.fromkeys((*ids, *labels), ())


def _slim_query(row: Mapping[str, str], group: FileGroup, source: str) -> str:
    fields = ", ".join(f"{value} AS {name}" for name, value in row.items())
    return f"""
        SELECT row_key, coalesce(known_id, id_prefix) AS place, known_id, known_user,
            coalesce(known_user, {_USER_OF_KNOWN_ID}, row_key::VARCHAR) AS user_id,
            started_at, language, model, toxic, redacted,
            coalesce(len(list_filter(conversation, lambda t: lower(t.role) = 'user')), 0)
                AS n_user_turns,
            coalesce(len(conversation), 0) AS n_messages
        FROM (SELECT {group.row_key} AS row_key, conversation, {fields} FROM {source})"""


def _full_query(group: FileGroup) -> str:
    # only the chosen rows of these files: DuckDB holds the smaller side of a join in memory, and that
    # must not be the side with the texts
    return f"""
        SELECT * EXCLUDE (known_user), coalesce(known_user, {_USER_OF_ID}) AS user_id
        FROM (SELECT * EXCLUDE (place, known_id, n_messages), coalesce(known_id,
                place || {_FINGERPRINT}[:if(place = '', 64, 16)]) AS conversation_id
            FROM (SELECT {CHOSEN_ROWS}.*, list_transform(conversation,
                    lambda t: {{'role': lower(t.role), 'content': t.content}}) AS messages
                FROM {parquet(group.files)}
                    JOIN (FROM {CHOSEN_ROWS} WHERE {group.has("row_key")}) AS {CHOSEN_ROWS}
                ON row_key = {group.row_key}))"""


def _wildchat(
    database: Database, groups: Sequence[FileGroup], columns: ParquetColumns
) -> SourceQuery:
    has_turns = columns.has("conversation", "turn_identifier")
    turn = "conversation[1].turn_identifier::VARCHAR" if has_turns else "NULL::VARCHAR"
    name = "conversation_hash" if columns.has("conversation_hash") else "conversation_id"
    known_id = f"{name}::VARCHAR || '-' || {turn}"
    id_prefix = f"coalesce(pseudonym('{CONVERSATION}', {name}) || '-', '')"
    return _conversations(database, groups, columns, known_id=known_id, id_prefix=id_prefix)


def _lmsys(database: Database, groups: Sequence[FileGroup], columns: ParquetColumns) -> SourceQuery:
    """LMSYS-Chat-1M names neither user nor date, so each conversation counts as a user of its own."""
    known_id = "conversation_id::VARCHAR"
    return _conversations(database, groups, columns, known_id=known_id, id_prefix="''")


def _conversations(
    database: Database,
    groups: Sequence[FileGroup],
    columns: ParquetColumns,
    *,
    known_id: str,
    id_prefix: str,
) -> SourceQuery:
    """The query of a format with one conversation a row, as a list of `role` and `content`."""
    users = ["nullif(hashed_ip::VARCHAR, '')"] if columns.has("hashed_ip") else []
    if columns.has("conversation", "hashed_ip"):
        users.append(
            "list_filter(conversation, lambda t: lower(t.role) = 'user' "
            "AND t.hashed_ip IS NOT NULL)[1].hashed_ip::VARCHAR"
        )
    starts = _wildchat_starts(columns)
    toxic_flags = _flag(columns, "toxic") or _any_turn(columns, "openai_moderation", "flagged")
    redacted_flags = _flag(columns, "redacted")
    # `known_id` needs no text and may be NULL; then the id is `id_prefix` followed by a fingerprint
    row = {
        "known_id": f"pseudonym('{CONVERSATION}', {known_id})",
        "id_prefix": id_prefix,
        "known_user": f"pseudonym('{USER}', {_coalesce(users, kind='VARCHAR')})",
        "started_at": _coalesce(starts, kind="TIMESTAMPTZ"),
        "language": _optional(columns, "language", "VARCHAR"),
        "model": _optional(columns, "model", "VARCHAR"),
        "toxic": _coalesce(toxic_flags, kind="BOOLEAN"),
        "redacted": _coalesce(redacted_flags, kind="BOOLEAN"),
    }
    sources = {"started_at": starts, "toxic": toxic_flags, "redacted": redacted_flags}
    present = {name for name in ("language", "model") if columns.has(name)}
    present |= {name for name, expressions in sources.items() if expressions}
    reads = []
    for group in groups:
        slim = _slim_query(row, group, parquet(group.files))
        file = group.files[0] if len(group.files) == 1 else None
        quick = _slim_query(row, group, SLIM_ROWS)
        reads.append(SourceRead(slim, _full_query(group), quick, file))
    n_bytes = sum(stored_bytes(file, "conversation", "content") for file in all_files(groups))
    return SourceQuery(tuple(reads), frozenset(present), count_rows(database, groups), n_bytes)


def _wildchat_starts(columns: ParquetColumns) -> list[str]:
    """The first turn's time; the conversation's own timestamp is the time of its last turn."""
    starts = []
    if columns.has("conversation", "timestamp"):
        instant = _instant("t.timestamp", columns.fields["conversation"]["timestamp"])
        starts.append(f"list_min(list_transform(conversation, lambda t: {instant}))")
    if columns.has("timestamp"):
        starts.append(_instant("timestamp", columns.types["timestamp"]))
    return starts


def _oasst2(
    database: Database, groups: Sequence[FileGroup], columns: ParquetColumns
) -> SourceQuery:
    """One conversation a tree: from the root, the best-ranked reply at each level.

    Deleted messages are left out, and so are all replies to them. The user is the author of the root.
    """
    has_date = columns.has("created_date")
    instant = _instant("created_date", columns.types["created_date"]) if has_date else "NULL"
    database.execute(f"""
        CREATE OR REPLACE TABLE oasst2_messages AS
        SELECT message_tree_id::VARCHAR AS tree, message_id::VARCHAR AS id,
               parent_id::VARCHAR AS parent, user_id::VARCHAR AS user_id,
               CASE lower(role) WHEN 'prompter' THEN 'user' ELSE lower(role) END AS role,
               text::VARCHAR AS content, {instant}::TIMESTAMPTZ AS created,
               {_optional(columns, "lang", "VARCHAR")} AS language,
               {_optional(columns, "rank", "DOUBLE")} AS place,
               {_optional(columns, "model_name", "VARCHAR")} AS model,
               coalesce({_optional(columns, "deleted", "BOOLEAN")}, false) AS deleted
        FROM {parquet(all_files(groups))}
        QUALIFY row_number() OVER (PARTITION BY id ORDER BY tree, parent, content) = 1""")
    database.execute(_OASST2_TREES)
    names = {"lang": "language", "model_name": "model", "created_date": "started_at"}
    present = frozenset(common for column, common in names.items() if columns.has(column))
    n_bytes = sum(stored_bytes(file, "text", "") for file in all_files(groups))
    read = SourceRead(_OASST2_SLIM, _OASST2_FULL)
    return SourceQuery((read,), present, count_rows(database, groups), n_bytes)


_OASST2_SLIM = """
    SELECT * EXCLUDE (conversation_id, messages), conversation_id AS place,
        conversation_id AS known_id, user_id AS known_user, coalesce(len(messages), 0) AS n_messages
    FROM oasst2_trees"""
_OASST2_FULL = f"""
    SELECT row_key, conversation_id, user_id, started_at, language, model, n_user_turns, messages
    FROM oasst2_trees WHERE row_key IN (SELECT row_key FROM {CHOSEN_ROWS})"""


_OASST2_TREES = f"""
    CREATE OR REPLACE TABLE oasst2_trees AS
    WITH RECURSIVE best AS MATERIALIZED (
        SELECT id, parent FROM oasst2_messages WHERE parent IS NOT NULL AND NOT deleted
        QUALIFY row_number() OVER (PARTITION BY parent ORDER BY place NULLS LAST, id) = 1
    ), path AS (
        SELECT id, tree, 0 AS depth FROM oasst2_messages
        WHERE parent IS NULL AND id = tree AND NOT deleted
        UNION ALL
        SELECT best.id, path.tree, depth + 1 FROM path JOIN best ON best.parent = path.id
    ), conversation AS (
        SELECT path.tree,
            arg_min(user_id, depth) AS user_id,
            arg_min(created, depth) AS started_at,
            arg_min(language, depth) AS language,
            arg_min(model, depth) FILTER (model IS NOT NULL AND role = 'assistant') AS model,
            list({{'role': role, 'content': content}} ORDER BY depth) AS messages
        FROM path JOIN oasst2_messages USING (id) GROUP BY path.tree
    )
    SELECT row_number() OVER (ORDER BY trees.tree) AS row_key,
        pseudonym('{CONVERSATION}', trees.tree) AS conversation_id,
        pseudonym('{USER}', coalesce(user_id, trees.tree)) AS user_id, started_at, language, model,
        NULL::BOOLEAN AS toxic, NULL::BOOLEAN AS redacted, messages,
        coalesce(len(list_filter(messages, lambda m: m.role = 'user')), 0) AS n_user_turns
    FROM (SELECT DISTINCT tree FROM oasst2_messages) AS trees
    LEFT JOIN conversation ON conversation.tree = trees.tree"""


_WILDCHAT = _CorpusFormat(("conversation_hash|conversation_id",), "conversation", _wildchat)
CORPUS_FORMATS = {
    "wildchat": _WILDCHAT,
    "wildchat_4_8m": _WILDCHAT,
    "lmsys": _CorpusFormat(("conversation_id",), "conversation", _lmsys),
    "oasst2": _CorpusFormat(
        ("message_id", "parent_id", "user_id", "text", "role", "message_tree_id"), None, _oasst2
    ),
}
"""By the names that `format` may have."""

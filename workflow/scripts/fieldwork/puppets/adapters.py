"""How each public corpus is read: one SQL query a format, all with the same columns.

Owns the schemas of WildChat, LMSYS-Chat-1M and OASST2. Optional columns are looked for, not
assumed, so a later release with a column more or less still reads. Text that is not valid UTF-8 (a
lone surrogate, say) is read with `?` in its place rather than refused.

Every query yields `row_key, conversation_id, user_id, started_at, language, model, toxic, redacted,
messages`; `SourceQuery.present` names those of the optional ones that the corpus has.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from fieldwork.errors import StudyError


class Database(Protocol):
    """What is used of a connection from `tables.open_database`."""

    def execute(self, query: str, /) -> Any:
        """Run a statement."""

    def sql(self, query: str, /) -> Any:
        """Describe a query."""


class SourceQuery(NamedTuple):
    """A corpus as SQL.

    `queries` select the common columns, a file each where the files can be read by themselves;
    together they are the corpus. `present` names the optional columns they fill, and `n_rows` counts
    the rows of the files (messages in OASST2, conversations elsewhere).
    """

    queries: tuple[str, ...]
    present: frozenset[str]
    n_rows: int


class _Read(NamedTuple):
    """Files that one query reads; `first` is the number of the first among all of them."""

    files: tuple[Path, ...]
    first: int

    @property
    def row_key(self) -> str:
        """The position in all files: it joins the second pass over them to the first."""
        return f"((file_index::BIGINT + {self.first:d}) << 40) | file_row_number::BIGINT"


class _Columns(NamedTuple):
    """Columns of the files, the fields of those that are lists of structs, and all types in full."""

    types: dict[str, str]
    fields: dict[str, dict[str, str]]
    signature: tuple[str, ...]

    def has(self, column: str, field: str | None = None) -> bool:
        if field is None:
            return column in self.types
        return field in self.fields.get(column, {})


class _Format(NamedTuple):
    """What a format must have: columns (`a|b`: either of the two) and fields of its list column."""

    required: tuple[str, ...]
    turns: str | None
    build: Callable[[Database, Sequence[_Read], _Columns], SourceQuery]


def formats() -> tuple[str, ...]:
    """Names that `format` may have."""
    return tuple(_registry())


def open_source(database: Database, files: Sequence[Path], *, format: str) -> SourceQuery:
    """Check the files against the format and say how to read them.

    Raises:
        StudyError: unknown format, or a file lacks columns the format needs.
    """
    known = _registry()
    if format not in known:
        raise StudyError(
            f"`format: {format}` is not one of {', '.join(known)}; choose one of these"
        )
    each = [_columns(database, [file]) for file in files]
    for file, columns in zip(files, each, strict=True):
        missing = _missing(columns, known[format])
        if missing:
            raise StudyError(
                f"{file}: has no column {', '.join(missing)}, which `format: {format}` needs; "
                f"set `format:` to the one the file is in, or give other files"
            )
    if len({columns.signature for columns in each}) == 1:
        return known[format].build(
            database, [_Read((file,), number) for number, file in enumerate(files)], each[0]
        )
    # a column that one file lacks is there for the query that reads it with the others
    return known[format].build(database, [_Read(tuple(files), 0)], _columns(database, files))


def literal(value: str) -> str:
    """A string as an SQL literal."""
    return "'" + value.replace("'", "''") + "'"


def _registry() -> dict[str, _Format]:
    wildchat = _Format(("conversation_hash|conversation_id",), "conversation", _wildchat)
    return {
        "wildchat": wildchat,
        "wildchat_4_8m": wildchat,
        "lmsys": _Format(("conversation_id",), "conversation", _lmsys),
        "oasst2": _Format(
            ("message_id", "parent_id", "user_id", "text", "role", "message_tree_id"), None, _oasst2
        ),
    }


def _missing(columns: _Columns, wanted: _Format) -> list[str]:
    missing = [
        alternatives.replace("|", " or ")
        for alternatives in wanted.required
        if not any(columns.has(name) for name in alternatives.split("|"))
    ]
    if wanted.turns is None:
        return missing
    if not columns.has(wanted.turns):
        return [*missing, wanted.turns]
    return missing + [
        f"{wanted.turns}.{field}"
        for field in ("role", "content")
        if not columns.has(wanted.turns, field)
    ]


def _parquet(files: Sequence[Path]) -> str:
    paths = ", ".join(literal(str(file)) for file in files)
    return f"read_parquet([{paths}], union_by_name = true, utf8_validation = 'replace')"


def _columns(database: Database, files: Sequence[Path]) -> _Columns:
    relation = database.sql(f"SELECT * FROM {_parquet(files)} LIMIT 0")
    types = dict(zip(relation.columns, relation.types, strict=True))
    return _Columns(
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


def _files(reads: Sequence[_Read]) -> list[Path]:
    return [file for read in reads for file in read.files]


def _count(database: Database, reads: Sequence[_Read]) -> int:
    return int(database.execute(f"SELECT count(*) FROM {_parquet(_files(reads))}").fetchall()[0][0])


_MESSAGES = "list_transform(conversation, lambda t: {'role': lower(t.role), 'content': t.content})"

# Over what the row says, not where it stands, so that an id survives other rows and other files.
# DuckDB works out what a query names twice for every row, needed or not. So this is named once, and
# joins with `string_agg`, as `array_to_string` names its argument twice.
_FINGERPRINT = """sha256(concat_ws(chr(31),
    coalesce(user_id, ''), coalesce(epoch_us(started_at), 0), coalesce(list_aggregate(
        list_transform(messages, lambda m: concat(m.role, chr(31), m.content)),
        'string_agg', chr(30)), if(len(messages) = 0, '', NULL))))"""


def _instant(expression: str, kind: str) -> str:
    if kind.startswith("timestamp") or kind == "date":
        return f"TRY_CAST({expression} AS TIMESTAMPTZ)"
    return f"TRY_CAST({expression}::VARCHAR AS TIMESTAMPTZ)"


def _coalesce(parts: Sequence[str], *, kind: str) -> str:
    return f"coalesce({', '.join([*parts, f'NULL::{kind}'])})"


def _optional(columns: _Columns, name: str, kind: str) -> str:
    return f"{name}::{kind}" if columns.has(name) else f"NULL::{kind}"


def _any_turn(columns: _Columns, column: str, field: str) -> list[str]:
    """SQL that is true where any element of a list column has the flag set."""
    if not columns.has(column, field):
        return []
    return [f"len(list_filter({column}, lambda t: coalesce(t.{field}, false))) > 0"]


def _flag(columns: _Columns, name: str) -> list[str]:
    whole = [f"{name}::BOOLEAN"] if columns.has(name) else []
    return whole + _any_turn(columns, "conversation", name)


def _present(columns: _Columns, **found: object) -> frozenset[str]:
    named = {name for name in ("language", "model") if columns.has(name)}
    return frozenset(named | {name for name, parts in found.items() if parts})


def _wildchat(database: Database, reads: Sequence[_Read], columns: _Columns) -> SourceQuery:
    users = ["nullif(hashed_ip::VARCHAR, '')"] if columns.has("hashed_ip") else []
    if columns.has("conversation", "hashed_ip"):
        users.append(
            "list_filter(conversation, lambda t: lower(t.role) = 'user' "
            "AND t.hashed_ip IS NOT NULL)[1].hashed_ip::VARCHAR"
        )
    starts = _wildchat_starts(columns)
    toxic = _flag(columns, "toxic") or _any_turn(columns, "openai_moderation", "flagged")
    redacted = _flag(columns, "redacted")
    turned = columns.has("conversation", "turn_identifier")
    turn = "conversation[1].turn_identifier::VARCHAR" if turned else "NULL::VARCHAR"
    hash_column = "conversation_hash" if columns.has("conversation_hash") else "conversation_id"
    queries = [
        f"""
        SELECT * REPLACE (coalesce(user_id, sha256(conversation_id)) AS user_id)
        FROM (SELECT * EXCLUDE (turn_identifier) REPLACE (coalesce(
                conversation_id || '-' || turn_identifier,
                coalesce(conversation_id || '-', '')
                    || {_FINGERPRINT}[:if(conversation_id IS NULL, 64, 16)]) AS conversation_id)
            FROM (SELECT
                {read.row_key} AS row_key,
                {hash_column}::VARCHAR AS conversation_id,
                {turn} AS turn_identifier,
                {_coalesce(users, kind="VARCHAR")} AS user_id,
                {_coalesce(starts, kind="TIMESTAMPTZ")} AS started_at,
                {_optional(columns, "language", "VARCHAR")} AS language,
                {_optional(columns, "model", "VARCHAR")} AS model,
                {_coalesce(toxic, kind="BOOLEAN")} AS toxic,
                {_coalesce(redacted, kind="BOOLEAN")} AS redacted,
                {_MESSAGES} AS messages
            FROM {_parquet(read.files)}))"""
        for read in reads
    ]
    present = _present(columns, started_at=starts, toxic=toxic, redacted=redacted)
    return SourceQuery(tuple(queries), present, _count(database, reads))


def _wildchat_starts(columns: _Columns) -> list[str]:
    """The first turn's time; the conversation's own timestamp is the time of its last turn."""
    starts = []
    if columns.has("conversation", "timestamp"):
        instant = _instant("t.timestamp", columns.fields["conversation"]["timestamp"])
        starts.append(f"list_min(list_transform(conversation, lambda t: {instant}))")
    if columns.has("timestamp"):
        starts.append(_instant("timestamp", columns.types["timestamp"]))
    return starts


def _lmsys(database: Database, reads: Sequence[_Read], columns: _Columns) -> SourceQuery:
    """LMSYS-Chat-1M knows neither user nor date: each conversation is a user of its own."""
    toxic = _any_turn(columns, "openai_moderation", "flagged")
    redacted = _flag(columns, "redacted")
    queries = [
        f"""
        SELECT * REPLACE (sha256(conversation_id) AS user_id)
        FROM (SELECT * REPLACE (coalesce(conversation_id, {_FINGERPRINT}) AS conversation_id)
            FROM (SELECT
                {read.row_key} AS row_key,
                conversation_id::VARCHAR AS conversation_id,
                NULL::VARCHAR AS user_id,
                NULL::TIMESTAMPTZ AS started_at,
                {_optional(columns, "language", "VARCHAR")} AS language,
                {_optional(columns, "model", "VARCHAR")} AS model,
                {_coalesce(toxic, kind="BOOLEAN")} AS toxic,
                {_coalesce(redacted, kind="BOOLEAN")} AS redacted,
                {_MESSAGES} AS messages
            FROM {_parquet(read.files)}))"""
        for read in reads
    ]
    present = _present(columns, toxic=toxic, redacted=redacted)
    return SourceQuery(tuple(queries), present, _count(database, reads))


def _oasst2(database: Database, reads: Sequence[_Read], columns: _Columns) -> SourceQuery:
    """One conversation a tree: from the root, the best-ranked reply at each level.

    Deleted messages are left out, and with them whatever answered them. The user is the root's.
    """
    created = columns.has("created_date")
    instant = _instant("created_date", columns.types["created_date"]) if created else "NULL"
    database.execute(f"""
        CREATE OR REPLACE TEMP TABLE oasst2_messages AS
        SELECT message_tree_id::VARCHAR AS tree, message_id::VARCHAR AS id,
               parent_id::VARCHAR AS parent, user_id::VARCHAR AS user_id,
               CASE lower(role) WHEN 'prompter' THEN 'user' ELSE lower(role) END AS role,
               text::VARCHAR AS content, {instant}::TIMESTAMPTZ AS created,
               {_optional(columns, "lang", "VARCHAR")} AS language,
               {_optional(columns, "rank", "DOUBLE")} AS place,
               {_optional(columns, "model_name", "VARCHAR")} AS model,
               coalesce({_optional(columns, "deleted", "BOOLEAN")}, false) AS deleted
        FROM {_parquet(_files(reads))}
        QUALIFY row_number() OVER (PARTITION BY id ORDER BY tree, parent, content) = 1""")
    database.execute(_OASST2_TREES)
    named = (("lang", "language"), ("model_name", "model"), ("created_date", "started_at"))
    present = frozenset(common for column, common in named if columns.has(column))
    return SourceQuery(("SELECT * FROM oasst2_trees",), present, _count(database, reads))


_OASST2_TREES = """
    CREATE OR REPLACE TEMP TABLE oasst2_trees AS
    WITH RECURSIVE best AS MATERIALIZED (
        SELECT id, parent FROM oasst2_messages WHERE parent IS NOT NULL AND NOT deleted
        QUALIFY row_number() OVER (PARTITION BY parent ORDER BY place NULLS LAST, id) = 1
    ), path AS (
        SELECT id, tree, 0 AS depth FROM oasst2_messages
        WHERE parent IS NULL AND id = tree AND NOT deleted
        UNION ALL
        SELECT best.id, path.tree, depth + 1 FROM path JOIN best ON best.parent = path.id
    ), told AS (
        SELECT path.tree,
            arg_min(user_id, depth) AS user_id,
            arg_min(created, depth) AS started_at,
            arg_min(language, depth) AS language,
            arg_min(model, depth) FILTER (model IS NOT NULL AND role = 'assistant') AS model,
            list({'role': role, 'content': content} ORDER BY depth) AS messages
        FROM path JOIN oasst2_messages USING (id) GROUP BY path.tree
    )
    SELECT row_number() OVER (ORDER BY trees.tree) AS row_key, trees.tree AS conversation_id,
        coalesce(user_id, sha256(trees.tree)) AS user_id, started_at, language, model,
        NULL::BOOLEAN AS toxic, NULL::BOOLEAN AS redacted, messages
    FROM (SELECT DISTINCT tree FROM oasst2_messages) AS trees
    LEFT JOIN told ON told.tree = trees.tree"""

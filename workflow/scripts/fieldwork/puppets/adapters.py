"""How each public corpus is read: one SQL query a format, all with the same columns.

Owns the schemas of WildChat, LMSYS-Chat-1M and OASST2. Optional columns are looked for, not
assumed, so a later release with a column more or less still reads. Text that is not valid UTF-8 (a
lone surrogate, say) is read with `?` in its place rather than refused.

A corpus is read twice: first without its texts (`slim`), then the texts of the conversations that are
left (`full`). `SourceQuery.present` names those of the optional columns that the corpus has.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from fieldwork.errors import StudyError
from fieldwork.puppets.files import (
    Columns,
    Database,
    Read,
    columns_of,
    count_rows,
    files_of,
    parquet,
)
from fieldwork.puppets.parts import Fields, stored_bytes

CHOSEN = "chosen"
SLIM_ROWS = "slim_rows"
KEPT = {
    "place": "VARCHAR",
    "known_id": "VARCHAR",
    "known_user": "VARCHAR",
    "started_at": "TIMESTAMPTZ",
    "language": "VARCHAR",
    "model": "VARCHAR",
    "n_user_turns": "BIGINT",
}
"""Columns of a conversation that need no text. Id and user are NULL where only the texts can name them;
`place` tells about where the id will stand in their order."""


class SourceRead(NamedTuple):
    """What one query can read: a file, or all files where their columns differ.

    Attributes:
        slim: query for `row_key, user_id, toxic, redacted, n_messages` and the columns `KEPT`. A user
            whom only the texts can name is a row key.
        full: query for `row_key, conversation_id, user_id, started_at, language, model,
            n_user_turns, messages` of the rows in the table `CHOSEN`, which has their row keys and
            what was `KEPT` of them.
        quick: the same as `slim`, from `SLIM_ROWS`, which are `slim_fields` of the `file`.
        file: None where there is no quick way.
    """

    slim: str
    full: str
    quick: str = ""
    file: Path | None = None


class SourceQuery(NamedTuple):
    """A corpus as SQL.

    `reads` together are the corpus. `present` names the optional columns they fill, `n_rows` counts
    the rows of the files (messages in OASST2, conversations elsewhere), and `text_bytes` tells how
    large their texts are.
    """

    reads: tuple[SourceRead, ...]
    present: frozenset[str]
    n_rows: int
    text_bytes: int


class _Format(NamedTuple):
    """What a format must have: columns (`a|b`: either of the two) and fields of its list column."""

    required: tuple[str, ...]
    turns: str | None
    build: Callable[[Database, Sequence[Read], Columns], SourceQuery]


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
    each = [columns_of(database, [file]) for file in files]
    for file, columns in zip(files, each, strict=True):
        missing = _missing(columns, known[format])
        if missing:
            raise StudyError(
                f"{file}: has no column {', '.join(missing)}, which `format: {format}` needs (there "
                f"are {', '.join(columns.types) or 'none'}); set `format:` to the one the file is in, or "
                f"give other files"
            )
    if len({columns.signature for columns in each}) == 1:
        return known[format].build(
            database, [Read((file,), number) for number, file in enumerate(files)], each[0]
        )
    # a column that one file lacks is there for the query that reads it with the others
    return known[format].build(database, [Read(tuple(files), 0)], columns_of(database, files))


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


def _missing(columns: Columns, wanted: _Format) -> list[str]:
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


# Over what the row says, not where it stands, so that an id survives other rows and other files.
# DuckDB works out what a query names twice for every row, needed or not. So this is named once, and
# joins with `string_agg`, as `array_to_string` names its argument twice.
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


def _optional(columns: Columns, name: str, kind: str) -> str:
    return f"{name}::{kind}" if columns.has(name) else f"NULL::{kind}"


def _any_turn(columns: Columns, column: str, field: str) -> list[str]:
    """SQL that is true where any element of a list column has the flag set."""
    if not columns.has(column, field):
        return []
    return [f"len(list_filter({column}, lambda t: coalesce(t.{field}, false))) > 0"]


def _flag(columns: Columns, name: str) -> list[str]:
    whole = [f"{name}::BOOLEAN"] if columns.has(name) else []
    return whole + _any_turn(columns, "conversation", name)


def _present(columns: Columns, **found: object) -> frozenset[str]:
    named = {name for name in ("language", "model") if columns.has(name)}
    return frozenset(named | {name for name, parts in found.items() if parts})


class _Row(NamedTuple):
    """How the common columns of a conversation come out of a row of the files, as SQL.

    `known_id` needs no text and may be NULL; then the id is `id_prefix` and a fingerprint.
    """

    known_id: str
    id_prefix: str
    known_user: str
    started_at: str
    language: str
    model: str
    toxic: str
    redacted: str


def slim_fields() -> Fields:
    """What is read of a file at first: all that is used but the texts."""
    turn = ("role", "turn_identifier", "timestamp", "hashed_ip", "toxic", "redacted")
    ids = ("conversation_hash", "conversation_id", "hashed_ip", "timestamp")
    said = ("language", "model", "toxic", "redacted")
    nested = {"conversation": turn, "openai_moderation": ("flagged",)}
    return nested | dict.fromkeys((*ids, *said), ())


def _conversations(
    database: Database, reads: Sequence[Read], row: _Row, present: frozenset[str]
) -> SourceQuery:
    """Formats with a conversation a row, in a list of `role` and `content`."""
    files = files_of(reads)
    made = []
    for read in reads:
        slim = _slim_query(row, read, parquet(read.files))
        quick = _slim_query(row, read, SLIM_ROWS)
        file = read.files[0] if len(read.files) == 1 else None
        made.append(SourceRead(slim, _full_query(read), quick, file))
    n_bytes = sum(stored_bytes(file, "conversation", "content") for file in files)
    return SourceQuery(tuple(made), present, count_rows(database, reads), n_bytes)


def _slim_query(row: _Row, read: Read, rows: str) -> str:
    named = ", ".join(f"{value} AS {name}" for name, value in row._asdict().items())
    return f"""
        SELECT row_key, coalesce(known_id, id_prefix) AS place, known_id, known_user,
            coalesce(known_user, sha256(known_id), row_key::VARCHAR) AS user_id,
            started_at, language, model, toxic, redacted,
            coalesce(len(list_filter(conversation, lambda t: lower(t.role) = 'user')), 0)
                AS n_user_turns,
            coalesce(len(conversation), 0) AS n_messages
        FROM (SELECT {read.row_key} AS row_key, conversation, {named} FROM {rows})"""


def _full_query(read: Read) -> str:
    # of the chosen only those of these files: the smaller side of a join is held in memory, and must not
    # be the one with the texts
    return f"""
        SELECT * EXCLUDE (known_user), coalesce(known_user, sha256(conversation_id)) AS user_id
        FROM (SELECT * EXCLUDE (place, known_id, n_messages), coalesce(known_id,
                place || {_FINGERPRINT}[:if(place = '', 64, 16)]) AS conversation_id
            FROM (SELECT {CHOSEN}.*, list_transform(conversation,
                    lambda t: {{'role': lower(t.role), 'content': t.content}}) AS messages
                FROM {parquet(read.files)} JOIN (FROM {CHOSEN} WHERE {read.has("row_key")}) AS {CHOSEN}
                ON row_key = {read.row_key}))"""


def _wildchat(database: Database, reads: Sequence[Read], columns: Columns) -> SourceQuery:
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
    named = "conversation_hash" if columns.has("conversation_hash") else "conversation_id"
    row = _Row(
        known_id=f"{named}::VARCHAR || '-' || {turn}",
        id_prefix=f"coalesce({named}::VARCHAR || '-', '')",
        known_user=_coalesce(users, kind="VARCHAR"),
        started_at=_coalesce(starts, kind="TIMESTAMPTZ"),
        language=_optional(columns, "language", "VARCHAR"),
        model=_optional(columns, "model", "VARCHAR"),
        toxic=_coalesce(toxic, kind="BOOLEAN"),
        redacted=_coalesce(redacted, kind="BOOLEAN"),
    )
    present = _present(columns, started_at=starts, toxic=toxic, redacted=redacted)
    return _conversations(database, reads, row, present)


def _wildchat_starts(columns: Columns) -> list[str]:
    """The first turn's time; the conversation's own timestamp is the time of its last turn."""
    starts = []
    if columns.has("conversation", "timestamp"):
        instant = _instant("t.timestamp", columns.fields["conversation"]["timestamp"])
        starts.append(f"list_min(list_transform(conversation, lambda t: {instant}))")
    if columns.has("timestamp"):
        starts.append(_instant("timestamp", columns.types["timestamp"]))
    return starts


def _lmsys(database: Database, reads: Sequence[Read], columns: Columns) -> SourceQuery:
    """LMSYS-Chat-1M knows neither user nor date: each conversation is a user of its own."""
    toxic = _any_turn(columns, "openai_moderation", "flagged")
    redacted = _flag(columns, "redacted")
    row = _Row(
        known_id="conversation_id::VARCHAR",
        id_prefix="''",
        known_user="NULL::VARCHAR",
        started_at="NULL::TIMESTAMPTZ",
        language=_optional(columns, "language", "VARCHAR"),
        model=_optional(columns, "model", "VARCHAR"),
        toxic=_coalesce(toxic, kind="BOOLEAN"),
        redacted=_coalesce(redacted, kind="BOOLEAN"),
    )
    return _conversations(database, reads, row, _present(columns, toxic=toxic, redacted=redacted))


def _oasst2(database: Database, reads: Sequence[Read], columns: Columns) -> SourceQuery:
    """One conversation a tree: from the root, the best-ranked reply at each level.

    Deleted messages are left out, and with them whatever answered them. The user is the root's.
    """
    created = columns.has("created_date")
    instant = _instant("created_date", columns.types["created_date"]) if created else "NULL"
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
        FROM {parquet(files_of(reads))}
        QUALIFY row_number() OVER (PARTITION BY id ORDER BY tree, parent, content) = 1""")
    database.execute(_OASST2_TREES)
    named = (("lang", "language"), ("model_name", "model"), ("created_date", "started_at"))
    present = frozenset(common for column, common in named if columns.has(column))
    n_bytes = sum(stored_bytes(file, "text", "") for file in files_of(reads))
    read = SourceRead(_OASST2_SLIM, _OASST2_FULL)
    return SourceQuery((read,), present, count_rows(database, reads), n_bytes)


_OASST2_SLIM = """
    SELECT * EXCLUDE (conversation_id, messages), conversation_id AS place,
        conversation_id AS known_id, user_id AS known_user, coalesce(len(messages), 0) AS n_messages
    FROM oasst2_trees"""
_OASST2_FULL = f"""
    SELECT row_key, conversation_id, user_id, started_at, language, model, n_user_turns, messages
    FROM oasst2_trees WHERE row_key IN (SELECT row_key FROM {CHOSEN})"""


_OASST2_TREES = """
    CREATE OR REPLACE TABLE oasst2_trees AS
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
        NULL::BOOLEAN AS toxic, NULL::BOOLEAN AS redacted, messages,
        coalesce(len(list_filter(messages, lambda m: m.role = 'user')), 0) AS n_user_turns
    FROM (SELECT DISTINCT tree FROM oasst2_messages) AS trees
    LEFT JOIN told ON told.tree = trees.tree"""

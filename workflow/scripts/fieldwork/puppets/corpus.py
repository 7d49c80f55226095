"""The corpus: conversations of real users, filtered, in one table, with a count after each filter.

Promises: the corpus is never held in memory (it is read twice, file by file, DuckDB streaming within
`memory_limit` and spilling to disk), too small a disk is told of before texts are written, rows come
out ordered by `conversation_id`, and equal files and filters give equal bytes.
Each conversation of LMSYS-Chat-1M counts as a user of its own, because that corpus names none; so
does a WildChat conversation without a hashed address.
"""

import logging
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from fieldwork.errors import StudyError, first_line
from fieldwork.progress import Progress
from fieldwork.puppets.adapters import Database, SourceQuery, literal, open_source
from fieldwork.records import Conversation, FunnelStep
from fieldwork.streams import copy_queries
from fieldwork.tables import (
    DATABASE_ERRORS,
    OUT_OF_MEMORY,
    open_database,
)

NOT_IN_CORPUS = "not in this corpus"

# Text shrinks to less than this part of itself under Snappy and Zstandard.
COMPRESSION = 2
WAITING_ROWS = 2_048

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Filters:
    """Which conversations to keep; every default but the first keeps all of them.

    A filter on a column that the corpus lacks keeps all rows and says so in the funnel. Where the
    corpus has the column, a row without a language, model or date does not pass a filter on it, and
    a row without a verdict counts as neither toxic nor redacted.
    """

    min_user_turns: int = 5
    languages: tuple[str, ...] = ()
    """As the corpus labels them, in any case (`English` in WildChat, `en` in OASST2)."""
    exclude_toxic: bool = False
    exclude_redacted: bool = False
    models: tuple[str, ...] = ()
    """Glob patterns, such as `gpt-4*`."""
    started_after: str | None = None
    """ISO date or time (UTC unless it says otherwise): this or later."""
    started_before: str | None = None
    """ISO date or time: earlier than this."""


class _Step(NamedTuple):
    """One filter: its name and value in the config, and the SQL that a row must satisfy."""

    name: str
    setting: str
    passes: str


def prepare_corpus(
    files: Sequence[Path],
    *,
    format: str,
    filters: Filters,
    out: Path,
    memory_limit: str = "2GB",
    threads: int = 1,
) -> list[FunnelStep]:
    """Write the conversations that pass the filters to `out`; return what each filter let through.

    Step 0 is `rows read`: its `rows_in` counts rows of the files (messages in OASST2), its
    `rows_out` conversations. `readable` drops conversations with a message that has no text or an
    unknown role, or without any text by the user; `distinct` drops repeats of a conversation.
    `n_tokens` is an estimate: a message counts its UTF-8 bytes / 4, rounded up, plus 4.

    Raises:
        StudyError: no files, an unreadable or empty file, columns missing for the format, a date
            that is none, no conversation left, or too little disk for those that are.
    """
    _check_files(files)
    with (
        open_database(memory_limit=memory_limit, threads=threads) as database,
        _explained(files, memory_limit),
    ):
        database.execute("SET preserve_insertion_order = false")
        source = open_source(database, files, format=format)
        steps = _steps(filters, source.present)
        _read_facts(database, source, steps)
        funnel = _funnel(database, source, steps)
        _refuse_empty(files, funnel)
        _write_kept(database, source, level=len(steps), out=out)
    return funnel


def _check_files(files: Sequence[Path]) -> None:
    if not files:
        raise StudyError(
            "the corpus has no files; set its `path:`, or `files:` to a pattern that matches"
        )
    for file in files:
        if not file.is_file():
            raise StudyError(
                f"{file}: no such file; check `path:` of the corpus, or download it again"
            )


@contextmanager
def _explained(files: Sequence[Path], memory_limit: str) -> Iterator[None]:
    """Turn an error of the database into a sentence."""
    try:
        yield
    except OUT_OF_MEMORY as error:
        raise StudyError(
            f"the corpus does not fit in `memory_limit: {memory_limit}`; raise it, or lower "
            f"`threads:`"
        ) from error
    except DATABASE_ERRORS as error:
        reason = first_line(error)
        listed = ", ".join(str(file) for file in files[:3])
        raise StudyError(
            f"{listed}: the corpus cannot be read ({reason}); download it again or set its `path:` "
            f"to a sound copy"
        ) from error


def _steps(filters: Filters, present: frozenset[str]) -> list[_Step]:
    return [
        _Step("readable", "always", "readable"),
        _Step("distinct", "always", "copy = 1"),
        _Step(
            "min_user_turns",
            str(filters.min_user_turns),
            f"n_user_turns >= {filters.min_user_turns:d}",
        ),
        _choice("languages", filters.languages, "language", present),
        _exclusion("exclude_toxic", filters.exclude_toxic, "toxic", present),
        _exclusion("exclude_redacted", filters.exclude_redacted, "redacted", present),
        _choice("models", filters.models, "model", present),
        _date("started_after", filters.started_after, ">=", present),
        _date("started_before", filters.started_before, "<", present),
    ]


def _choice(name: str, wanted: Sequence[str], column: str, present: frozenset[str]) -> _Step:
    if not wanted:
        return _Step(name, "all", "true")
    setting = ", ".join(wanted)
    if column not in present:
        return _Step(name, f"{setting} ({NOT_IN_CORPUS})", "true")
    if column == "model":
        tests = [f"model GLOB {literal(pattern)}" for pattern in wanted]
    else:
        tests = [f"lower({column}) = lower({literal(value)})" for value in wanted]
    return _Step(name, setting, " OR ".join(tests))


def _exclusion(name: str, wanted: bool, column: str, present: frozenset[str]) -> _Step:
    if not wanted:
        return _Step(name, "false", "true")
    if column not in present:
        return _Step(name, f"true ({NOT_IN_CORPUS})", "true")
    return _Step(name, "true", f"NOT coalesce({column}, false)")


def _date(name: str, wanted: str | None, comparison: str, present: frozenset[str]) -> _Step:
    if wanted is None:
        return _Step(name, "all", "true")
    try:
        instant = datetime.fromisoformat(wanted)
    except ValueError as error:
        raise StudyError(
            f"`{name}: {wanted}` is not a date; write it as 2023-04-09 or 2023-04-09T12:00:00Z"
        ) from error
    if "started_at" not in present:
        return _Step(name, f"{wanted} ({NOT_IN_CORPUS})", "true")
    utc = instant.replace(tzinfo=instant.tzinfo or UTC).astimezone(UTC)
    return _Step(name, wanted, f"started_at {comparison} TIMESTAMPTZ {literal(utc.isoformat())}")


def _read_facts(database: Database, source: SourceQuery, steps: Sequence[_Step]) -> None:
    """Make `levels`: one slim row a conversation, with the number of steps it passes in a row.

    Every file is read once, and of its texts only lengths stay.
    """
    with Progress("read corpus", len(source.queries), "files") as progress:
        for number, query in enumerate(source.queries):
            into = "INSERT INTO facts" if number else "CREATE TEMP TABLE facts AS"
            database.execute(f"{into} {_facts_query(query)}")
            progress.update()
    database.execute(_levels_statement(steps))
    database.execute("DROP TABLE facts")


def _levels_statement(steps: Sequence[_Step]) -> str:
    ladder = "\n".join(
        f"WHEN NOT coalesce({step.passes}, false) THEN {level}" for level, step in enumerate(steps)
    )
    return f"""
        CREATE TEMP TABLE levels AS
        SELECT * EXCLUDE (readable, copy, toxic, redacted),
            CASE {ladder} ELSE {len(steps)} END AS level
        FROM (
            SELECT *, row_number() OVER (PARTITION BY conversation_id, readable
                ORDER BY started_at, user_id, n_tokens, row_key) AS copy
            FROM facts
        )"""


def _facts_query(query: str) -> str:
    return rf"""
        SELECT row_key, conversation_id, user_id, started_at, language, model, toxic, redacted,
            len(list_filter(messages, lambda m: m.role = 'user')) AS n_user_turns,
            list_sum(list_transform(messages, lambda m: (strlen(m.content) + 3) // 4 + 4))::BIGINT
                AS n_tokens,
            len(list_filter(messages, lambda m: m.content IS NULL
                OR coalesce(m.role NOT IN ('system', 'user', 'assistant'), true))) = 0
            AND len(list_filter(messages, lambda m: m.role = 'user'
                AND regexp_matches(m.content, '\S'))) > 0 AS readable
        FROM ({query})"""


def _write_kept(database: Database, source: SourceQuery, *, level: int, out: Path) -> None:
    """Write the conversations of a level in order, sorting no more at a time than fits in memory.

    DuckDB's own sort of whole conversations ran out of memory where the corpus was larger than the
    limit. So the ids are cut into consecutive parts; a second pass over the files leaves the texts
    of each part in a folder of its own, and the parts are sorted one after the other.
    """
    database.execute(_parts_statement(level))
    [(n_parts, n_bytes)] = database.execute(
        "SELECT max(part) + 1, sum(4 * n_tokens)::BIGINT FROM kept"
    ).fetchall()
    _require_space(out, n_bytes * (1 if n_parts == 1 else 2) // COMPRESSION)
    if n_parts == 1:
        whole = " UNION ALL ".join(f"SELECT row_key, messages FROM ({q})" for q in source.queries)
        copy_queries(database, [_part_query(f"({whole})", 0)], out, Conversation)
        return
    out.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=".corpus-", dir=out.parent) as folder:
        _deal_out(database, source, Path(folder))
        with Progress("sort corpus", n_parts, "parts") as progress:
            copy_queries(
                database, _part_queries(Path(folder), n_parts, progress), out, Conversation
            )


def _require_space(out: Path, needed: int) -> None:
    """Say how much disk is needed, before any is used."""
    there = next(folder for folder in out.absolute().parents if folder.is_dir())
    free = shutil.disk_usage(there).free
    logger.info(
        "the corpus needs about %.1f GB of disk at %s; %.1f GB are free",
        needed / 1e9,
        out.parent,
        free / 1e9,
    )
    if needed > free:
        raise StudyError(
            f"{out}: about {needed / 1e9:.1f} GB of disk are needed and {free / 1e9:.1f} GB are "
            f"free; free some, tighten `filters`, or choose another place with snakemake --directory"
        )


def _parts_statement(level: int) -> str:
    # Four bytes a token; an eighth of the limit leaves room for the reader, the join and the sort.
    return f"""
        CREATE TEMP TABLE kept AS
        SELECT * EXCLUDE (level), ((sum(4 * n_tokens) OVER (ORDER BY conversation_id) - 1)
            // (parse_formatted_bytes(current_setting('memory_limit')) // 8))::BIGINT AS part
        FROM levels WHERE level = {level:d}"""


def _deal_out(database: Database, source: SourceQuery, folder: Path) -> None:
    """The texts that are kept, in `folder/part=<number>/`, a file or more for each input file."""
    # rows wait in memory until there are as many as this, and whole conversations are wide
    database.execute(f"SET partitioned_write_flush_threshold = {WAITING_ROWS}")
    with Progress("sort out corpus", len(source.queries), "files") as progress:
        for number, query in enumerate(source.queries):
            database.execute(f"""
                COPY (SELECT source.row_key, source.messages, kept.part
                    FROM ({query}) AS source JOIN kept ON kept.row_key = source.row_key)
                TO {literal(str(folder))} (FORMAT parquet, COMPRESSION snappy, PARTITION_BY (part),
                    FILENAME_PATTERN '{number:06d}_{{i}}', OVERWRITE_OR_IGNORE)""")
            progress.update()


def _part_queries(folder: Path, n_parts: int, progress: Progress) -> Iterator[str]:
    for part in range(n_parts):
        rows = literal(f"{folder}/part={part}/*.parquet")
        yield _part_query(f"read_parquet({rows}, hive_partitioning = false)", part)
        progress.update()


def _part_query(rows: str, part: int) -> str:
    return f"""
        SELECT kept.conversation_id, kept.user_id, kept.started_at, kept.language, kept.model,
            kept.n_user_turns, kept.n_tokens, source.messages
        FROM {rows} AS source
        JOIN kept ON kept.row_key = source.row_key AND kept.part = {part:d}
        ORDER BY kept.conversation_id"""


def _funnel(database: Database, source: SourceQuery, steps: Sequence[_Step]) -> list[FunnelStep]:
    rows = dict(database.execute("SELECT level, count(*) FROM levels GROUP BY level").fetchall())
    # A user is still there after a step when their longest-lived conversation is.
    users = dict(
        database.execute(
            "SELECT top, count(*) FROM (SELECT max(level) AS top FROM levels GROUP BY user_id) "
            "GROUP BY top"
        ).fetchall()
    )
    funnel = []
    rows_in = source.n_rows
    for number, step in enumerate([_Step("rows read", "", ""), *steps]):
        rows_out = sum(n for level, n in rows.items() if level >= number)
        users_out = sum(n for level, n in users.items() if level >= number)
        funnel.append(FunnelStep(number, step.name, step.setting, rows_in, rows_out, users_out))
        rows_in = rows_out
    return funnel


def _refuse_empty(files: Sequence[Path], funnel: Sequence[FunnelStep]) -> None:
    for step in funnel:
        if step.rows_out:
            continue
        if step.step == 0:
            raise StudyError(f"{files[0]}: the corpus has no rows; set `path:` to a copy that has")
        counts = ", ".join(f"{s.filter} {s.rows_out}" for s in funnel[: step.step + 1])
        raise StudyError(
            f"{files[0]}: no conversation is left after `{step.filter}: {step.setting}` "
            f"({counts}); loosen that setting"
        )

"""The corpus: conversations of real users, filtered, in one table, with a count after each filter.

Promises: what needs no text (users, turns, languages, verdicts, dates) is read and filtered first, then
the texts of the conversations that are left, once. The corpus is never held in memory (it is read file
by file, DuckDB streaming within `memory_limit` and spilling to disk), too small a disk is told of before
texts are written, rows come out ordered by `conversation_id`, and equal files and filters give equal
bytes, whatever the memory and the threads.
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
from typing import Any, NamedTuple

from fieldwork.errors import StudyError, first_line
from fieldwork.progress import Progress
from fieldwork.puppets.adapters import (
    CHOSEN,
    SLIM_ROWS,
    SourceQuery,
    SourceRead,
    open_source,
    slim_fields,
)
from fieldwork.puppets.files import Database, literal
from fieldwork.puppets.parts import READ_ERRORS, deal_out, pick, read_fields
from fieldwork.records import Conversation, FunnelStep
from fieldwork.streams import copy_tables
from fieldwork.tables import (
    DATABASE_ERRORS,
    OUT_OF_MEMORY,
    open_database,
)

NOT_IN_CORPUS = "not in this corpus"

# Text shrinks to less than this part of itself under Snappy and Zstandard.
COMPRESSION = 2
ROWS_PER_BATCH = 512
# Small parts are put in order within what the processor keeps close; each is a file that stays open.
PART_OF_LIMIT = 32
MOST_PARTS = 256

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
    `rows_out` conversations. The last two need the texts: `readable` drops conversations with a
    message that has no text or an unknown role, or without any text by the user; `distinct` drops
    repeats of a conversation. Until then one that only its text can name is a user of its own.
    `n_tokens` is an estimate: a message counts its UTF-8 bytes / 4, rounded up, plus 4.

    Raises:
        StudyError: no files, an unreadable or empty file, columns missing for the format, a date
            that is none, no conversation left, or too little disk for those that are.
    """
    _check_files(files)
    with (
        open_database(memory_limit=memory_limit, threads=threads) as database,
        _explained(files, memory_limit, out),
    ):
        database.execute("SET preserve_insertion_order = false")
        source = open_source(database, files, format=format)
        steps = _steps(filters, source.present)
        _read_levels(database, source, steps)
        funnel = _funnel(database, "levels", [_Step("rows read", "", ""), *steps], source.n_rows)
        _refuse_empty(files, funnel)
        n_bytes = _choose_rows(database, source, level=len(steps))
        _require_space(out, n_bytes)
        out.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".corpus-", dir=out.parent) as folder:
            _read_texts(database, source, Path(folder), _cuts(database, n_bytes))
            steps = _text_steps()
            funnel += _funnel(database, "told", steps, funnel[-1].rows_out, start=len(funnel))
            _refuse_empty(files, funnel)
            kept = _kept(database, Path(folder), level=len(steps))
            copy_tables(database, kept, out, Conversation)
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
def _explained(files: Sequence[Path], memory_limit: str, out: Path) -> Iterator[None]:
    """Turn an error of the database or the disk into a sentence."""
    try:
        yield
    except OUT_OF_MEMORY as error:
        raise StudyError(
            f"the corpus does not fit in `memory_limit: {memory_limit}`; raise it, or lower "
            f"`threads:`"
        ) from error
    except OSError as error:
        raise StudyError(
            f"{out}: the disk does not take the corpus ({first_line(error)}); free some, or choose "
            f"another place with snakemake --directory"
        ) from error
    except (*DATABASE_ERRORS, *READ_ERRORS) as error:
        reason = first_line(error)
        listed = ", ".join(str(file) for file in files[:3])
        raise StudyError(
            f"{listed}: the corpus cannot be read ({reason}); download it again or set its `path:` "
            f"to a sound copy"
        ) from error


def _steps(filters: Filters, present: frozenset[str]) -> list[_Step]:
    return [
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


def _text_steps() -> list[_Step]:
    return [_Step("readable", "always", "readable"), _Step("distinct", "always", "copy = 1")]


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


def _read_levels(database: Database, source: SourceQuery, steps: Sequence[_Step]) -> None:
    """Make `levels`: a slim row a conversation, with the number of steps it passes in a row.

    No text is read: a file's texts are nearly all of it.
    """
    level = _level(steps)
    with Progress("read corpus", len(source.reads), "files") as progress:
        for number, read in enumerate(source.reads):
            into = "INSERT INTO levels" if number else "CREATE TEMP TABLE levels AS"
            _read_slim(
                database,
                read,
                f"""{into} SELECT row_key, user_id, n_messages, {level} AS level,
                    if(level = {len(steps)}, place, NULL) AS place FROM""",
            )
            progress.update()


def _read_slim(database: Database, read: SourceRead, statement: str) -> None:
    if read.file is not None:
        database.register(SLIM_ROWS, read_fields(read.file, slim_fields()))
        try:
            database.execute(f"{statement} ({read.quick})")
            return
        except DATABASE_ERRORS as error:
            # text that is not valid UTF-8, say, which the slow way replaces
            logger.info("%s: read in full (%s)", read.file, first_line(error))
        finally:
            database.unregister(SLIM_ROWS)
    database.execute(f"{statement} ({read.slim})")


def _level(steps: Sequence[_Step]) -> str:
    ladder = "\n".join(
        f"WHEN NOT coalesce({step.passes}, false) THEN {level}" for level, step in enumerate(steps)
    )
    return f"CASE {ladder} ELSE {len(steps)} END"


def _choose_rows(database: Database, source: SourceQuery, *, level: int) -> int:
    """Make the table `CHOSEN` of the rows at a level; return about how many bytes their texts have.

    A message counts as long as the corpus's are on average.
    """
    database.execute(f"""
        CREATE TEMP TABLE {CHOSEN} AS
        SELECT row_key, place, n_messages FROM levels WHERE level = {level:d}""")
    [(chosen, whole)] = database.execute(f"""
        SELECT (SELECT sum(n_messages) FROM {CHOSEN}), (SELECT sum(n_messages) FROM levels)
        """).fetchall()
    return source.text_bytes * int(chosen) // max(int(whole), 1)


def _cuts(database: Database, n_bytes: int) -> list[str]:
    """Ids between parts that each fit in memory several times over.

    Parts are as even as ids and lengths can be known before the texts; which rows are written does
    not depend on them.
    """
    [(limit,)] = database.execute(
        "SELECT parse_formatted_bytes(current_setting('memory_limit'))"
    ).fetchall()
    n_parts = min(max(-(-n_bytes // (int(limit) // PART_OF_LIMIT)), 1), MOST_PARTS)
    found = database.execute(f"""
        SELECT min(place) AS cut FROM (
            SELECT place, (sum(n_messages) OVER (ORDER BY place, row_key) - 1) * {n_parts:d}
                // (SELECT sum(n_messages) FROM {CHOSEN}) AS part
            FROM {CHOSEN})
        WHERE part > 0 GROUP BY part ORDER BY cut""").fetchall()
    return [cut for (cut,) in found]


def _read_texts(database: Database, source: SourceQuery, folder: Path, cuts: Sequence[str]) -> None:
    """Leave the chosen conversations in a file for each part, and make `told` of all but messages."""
    with Progress("read texts", len(source.reads), "files") as progress:
        readers = (
            database.sql(_told_query(read.full, cuts)).to_arrow_reader(ROWS_PER_BATCH)
            for read in source.reads
        )
        for number, rows in enumerate(deal_out(readers, folder, wide="messages")):
            into = "INSERT INTO facts" if number else "CREATE TEMP TABLE facts AS"
            database.register("dealt", rows)
            database.execute(f"{into} SELECT * FROM dealt")
            database.unregister("dealt")
            progress.update()
    database.execute(f"""
        CREATE TEMP TABLE told AS
        SELECT row_key, conversation_id, user_id, part, {_level(_text_steps())} AS level
        FROM (SELECT *, row_number() OVER (PARTITION BY conversation_id, readable
                ORDER BY started_at, user_id, n_tokens, row_key) AS copy
            FROM facts)""")


def _told_query(query: str, cuts: Sequence[str]) -> str:
    before = f"[{', '.join(literal(cut) for cut in cuts)}]::VARCHAR[]"
    return rf"""
        SELECT *, len(list_filter({before}, lambda cut: cut <= conversation_id)) AS part,
            list_sum(list_transform(messages, lambda m: (strlen(m.content) + 3) // 4 + 4))::BIGINT
                AS n_tokens,
            len(list_filter(messages, lambda m: m.content IS NULL
                OR coalesce(m.role NOT IN ('system', 'user', 'assistant'), true))) = 0
            AND len(list_filter(messages, lambda m: m.role = 'user'
                AND regexp_matches(m.content, '\S'))) > 0 AS readable
        FROM ({query})"""


def _kept(database: Database, folder: Path, *, level: int) -> Iterator[Any]:
    """The conversations of a level, part by part, in the order of their ids."""
    parts = database.execute(
        f"SELECT DISTINCT part FROM told WHERE level = {level:d} ORDER BY part"
    ).fetchall()
    with Progress("sort corpus", len(parts), "parts") as progress:
        for (part,) in parts:
            rows = database.sql(
                f"SELECT row_key FROM told WHERE level = {level:d} AND part = {part:d} "
                "ORDER BY conversation_id"
            ).to_arrow_table()
            yield from pick(folder, part, rows["row_key"].combine_chunks(), by="row_key")
            progress.update()


def _require_space(out: Path, n_bytes: int) -> None:
    """Say how much disk is needed, before any is used: texts wait as they are, then are written."""
    needed = n_bytes + n_bytes // COMPRESSION
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


def _funnel(
    database: Database, table: str, steps: Sequence[_Step], rows_in: int, *, start: int = 0
) -> list[FunnelStep]:
    """Steps from number `start` on; a row's level counts those it passes, but for step 0."""
    rows = dict(database.execute(f"SELECT level, count(*) FROM {table} GROUP BY level").fetchall())
    # A user is still there after a step when their longest-lived conversation is.
    users = dict(
        database.execute(
            f"SELECT top, count(*) FROM (SELECT max(level) AS top FROM {table} GROUP BY user_id) "
            "GROUP BY top"
        ).fetchall()
    )
    funnel = []
    first_level = 1 if start else 0
    for number, step in enumerate(steps):
        level = number + first_level
        rows_out = sum(n for found, n in rows.items() if found >= level)
        users_out = sum(n for found, n in users.items() if found >= level)
        funnel.append(
            FunnelStep(start + number, step.name, step.setting, rows_in, rows_out, users_out)
        )
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

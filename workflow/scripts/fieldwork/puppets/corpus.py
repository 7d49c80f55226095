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
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from fieldwork.errors import StudyError, first_line, size_text
from fieldwork.files.sheets import ending, is_readable
from fieldwork.progress import Progress
from fieldwork.puppets.adapters import (
    CHOSEN,
    KEPT,
    SLIM_ROWS,
    SourceQuery,
    SourceRead,
    open_source,
    slim_fields,
)
from fieldwork.puppets.conversations.exports import ZIP, conversation_files
from fieldwork.puppets.conversations.formats import (
    CONVERTED_FORMATS,
    MESSAGES,
    own_file_format,
    public_format,
)
from fieldwork.puppets.conversations.staging import (
    STAGED_FORMAT,
    USUAL_NAMES,
    ColumnsAndRoles,
    stage,
)
from fieldwork.puppets.files import Database, literal
from fieldwork.puppets.filters import (
    NOT_IN_CORPUS,
    Filters,
    Step,
    filter_steps,
    ladder,
    text_steps,
)
from fieldwork.puppets.parts import READ_ERRORS, deal_out, pick, read_fields
from fieldwork.records.puppets import Conversation, FunnelStep
from fieldwork.streams import copy_tables
from fieldwork.tables import (
    DATABASE_ERRORS,
    OUT_OF_MEMORY,
    open_database,
)

# Text shrinks to less than this part of itself under Snappy and Zstandard.
COMPRESSION = 2
ROWS_PER_BATCH = 512
# Small parts are put in order within what the processor keeps close; each is a file that stays open.
PART_OF_LIMIT = 32
MOST_PARTS = 256

UNREADABLE: tuple[type[Exception], ...] = (*DATABASE_ERRORS, *READ_ERRORS, OSError)

logger = logging.getLogger(__name__)


def prepare_corpus(
    files: Sequence[Path],
    *,
    format: str | None,
    filters: Filters,
    out: Path,
    reading: ColumnsAndRoles = USUAL_NAMES,
    memory_limit: str = "2GB",
    threads: int = 1,
) -> list[FunnelStep]:
    """Write the conversations that pass the filters to `out`; return what each filter let through.

    Step 0 is `rows read`: its `rows_in` counts rows of the files (messages in OASST2), its
    `rows_out` conversations. The last two need the texts: `readable` drops conversations with a
    message that has no text or an unknown role, or without any text by the user; `distinct` drops
    repeats of a conversation. Until then one that only its text can name is a user of its own.
    `n_tokens` is an estimate: a message counts its UTF-8 bytes / 4, rounded up, plus 4.

    Args:
        format: one of `adapters.formats()` or `formats.OWN`; None for the one that the files are in.
        reading: what is said of files in a format of `formats.OWN`.

    Raises:
        StudyError: no files, an unreadable or empty file, columns missing for the format, a date
            that is none, no conversation left, or too little disk for those that are.
    """
    _check_files(files)
    with (
        open_database(memory_limit=memory_limit, threads=threads) as database,
        _explained(files, memory_limit, out),
        ExitStack() as stack,
    ):
        database.execute("SET preserve_insertion_order = false; SET parquet_metadata_cache = true")
        folder = stack.enter_context(_emptied(out.with_name(f".{out.name}.parts")))
        source = _opened(database, files, folder, format, reading)
        steps = filter_steps(filters, source.present)
        _warn_of_absent(files, steps)
        _read_levels(database, source, steps, threads)
        funnel = _funnel(database, "levels", [Step("rows read", "", ""), *steps], source.n_rows)
        _refuse_empty(files, funnel)
        n_bytes = _choose_rows(database, source, level=len(steps))
        _require_space(out, n_bytes)
        _read_texts(database, source, folder, _cuts(database, n_bytes))
        steps = text_steps()
        funnel += _funnel(database, "told", steps, funnel[-1].rows_out, start=len(funnel))
        _refuse_empty(files, funnel)
        kept = _kept(database, folder, level=len(steps))
        copy_tables(database, kept, out, Conversation)
    return funnel


def _opened(
    database: Database,
    files: Sequence[Path],
    folder: Path,
    format: str | None,
    reading: ColumnsAndRoles,
) -> SourceQuery:
    """The corpus as SQL: a public one as it is, any other once it is written anew in `folder`."""
    # columns that are mapped are those of files of one's own
    own = MESSAGES if reading.columns or reading.roles else None
    form = format or own or public_format(files)
    if form and form not in CONVERTED_FORMATS:
        logger.info("read as `format: %s`", form)
        _refuse_other_kinds(files, form)
        return open_source(database, files, format=form)
    chosen = conversation_files(files)
    form = form or own_file_format(chosen)
    logger.info("read as `format: %s`", form)
    staged = stage(database, chosen, folder, format=form, reading=reading)
    source = open_source(database, [staged.path], format=STAGED_FORMAT)
    return source._replace(present=source.present & staged.present)


def _refuse_other_kinds(files: Sequence[Path], format: str) -> None:
    for file in files:
        if ending(file) != ".parquet" and (is_readable(file) or ending(file) == ZIP):
            raise StudyError(
                f"{file}: `format: {format}` is read from Parquet; remove `format:` and the file is read "
                f"by its columns"
            )


def _warn_of_absent(files: Sequence[Path], steps: Sequence[Step]) -> None:
    """Say which filters let everything through, since the corpus does not have what they look at."""
    idle = [step.name for step in steps if step.setting.endswith(f"({NOT_IN_CORPUS})")]
    if idle:
        logger.warning(
            "%s: the corpus says nothing that %s could look at, so every conversation passes; turn such "
            "filters off in the corpus's `filters` if that is right",
            *(files[0], " and ".join(idle)),
        )


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
def _emptied(folder: Path) -> Iterator[Path]:
    """A folder to work in, without what a killed run left there; it is gone afterwards."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


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
        name_list = ", ".join(str(file) for file in files[:3])
        raise StudyError(
            f"{name_list}: the corpus cannot be read ({reason}); download it again or set its `path:` "
            f"to a sound copy"
        ) from error


def _read_levels(
    database: Database, source: SourceQuery, steps: Sequence[Step], threads: int
) -> None:
    """Make `levels`: a slim row a conversation, with the number of steps it passes in a row.

    No text is read: a file's texts are nearly all of it. A file is one thread's, and one transaction.
    """
    names = ", ".join(f"{name} {kind}" for name, kind in KEPT.items())
    database.execute(f"""
        CREATE TABLE levels (row_key BIGINT, user_id VARCHAR, n_messages BIGINT, level INTEGER,
            kept STRUCT({names}))""")
    kept = ", ".join(f"{name} := {name}" for name in KEPT)
    insert = f"""INSERT INTO levels SELECT row_key, user_id, n_messages, level,
        if(level = {len(steps)}, struct_pack({kept}), NULL)
        FROM (SELECT *, {ladder(steps)} AS level FROM"""

    def read(one: SourceRead) -> None:
        with database.cursor() as own:
            _read_slim(own, one, insert)

    with (
        Progress("read corpus", len(source.reads), "files") as progress,
        ThreadPoolExecutor(threads) as pool,
    ):
        for _ in pool.map(read, source.reads):
            progress.update()


def _read_slim(database: Database, read: SourceRead, insert: str) -> None:
    if read.file is not None:
        database.execute("BEGIN")
        try:
            for rows in read_fields(read.file, slim_fields()):
                database.register(SLIM_ROWS, rows)
                database.execute(f"{insert} ({read.quick}))")
                database.unregister(SLIM_ROWS)
            database.execute("COMMIT")
            return
        except UNREADABLE as error:
            database.execute("ROLLBACK")
            # text that is not valid UTF-8, say, which the slow way replaces
            logger.info("%s: read in full (%s)", read.file, first_line(error))
    database.execute(f"{insert} ({read.slim}))")


def _choose_rows(database: Database, source: SourceQuery, *, level: int) -> int:
    """Make the table `CHOSEN` of the rows at a level; return about how many bytes their texts have.

    A message counts as long as the corpus's are on average.
    """
    database.execute(f"""
        CREATE TABLE {CHOSEN} AS
        SELECT row_key, n_messages, unnest(kept) FROM levels WHERE level = {level:d}""")
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
        SELECT row_key, conversation_id, user_id, part, {ladder(text_steps())} AS level
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
        "the corpus needs about %s of disk at %s; %s are free",
        size_text(needed),
        out.parent,
        size_text(free),
    )
    if needed > free:
        raise StudyError(
            f"{out}: about {size_text(needed)} of disk are needed and {size_text(free)} are free; "
            f"free some, tighten `filters`, or choose another place with snakemake --directory"
        )


def _funnel(
    database: Database, table: str, steps: Sequence[Step], rows_in: int, *, start: int = 0
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

"""The corpus: conversations of real users, filtered, in one table, with a count after each filter.

What needs no text (users, turns, languages, verdicts, dates) is read and filtered first. Then the texts
of the remaining conversations are read once. The corpus is never held in memory: it is read file by file,
and DuckDB streams within `memory_limit` and spills to disk. Promises an error before texts are written if
the disk is too small, rows ordered by `conversation_id`, and equal bytes for equal files and filters,
whatever the memory and the threads.

Each conversation of LMSYS-Chat-1M counts as a user of its own, because that corpus names no users. So
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
from fieldwork.pseudonyms import PUBLIC_KEY, pseudonym_macro
from fieldwork.puppets.adapters import (
    CHOSEN_ROWS,
    SLIM_COLUMNS,
    SLIM_ROWS,
    SourceQuery,
    SourceRead,
    open_source,
    slim_fields,
)
from fieldwork.puppets.conversations.exports import (
    CONVERTED_FORMATS,
    MESSAGES,
    ZIP,
    conversation_files,
    own_file_format,
    public_format,
)
from fieldwork.puppets.conversations.staging import (
    STAGED_FORMAT,
    USUAL_NAMES,
    ColumnsAndRoles,
    stage,
)
from fieldwork.puppets.files import (
    READ_ERRORS,
    Database,
    literal,
    read_fields,
    split_rows,
    take_rows,
)
from fieldwork.puppets.filters import (
    NOT_IN_CORPUS,
    FilterStep,
    count_passes,
    filter_steps,
    text_steps,
)
from fieldwork.records.puppets import Conversation, FunnelStep
from fieldwork.sections.corpora import FiltersSection
from fieldwork.streams import copy_tables
from fieldwork.tables import DATABASE_ERRORS, OUT_OF_MEMORY, open_database
from fieldwork.token_estimate import message_tokens_sql

# Snappy and Zstandard shrink text by more than this factor.
COMPRESSION = 2
ROWS_PER_BATCH = 512
# Small parts are sorted within the processor's cache; each part is a file that stays open.
PART_OF_LIMIT = 32
MOST_PARTS = 256

UNREADABLE: tuple[type[Exception], ...] = (*DATABASE_ERRORS, *READ_ERRORS, OSError)

logger = logging.getLogger(__name__)


def prepare_corpus(
    files: Sequence[Path],
    *,
    format: str | None,
    filters: FiltersSection,
    out: Path,
    reading: ColumnsAndRoles = USUAL_NAMES,
    key: bytes = PUBLIC_KEY,
    memory_limit: str = "2GB",
    threads: int = 1,
) -> list[FunnelStep]:
    """Write the conversations that pass the filters to `out`; return the count after each filter.

    Step 0 is `rows read`: its `rows_in` counts rows of the files (messages in OASST2), its `rows_out`
    conversations. The last three steps need the texts. `readable` drops conversations with a message that
    has no text or an unknown role, and those without any text by the user. `distinct` drops repeats of a
    conversation. Before that, a conversation whose id depends on its text counts as a user of its own.
    `n_tokens` is an estimate (`token_estimate`).

    Args:
        format: one of `adapters.CORPUS_FORMATS` or `exports.CONVERTED_FORMATS`; None to recognise it.
        reading: the settings `columns` and `roles`, for files in a format of `exports.CONVERTED_FORMATS`.
        key: of the pseudonyms of users and conversations.

    Raises:
        StudyError: there are no files, a file is unreadable or empty, or lacks columns of the format, no
            conversation is left, or the disk is too small.
    """
    _check_files(files)
    with (
        open_database(memory_limit=memory_limit, threads=threads) as database,
        _disk_errors(files, memory_limit, out),
        ExitStack() as stack,
    ):
        database.execute("SET preserve_insertion_order = false; SET parquet_metadata_cache = true")
        database.execute(pseudonym_macro(key))
        folder = stack.enter_context(_working_folder(out.with_name(f".{out.name}.parts")))
        source = _open_corpus(database, files, folder, format, reading)
        steps = filter_steps(filters, source.present)
        _warn_of_absent(files, steps)
        _read_levels(database, source, steps, threads)
        funnel = _funnel(
            database, "levels", [FilterStep("rows read", "", ""), *steps], source.n_rows
        )
        _refuse_empty(files, funnel)
        n_bytes = _choose_rows(database, source, level=len(steps))
        _require_space(out, n_bytes)
        steps = text_steps(filters)
        _read_texts(database, source, folder, _cuts(database, n_bytes), count_passes(steps))
        funnel += _funnel(database, "text_levels", steps, funnel[-1].rows_out, start=len(funnel))
        _refuse_empty(files, funnel)
        batches = _part_batches(database, folder, level=len(steps))
        copy_tables(database, batches, out, Conversation)
    return funnel


def _open_corpus(
    database: Database,
    files: Sequence[Path],
    folder: Path,
    format: str | None,
    reading: ColumnsAndRoles,
) -> SourceQuery:
    """The corpus as SQL: a public one as it is, any other after its conversion in `folder`."""
    # only files of the user's own have the settings `columns` and `roles`
    own_form = MESSAGES if reading.columns or reading.roles else None
    form = format or own_form or public_format(files)
    if form and form not in CONVERTED_FORMATS:
        logger.info("read as `format: %s`", form)
        _refuse_other_kinds(files, form)
        return open_source(database, files, format=form)
    sources = conversation_files(files)
    form = form or own_file_format(sources)
    logger.info("read as `format: %s`", form)
    conversion = stage(database, sources, folder, format=form, reading=reading)
    source = open_source(database, [conversion.path], format=STAGED_FORMAT)
    return source._replace(present=source.present & conversion.present)


def _refuse_other_kinds(files: Sequence[Path], format: str) -> None:
    for file in files:
        if ending(file) != ".parquet" and (is_readable(file) or ending(file) == ZIP):
            raise StudyError(
                f"{file}: `format: {format}` needs Parquet files; remove `format` from the corpus to "
                f"have the file read by the names of its columns"
            )


def _warn_of_absent(files: Sequence[Path], steps: Sequence[FilterStep]) -> None:
    """Name the filters that let everything pass, because the corpus lacks the column they look at."""
    names = [step.name for step in steps if step.setting.endswith(f"({NOT_IN_CORPUS})")]
    if names:
        logger.warning(
            "%s: the corpus has no column for %s, so every conversation passes; turn a filter off in the "
            "corpus's `filters` if that is right",
            *(files[0], ", ".join(names)),
        )


def _check_files(files: Sequence[Path]) -> None:
    if not files:
        raise StudyError(
            "the corpus has no files; correct its `path`, or the pattern in its `files`"
        )
    for file in files:
        if not file.is_file():
            raise StudyError(
                f"{file}: the file does not exist; correct the `path` of the corpus, or download it again"
            )


@contextmanager
def _working_folder(folder: Path) -> Iterator[Path]:
    """An empty folder to work in, which is deleted afterwards."""
    # a killed run may have left files there
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _disk_errors(files: Sequence[Path], memory_limit: str, out: Path) -> Iterator[None]:
    """Turn an error of the database or the disk into a sentence."""
    try:
        yield
    except OUT_OF_MEMORY as error:
        raise StudyError(
            f"the corpus does not fit into `memory_limit: {memory_limit}`; raise it, or lower `threads`"
        ) from error
    except OSError as error:
        raise StudyError(
            f"{out}: the corpus cannot be written ({first_line(error)}); free disk space, or choose "
            f"another place with snakemake --directory"
        ) from error
    except (*DATABASE_ERRORS, *READ_ERRORS) as error:
        reason = first_line(error)
        names = ", ".join(map(str, files[:3]))
        raise StudyError(
            f"{names}: the corpus cannot be read ({reason}); download it again, or set its `path` to an "
            f"undamaged copy"
        ) from error


def _read_levels(
    database: Database, source: SourceQuery, steps: Sequence[FilterStep], threads: int
) -> None:
    """Make the table `levels`: one slim row a conversation, with the number of steps that it passes.

    No text is read, because texts are nearly all of a file. Each file is one thread and one transaction.
    """
    names = ", ".join(f"{name} {kind}" for name, kind in SLIM_COLUMNS.items())
    database.execute(f"""
        CREATE TABLE levels (row_key BIGINT, user_id VARCHAR, n_messages BIGINT, level INTEGER,
            slim STRUCT({names}))""")
    slim = ", ".join(f"{name} := {name}" for name in SLIM_COLUMNS)
    insert = f"""INSERT INTO levels SELECT row_key, user_id, n_messages, level,
        if(level = {len(steps)}, struct_pack({slim}), NULL)
        FROM (SELECT *, {count_passes(steps)} AS level FROM"""

    def read(source_read: SourceRead) -> None:
        with database.cursor() as cursor:
            _read_slim(cursor, source_read, insert)

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
            # text that is not valid UTF-8, for example, which the slow query replaces
            logger.info("%s: read with its texts (%s)", read.file, first_line(error))
    database.execute(f"{insert} ({read.slim}))")


def _choose_rows(database: Database, source: SourceQuery, *, level: int) -> int:
    """Make the table `CHOSEN_ROWS` of the rows at a level; return roughly the bytes of their texts.

    Every message counts as long as the average message of the corpus.
    """
    database.execute(f"""
        CREATE TABLE {CHOSEN_ROWS} AS
        SELECT row_key, n_messages, unnest(slim) FROM levels WHERE level = {level:d}""")
    [(n_chosen, n_all)] = database.execute(f"""
        SELECT (SELECT sum(n_messages) FROM {CHOSEN_ROWS}), (SELECT sum(n_messages) FROM levels)
        """).fetchall()
    return source.text_bytes * int(n_chosen) // max(int(n_all), 1)


def _cuts(database: Database, n_bytes: int) -> list[str]:
    """Ids that cut the corpus into parts, each of which fits into memory several times.

    Parts are as even as ids and lengths allow before the texts are read. The rows that are written do not
    depend on them.
    """
    [(limit,)] = database.execute(
        "SELECT parse_formatted_bytes(current_setting('memory_limit'))"
    ).fetchall()
    n_parts = min(max(-(-n_bytes // (int(limit) // PART_OF_LIMIT)), 1), MOST_PARTS)
    rows = database.execute(f"""
        SELECT min(place) AS cut FROM (
            SELECT place, (sum(n_messages) OVER (ORDER BY place, row_key) - 1) * {n_parts:d}
                // (SELECT sum(n_messages) FROM {CHOSEN_ROWS}) AS part
            FROM {CHOSEN_ROWS})
        WHERE part > 0 GROUP BY part ORDER BY cut""").fetchall()
    return [cut for (cut,) in rows]


def _read_texts(
    database: Database, source: SourceQuery, folder: Path, cuts: Sequence[str], level: str
) -> None:
    """Write the chosen conversations to one file for each part; make `text_levels` without messages."""
    with Progress("read texts", len(source.reads), "files") as progress:
        readers = (
            database.sql(_text_query(read.full, cuts)).to_arrow_reader(ROWS_PER_BATCH)
            for read in source.reads
        )
        for number, rows in enumerate(split_rows(readers, folder, wide="messages")):
            into = "INSERT INTO facts" if number else "CREATE TEMP TABLE facts AS"
            database.register("arrivals", rows)
            database.execute(f"{into} SELECT * FROM arrivals")
            database.unregister("arrivals")
            progress.update()
    database.execute(f"""
        CREATE TEMP TABLE text_levels AS
        SELECT row_key, conversation_id, user_id, part, {level} AS level
        FROM (SELECT *, row_number() OVER (PARTITION BY conversation_id, readable
                ORDER BY started_at, user_id, n_tokens, row_key) AS copy
            FROM facts)""")


def _text_query(query: str, cuts: Sequence[str]) -> str:
    cut_list = f"[{', '.join(literal(cut) for cut in cuts)}]::VARCHAR[]"
    return rf"""
        SELECT *, len(list_filter({cut_list}, lambda cut: cut <= conversation_id)) AS part,
            list_sum(list_transform(messages, lambda m: {message_tokens_sql("m.content")}))::BIGINT
                AS n_tokens,
            len(list_filter(messages, lambda m: m.content IS NULL
                OR coalesce(m.role NOT IN ('system', 'user', 'assistant'), true))) = 0
            AND len(list_filter(messages, lambda m: m.role = 'user'
                AND regexp_matches(m.content, '\S'))) > 0 AS readable
        FROM ({query})"""


def _part_batches(database: Database, folder: Path, *, level: int) -> Iterator[Any]:
    """The conversations of a level in the order of their ids, a batch of a part at a time."""
    parts = database.execute(
        f"SELECT DISTINCT part FROM text_levels WHERE level = {level:d} ORDER BY part"
    ).fetchall()
    with Progress("sort corpus", len(parts), "parts") as progress:
        for (part,) in parts:
            rows = database.sql(
                f"SELECT row_key FROM text_levels WHERE level = {level:d} AND part = {part:d} "
                "ORDER BY conversation_id"
            ).to_arrow_table()
            yield from take_rows(folder, part, rows["row_key"].combine_chunks(), by="row_key")
            progress.update()


def _require_space(out: Path, n_bytes: int) -> None:
    """Refuse a disk that is too small, before it is used: texts wait uncompressed, then are written."""
    n_needed = n_bytes + n_bytes // COMPRESSION
    folder = next(folder for folder in out.absolute().parents if folder.is_dir())
    free = shutil.disk_usage(folder).free
    sizes = (size_text(n_needed), out.parent, size_text(free))
    logger.info("the corpus needs about %s of disk at %s; %s are free", *sizes)
    if n_needed > free:
        raise StudyError(
            f"{out}: the corpus needs about {size_text(n_needed)} of disk, but {size_text(free)} are "
            f"free; free disk space, tighten `filters`, or choose another place with snakemake "
            f"--directory"
        )


def _funnel(
    database: Database, table: str, steps: Sequence[FilterStep], rows_in: int, *, start: int = 0
) -> list[FunnelStep]:
    """Steps from number `start` on; a row's level counts the steps that it passes, without step 0."""
    rows = dict(database.execute(f"SELECT level, count(*) FROM {table} GROUP BY level").fetchall())
    # A user remains after a step if any of the user's conversations does.
    tops = f"SELECT max(level) AS level FROM {table} GROUP BY user_id"
    users = dict(
        database.execute(f"SELECT level, count(*) FROM ({tops}) GROUP BY level").fetchall()
    )
    funnel = []
    for number, step in enumerate(steps):
        lowest = number + (1 if start else 0)
        rows_out = sum(n for level, n in rows.items() if level >= lowest)
        users_out = sum(n for level, n in users.items() if level >= lowest)
        counts = (rows_in, rows_out, users_out)
        funnel.append(FunnelStep(start + number, step.name, step.setting, *counts))
        rows_in = rows_out
    return funnel


def _refuse_empty(files: Sequence[Path], funnel: Sequence[FunnelStep]) -> None:
    for step in funnel:
        if step.rows_out:
            continue
        if step.step == 0:
            raise StudyError(
                f"{files[0]}: the corpus has no rows; set its `path` to files with conversations"
            )
        counts = ", ".join(f"{s.filter} {s.rows_out}" for s in funnel[: step.step + 1])
        raise StudyError(
            f"{files[0]}: no conversation is left after `{step.filter}: {step.setting}` (left after each "
            f"filter: {counts}); loosen that filter"
        )

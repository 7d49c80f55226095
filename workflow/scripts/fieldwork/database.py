"""The study as one DuckDB file: every table of it, and views over them.

Owns how tables are copied into the file, which can be moved, mailed and opened from any folder. Promises
that a table's rows keep the order of its Parquet files. The bytes of the file differ from run to run,
because DuckDB writes a random identifier into each file.
"""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import duckdb

from fieldwork.errors import StudyError, first_line
from fieldwork.tables import atomic_path, open_database, write_csv_tuples
from fieldwork.views import VIEWS

# values of a row that only the path of its file gives
_PLACES: Mapping[str, Mapping[str, str]] = {
    "conversations": {"corpus": "parse_path(file)[-2]"},
    "items": {"task": "parse_filename(file, true)"},
    "contexts": {"task": "parse_path(file)[-2]", "condition": "parse_filename(file, true)"},
    "requests": {"task": "parse_path(file)[-2]", "condition": "parse_filename(file, true)"},
}

_ANSWERS = """
SELECT model, task, condition, item_id, puppet_id, replicate, context_id, text,
    CASE outcome WHEN 'failed' THEN 'no answer arrived' END AS missing
FROM responses"""

_FIELD_ANSWERS = """
UNION ALL
SELECT model, task, 'field', item_id, participant_id, replicate, NULL, text,
    'excluded by the check ' || excluded_for
FROM field_answers"""

_CONTEXT = (
    r"array_to_string(list_transform(c.messages, lambda m: m.role || ': ' || m.content), e'\n')"
)

_JOIN_CONTEXTS = """
LEFT JOIN contexts c ON (c.task, c.condition, c.context_id, c.puppet_id)
    = (r.task, r.condition, r.context_id, r.puppet_id)
    AND (c.item_id IS NULL OR c.item_id = r.item_id)"""

_TRANSCRIPTS = """
CREATE VIEW transcripts AS
WITH answered AS ({answered}),
readings AS (
    SELECT answered.*, kind, outcome, reason,
        CASE kind WHEN 'list' THEN array_to_string(items, '; ') WHEN 'number' THEN value::VARCHAR
            ELSE letter END AS reading,
        coalesce(missing, CASE WHEN NOT is_counted THEN CASE
            WHEN kind = 'list' AND coalesce(len(items), 0) = 0 THEN reason
            WHEN kind = 'number' AND value IS NULL THEN reason
            ELSE 'a later answer of the same user' END END) AS left_out
    FROM answered LEFT JOIN answers
    ON (answered.model, answered.task, answered.condition, answered.item_id, answered.replicate)
        = (answers.model, answers.task, answers.condition, answers.item_id, answers.replicate)
        AND answered.puppet_id IS NOT DISTINCT FROM answers.puppet_id
)
SELECT r.model, r.task, r.condition, r.item_id, r.puppet_id, r.replicate, r.kind, i.question,
    {context} AS context, i.prompt, r.text AS answer, r.outcome, r.reading, r.reason, i.gold,
    r.left_out, r.left_out IS NULL AS counts
FROM readings r LEFT JOIN items i USING (task, item_id) {contexts}
"""


def write_database(path: str | Path, tables: Mapping[str, Sequence[str]]) -> None:
    """Write a DuckDB file with a table for each name, which holds the rows of its Parquet files.

    The column `file` says which file a row is from, unless the table has a column of that name. Where
    there are answers, the view `transcripts` shows them beside question, context and prompt.

    Raises:
        StudyError: a file cannot be read, or the disk refuses the database.
    """
    try:
        with atomic_path(path) as partial, open_database(file=partial) as database:
            for name, files in tables.items():
                _copy(database, name, files)
            if {"responses", "answers", "items"} <= tables.keys():
                database.execute(_transcripts(tables.keys()))
            for name, view in VIEWS.items():
                if {"estimates", *view.tables} <= tables.keys():
                    database.execute(f'CREATE VIEW "{name}" AS {view.select}')
    except duckdb.Error as error:
        raise StudyError(
            f"{path}: cannot be written ({first_line(error)}); free disk space, or delete the table that "
            f"the message names so that it is made again"
        ) from error
    finally:
        # DuckDB leaves its write-ahead log beside an unfinished file
        with suppress(OSError):
            Path(path).with_name(f".{Path(path).name}.partial.wal").unlink()


def write_views(tables: Mapping[str, Sequence[str]], outputs: Mapping[str, str]) -> None:
    """Write the views of estimates as CSV.

    Args:
        tables: files of the table of estimates, and of those that views take besides, by name.
        outputs: path by the name of a view.

    Raises:
        StudyError: the disk refuses a file.
    """
    with open_database() as database:
        for name, files in tables.items():
            database.read_parquet([*files]).create_view(name)
        for name, path in outputs.items():
            rows = database.sql(VIEWS[name].select)
            write_csv_tuples(path, rows.columns, rows.fetchall())


def _copy(database: duckdb.DuckDBPyConnection, name: str, files: Sequence[str]) -> None:
    paths = ", ".join("'" + file.replace("'", "''") + "'" for file in files)
    has_file = "file" in database.sql(f"FROM read_parquet([{paths}])").columns
    file_column = "" if has_file else ", filename = 'file'"
    places = "".join(f', {place} AS "{column}"' for column, place in _PLACES.get(name, {}).items())
    database.execute(
        f'CREATE TABLE "{name}" AS SELECT *{places} FROM read_parquet([{paths}]{file_column})'
    )


def _transcripts(tables: Collection[str]) -> str:
    has_contexts = "contexts" in tables
    return _TRANSCRIPTS.format(
        answered=_ANSWERS + (_FIELD_ANSWERS if "field_answers" in tables else ""),
        context=_CONTEXT if has_contexts else "NULL::VARCHAR",
        contexts=_JOIN_CONTEXTS if has_contexts else "",
    )

"""The study as one DuckDB file: every table of it, and views over them.

Owns how tables are copied into the file, which can be moved, mailed and opened from any folder, and the
comments that say there what tables and columns mean. Promises that a table's rows keep the order of its
Parquet files. The bytes of the file differ from run to run,
because DuckDB writes a random identifier into each file.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from fieldwork.dictionary import about, column_texts, row_types, views
from fieldwork.errors import StudyError, first_line
from fieldwork.records.columns import Column
from fieldwork.tables import atomic_path, open_database, write_csv_tuples, write_rows
from fieldwork.views import VIEWS, transcripts

# values of a row that only the path of its file gives
_PLACES: Mapping[str, Mapping[str, str]] = {
    "conversations": {"corpus": "parse_path(file)[-2]"},
    "items": {"task": "parse_filename(file, true)"},
    "contexts": {"task": "parse_path(file)[-2]", "condition": "parse_filename(file, true)"},
    "requests": {"task": "parse_path(file)[-2]", "condition": "parse_filename(file, true)"},
}
_VIEWS = "SELECT view_name FROM duckdb_views() WHERE NOT internal"
_VIEW_COLUMNS = f"""
SELECT table_name, column_name, data_type, comment FROM duckdb_columns()
WHERE table_name IN ({_VIEWS})
ORDER BY table_name, column_index"""

_FROM_PLACES = {
    "file": "the file that the row is from",
    "corpus": "the corpus, from the path of the file",
    "task": "the task, from the path of the file",
    "condition": "the condition, from the path of the file",
}


def write_database(path: str | Path, tables: Mapping[str, Sequence[str]]) -> None:
    """Write a DuckDB file with a table for each name, which holds the rows of its Parquet files.

    The column `file` says which file a row is from, unless the table has a column of that name. Where
    there are answers, the view `transcripts` shows them beside question, context and prompt. Tables of
    the dictionary, views and their columns have comments.

    Raises:
        StudyError: a file cannot be read, or the disk refuses the database.
    """
    try:
        with atomic_path(path) as partial, open_database(file=partial) as database:
            for name, files in tables.items():
                _copy(database, name, files)
            for name, view in {**VIEWS, "transcripts": transcripts(tables)}.items():
                if {*view.tables} <= tables.keys():
                    database.execute(f'CREATE VIEW "{name}" AS {view.select}')
            # at once, because DuckDB writes to the disk after every statement outside of a transaction
            database.begin()
            for name in tables.keys() & row_types().keys():
                _comment(database, "TABLE", name)
            for (name,) in database.execute(_VIEWS).fetchall():
                _comment(database, "VIEW", name)
            database.commit()
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


def view_columns() -> dict[str, list[Column]]:
    """The columns of every view, by its name, from a database of tables without rows."""
    columns: dict[str, list[Column]] = {}
    with TemporaryDirectory(prefix="fieldwork-") as folder:
        names = {table for view in views().values() for table in view.tables}
        files = {name: [f"{folder}/{name}.parquet"] for name in sorted(names)}
        for name, paths in files.items():
            write_rows(paths[0], [], row_types()[name])
        write_database(f"{folder}/study.duckdb", files)
        with open_database(file=f"{folder}/study.duckdb") as database:
            rows = database.execute(_VIEW_COLUMNS).fetchall()
    for view, name, kind, text in rows:
        columns.setdefault(view, []).append(Column(name, kind, None, None, text, None, ()))
    return columns


def _copy(database: duckdb.DuckDBPyConnection, name: str, files: Sequence[str]) -> None:
    paths = ", ".join("'" + file.replace("'", "''") + "'" for file in files)
    has_file = "file" in database.sql(f"FROM read_parquet([{paths}])").columns
    file_column = "" if has_file else ", filename = 'file'"
    places = "".join(f', {place} AS "{column}"' for column, place in _PLACES.get(name, {}).items())
    database.execute(
        f'CREATE TABLE "{name}" AS SELECT *{places} FROM read_parquet([{paths}]{file_column})'
    )


def _comment(database: duckdb.DuckDBPyConnection, kind: str, name: str) -> None:
    """Say in the database what a row of a table or view is, and what its columns mean."""
    texts = _FROM_PLACES | column_texts(name)
    comments = {f'{kind} "{name}"': about(name)}
    for column in texts.keys() & {*database.sql(f'FROM "{name}"').columns}:
        comments[f'COLUMN "{name}"."{column}"'] = texts[column]
    for place, text in comments.items():
        quoted_text = text.replace("'", "''")
        database.execute(f"COMMENT ON {place} IS '{quoted_text}'")

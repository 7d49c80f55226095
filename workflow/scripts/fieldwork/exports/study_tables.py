"""The tables that leave a study as files for statistics programs, read from its database.

Owns which tables these are, and what is left out of them: what real people wrote, and their pseudonyms.
One row of a table is one row of a file, in the table's own order.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from fieldwork import tables
from fieldwork.dictionary import row_types
from fieldwork.errors import StudyError, first_line
from fieldwork.exports.analysis_rows import AnswerForAnalysis, ItemForAnalysis
from fieldwork.records.answer_form import FormReading
from fieldwork.records.columns import columns_of, table_of
from fieldwork.records.field import FIELD
from fieldwork.records.judging import AlternativeAnnotator

WITHOUT_FIELD = (
    "Rows of real users are left out; estimates count them. `explorer.field: true` puts them in, once "
    "their consent allows it."
)
WITH_FIELD = (
    "Real users have numbers that stand for nothing outside these files, and none of the texts that "
    "they gave."
)

_OF_USERS = frozenset({"answers", "answer_forms", "accuracy_runs"})
"""Tables with a row for each answer or run of a user."""

_ANSWERS = """
SELECT a.* EXCLUDE (raw_items), CASE WHEN a.condition <> '{field}' THEN raw_items END AS raw_items,
    CASE WHEN a.condition <> '{field}' THEN t.answer END AS text, t.gold, t.counts, t.left_out,
    CASE WHEN t.gold IS NOT NULL AND a.outcome <> 'failed' THEN coalesce(a.letter = t.gold, false)
        END AS is_correct
FROM study.answers a LEFT JOIN transcripts t
ON (a.model, a.task, a.condition, a.item_id, a.replicate)
    = (t.model, t.task, t.condition, t.item_id, t.replicate)
    AND a.puppet_id IS NOT DISTINCT FROM t.puppet_id"""

# in the order of keyed hashes, which is that of nothing else
_PARTICIPANTS = """
CREATE TEMP TABLE participants AS
SELECT puppet_id AS pseudonym, printf('participant %04d', row_number() OVER (ORDER BY puppet_id)) AS name
FROM ({users})"""

_NAMED_USERS = """
SELECT s.* EXCLUDE (puppet_id), coalesce(p.name, s.puppet_id) AS puppet_id
FROM ({rows}) s LEFT JOIN participants p ON s.condition = '{field}' AND s.puppet_id = p.pseudonym"""

_NAMED_RATERS = """
SELECT * EXCLUDE (person), printf('person %04d', dense_rank() OVER (ORDER BY person)) AS person
FROM study.{name}"""


class StudyTable(NamedTuple):
    """A table as it leaves the study.

    Attributes:
        about: what a row is.
        notes: sentences on what is left out.
    """

    name: str
    row_type: type[Any]
    about: str
    notes: list[str]


class StudyDatabase:
    """The tables of a study's database, open for reading.

    Args:
        connection: of `open_tables`.
        has_field: whether answers of real users may leave the study.
    """

    def __init__(self, connection: Any, *, has_field: bool) -> None:
        self._connection = connection
        rows = connection.execute(
            "SELECT table_name FROM duckdb_tables() WHERE database_name = 'study'"
        ).fetchall()
        self._names = {name for (name,) in rows}
        tables_of_users = self._names & _OF_USERS
        users = " UNION ".join(
            f"SELECT puppet_id FROM study.{name} WHERE condition = '{FIELD}'"
            for name in sorted(tables_of_users)
        )
        connection.execute(_PARTICIPANTS.format(users=users))
        self._has_people = bool(connection.execute("FROM participants LIMIT 1").fetchall())
        self._has_field = has_field

    def tables(self) -> Iterator[StudyTable]:
        """Answers and their form, questions, and all estimates that the study has."""
        for row_type in _row_types():
            name = table_of(row_type).name
            if name in self._names:
                has_people = name in _OF_USERS and self._has_people
                notes = [WITH_FIELD if self._has_field else WITHOUT_FIELD] if has_people else []
                yield StudyTable(name, row_type, row_type.__doc__ or "", notes)

    def rows(self, table: StudyTable) -> Any:
        """The rows of a table, as an Arrow table with the columns of its row type."""
        columns = ", ".join(f'"{column.name}"' for column in columns_of(table.row_type))
        order = table_of(table.row_type).order_by
        # items are kept in a file a task
        order = f"task, {order}" if table.row_type is ItemForAnalysis else order
        query = f"SELECT {columns} FROM ({self._source(table)}) ORDER BY {order}"
        return self._connection.sql(query).to_arrow_table()

    def _source(self, table: StudyTable) -> str:
        if table.row_type is AlternativeAnnotator:
            return _NAMED_RATERS.format(name=table.name)
        if table.name not in _OF_USERS:
            return f"SELECT * FROM study.{table.name}"
        is_answers = table.row_type is AnswerForAnalysis
        rows = _ANSWERS.format(field=FIELD) if is_answers else f"SELECT * FROM study.{table.name}"
        users = _NAMED_USERS.format(rows=rows, field=FIELD)
        return users if self._has_field else f"{users} WHERE s.condition <> '{FIELD}'"


def _row_types() -> Iterator[type[Any]]:
    yield from (AnswerForAnalysis, FormReading, ItemForAnalysis)
    for row_type in row_types().values():
        if table_of(row_type).path.startswith("metrics/"):
            yield row_type


@contextmanager
def open_tables(database: str | Path, *, has_field: bool) -> Iterator[StudyDatabase]:
    """The tables of a study's database, which is not changed.

    Raises:
        StudyError: it cannot be read.
    """
    place = str(database).replace("'", "''")
    try:
        with tables.open_database() as connection:
            connection.execute(f"ATTACH '{place}' AS study (READ_ONLY)")
            connection.execute("USE study")
            yield StudyDatabase(connection, has_field=has_field)
    except tables.DATABASE_ERRORS as error:
        raise StudyError(
            f"{database}: cannot be read ({first_line(error)}); delete it so that it is made again"
        ) from error

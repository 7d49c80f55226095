"""Columns of one file that differ in spelling alone are one column: `Conversation ID`, `conversation_id`.

Promises that no value is lost: where a row has two such columns, one of them is empty, or both say the
same. Only names that conversations are read by count; other columns stay as they are.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from fieldwork.errors import StudyError
from fieldwork.files.headers import bare_name
from fieldwork.files.rows import cell_text, is_empty
from fieldwork.files.sheets import Record
from fieldwork.puppets.conversations.columns import KNOWN_NAMES, ColumnMap


def joined_spellings(
    file: str, records: Iterable[Record], column_map: ColumnMap
) -> Iterator[Record]:
    """The rows of a file, in which each column has one name: the setting's, else the first of the file.

    Raises:
        StudyError: a row says two things in two columns of one meaning.
    """
    settings = {bare_name(name): name for name in column_map.values() if name}
    first_names: dict[str, str] = {}
    names: dict[str, str] = {}
    for record in records:
        for name in record.fields:
            if name not in names:
                bare = bare_name(name)
                is_read = bare in KNOWN_NAMES or bare in settings
                usual = settings.get(bare, first_names.setdefault(bare, name))
                names[name] = usual if is_read else name
        if all(names[name] == name for name in record.fields):
            yield record
        else:
            yield Record(
                record.place, _joined_fields(file, record, names, frozenset(settings.values()))
            )


def _joined_fields(
    file: str, record: Record, names: dict[str, str], named_columns: frozenset[str]
) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    sources: dict[str, str] = {}
    for column, value in record.fields.items():
        name = names[column]
        if name not in fields or is_empty(fields[name]):
            fields[name], sources[name] = value, column
        elif is_empty(value) or _is_same(fields[name], value):
            continue
        elif name not in named_columns:
            raise StudyError(
                f"{file}: {record.place} says one thing in column {sources[name]!r} and another in "
                f"{column!r}, which is the same name; say in `columns` of the corpus which counts, or "
                f"delete the other"
            )
        elif column == name:
            fields[name] = value
    return fields


def _is_same(one: Any, other: Any) -> bool:
    return bool(one == other) or cell_text(one).strip() == cell_text(other).strip()

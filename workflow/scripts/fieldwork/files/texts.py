"""Texts from files that people write: plain text, one column of a table, or a whole table as text."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fieldwork.errors import StudyError, first_line
from fieldwork.files import delimited, json_values, sheets
from fieldwork.files.headers import name_list
from fieldwork.files.rows import cell_text

PLAIN = ".txt"
"""Ending of files with one text a line."""


def read_texts(files: Sequence[Path], column: str | None = None) -> list[str]:
    """The texts in files of any kind that `sheets` reads, or in .txt files with one text a line.

    Each entry of a list is a text. NULL is left out.

    Args:
        column: the column or key with the text; None for text files, lists of texts in JSON, and tables
            of one column.

    Raises:
        StudyError: a file is unreadable, lacks the column, or has several columns and none is named.
    """
    texts: list[str] = []
    for path in files:
        for value in _values(path, column):
            values = value if isinstance(value, list) else [value]
            texts += [cell_text(v) for v in values if v is not None]
    return texts


def _values(path: Path, column: str | None) -> Iterator[Any]:
    if path.suffix.lower() == PLAIN:
        yield from delimited.stream_lines(path)
    elif sheets.is_json(path):
        for place, value in json_values.stream_values(path):
            is_text = column is None and isinstance(value, str)
            yield value if is_text else _value_of(value, column, path, place)
    else:
        for place, fields in sheets.stream_records(path):
            yield _value_of(fields, column, path, place)


def _value_of(fields: Any, column: str | None, path: Path, place: str) -> Any:
    """The value of a column, or of the only one."""
    names = list(fields) if isinstance(fields, Mapping) else []
    if column is None and len(names) == 1:
        return fields[names[0]]
    if column is not None and column in names:
        return fields[column]
    columns = name_list(names) if names else "no columns"
    if column is None:
        raise StudyError(
            f"{path}: {place} has the columns {columns}; name the one with the text in `column`"
            if names
            else f"{path}: {place} is neither a text nor an object; write one of these for each row"
        )
    raise StudyError(
        f"{path}: {place} has no column {column!r} (it has {columns}); correct `column`"
    )


def read_text(path: str | Path) -> str:
    """The whole text of a UTF-8 file; StudyError when it cannot be read."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(
            f"{path}: cannot be read as UTF-8 text ({first_line(error)}); correct the path, or save the "
            f"file as UTF-8"
        ) from error


def read_table(path: str | Path, required_columns: Sequence[str] = ()) -> list[dict[str, str]]:
    """Rows of a table that a person edits, such as a CSV or Excel file; every cell is text.

    A row with fewer cells than the header ends in empty ones.

    Args:
        required_columns: columns that it must have.

    Raises:
        StudyError: the file cannot be read, names a column twice or lacks one, or a row is longer than
            the header.
    """
    names = sheets.column_names(Path(path))
    if missing := [name for name in required_columns if name not in names]:
        raise StudyError(
            f"{path}: no column {missing[0]!r} (its columns are {name_list(names)}); add it, or rename "
            f"one"
        )
    return [
        {name: cell_text(value) for name, value in fields.items()}
        for _, fields in sheets.stream_records(Path(path))
    ]

"""Texts from files that people write: plain, CSV, or whatever they point a persona source at."""

import csv
import gzip
import json
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fieldwork import tables
from fieldwork.errors import StudyError, first_line


def read_texts(files: Sequence[Path], column: str) -> list[str]:
    """The texts in a column of CSV, JSON, JSON-lines or Parquet files; a list counts by its entries.

    NULL is no text.

    Raises:
        StudyError: a file is unreadable or has no such column.
    """
    texts: list[str] = []
    for path in files:
        for row in _read_any(path):
            if not isinstance(row, dict) or column not in row:
                there = ", ".join(row) if isinstance(row, dict) else "no columns"
                raise StudyError(f"{path}: no column {column!r} (there are {there})")
            value = row[column]
            values = value if isinstance(value, list) else [value]
            texts += [str(v) for v in values if v is not None]
    return texts


def _read_any(path: Path) -> list[Any]:
    if path.suffix == ".parquet":
        return list(tables.read_arrow(path).to_pylist())
    if ".csv" in path.suffixes:
        return list(read_csv(path))
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8-sig") as handle:
            text = handle.read()
        if text.lstrip().startswith("["):
            return list(json.loads(text))
        # not splitlines: JSON strings may hold other characters it takes for line ends
        return [json.loads(line) for line in text.split("\n") if line.strip()]
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise StudyError(
            f"{path}: not a readable CSV, JSON or Parquet file ({first_line(error)})"
        ) from error


def read_text(path: str | Path) -> str:
    """A UTF-8 text file, whole; StudyError when it cannot be read."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(f"{path}: not a readable UTF-8 text file ({first_line(error)})") from error


def read_csv(path: str | Path, needed: Sequence[str] = ()) -> list[dict[str, str]]:
    """Rows of a CSV file with a header row, UTF-8 with or without a byte-order mark, gzip by suffix.

    A row with fewer cells than the header ends in empty ones.

    Args:
        needed: columns that it must have.

    Raises:
        StudyError: the file cannot be read, is not UTF-8, names a column twice or lacks one, or a row
            has more cells than the header.
    """
    source = Path(path)
    opener = gzip.open if source.suffix == ".gz" else open
    rows: list[dict[str, str]] = []
    try:
        with opener(source, "rt", newline="", encoding="utf-8-sig") as handle:
            reader = csv.DictReader(handle, restval="")
            names = [*(reader.fieldnames or ())]
            if twice := sorted({name for name in names if name and names.count(name) > 1}):
                raise StudyError(f"{path}: line 1 has the column {twice[0]!r} twice; rename one")
            if missing := [name for name in needed if name not in names]:
                raise StudyError(
                    f"{path}: no column {missing[0]!r} (there are {', '.join(names) or 'none'})"
                )
            for row in reader:
                if None in row:
                    line = reader.line_num
                    raise StudyError(f"{path}: line {line} has more cells than the header")
                rows.append(row)
    except (OSError, EOFError, zlib.error, UnicodeDecodeError, csv.Error) as error:
        raise StudyError(f"{path}: not a readable UTF-8 CSV file ({first_line(error)})") from error
    return rows

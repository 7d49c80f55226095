"""Files of rows under a header, whatever tool wrote them: CSV, TSV, Excel, Parquet and JSON.

The header is the first row that is not empty. Promises that a row keeps the number that a person sees,
that empty rows are left out, that a row is never longer than the header, and that no message quotes a
cell. CSV, TSV, Parquet and JSON are streamed; an Excel file is held in memory.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from fieldwork import streams, tables
from fieldwork.errors import StudyError
from fieldwork.files import delimited, json_values, workbooks
from fieldwork.files.rows import SheetRow, is_empty

_TEXT = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
_GZIP = ".gz"


class Sheet(NamedTuple):
    """A file's rows, each with as many cells as the header, which is the file's row `header_row`."""

    path: Path
    header: tuple[str, ...]
    rows: Iterable[SheetRow]
    header_row: int = 1


class Record(NamedTuple):
    """A row by the names of its columns, and where it is in the file: `row 3`, `line 3` or `entry 3`."""

    place: str
    fields: dict[str, Any]


def ending(path: Path) -> str:
    """The ending that says what kind a file is, in lower case: `.csv` or `.csv.gz`."""
    last = path.suffix.lower()
    return f"{Path(path.stem).suffix.lower()}{last}" if last == _GZIP else last


def read_sheet(path: Path) -> Sheet:
    """A file of cells; its rows are read lazily and can be iterated once.

    Raises:
        StudyError: the file is of another kind, unreadable or empty; while rows are iterated, a row is
            longer than the header.
    """
    reader = _READERS.get(ending(path))
    if reader is None:
        raise StudyError(
            f"{path}: this kind of file is not read; save it as one of {', '.join(_READERS)}"
        )
    records = (row for row in reader(path) if _without_tail(row.cells))
    first = next(records, None)
    if first is None:
        raise StudyError(f"{path}: the file is empty; write rows into it, or delete it")
    header = tuple(str(cell).strip() for cell in _without_tail(first.cells))
    sheet = Sheet(path, header, (), first.number)
    return sheet._replace(rows=(_fit_to_header(row, sheet) for row in records))


def stream_records(path: Path) -> Iterator[Record]:
    """The rows of a file of any kind by the names of their columns.

    A cell of CSV is text, and one of Excel is what the workbook holds. Cells of Parquet and JSON may be
    lists and objects. Rows of JSON may have different keys.

    Raises:
        StudyError: as `read_sheet`; or the header has a name twice, or a JSON value is not an object.
    """
    kind = ending(path)
    if is_json(path):
        return _objects(path)
    if kind == ".parquet":
        values = enumerate(streams.stream_values(path), start=1)
        return (Record(f"row {number}", fields) for number, fields in values)
    if kind not in _READERS:
        raise StudyError(
            f"{path}: this kind of file is not read; save it as one of {', '.join(kinds())}"
        )
    return _named_rows(read_sheet(path))


def column_names(path: Path) -> list[str]:
    """The columns of a file, even without rows; of a JSON file those of its first row.

    Raises:
        StudyError: as `read_sheet`.
    """
    if is_json(path):
        return [name for _, fields in islice(_objects(path), 1) for name in fields]
    return [name for name in read_sheet(path).header if name]


def kinds() -> tuple[str, ...]:
    """Endings of the files that `stream_records` reads; .gz may follow those of text files."""
    return (".csv", ".tsv", ".xlsx", ".parquet", *json_values.ENDINGS)


def is_readable(path: Path) -> bool:
    """Whether `stream_records` reads files of this ending."""
    return is_json(path) or ending(path) in _READERS


def is_json(path: Path) -> bool:
    """Whether a file is JSON by its ending."""
    return ending(path).removesuffix(_GZIP) in json_values.ENDINGS


def _objects(path: Path) -> Iterator[Record]:
    for place, value in json_values.stream_values(path):
        if not isinstance(value, dict):
            raise StudyError(f"{path}: {place} is not a JSON object; write one object for each row")
        yield Record(place, value)


def _named_rows(sheet: Sheet) -> Iterator[Record]:
    repeats = [name for name in sheet.header if name and sheet.header.count(name) > 1]
    if repeats:
        raise StudyError(
            f"{sheet.path}: row {sheet.header_row}, the header, names the column {repeats[0]!r} twice; "
            f"rename one of them"
        )
    for row in sheet.rows:
        yield Record(f"row {row.number}", dict(zip(sheet.header, row.cells, strict=True)))


def _without_tail(cells: Sequence[Any]) -> Sequence[Any]:
    """The cells up to the last one that holds something."""
    length = len(cells)
    while length and is_empty(cells[length - 1]):
        length -= 1
    return cells[:length]


def _fit_to_header(row: SheetRow, sheet: Sheet) -> SheetRow:
    width = len(sheet.header)
    if len(row.cells) > width and len(_without_tail(row.cells)) > width:
        quotes = "put texts that contain a separator in quotes, "
        raise StudyError(
            f"{sheet.path}: row {row.number} has more cells than the header in row "
            f"{sheet.header_row}; {quotes if ending(sheet.path) in _TEXT else ''}delete rows above the "
            f"header, and name every column"
        )
    return SheetRow(row.number, (*row.cells, *[""] * width)[:width])


def _parquet_rows(path: Path) -> Iterator[SheetRow]:
    table = tables.read_arrow(path)
    names = table.schema.names
    yield SheetRow(1, tuple(names))
    for number, record in enumerate(table.to_pylist(), start=2):
        yield SheetRow(number, tuple(record[name] for name in names))


_READERS: Mapping[str, Callable[[Path], Iterator[SheetRow]]] = {
    ".csv": delimited.stream_rows,
    ".tsv": partial(delimited.stream_rows, delimiters="\t"),
    ".csv.gz": delimited.stream_rows,
    ".tsv.gz": partial(delimited.stream_rows, delimiters="\t"),
    ".xlsx": workbooks.stream_rows,
    ".parquet": _parquet_rows,
}

"""Files of rows under a header, whatever tool wrote them: CSV, TSV, Excel, Parquet and JSON.

The header is the first row that is not empty. Promises that a row keeps the place a person sees, that
empty rows are left out, that a row is never longer than the header, and that no message quotes a cell.
CSV, TSV, Parquet and JSON are streamed; Excel is held whole.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from fieldwork import streams, tables
from fieldwork.errors import StudyError
from fieldwork.files import delimited, json_values, workbooks
from fieldwork.files.rows import Row, is_empty

_TEXT = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
_GZIP = ".gz"


class Sheet(NamedTuple):
    """A file's rows, each with as many cells as the header; `header_row` names it in messages."""

    path: Path
    header: tuple[str, ...]
    rows: Iterable[Row]
    header_row: int = 1


class Record(NamedTuple):
    """A row by the names of its columns, and its place in the file: `row 3`, `line 3` or `entry 3`."""

    place: str
    fields: dict[str, Any]


def ending(path: Path) -> str:
    """What tells the kind of a file, in lower case: `.csv` or `.csv.gz`."""
    last = path.suffix.lower()
    return f"{Path(path.stem).suffix.lower()}{last}" if last == _GZIP else last


def read_sheet(path: Path) -> Sheet:
    """A file of cells; its rows can be gone through once, and are read as they are asked for.

    Raises:
        StudyError: the file is of another kind, unreadable or empty, and while its rows are read, that
            a row is longer than the header.
    """
    reader = _readers().get(ending(path))
    if reader is None:
        raise StudyError(
            f"{path}: is none of {', '.join(_readers())}; save it as one of these kinds"
        )
    records = (row for row in reader(path) if _without_tail(row.cells))
    first = next(records, None)
    if first is None:
        raise StudyError(f"{path}: the file is empty; put rows there, or remove it")
    header = tuple(str(cell).strip() for cell in _without_tail(first.cells))
    sheet = Sheet(path, header, (), first.number)
    return sheet._replace(rows=(_fitted(row, sheet) for row in records))


def stream_records(path: Path) -> Iterator[Record]:
    """The rows of a file of any kind by the names of their columns.

    A cell of CSV is text and one of Excel is what the workbook holds; of Parquet and JSON, cells may be
    lists and objects. Rows of JSON may have different keys.

    Raises:
        StudyError: as `read_sheet`; or a name stands twice in the header, or a line of JSON is no object.
    """
    kind = ending(path)
    if is_json(path):
        return _objects(path)
    if kind == ".parquet":
        values = enumerate(streams.stream_values(path), start=1)
        return (Record(f"row {number}", fields) for number, fields in values)
    if kind not in _readers():
        raise StudyError(f"{path}: is none of {', '.join(kinds())}; save it as one of these kinds")
    return _named_rows(read_sheet(path))


def column_names(path: Path) -> list[str]:
    """The columns of a file, also of one without rows; of JSON those of its first row.

    Raises:
        StudyError: as `read_sheet`.
    """
    if is_json(path):
        return [name for _, fields in islice(_objects(path), 1) for name in fields]
    return [name for name in read_sheet(path).header if name]


def kinds() -> tuple[str, ...]:
    """Endings of the files that `stream_records` reads; those of text may be followed by .gz."""
    return (".csv", ".tsv", ".xlsx", ".parquet", *json_values.ENDINGS)


def is_readable(path: Path) -> bool:
    """Whether `stream_records` reads files of this ending."""
    return is_json(path) or ending(path) in _readers()


def is_json(path: Path) -> bool:
    """Whether a file is one of JSON by its ending."""
    return ending(path).removesuffix(_GZIP) in json_values.ENDINGS


def _objects(path: Path) -> Iterator[Record]:
    for place, value in json_values.stream_values(path):
        if not isinstance(value, dict):
            raise StudyError(f"{path}: {place} is not an object; write one object for each row")
        yield Record(place, value)


def _named_rows(sheet: Sheet) -> Iterator[Record]:
    repeated = [name for name in sheet.header if name and sheet.header.count(name) > 1]
    if repeated:
        raise StudyError(
            f"{sheet.path}: row {sheet.header_row} has the column {repeated[0]!r} twice; rename one"
        )
    for row in sheet.rows:
        yield Record(f"row {row.number}", dict(zip(sheet.header, row.cells, strict=True)))


def _without_tail(cells: Sequence[Any]) -> Sequence[Any]:
    """The cells up to the last one that holds something."""
    length = len(cells)
    while length and is_empty(cells[length - 1]):
        length -= 1
    return cells[:length]


def _fitted(row: Row, sheet: Sheet) -> Row:
    width = len(sheet.header)
    if len(row.cells) > width and len(_without_tail(row.cells)) > width:
        quotes = "put a text that holds a separator in quotes, "
        raise StudyError(
            f"{sheet.path}: row {row.number} has more cells than the header in row "
            f"{sheet.header_row}: {quotes if ending(sheet.path) in _TEXT else ''}delete rows above the "
            f"names of the columns, and name every column"
        )
    return Row(row.number, (*row.cells, *[""] * width)[:width])


def _parquet_rows(path: Path) -> Iterator[Row]:
    table = tables.read_arrow(path)
    names = table.schema.names
    yield Row(1, tuple(names))
    for number, record in enumerate(table.to_pylist(), start=2):
        yield Row(number, tuple(record[name] for name in names))


def _tab_rows(path: Path) -> Iterator[Row]:
    return delimited.stream_rows(path, "\t")


def _readers() -> dict[str, Callable[[Path], Iterator[Row]]]:
    return {
        ".csv": delimited.stream_rows,
        ".tsv": _tab_rows,
        ".csv.gz": delimited.stream_rows,
        ".tsv.gz": _tab_rows,
        ".xlsx": workbooks.stream_rows,
        ".parquet": _parquet_rows,
    }

"""Files of field data as they are: a header and rows of cells, whatever tool wrote them.

Owns the reading of CSV, TSV, Excel and Parquet; the header is the first row that is not empty.
Promises that a row keeps the number a person sees in the file, that no cell is guessed at, and that no
message quotes a cell: it may be what a participant is called.
"""

import csv
import io
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fieldwork import tables
from fieldwork.cells import plain
from fieldwork.errors import StudyError, first_line

_DELIMITERS = ",;\t"
_NOT_ASCII = re.compile(r"[\x80-\xff]+")
_SEPARATOR = re.compile(r'"?sep=(.)"?\r?(?:\n|$)', re.IGNORECASE)
"""The line by which Excel is told the separator; it shows no such row."""
_NO_TEXT = re.compile(r"[\x00-\x08]")
_MOST_CHARACTERS = 2**31 - 1
_TEXT = (".csv", ".tsv")
_WINDOWS = "Windows-1252"


class Row(NamedTuple):
    """A row and its number in the file; as many cells as the header has."""

    number: int
    cells: tuple[Any, ...]


class Sheet(NamedTuple):
    """A file's rows; `path` and the header's row name it in messages."""

    path: Path
    header: tuple[str, ...]
    rows: list[Row]
    header_row: int = 1


def read_sheet(path: Path) -> Sheet:
    """Read a file by its ending.

    Empty rows are left out, and so are the two rows that Qualtrics puts below the header. A cell of
    CSV is text; one of Excel or Parquet is what the file holds there.

    Raises:
        StudyError: the file is of another kind, unreadable, in mixed encodings, a row is longer
            than the header, or a workbook has several sheets or a formula without a value.
    """
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise StudyError(
            f"{path}: not one of {', '.join(READERS)}; export it as one of these, or leave it out of "
            f"`field.path`"
        )
    records = [row for row in reader(path) if _without_tail(row.cells)]
    if not records:
        raise StudyError(f"{path}: the file is empty; remove it, or put the answers there")
    header = tuple(str(cell).strip() for cell in _without_tail(records[0].cells))
    sheet = Sheet(path, header, [], records[0].number)
    return sheet._replace(rows=[_fitted(row, sheet) for row in records[_first_answer(records) :]])


def is_empty(cell: Any) -> bool:
    """Whether a cell holds nothing but spaces."""
    return cell is None or (isinstance(cell, str) and not cell.strip())


def _without_tail(cells: Sequence[Any]) -> Sequence[Any]:
    """The cells up to the last one that holds something."""
    length = len(cells)
    while length and is_empty(cells[length - 1]):
        length -= 1
    return cells[:length]


def _fitted(row: Row, sheet: Sheet) -> Row:
    width = len(sheet.header)
    if len(_without_tail(row.cells)) > width:
        quotes = "put an answer that holds a separator in quotes, "
        raise StudyError(
            f"{sheet.path}: row {row.number} has more cells than the header in row "
            f"{sheet.header_row}: {quotes if sheet.path.suffix.lower() in _TEXT else ''}delete rows "
            f"above the names of the columns, and name every column"
        )
    return Row(row.number, (*row.cells, *[""] * width)[:width])


def _first_answer(records: Sequence[Row]) -> int:
    """Index of the first row of answers: Qualtrics repeats its questions and their ids before it."""
    ids = [n for n, row in enumerate(records[:3]) if n and _holds_import_ids(row.cells)]
    return ids[-1] + 1 if ids else 1


def _holds_import_ids(cells: Iterable[Any]) -> bool:
    written = [str(cell) for cell in cells if not is_empty(cell)]
    return bool(written) and all(cell.startswith('{"ImportId":') for cell in written)


# ---- text files ----------------------------------------------------------------------------------


def _read_csv(path: Path) -> Iterator[Row]:
    return _read_text(path, _DELIMITERS)


def _read_tsv(path: Path) -> Iterator[Row]:
    return _read_text(path, "\t")


def _read_text(path: Path, delimiters: str) -> Iterator[Row]:
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise StudyError(f"{path}: cannot be read ({first_line(error)})") from error
    wide = _wide_text(raw, path)
    # each byte a character, so that rows can be told apart before their encoding is known
    text = wide if wide is not None else raw.removeprefix(b"\xef\xbb\xbf").decode("latin-1")
    if _NO_TEXT.search(text.lstrip("\r\n").split("\n", 1)[0]):
        raise StudyError(
            f"{path}: is no text; give the file the ending of its kind, or save it as UTF-8"
        )
    told = _SEPARATOR.match(text)
    text = text[told.end() :] if told else text
    delimiter = told[1] if told else _delimiter(text, delimiters)
    decode: Callable[[str], str] = str
    if wide is None:
        decode = _decoder(_encoding(_records(text, delimiter, path), path))
    records = _records(text, delimiter, path)
    return (Row(row.number, tuple(plain(decode(cell)) for cell in row.cells)) for row in records)


def _wide_text(raw: bytes, path: Path) -> str | None:
    """The text of a UTF-16 file; None for every other."""
    marked = raw[:2] in (b"\xff\xfe", b"\xfe\xff")
    sample = raw[:1000]
    if not marked and not (sample and sample.count(0) * 3 > len(sample)):
        return None
    unmarked = "utf-16-le" if sample[1::2].count(0) > sample[::2].count(0) else "utf-16-be"
    try:
        return raw.decode("utf-16" if marked else unmarked)
    except UnicodeDecodeError as error:
        number = raw[: error.start].decode("utf-16", "replace").count("\n") + 1
        raise StudyError(
            f"{path}: row {number} is not UTF-16 as the rows before it are; save the file as UTF-8"
        ) from error


def _delimiter(text: str, delimiters: str) -> str:
    """The one of `delimiters` that the header has most of outside quotes; the first where none."""
    head = re.sub(r'"[^"]*"', "", text[:100_000]).lstrip("\r\n").split("\n", 1)[0]
    return max(delimiters, key=head.count)


def _records(text: str, delimiter: str, path: Path) -> Iterator[Row]:
    """Rows as a spreadsheet counts them: an answer of several lines is in one row."""
    # answers are as long as people make them; the limit is the process's, whatever file is read
    csv.field_size_limit(_MOST_CHARACTERS)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    number = 0
    try:
        for number, cells in enumerate(reader, start=1):
            yield Row(number, tuple(cells))
    except csv.Error as error:
        raise StudyError(
            f"{path}: row {number + 1} cannot be read ({error}); export the file again, with quotes "
            f"inside an answer doubled"
        ) from error


def _encoding(records: Iterable[Row], path: Path) -> str:
    """What the file's bytes beyond ASCII are: all UTF-8 or all Windows-1252, else refused."""
    first: dict[str, int] = {}
    for row in records:
        for run in (run for cell in row.cells for run in _NOT_ASCII.findall(cell)):
            first.setdefault(_encoding_of(run.encode("latin-1")), row.number)
        if len(first) > 1:
            (one, where), (other, number) = first.items()
            raise StudyError(
                f"{path}: row {number} is {other} while row {where} is {one}; save the whole file as "
                f"UTF-8, after repairing the letters that look wrong in the one or the other"
            )
    return next(iter(first), "UTF-8")


def _encoding_of(run: bytes) -> str:
    try:
        run.decode("utf-8")
    except UnicodeDecodeError:
        return _WINDOWS
    return "UTF-8"


def _decoder(encoding: str) -> Callable[[str], str]:
    def decode(cell: str) -> str:
        if cell.isascii():
            return cell
        raw = cell.encode("latin-1")
        # the five bytes that Windows-1252 leaves open are control characters
        return raw.decode("utf-8") if encoding == "UTF-8" else raw.decode("cp1252", "replace")

    return decode


# ---- Excel and Parquet ---------------------------------------------------------------------------


def _read_excel(path: Path) -> Iterator[Row]:
    rows = _cells_of(path, of_formulas=False)
    if _holds_formulas(path):
        _refuse_no_value(rows, _cells_of(path, of_formulas=True), path)
    return iter(rows)


def _cells_of(path: Path, *, of_formulas: bool) -> list[Row]:
    """The rows of a workbook's one sheet; a cell with a formula as its value, or as the formula."""
    import pandas as pd  # half a second, which only a study with a workbook pays

    try:
        sheets = pd.read_excel(
            path,
            sheet_name=None,
            header=None,
            dtype=object,
            na_filter=False,
            engine="openpyxl",
            engine_kwargs={"data_only": not of_formulas},
        )
    except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile) as error:
        raise StudyError(
            f"{path}: not a readable Excel workbook ({first_line(error)}); save it as .xlsx without "
            f"a password, or as CSV"
        ) from error
    filled = {str(name): frame for name, frame in sheets.items() if not frame.empty}
    if len(filled) > 1:
        raise StudyError(
            f"{path}: has {len(filled)} sheets; save the one with the answers as a file of its own"
        )
    frames = list(filled.values())
    cells = frames[0].itertuples(index=False, name=None) if frames else iter(())
    return [Row(number, tuple(row)) for number, row in enumerate(cells, start=1)]


def _holds_formulas(path: Path) -> bool:
    """Whether a workbook must be read for them: few are, and it takes as long as its values."""
    with zipfile.ZipFile(path) as archive:
        sheets = [name for name in archive.namelist() if name.startswith("xl/worksheets/")]
        return any(re.search(rb"<f[ />]", archive.read(name)) for name in sheets)


def _refuse_no_value(values: Sequence[Row], formulas: Sequence[Row], path: Path) -> None:
    """Tools that write a text with = in front make it a formula that nothing ever worked out."""
    there = {row.number: row.cells for row in values}
    for row in formulas:
        cells = there.get(row.number, ())
        for n, cell in enumerate(row.cells):
            is_formula = isinstance(cell, str) and cell.startswith("=")
            if is_formula and (n >= len(cells) or is_empty(cells[n])):
                raise StudyError(
                    f"{path}: row {row.number}, column {n + 1} begins with = and is a formula without "
                    f"a value; save the answers as CSV, or this cell as text"
                )


def _read_parquet(path: Path) -> Iterator[Row]:
    table = tables.read_arrow(path)
    names = table.schema.names
    yield Row(1, tuple(names))
    for number, record in enumerate(table.to_pylist(), start=2):
        yield Row(number, tuple(record[name] for name in names))


READERS: dict[str, Callable[[Path], Iterator[Row]]] = {
    ".csv": _read_csv,
    ".tsv": _read_tsv,
    ".xlsx": _read_excel,
    ".parquet": _read_parquet,
}
"""The kinds of file that are read, by ending."""

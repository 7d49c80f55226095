"""Text files of separated cells (CSV, TSV), whatever program wrote them.

Owns how separator and encoding are recognised: comma, semicolon, tab or the one that Excel's line
`sep=` names; UTF-8, UTF-16 or Windows-1252 (which includes Latin-1). Promises that a row keeps the number
that a spreadsheet shows, that no cell is guessed or quoted in a message, and that a file which mixes
encodings is refused. Files are streamed: memory is that of the longest row. `csv.Sniffer` and encoding
detectors are not used, because they guess from a sample and cannot say which row is wrong.
"""

import codecs
import csv
import io
import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from fieldwork.errors import StudyError
from fieldwork.files.compressed import open_bytes, read_errors
from fieldwork.files.rows import SheetRow

ANY_DELIMITER = ",;\t"

_NOT_ASCII = re.compile(r"[\x80-\xff]+")
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?\r?(?:\n|$)', re.IGNORECASE)
"""The line that tells Excel the separator; Excel shows no such row."""
_NOT_TEXT = re.compile(r"[\x00-\x08]")
_MOST_CHARACTERS = 2**31 - 1
_HEAD = 100_000
_CHUNK = 1 << 20


class _Dialect(NamedTuple):
    """How a file is read: its encoding, how many characters at its start are skipped, its separator."""

    encoding: str
    n_skipped: int
    delimiter: str


def stream_rows(path: Path, delimiters: str = ANY_DELIMITER) -> Iterator[SheetRow]:
    """The rows of a text file; one whose name ends in .gz is decompressed.

    Args:
        delimiters: characters that may separate cells; the one that the header has most of does.

    Raises:
        StudyError: the file cannot be read, is not text, mixes encodings, or its quotes do not close.
    """
    with read_errors(path):
        wide = _wide_encoding(path)
        # each byte a character, so that rows can be told apart before their encoding is known
        dialect = _dialect(path, wide or "latin-1", delimiters)
        if wide is None:
            dialect = dialect._replace(encoding=_narrow_encoding(path, _rows(path, dialect)))
        yield from _rows(path, dialect)


def stream_lines(path: Path) -> Iterator[str]:
    """The lines of a text file without their ends.

    Raises:
        StudyError: the file cannot be read, or mixes encodings.
    """
    with read_errors(path):
        wide = _wide_encoding(path)
        lines = _lines(path, wide or "latin-1")
        encoding = wide or _narrow_encoding(
            path, (SheetRow(number, (line,)) for number, line in enumerate(lines, start=1))
        )
        yield from _lines(path, encoding)


def _lines(path: Path, encoding: str) -> Iterator[str]:
    with _open_text(path, encoding) as text:
        yield from (line.rstrip("\r\n") for line in text)


@contextmanager
def _open_text(path: Path, encoding: str) -> Iterator[io.TextIOWrapper]:
    # the five bytes that Windows-1252 leaves open are control characters
    errors = "replace" if encoding == "cp1252" else "strict"
    with open_bytes(path) as raw:
        if raw.read(len(codecs.BOM_UTF8)) != codecs.BOM_UTF8:
            raw.seek(0)
        with io.TextIOWrapper(raw, encoding, errors, newline="") as text:
            yield text


def without_rows(path: Path, numbers: Collection[int], delimiters: str = ANY_DELIMITER) -> bytes:
    """A text file without some rows, by their numbers; every other byte is as it was."""
    content = path.read_bytes()
    wide = _wide_encoding(path)
    # each byte a character, or the order of bytes that the mark of UTF-16 names
    is_big = wide == "utf-16-be" or content.startswith(codecs.BOM_UTF16_BE)
    encoding = ("utf-16-be" if is_big else "utf-16-le") if wide else "latin-1"
    dialect = _dialect(path, wide or "latin-1", delimiters)
    text = content.decode(encoding)
    mark = next(
        (m for m in (codecs.BOM_UTF8.decode("latin-1"), "\ufeff") if text.startswith(m)), ""
    )
    start = len(mark) + dialect.n_skipped
    lines = list(io.StringIO(text[start:], newline=""))
    csv.field_size_limit(_MOST_CHARACTERS)
    reader = csv.reader(iter(lines), delimiter=dialect.delimiter, strict=True)
    parts, first = [text[:start]], 0
    for number, _ in enumerate(reader, start=1):
        parts += lines[first : reader.line_num] if number not in numbers else []
        first = reader.line_num
    return "".join(parts).encode(encoding)


# ---- separator -----------------------------------------------------------------------------------


def _dialect(path: Path, encoding: str, delimiters: str) -> _Dialect:
    with _open_text(path, encoding) as text:
        head = text.read(_HEAD)
    separator_line = _SEPARATOR_LINE.match(head)
    start = separator_line.end() if separator_line else 0
    first_row = head[start:].lstrip("\r\n")
    if _NOT_TEXT.search(first_row.split("\n", 1)[0]):
        raise StudyError(
            f"{path}: is not a text file; give it the ending of its kind (such as .xlsx), or save it as "
            f"CSV in UTF-8"
        )
    if separator_line:
        return _Dialect(encoding, start, separator_line[1])
    header = re.sub(r'"[^"]*"', "", first_row).split("\n", 1)[0]
    return _Dialect(encoding, start, max(delimiters, key=header.count))


# ---- encoding ------------------------------------------------------------------------------------


def _wide_encoding(path: Path) -> str | None:
    """UTF-16 in the order of its bytes, once the whole file was read as that; None for others."""
    with open_bytes(path) as raw:
        sample = raw.read(1000)
    has_mark = sample[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    if not has_mark and not (sample and sample.count(0) * 3 > len(sample)):
        return None
    byte_order = "le" if sample[1::2].count(0) > sample[::2].count(0) else "be"
    encoding = "utf-16" if has_mark else f"utf-16-{byte_order}"
    n_lines = _lines_before_error(path, encoding)
    if n_lines is not None:
        raise StudyError(
            f"{path}: row {n_lines + 1} is not UTF-16, but the rows before it are; save the whole file "
            f"as UTF-8"
        )
    return encoding


def _lines_before_error(path: Path, encoding: str) -> int | None:
    """About how many lines end before the first error; None where the whole file is in the encoding."""
    decoder, n_lines = codecs.getincrementaldecoder(encoding)(), 0
    with open_bytes(path) as raw:
        while True:
            chunk = raw.read(_CHUNK)
            try:
                n_lines += decoder.decode(chunk, final=not chunk).count("\n")
            except UnicodeDecodeError as error:
                sound = chunk[: error.start]
                return n_lines + codecs.decode(sound, encoding, "replace").count("\n")
            if not chunk:
                return None


def _narrow_encoding(path: Path, rows: Iterator[SheetRow]) -> str:
    """The encoding of the bytes beyond ASCII: UTF-8 or Windows-1252; a mixture is refused.

    Args:
        rows: of the file, each byte a character.
    """
    if _lines_before_error(path, "utf-8") is None:
        return "utf-8"
    names = {"utf-8": "UTF-8", "cp1252": "Windows-1252"}
    first_row: dict[str, int] = {}
    for row in rows:
        for run in (run for cell in row.cells for run in _NOT_ASCII.findall(cell)):
            first_row.setdefault(_encoding_of(run.encode("latin-1")), row.number)
        if len(first_row) > 1:
            (one, first_number), (other, number) = first_row.items()
            raise StudyError(
                f"{path}: row {number} is {names[other]} but row {first_number} is {names[one]}; repair "
                f"the letters that look wrong in one of them, then save the whole file as UTF-8"
            )
    return next(iter(first_row), "utf-8")


def _encoding_of(run: bytes) -> str:
    try:
        run.decode("utf-8")
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


# ---- rows ----------------------------------------------------------------------------------------


def _rows(path: Path, dialect: _Dialect) -> Iterator[SheetRow]:
    """Rows as a spreadsheet counts them: a text of several lines is in one row."""
    # texts may be long; the limit holds for the whole process
    csv.field_size_limit(_MOST_CHARACTERS)
    with _open_text(path, dialect.encoding) as text:
        text.read(dialect.n_skipped)
        reader = csv.reader(text, delimiter=dialect.delimiter, strict=True)
        number = 0
        try:
            for number, cells in enumerate(reader, start=1):
                yield SheetRow(number, tuple(cells))
        except csv.Error as error:
            raise StudyError(
                f"{path}: row {number + 1} cannot be read ({error}); export the file again, with every "
                f"quote inside a text doubled"
            ) from error

"""Text files of separated cells (CSV, TSV), whatever program wrote them.

Owns how separator and encoding are recognised: comma, semicolon, tab or the one in Excel's line
`sep=`; UTF-8, UTF-16 or Windows-1252 (of which Latin-1 is part). Promises that a row keeps the number
that a spreadsheet shows, that no cell is guessed at or quoted in a message, that a file which mixes
encodings is refused, and that files are streamed: memory is that of the longest row.
"""

import codecs
import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple, cast

from fieldwork.errors import StudyError, first_line
from fieldwork.files.rows import Row

ANY_DELIMITER = ",;\t"

_NOT_ASCII = re.compile(r"[\x80-\xff]+")
_SEPARATOR = re.compile(r'"?sep=(.)"?\r?(?:\n|$)', re.IGNORECASE)
"""The line by which Excel is told the separator; it shows no such row."""
_NO_TEXT = re.compile(r"[\x00-\x08]")
_MOST_CHARACTERS = 2**31 - 1
_HEAD = 100_000
_CHUNK = 1 << 20


class _Form(NamedTuple):
    """How a file is read: its encoding, the characters passed over at its start, its separator."""

    encoding: str
    n_passed: int
    delimiter: str


def stream_rows(path: Path, delimiters: str = ANY_DELIMITER) -> Iterator[Row]:
    """The rows of a text file, gzip by its ending.

    Args:
        delimiters: what may separate cells; it is the one that the first row has most of.

    Raises:
        StudyError: the file cannot be read, is no text, mixes encodings, or its quotes do not close.
    """
    try:
        wide = _wide_encoding(path)
        # each byte a character, so that rows can be told apart before their encoding is known
        form = _form(path, wide or "latin-1", delimiters)
        if wide is None:
            form = form._replace(encoding=_narrow_encoding(path, _records(path, form)))
        yield from _records(path, form)
    except (OSError, EOFError, zlib.error) as error:
        raise StudyError(f"{path}: cannot be read ({first_line(error)})") from error


def stream_lines(path: Path) -> Iterator[str]:
    """The lines of a text file without their ends.

    Raises:
        StudyError: the file cannot be read, or mixes encodings.
    """
    try:
        wide = _wide_encoding(path)
        lines = _lines(path, wide or "latin-1")
        encoding = wide or _narrow_encoding(
            path, (Row(number, (line,)) for number, line in enumerate(lines, start=1))
        )
        yield from _lines(path, encoding)
    except (OSError, EOFError, zlib.error) as error:
        raise StudyError(f"{path}: cannot be read ({first_line(error)})") from error


def _lines(path: Path, encoding: str) -> Iterator[str]:
    with _opened_text(path, encoding) as text:
        yield from (line.rstrip("\r\n") for line in text)


def _opened(path: Path) -> IO[bytes]:
    if path.suffix.lower() == ".gz":
        return cast("IO[bytes]", gzip.open(path))
    return path.open("rb")


@contextmanager
def _opened_text(path: Path, encoding: str) -> Iterator[io.TextIOWrapper]:
    # the five bytes that Windows-1252 leaves open are control characters
    errors = "replace" if encoding == "cp1252" else "strict"
    with _opened(path) as raw:
        if raw.read(len(codecs.BOM_UTF8)) != codecs.BOM_UTF8:
            raw.seek(0)
        with io.TextIOWrapper(raw, encoding, errors, newline="") as text:
            yield text


# ---- separator -----------------------------------------------------------------------------------


def _form(path: Path, encoding: str, delimiters: str) -> _Form:
    with _opened_text(path, encoding) as text:
        head = text.read(_HEAD)
    named = _SEPARATOR.match(head)
    start = named.end() if named else 0
    first_row = head[start:].lstrip("\r\n")
    if _NO_TEXT.search(first_row.split("\n", 1)[0]):
        raise StudyError(
            f"{path}: is no text; give the file the ending of its kind, or save it as UTF-8"
        )
    if named:
        return _Form(encoding, start, named[1])
    unquoted = re.sub(r'"[^"]*"', "", first_row).split("\n", 1)[0]
    return _Form(encoding, start, max(delimiters, key=unquoted.count))


# ---- encoding ------------------------------------------------------------------------------------


def _wide_encoding(path: Path) -> str | None:
    """UTF-16 in the order of its bytes, once the whole file was seen to be that; None for others."""
    with _opened(path) as raw:
        sample = raw.read(1000)
    marked = sample[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    if not marked and not (sample and sample.count(0) * 3 > len(sample)):
        return None
    unmarked = "utf-16-le" if sample[1::2].count(0) > sample[::2].count(0) else "utf-16-be"
    encoding = "utf-16" if marked else unmarked
    n_lines = _lines_before_error(path, encoding)
    if n_lines is not None:
        raise StudyError(
            f"{path}: row {n_lines + 1} is not UTF-16 as the rows before it are; save the file as "
            f"UTF-8"
        )
    return encoding


def _lines_before_error(path: Path, encoding: str) -> int | None:
    """Line ends before what is not in the encoding, about; None where the whole file is in it."""
    decoder, n_lines = codecs.getincrementaldecoder(encoding)(), 0
    with _opened(path) as raw:
        while True:
            chunk = raw.read(_CHUNK)
            try:
                n_lines += decoder.decode(chunk, final=not chunk).count("\n")
            except UnicodeDecodeError as error:
                sound = chunk[: error.start]
                return n_lines + codecs.decode(sound, encoding, "replace").count("\n")
            if not chunk:
                return None


def _narrow_encoding(path: Path, rows: Iterator[Row]) -> str:
    """What the bytes beyond ASCII are: all UTF-8 or all Windows-1252, else the file is refused.

    Args:
        rows: of the file, each byte a character.
    """
    if _lines_before_error(path, "utf-8") is None:
        return "utf-8"
    names = {"utf-8": "UTF-8", "cp1252": "Windows-1252"}
    first: dict[str, int] = {}
    for row in rows:
        for run in (run for cell in row.cells for run in _NOT_ASCII.findall(cell)):
            first.setdefault(_encoding_of(run.encode("latin-1")), row.number)
        if len(first) > 1:
            (one, where), (other, number) = first.items()
            raise StudyError(
                f"{path}: row {number} is {names[other]} while row {where} is {names[one]}; save the "
                f"whole file as UTF-8, after repairing the letters that look wrong in one of them"
            )
    return next(iter(first), "utf-8")


def _encoding_of(run: bytes) -> str:
    try:
        run.decode("utf-8")
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


# ---- rows ----------------------------------------------------------------------------------------


def _records(path: Path, form: _Form) -> Iterator[Row]:
    """Rows as a spreadsheet counts them: a text of several lines is in one row."""
    # texts are as long as people make them; the limit is the process's, whatever file is read
    csv.field_size_limit(_MOST_CHARACTERS)
    with _opened_text(path, form.encoding) as text:
        text.read(form.n_passed)
        reader = csv.reader(text, delimiter=form.delimiter, strict=True)
        number = 0
        try:
            for number, cells in enumerate(reader, start=1):
                yield Row(number, tuple(cells))
        except csv.Error as error:
            raise StudyError(
                f"{path}: row {number + 1} cannot be read ({error}); export the file again, with "
                f"quotes inside a text doubled"
            ) from error

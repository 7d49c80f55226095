"""Deletes a participant's rows from the files of answers, and nothing else.

Owns which rows are the participant's, by the column map, and the editing of CSV, TSV, Excel and Parquet.
Promises that a text file keeps every other byte, that an edited file is read again, row by row, before it
takes the place of the old one, and that each file is changed at once or not at all.
"""

import csv
import io
import os
import re
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import openpyxl
from openpyxl.cell import WriteOnlyCell

from fieldwork import tables
from fieldwork.errors import StudyError
from fieldwork.field.columns import identity
from fieldwork.field.sources import read_sheet
from fieldwork.files.json_values import json_value

_PAGE_FORMAT = "fieldwork-survey-"
_WORKING_FOLDER = ".forget.partial"
_DELIMITERS = ",;\t"
_BYTE_ORDERS = ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_HEAD = re.compile(r'(\ufeff|ï»¿)?("?sep=(?P<separator>.)"?\r?(\n|$))?', re.IGNORECASE)
"""The mark of an encoding, as it reads in Latin-1 too, and the line that names Excel's separator."""


class RawFile(NamedTuple):
    """A file of answers or groups.

    Attributes:
        people: number of each row below the header, and the id in it.
        cells: of the same rows.
    """

    path: Path
    people: tuple[tuple[int, str], ...]
    cells: tuple[tuple[Any, ...], ...]

    def rows_of(self, ids: Collection[str]) -> dict[int, str]:
        """The rows of some participants: number and id."""
        return {number: id_ for number, id_ in self.people if id_ in ids}


class PageFile(NamedTuple):
    """The JSON that the survey page saves beside its CSV."""

    path: Path
    participant: str


def read_raw_files(paths: Iterable[Path], column: str) -> list[RawFile]:
    """The files that have the participant's column.

    Raises:
        StudyError: a file cannot be read; nothing was changed yet.
    """
    files: list[RawFile] = []
    for path in paths:
        sheet = read_sheet(path)
        if column.strip() in sheet.header:
            index = sheet.header.index(column.strip())
            rows = list(sheet.rows)
            people = tuple((row.number, identity(row.cells[index])) for row in rows)
            files.append(RawFile(path, people, tuple(row.cells for row in rows)))
    return files


def read_pages(paths: Iterable[Path]) -> list[PageFile]:
    """Those of some JSON files that the survey page saved."""
    pages: list[PageFile] = []
    for path in paths:
        try:
            content = json_value(path.read_bytes())
        except (OSError, ValueError):
            continue  # whatever else it is: the search reads it
        if isinstance(content, dict) and str(content.get("format")).startswith(_PAGE_FORMAT):
            pages.append(PageFile(path, identity(content.get("participant"))))
    return pages


# ---- editing -------------------------------------------------------------------------------------

BeforeChange = Callable[[Path, Path | None], None]
"""Called with a file, and what takes its place or None, just before it does."""


def take_rows(raw: RawFile, numbers: Collection[int], before_change: BeforeChange) -> None:
    """Take rows out of a file.

    Raises:
        StudyError: the file is open in a spreadsheet program or may not be written, or the edited file
            would not read as the old one without these rows. The file is as it was.
    """
    target = raw.path.resolve()
    _refuse_open(target, raw.path)
    expected_rows = [
        repr(c) for (n, _), c in zip(raw.people, raw.cells, strict=True) if n not in numbers
    ]
    try:
        with _working_folder(target) as folder:
            successor = folder / target.name
            for write in _writers(target):
                if write(target, successor, numbers) and _cells_of(successor) == expected_rows:
                    _settle(successor, target)
                    before_change(raw.path, successor)
                    successor.replace(target)
                    return
    except OSError as error:
        raise StudyError(
            f"{raw.path}: cannot be edited ({error.strerror or error}); give yourself the right to "
            f"write it and its folder, and run `snakemake forget` again"
        ) from error
    raise StudyError(
        f"{raw.path}: the rows cannot be taken out without changing others; delete row(s) "
        f"{', '.join(map(str, sorted(numbers)))} by hand, and run `snakemake forget` again"
    )


def delete_file(path: Path) -> None:
    """Delete a file, and what it is a link to.

    Raises:
        StudyError: it may not be deleted.
    """
    try:
        path.resolve().unlink(missing_ok=True)
        path.unlink(missing_ok=True)
    except OSError as error:
        raise StudyError(
            f"{path}: cannot be deleted ({error.strerror or error}); give yourself the right to write "
            f"its folder, and run `snakemake forget` again"
        ) from error


def _refuse_open(target: Path, path: Path) -> None:
    """A program that has the file open would write the rows back."""
    for lock in (f"~${target.name}", f".~lock.{target.name}#"):
        if target.with_name(lock).exists():
            raise StudyError(
                f"{path}: the file is open in a spreadsheet program; close it there (or delete "
                f"{lock} beside it, where no program has it open), and run `snakemake forget` again"
            )


@contextmanager
def _working_folder(target: Path) -> Iterator[Path]:
    """A folder beside a file, on its disk; one that a killed run left is emptied."""
    folder = target.parent / _WORKING_FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _settle(successor: Path, target: Path) -> None:
    """Who may read the file stays as it was, and the file is on the disk before the old one is gone."""
    status = target.stat()
    with suppress(PermissionError):
        os.chown(successor, status.st_uid, status.st_gid)
    shutil.copymode(target, successor)
    with successor.open("rb+") as handle:
        os.fsync(handle.fileno())


def _cells_of(path: Path) -> list[str] | None:
    """The cells of each row as the import reads them; None where it cannot."""
    try:
        return [repr(row.cells) for row in read_sheet(path).rows]
    except StudyError:
        return None


_Write = Callable[[Path, Path, Collection[int]], bool]


def _writers(path: Path) -> list[_Write]:
    """What writes a file without some rows; those of text differ in what they take for a row."""
    kind = path.suffix.lower()
    if kind == ".xlsx":
        return [_write_workbook]
    if kind == ".parquet":
        return [_write_parquet]
    return [partial(_write_text, text_format) for text_format in _text_formats(path.read_bytes())]


def _write_workbook(source: Path, target: Path, numbers: Collection[int]) -> bool:
    """Write the filled sheet anew, from the values of its cells and their number formats.

    So nothing stays behind of a row that is gone: no link, no comment, no copy of the cells that a pivot
    table keeps. A formula becomes the value it shows.
    """
    old = openpyxl.load_workbook(source, read_only=True, data_only=True)
    new = openpyxl.Workbook(write_only=True)
    for sheet in old.worksheets:
        # the size that a file states for itself may be wrong
        sheet.reset_dimensions()
        rows = [row for number, row in enumerate(sheet.rows, start=1) if number not in numbers]
        if any(cell.value is not None for row in rows for cell in row):
            copy = new.create_sheet(sheet.title)
            for row in rows:
                copy.append(_copies(copy, row))
    old.close()
    new.save(target)
    return True


def _copies(sheet: Any, cells: Iterable[Any]) -> Iterator[Any]:
    for cell in cells:
        copy = None if cell.value is None else WriteOnlyCell(sheet, value=cell.value)
        if copy is not None:
            # a text that begins with = is no formula
            copy.data_type = cell.data_type if cell.data_type != "n" else copy.data_type
            copy.number_format = cell.number_format
        yield copy


def _write_parquet(source: Path, target: Path, numbers: Collection[int]) -> bool:
    # row 1 is the header, which a Parquet file has elsewhere
    tables.drop_rows(source, target, {number - 2 for number in numbers})
    return True


class _TextFormat(NamedTuple):
    """How a text file may be read: its encoding, the characters before its rows, its separator."""

    encoding: str
    n_passed: int
    delimiter: str


def _text_formats(raw: bytes) -> Iterator[_TextFormat]:
    """Every form that a file may have. Which one it has, the reading of the edited file decides."""
    # as Latin-1 each byte is a character, whatever the encoding is
    orders = [encoding for mark, encoding in _BYTE_ORDERS if raw.startswith(mark)]
    for encoding in orders or ("latin-1", "utf-16-le", "utf-16-be"):
        try:
            head = _HEAD.match(raw.decode(encoding))
        except UnicodeDecodeError:
            continue
        if head is not None:
            for delimiter in head["separator"] or _DELIMITERS:
                yield _TextFormat(encoding, head.end(), delimiter)


def _write_text(
    text_format: _TextFormat, source: Path, target: Path, numbers: Collection[int]
) -> bool:
    """Leave the lines of some rows out; False where the file is not of this form."""
    text = source.read_bytes().decode(text_format.encoding)
    lines = list(io.StringIO(text[text_format.n_passed :], newline=""))
    reader = csv.reader(iter(lines), delimiter=text_format.delimiter, strict=True)
    parts, start = [text[: text_format.n_passed]], 0
    try:
        for number, _ in enumerate(reader, start=1):
            if number not in numbers:
                parts += lines[start : reader.line_num]
            start = reader.line_num
    except csv.Error:
        return False
    target.write_bytes("".join(parts).encode(text_format.encoding))
    return True

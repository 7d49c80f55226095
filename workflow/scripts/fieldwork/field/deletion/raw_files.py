"""Deletes a participant's rows from the files of answers, and nothing else.

Owns which rows are the participant's, by the column map, and the editing of CSV, TSV, Excel and Parquet.
Promises that a text file keeps every other byte, that an edited file is read again, row by row, before it
takes the place of the old one, and that each file is changed at once or not at all.
"""

import os
import shutil
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import openpyxl
from openpyxl.cell import WriteOnlyCell

from fieldwork import tables
from fieldwork.errors import StudyError
from fieldwork.field.columns import identity
from fieldwork.field.sources import read_sheet
from fieldwork.files import delimited
from fieldwork.files.json_values import json_value

_PAGE_FORMAT = "fieldwork-survey-"
_SUCCESSOR = ".forget.partial"


class RawFile(NamedTuple):
    """A file of answers or groups.

    Attributes:
        people: the id in each row below the header, by the row's number.
        cells: of the same rows.
    """

    path: Path
    people: dict[int, str]
    cells: dict[int, tuple[Any, ...]]

    def rows_of(self, ids: Collection[str]) -> dict[int, str]:
        """The rows of some participants: number and id."""
        return {number: id_ for number, id_ in self.people.items() if id_ in ids}


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
            cells = {row.number: row.cells for row in sheet.rows}
            people = {number: identity(row[index]) for number, row in cells.items()}
            files.append(RawFile(path, people, cells))
    return files


def read_pages(paths: Iterable[Path]) -> dict[Path, str]:
    """Those of some files that the survey page saved beside its CSV, and whose answers they hold."""
    pages: dict[Path, str] = {}
    for path in (path for path in paths if path.suffix.lower() == ".json"):
        try:
            content = json_value(path.read_bytes())
        except (OSError, ValueError):
            continue  # whatever else it is: the search reads it
        if isinstance(content, dict) and str(content.get("format")).startswith(_PAGE_FORMAT):
            pages[path] = identity(content.get("participant"))
    return pages


def delete_file(path: Path) -> None:
    """Delete a file, and what it is a link to.

    Raises:
        StudyError: it may not be deleted.
    """
    try:
        path.resolve().unlink(missing_ok=True)
        path.unlink(missing_ok=True)
    except OSError as error:
        raise undeletable(path, error) from error


def undeletable(path: Path, error: OSError) -> StudyError:
    """What is said of a file or a folder that may not be deleted."""
    return StudyError(
        f"{path}: cannot be deleted ({error.strerror or error}); give yourself the right to write its "
        f"folder, and run `snakemake forget` again"
    )


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
    rows_left = [repr(cells) for number, cells in raw.cells.items() if number not in numbers]
    successor = target.with_name(f"{_SUCCESSOR}{target.suffix}")
    try:
        _write_without(target, successor, numbers)
        if _rows_in(successor) == rows_left:
            _settle(successor, target)
            before_change(raw.path, successor)
            successor.replace(target)
            return
    except OSError as error:
        raise StudyError(
            f"{raw.path}: cannot be edited ({error.strerror or error}); give yourself the right to "
            f"write it and its folder, and run `snakemake forget` again"
        ) from error
    finally:
        with suppress(OSError):
            successor.unlink(missing_ok=True)
    raise StudyError(
        f"{raw.path}: the rows cannot be taken out without changing others; delete row(s) "
        f"{', '.join(map(str, sorted(numbers)))} by hand, and run `snakemake forget` again"
    )


def _refuse_open(target: Path, path: Path) -> None:
    """A program that has the file open would write the rows back."""
    for lock in (f"~${target.name}", f".~lock.{target.name}#"):
        if target.with_name(lock).exists():
            raise StudyError(
                f"{path}: the file is open in a spreadsheet program; close it there (or delete "
                f"{lock} beside it, where no program has it open), and run `snakemake forget` again"
            )


def _rows_in(path: Path) -> list[str] | None:
    """The cells of each row as the import reads them; None where it cannot."""
    try:
        return [repr(row.cells) for row in read_sheet(path).rows]
    except StudyError:
        return None


def _settle(successor: Path, target: Path) -> None:
    """Who may read the file stays as it was, and the file is on the disk before the old one is gone."""
    status = target.stat()
    with suppress(PermissionError):
        os.chown(successor, status.st_uid, status.st_gid)
    shutil.copymode(target, successor)
    with successor.open("rb+") as handle:
        os.fsync(handle.fileno())


def _write_without(source: Path, target: Path, numbers: Collection[int]) -> None:
    """Write a file anew without some rows."""
    target.unlink(missing_ok=True)
    target.touch(mode=0o600)
    kind = source.suffix.lower()
    if kind == ".xlsx":
        _write_workbook(source, target, numbers)
    elif kind == ".parquet":
        # row 1 is the header, which a Parquet file has elsewhere
        tables.drop_rows(source, target, {number - 2 for number in numbers})
    else:
        delimiters = "\t" if kind == ".tsv" else delimited.ANY_DELIMITER
        target.write_bytes(delimited.without_rows(source, numbers, delimiters))


def _write_workbook(source: Path, target: Path, numbers: Collection[int]) -> None:
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
                copy.append([_cell_copy(copy, cell) for cell in row])
    old.close()
    new.save(target)


def _cell_copy(sheet: Any, cell: Any) -> Any:
    if cell.value is None:
        return None
    copy = WriteOnlyCell(sheet, value=cell.value)
    if isinstance(cell.value, str):
        # a text that begins with = is no formula
        copy.data_type = "s"
    copy.number_format = cell.number_format
    return copy

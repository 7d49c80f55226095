"""Files of field data as they are: a header and rows of cells, whatever tool wrote them.

Owns which kinds of files field data come in, and what survey tools add to them. Promises that a row
keeps the number a person sees in the file, that no cell is guessed at, and that no message quotes a
cell: it may be what a participant is called.
"""

import logging
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from fieldwork.config.field import READABLE
from fieldwork.errors import StudyError
from fieldwork.files import sheets
from fieldwork.files.cells import plain_cell
from fieldwork.files.headers import bare_name
from fieldwork.files.rows import SheetRow, is_empty
from fieldwork.files.sheets import Sheet

logger = logging.getLogger(__name__)

_TEXT = (".csv", ".tsv")

_LEAST_NAMES_AGAIN = 2
"""Columns that a second row of headers names again; an answer may happen to be the name of one."""
_QUALTRICS = frozenset(("responseid", "status"))
_NO_RESPONSES = {
    # words, or the codes of exports with choice values
    "status": ("survey preview", "survey test", "spam", "1", "2", "8", "1.0", "2.0", "8.0"),
    "distributionchannel": ("preview",),
    # the kit's question, where the survey went on all the same
    "consent": ("i do not agree",),
}
"""What Qualtrics says of rows that are no response, by column."""


def read_sheet(path: Path) -> Sheet:
    """Read a file by its ending.

    Empty rows are left out. So are what survey tools add: rows of questions and ids below the header, and
    previews, tests and spam, which the log counts. A cell of CSV is text; one of Excel or Parquet is what
    the file holds there.

    Raises:
        StudyError: the file is of another kind, unreadable, in mixed encodings, a row is longer
            than the header, or a workbook has several sheets or a formula without a value.
    """
    kind = path.suffix.lower()
    if kind not in READABLE:
        raise StudyError(
            f"{path}: not one of {', '.join(READABLE)}; export it as one of these, or leave it out of "
            f"`field.path`"
        )
    sheet = sheets.read_sheet(path)
    rows = list(sheet.rows)
    # Qualtrics repeats its questions and their ids before the answers
    id_rows = [number for number, row in enumerate(rows[:2]) if _holds_import_ids(row.cells)]
    rows = rows[id_rows[-1] + 1 if id_rows else 0 :]
    if rows and _names_columns_again(sheet.header, rows[0].cells):
        rows = rows[1:]
    rows = _responses(sheet, rows)
    if kind not in _TEXT:
        return sheet._replace(rows=rows)
    header = tuple(plain_cell(name) for name in sheet.header)
    answers = [SheetRow(row.number, tuple(plain_cell(cell) for cell in row.cells)) for row in rows]
    return sheet._replace(header=header, rows=answers)


def _names_columns_again(header: Sequence[str], cells: Sequence[Any]) -> bool:
    """Whether a row says again what its columns are: `Response ID` in the column `ResponseId`."""
    pairs = [
        (bare_name(name), bare_name(str(cell))) for name, cell in zip(header, cells, strict=True)
    ]
    return sum(bool(name) and name == cell for name, cell in pairs) >= _LEAST_NAMES_AGAIN


def _responses(sheet: Sheet, rows: Sequence[SheetRow]) -> list[SheetRow]:
    """The rows of people who took part: no previews, tests and spam, as Qualtrics marks them."""
    places = {bare_name(name): place for place, name in enumerate(sheet.header)}
    marks = {places[name]: words for name, words in _NO_RESPONSES.items() if name in places}
    if not places.keys() >= _QUALTRICS:
        return [*rows]
    left = [
        row
        for row in rows
        if all(str(row.cells[k]).strip().casefold() not in words for k, words in marks.items())
    ]
    if len(left) < len(rows):
        logger.warning(
            "%s: %d rows are left out, as the survey tool marks them as previews, tests, spam or without "
            "consent",
            *(sheet.path, len(rows) - len(left)),
        )
    return left


def _holds_import_ids(cells: Iterable[Any]) -> bool:
    cell_texts = [str(cell) for cell in cells if not is_empty(cell)]
    return bool(cell_texts) and all(cell.startswith('{"ImportId":') for cell in cell_texts)

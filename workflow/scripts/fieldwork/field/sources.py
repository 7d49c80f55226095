"""Files of field data as they are: a header and rows of cells, whatever tool wrote them.

Owns which kinds of files field data come in, and what survey tools add to them. Promises that a row
keeps the number a person sees in the file, that no cell is guessed at, and that no message quotes a
cell: it may be what a participant is called.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fieldwork.config.field import READABLE
from fieldwork.errors import StudyError
from fieldwork.files import sheets
from fieldwork.files.cells import plain_cell
from fieldwork.files.rows import SheetRow, is_empty
from fieldwork.files.sheets import Sheet

_TEXT = (".csv", ".tsv")


def read_sheet(path: Path) -> Sheet:
    """Read a file by its ending.

    Empty rows are left out, and so are the two rows that Qualtrics puts below the header. A cell of
    CSV is text; one of Excel or Parquet is what the file holds there.

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
    if kind not in _TEXT:
        return sheet._replace(rows=rows)
    header = tuple(plain_cell(name) for name in sheet.header)
    answers = [SheetRow(row.number, tuple(plain_cell(cell) for cell in row.cells)) for row in rows]
    return sheet._replace(header=header, rows=answers)


def _holds_import_ids(cells: Iterable[Any]) -> bool:
    cell_texts = [str(cell) for cell in cells if not is_empty(cell)]
    return bool(cell_texts) and all(cell.startswith('{"ImportId":') for cell in cell_texts)

"""Excel workbooks: the cells of the one sheet that has some.

Promises that a cell is what the workbook holds there, under the row number that Excel shows, and that a
formula which nothing ever worked out is refused rather than read as an empty cell.
"""

import re
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from fieldwork.errors import StudyError, first_line
from fieldwork.files.rows import Row, is_empty


def stream_rows(path: Path) -> Iterator[Row]:
    """The rows of a workbook.

    Raises:
        StudyError: it cannot be read, has several sheets, or a formula without a value.
    """
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
            f"{path}: has {len(filled)} sheets; save the one that is meant as a file of its own"
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
                    f"a value; save the sheet as CSV, or this cell as text"
                )

"""Excel workbooks: the cells of the one sheet that has any; hidden sheets count where no other has cells.

Promises that a cell is what the workbook holds, under the row number that Excel shows. A formula without
a computed value is refused rather than read as an empty cell.
"""

import re
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from fieldwork.errors import StudyError, first_line
from fieldwork.files.rows import SheetRow, is_empty


def stream_rows(path: Path) -> Iterator[SheetRow]:
    """The rows of a workbook.

    Raises:
        StudyError: it cannot be read, has several sheets with cells, or a formula without a value.
    """
    rows = _cells_of(path, of_formulas=False)
    if _holds_formulas(path):
        _refuse_no_value(rows, _cells_of(path, of_formulas=True), path)
    return iter(rows)


def _cells_of(path: Path, *, of_formulas: bool) -> list[SheetRow]:
    """The rows of a workbook's one sheet; `of_formulas` gives a formula itself and not its value."""
    import pandas as pd  # takes half a second, which only a study with a workbook needs

    try:
        with pd.ExcelFile(
            path, engine="openpyxl", engine_kwargs={"data_only": not of_formulas}
        ) as book:
            sheets = pd.read_excel(
                book, sheet_name=None, header=None, dtype=object, na_filter=False
            )
            hidden_names = {s.title for s in book.book.worksheets if s.sheet_state != "visible"}
    except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile) as error:
        raise StudyError(
            f"{path}: cannot be read as an Excel workbook ({first_line(error)}); save it as .xlsx "
            f"without a password, or as CSV"
        ) from error
    sheets_with_cells = {str(name): frame for name, frame in sheets.items() if not frame.empty}
    # a hidden sheet holds what lists offer, as a rule
    visible_sheets = {n: f for n, f in sheets_with_cells.items() if n not in hidden_names}
    sheets_with_cells = visible_sheets or sheets_with_cells
    if len(sheets_with_cells) > 1:
        raise StudyError(
            f"{path}: has {len(sheets_with_cells)} sheets with cells; save the one you mean as a file of "
            f"its own"
        )
    frames = list(sheets_with_cells.values())
    cells = frames[0].itertuples(index=False, name=None) if frames else iter(())
    return [SheetRow(number, tuple(row)) for number, row in enumerate(cells, start=1)]


def _holds_formulas(path: Path) -> bool:
    """Whether any sheet has a formula: few do, and reading formulas takes as long as reading values."""
    with zipfile.ZipFile(path) as archive:
        sheets = [name for name in archive.namelist() if name.startswith("xl/worksheets/")]
        return any(re.search(rb"<f[ />]", archive.read(name)) for name in sheets)


def _refuse_no_value(values: Sequence[SheetRow], formulas: Sequence[SheetRow], path: Path) -> None:
    """Refuse formulas without a value: some tools write a text that begins with = as a formula."""
    cells_by_row = {row.number: row.cells for row in values}
    for row in formulas:
        cells = cells_by_row.get(row.number, ())
        for n, cell in enumerate(row.cells):
            is_formula = isinstance(cell, str) and cell.startswith("=")
            if is_formula and (n >= len(cells) or is_empty(cells[n])):
                raise StudyError(
                    f"{path}: row {row.number}, column {n + 1} holds a formula without a computed value "
                    f"(it begins with =); save the sheet as CSV, or format this cell as text"
                )

"""Rows taken out of an Excel workbook.

The sheet is written anew from the values of its cells and their number formats, so that nothing stays
behind of a row that is gone: no link, no comment, no copy of the cells that a pivot table keeps.
"""

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import openpyxl
from openpyxl.cell import WriteOnlyCell


def write_workbook(source: Path, target: Path, numbers: Collection[int]) -> None:
    """Write the filled sheet of a workbook without some rows; a formula becomes the value it shows."""
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


def _copies(sheet: Any, cells: Iterable[Any]) -> list[Any]:
    copies: list[Any] = []
    for cell in cells:
        if cell.value is None:
            copies.append(None)
            continue
        copy = WriteOnlyCell(sheet, value=cell.value)
        # a text that begins with = is no formula
        copy.data_type = cell.data_type if cell.data_type != "n" else copy.data_type
        copy.number_format = cell.number_format
        copies.append(copy)
    return copies

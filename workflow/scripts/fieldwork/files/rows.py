"""Rows of files that people make or export, with the numbers that a person sees; a cell as text."""

from typing import Any, NamedTuple


class SheetRow(NamedTuple):
    """A row and its number in the file, counted from 1."""

    number: int
    cells: tuple[Any, ...]


def is_empty(cell: Any) -> bool:
    """Whether a cell holds nothing, or only spaces."""
    return cell is None or (isinstance(cell, str) and not cell.strip())


def cell_text(cell: Any) -> str:
    """A cell as a person sees it: an empty text where there is no value, and 3 for 3.0."""
    if cell is None or cell != cell:  # not a number, which is equal to nothing
        return ""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)

"""Cells that a spreadsheet would run as formulas: guarded on the way out, taken back on the way in.

Owns the one rule. A text that begins like a formula, after any number of apostrophes, gets one
apostrophe more; a text that begins with apostrophes and then like a formula loses one. So every text
comes back as it was, and one without such a beginning is never touched. resources/field_kit/page.js
guards by the same rule.
"""

import re
from collections.abc import Iterable, Mapping

# what spreadsheets take for the beginning of a formula, or trim before looking for one
_FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")
_GUARDED = re.compile(r"'+[=+\-@\t\r\n＝＋－＠]")


def guarded(text: str) -> str:
    """The text as a cell that no spreadsheet runs."""
    return f"'{text}" if _FORMULA.match(text) else text


def plain(cell: str) -> str:
    """What `guarded` was given; any other cell as it is."""
    return cell[1:] if _GUARDED.match(cell) else cell


def plain_rows(rows: Iterable[Mapping[str, str]]) -> list[dict[str, str]]:
    """Rows of a table of ours that a person has edited, its cells as they were."""
    return [{name: plain(cell) for name, cell in row.items()} for row in rows]

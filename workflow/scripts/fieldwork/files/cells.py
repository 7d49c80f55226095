"""Cells that a spreadsheet would run as formulas: guarded when written, plain again when read.

Owns the one rule. A text that begins like a formula, after any number of apostrophes, gets one more
apostrophe. On reading, a text with apostrophes before such a beginning loses one. So every text comes
back as it was, and other texts are never touched. resources/pages/answer_page.js guards by the same rule.
"""

import re

# what spreadsheets take for the beginning of a formula, or trim before looking for one
_FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")
_GUARDED_FORMULA = re.compile(r"'+[=+\-@\t\r\n＝＋－＠]")


def guard_cell(text: str) -> str:
    """The text as a cell that no spreadsheet runs."""
    return f"'{text}" if _FORMULA.match(text) else text


def plain_cell(cell: str) -> str:
    """The text that `guard_cell` guarded; any other cell as it is."""
    return cell[1:] if _GUARDED_FORMULA.match(cell) else cell

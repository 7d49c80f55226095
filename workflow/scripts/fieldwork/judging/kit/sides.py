"""Which of two answers a rater sees first, in files that do not say whose answer it is.

Side a is always that of the first condition, so its letter in a rater's file would tell which answer
knows the user.
"""

import hashlib

from fieldwork.judging.units import side_code
from fieldwork.records.judging import SIDES, Side, UnitText


def drawn_side(unit: UnitText) -> Side | None:
    """The side that stands first where no rater has another; None for a unit that is no pair."""
    if unit.text_b is None:
        return None
    return SIDES[hashlib.sha256(f"{unit.unit_id}:{unit.code}".encode()).digest()[0] % 2]


def other_side(side: Side | None) -> Side | None:
    """The side that stands second."""
    return None if side is None else "b" if side == "a" else "a"


def shown_answers(unit: UnitText, first_side: Side | None) -> list[str | None]:
    """The two answers as they are shown; the second is None of a unit that is no pair."""
    answers = [unit.text_a, unit.text_b]
    return answers[::-1] if first_side == "b" else answers


def shown_side(unit: UnitText, first_side: Side | None) -> str:
    """What a rater's file says of the order; empty for a unit that is no pair."""
    return "" if first_side is None else side_code(unit.unit_id, unit.code, first_side)

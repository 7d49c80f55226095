"""Reading the number that an answer gives.

Owns what a number means for the question: its value in the question's unit, its limits, and the reason
where there is none. Promises that a number in another unit is converted or left out, never taken as it
is.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from fieldwork.parsing.number_answers import answer_of, is_year, without_asides
from fieldwork.parsing.number_joints import numbers_in_joints
from fieldwork.parsing.number_words import with_numerals
from fieldwork.parsing.number_writing import MOST_NUMBERS, WrittenNumber, written_numbers
from fieldwork.parsing.plain_numbers import with_plain_numbers
from fieldwork.parsing.refusals import is_refusal
from fieldwork.parsing.replies import reply_in_digits
from fieldwork.parsing.units import Unit, is_currency, unit_of, value_in
from fieldwork.records.parsing import (
    EMPTY,
    NO_NUMBER,
    OTHER_UNIT,
    OUT_OF_RANGE,
    RANGE,
    REFUSAL,
    SEVERAL_NUMBERS,
    ValueRules,
)

_LARGEST = 1e100
"""Above it a number is a run of digits that did not end."""
_IN_FULL = 10_000
"""From which a number with separators may be in full, where the question's unit is a million or so."""

STRICT = ValueRules()
"""Rules under which only a reply that gives one number has a value."""

LENIENT = ValueRules("last", "middle")
"""Rules under which a reply is unreadable only where no setting could read it."""


class ParsedNumber(NamedTuple):
    value: float | None
    reason: str | None
    """Why there is no value."""


def parse_number(
    text: str | None,
    *,
    unit: str | None = None,
    lowest: float | None = None,
    highest: float | None = None,
    rules: ValueRules = STRICT,
    is_truncated: bool = False,
) -> ParsedNumber:
    """Read the number of a reply.

    Args:
        unit: of the question; numbers in other units of its dimension are converted.
        lowest, highest: limits of what counts, in that unit.
        is_truncated: whether the reply was cut off, so that its last number may be a step or unfinished.
    """
    question_unit = unit_of(unit) if unit else None
    plain_reply = with_plain_numbers(reply_in_digits(text).strip(), question_unit)
    reply = with_numerals(plain_reply)
    if not reply:
        return ParsedNumber(None, EMPTY)
    numbers = written_numbers(reply, question_unit)
    if len(numbers) > MOST_NUMBERS:
        return ParsedNumber(None, SEVERAL_NUMBERS)
    numbers = numbers_in_joints(reply, numbers, question_unit)
    numbers = without_asides(reply, numbers, question_unit)
    if is_truncated and numbers and numbers[-1].end >= len(reply):
        numbers = numbers[:-1]
    if not numbers:
        return ParsedNumber(None, REFUSAL if is_refusal(reply, objecting=False) else NO_NUMBER)
    if _are_years(numbers) and is_refusal(reply, objecting=False):
        return ParsedNumber(None, REFUSAL)
    number = answer_of(reply, numbers, question_unit, rules, is_truncated=is_truncated)
    if number is None or not number.is_clear:
        return ParsedNumber(None, SEVERAL_NUMBERS)
    if number.low != number.high and rules.ranges == "left_out":
        return ParsedNumber(None, RANGE)
    value = _in_unit(number, question_unit)
    if value is None:
        return ParsedNumber(None, OTHER_UNIT)
    is_inside = (-math.inf if lowest is None else lowest) <= value
    is_inside &= value <= (math.inf if highest is None else highest) and abs(value) <= _LARGEST
    return ParsedNumber(value, None) if is_inside else ParsedNumber(None, OUT_OF_RANGE)


def _are_years(numbers: Sequence[WrittenNumber]) -> bool:
    """Whether all numbers are years: 'my knowledge ends in 2021'."""
    return all(is_year(number) for number in numbers)


def _in_unit(number: WrittenNumber, unit: Unit | None) -> float | None:
    """The number in the question's unit; None where it has a unit that cannot be converted to it."""
    value = (number.low + number.high) / 2
    if unit is None:
        return value
    if number.unit is not None:
        value_in_unit = value_in(value, number.unit, unit)
        if value_in_unit is None:
            return None
        value = value_in_unit
    # '5 million' and '5' are the same in 'million $'
    is_in_full = number.magnitude > 1 or abs(value) >= unit.factor
    if unit.factor > 1 and not is_in_full and number.has_groups and abs(value) >= _IN_FULL:
        if number.unit is None or not is_currency(number.unit.word):
            # '450,000' for million $ may be 450,000 million, and may be 0.45
            return None
        is_in_full = True
    return value / unit.factor if is_in_full else value

"""Numbers that belong together: ranges, and the parts of one quantity.

Promises that a range is one number, and that no part of '2 hours 30 minutes' is taken for all of it.
"""

import re
from collections.abc import Sequence

from fieldwork.parsing.number_writing import WrittenNumber
from fieldwork.parsing.units import Unit, is_currency, is_known, is_unit_of, value_in

_RANGE_GAP = re.compile(
    r"[^\S\n]*(?:-|–|—|~|〜|to|bis|à|a|hasta|до|から|到|至)\s*(?:el\s+|il\s+)?", re.IGNORECASE
)
_AND_GAP = re.compile(r"\s*(?:and|und|et|y|e|и)\s*(?:el\s+|il\s+)?", re.IGNORECASE)
_RANGE_START = re.compile(
    r"\b(?:between|zwischen|entre|tra|между)\s+(?:\w+\s+){0,2}\Z", re.IGNORECASE
)
_PART_GAP = re.compile(r"\s*,?\s*(?:(?:and|und|et|y|e)\s+)?", re.IGNORECASE)


def numbers_in_joints(
    reply: str, numbers: Sequence[WrittenNumber], unit: Unit | None
) -> list[WrittenNumber]:
    """The numbers, with a range as one, and with the parts of a quantity as one."""
    joints: list[WrittenNumber] = []
    for number in numbers:
        joint = _joint_of(reply, joints[-1], number, unit) if joints else None
        if joint is not None:
            joints[-1] = joint
        else:
            joints.append(number)
    return joints


def _is_gap(
    pattern: re.Pattern[str], reply: str, first: WrittenNumber, second: WrittenNumber, longest: int
) -> bool:
    is_short = second.start - first.end <= longest
    return is_short and pattern.fullmatch(reply, first.end, second.start) is not None


def _joint_of(
    reply: str, first: WrittenNumber, second: WrittenNumber, unit: Unit | None
) -> WrittenNumber | None:
    """One number of two that belong together; None where they do not."""
    if _is_range(reply, first, second):
        return _range_of(first, second)
    gap = reply[first.end : min(second.start, first.end + 8)]
    is_next_magnitude = not gap or (gap == " " and second.magnitude > 1)
    if is_next_magnitude and first.unit is None and second.low < first.magnitude:
        # 3億5000万, 1억 2천만
        value = first.low + second.low
        return second._replace(low=value, high=value, start=first.start, magnitude=first.magnitude)
    is_part = unit is not None and _is_gap(_PART_GAP, reply, first, second, 6)
    return _sum_of_parts(first, second, unit) if unit and is_part else None


def _sum_of_parts(first: WrittenNumber, second: WrittenNumber, unit: Unit) -> WrittenNumber | None:
    """'2 hours 30 minutes' in the question's unit; None for numbers that are no such parts."""
    if first.unit is None or second.unit is None or first.low != first.high:
        return None
    if is_currency(unit.word):
        is_sum = is_unit_of(first.unit.word, unit) and is_unit_of(second.unit.word, Unit("¢"))
        total = first.low + second.low / 100
        return _total(first, second, total, unit) if is_sum and 0 <= second.low < 100 else None
    if not (is_known(first.unit.word) and is_known(second.unit.word)):
        return None
    # '2 hours and 30 minutes per week'
    per = second.unit.per if first.unit.per is None else first.unit.per
    first_unit, second_unit = (part._replace(per=per) for part in (first.unit, second.unit))
    one_of_first = value_in(1.0, first_unit, unit)
    one_of_second = value_in(1.0, second_unit, unit)
    large, small = value_in(first.low, first_unit, unit), value_in(second.low, second_unit, unit)
    if one_of_first is None or one_of_second is None or large is None or small is None:
        return None
    # the smaller part does not fill one of the larger unit
    is_sum = one_of_second < one_of_first and 0 <= small < one_of_first
    return _total(first, second, large + small, unit) if is_sum else None


def _total(first: WrittenNumber, second: WrittenNumber, total: float, unit: Unit) -> WrittenNumber:
    return second._replace(low=total, high=total, start=first.start, unit=unit)


def _is_range(reply: str, low: WrittenNumber, high: WrittenNumber) -> bool:
    if low.low != low.high:
        return False
    is_between = _is_gap(_AND_GAP, reply, low, high, 12) and _RANGE_START.search(
        reply, max(0, low.start - 40), low.start
    )
    return bool(is_between) or _is_gap(_RANGE_GAP, reply, low, high, 12)


def _range_of(low: WrittenNumber, high: WrittenNumber) -> WrittenNumber:
    """A range: in '10 to 20 million kg' magnitude and unit stand once, behind the second number."""
    start = low.low * (high.magnitude if low.magnitude == 1 else 1.0)
    ends = sorted((start if start <= high.high else low.low, high.high))
    return high._replace(low=ends[0], high=ends[1], start=low.start, unit=high.unit or low.unit)

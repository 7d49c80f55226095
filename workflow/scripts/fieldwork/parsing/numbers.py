"""Reading the number that an answer gives.

Owns how numbers are written (separators, magnitudes, words, digits of any script), which of several
counts, and what a unit says. What counts is, in this order: what is boxed or bold, the last number stated
as the answer, the numbers with the question's unit, all numbers; the first of these that holds one number
gives it. Promises that a number in another unit is converted or left out, never taken as it is.
"""

import math
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from fieldwork.parsing.refusals import is_refusal
from fieldwork.parsing.replies import reply_in_digits
from fieldwork.parsing.units import is_unit_of, known_unit, value_in
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

_MAGNITUDES = {
    **dict.fromkeys(("k", "thousand", "thousands", "tsd"), 1e3),
    "lakh": 1e5,
    **dict.fromkeys(("million", "millions", "millionen", "millones", "mio", "mn"), 1e6),
    "crore": 1e7,
    **dict.fromkeys(("billion", "billions", "milliarden", "milliards", "bn", "mrd"), 1e9),
    **dict.fromkeys(("trillion", "trillions"), 1e12),
}
_DIGITS = (
    # groups of three; India's groups of two; a decimal with point or comma
    r"\d{1,3}(?:[ '’\u202f.,]\d{3})+(?:[.,]\d+)?(?!\d)"
    r"|\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d+)?(?!\d)"
    r"|\d+(?:[.,]\d+)?|\.\d+"
)
_NO_UNIT = r"(?!(?:to|and|or|bis|und|et|in|at|as|a|an|is|on|of|for|with|per|out|by)\b)"
_NUMBER = re.compile(
    r"(?<![\w.,^])(?<![^\W\d_]-)(?P<sign>-(?=[$€£]?\.?\d))?(?P<currency>[$€£¥₹])?[ ]?"
    rf"(?P<digits>{_DIGITS})"
    r"(?:e(?P<exponent>[+-]?\d{1,2})\b)?"
    rf"(?:[ -]?(?P<magnitude>{'|'.join(sorted(_MAGNITUDES, key=len, reverse=True))})\b"
    r"|(?-i:(?P<million>M))(?![\w²³/]))?"
    rf"(?:[ -]?{_NO_UNIT}(?P<unit>%|[$€£¥₹]|°?[^\W\d_]+[²³]?(?:/[^\W\d_]+)?))?",
    re.IGNORECASE,
)
_RANGE_GAP = re.compile(r"\s*(?:-|–|—|~|to|bis|à)\s*", re.IGNORECASE)
_AND_GAP = re.compile(r"\s*(?:and|und|et)\s*", re.IGNORECASE)
_RANGE_START = re.compile(r"\b(?:between|zwischen|entre)\s+(?:\w+\s+)?\Z", re.IGNORECASE)
_ORDINAL = re.compile(r"(?:st|nd|rd|th)\b", re.IGNORECASE)
_LIST_LINE = re.compile(r"^[ \t]*\(?(?=\d{1,2}[.)]\s+\S)", re.MULTILINE)
_HIGHLIGHT = re.compile(r"\\boxed\s?\{([^{}\n]{1,80})\}|\*\*([^*\n]{1,80})\*\*")
_STATEMENT = re.compile(
    r"\b(?:answer|estimate|guess|total|result|response|figure|number|antwort|schätzung|réponse|respuesta)\b"
    r"[^\d\n]{0,60}\Z",
    re.IGNORECASE,
)
_MAGNITUDE_WORD = re.compile(
    r"((?<=\d)\s?(?:thousand|million|billion|trillion)s?\b)", re.IGNORECASE
)
_DECIMAL_AND_MAGNITUDE = re.compile(r"(\d\.\d+) (1(?:000)+)\b")


STRICT = ValueRules()
"""Rules under which only a reply that gives one number has a value."""

LENIENT = ValueRules("last", "middle")
"""Rules under which a reply is unreadable only where no setting could read it."""


class ParsedNumber(NamedTuple):
    value: float | None
    reason: str | None
    """Why there is no value."""


class _Number(NamedTuple):
    """A number of a reply, or a range: its ends, its place, its magnitude and the word of its unit."""

    low: float
    high: float
    start: int
    end: int
    magnitude: float
    unit: str | None


def parse_number(
    text: str | None,
    *,
    unit: str | None = None,
    lowest: float | None = None,
    highest: float | None = None,
    rules: ValueRules = STRICT,
) -> ParsedNumber:
    """Read the number of a reply.

    Args:
        unit: of the question; numbers in other units of its dimension are converted.
        lowest, highest: limits of what counts, in that unit.
    """
    reply = _with_numerals(reply_in_digits(text).strip())
    if not reply:
        return ParsedNumber(None, EMPTY)
    numbers = _numbers(reply)
    if not numbers:
        return ParsedNumber(None, REFUSAL if is_refusal(reply, objecting=False) else NO_NUMBER)
    number = _answer_of(reply, numbers, unit, rules)
    if number is None:
        return ParsedNumber(None, SEVERAL_NUMBERS)
    if number.low != number.high and rules.ranges == "left_out":
        return ParsedNumber(None, RANGE)
    value = _in_unit((number.low + number.high) / 2, number.unit, unit)
    if value is None:
        return ParsedNumber(None, OTHER_UNIT)
    is_inside = (-math.inf if lowest is None else lowest) <= value
    is_inside &= value <= (math.inf if highest is None else highest) and math.isfinite(value)
    return ParsedNumber(value, None) if is_inside else ParsedNumber(None, OUT_OF_RANGE)


def _in_unit(value: float, word: str | None, unit: str | None) -> float | None:
    """A value in the question's unit; None where its word is a unit that cannot be converted to it."""
    if word is None or unit is None or is_unit_of(word, unit) or not known_unit(word):
        return value
    return value_in(value, word, unit)


def _answer_of(
    reply: str, numbers: Sequence[_Number], unit: str | None, rules: ValueRules
) -> _Number | None:
    """The number that the reply gives as its answer; None for several of the same standing."""
    spans = [match.span() for match in _HIGHLIGHT.finditer(reply)]
    statements = [
        number
        for number in numbers
        if _STATEMENT.search(reply, max(0, number.start - 100), number.start)
    ]
    circles: tuple[Callable[[], Sequence[_Number]], ...] = (
        lambda: [n for n in numbers if any(a <= n.start < b for a, b in spans)],
        lambda: statements[-1:],
        lambda: [n for n in numbers if unit and n.unit and is_unit_of(n.unit, unit)],
        lambda: numbers,
    )
    for circle in circles:
        members = circle()
        if len({(n.low, n.high) for n in members}) == 1:
            return members[-1]
    if rules.several_numbers == "left_out":
        return None
    return numbers[0 if rules.several_numbers == "first" else -1]


# ---- the numbers of a reply --------------------------------------------------------------------------


def _with_numerals(reply: str) -> str:
    """The reply with English number words as digits: 'twenty-three' is 23."""
    reply = re.sub(r"\bhalf\s+an?\s+(million|billion)\b", r"0.5 \1", reply, flags=re.IGNORECASE)
    # a magnitude after digits stays: the library would make a number of its own of it
    parts = _MAGNITUDE_WORD.split(reply)
    parts[::2] = [_words_as_digits(part) for part in parts[::2]]
    return "".join(parts)


def _words_as_digits(part: str) -> str:
    """A part of a reply, line by line, with its number words as digits."""
    if not re.search(r"[^\W\d_]{3}", part):
        return part
    from text_to_num import alpha2digit

    lines = [alpha2digit(line, "en") if line.strip() else line for line in part.split("\n")]
    # 'three point five million' comes as '3.5 1000000'
    return _DECIMAL_AND_MAGNITUDE.sub(
        lambda match: f"{float(match[1]) * float(match[2]):.15g}", "\n".join(lines)
    )


def _numbers(reply: str) -> list[_Number]:
    """The numbers of a reply in order, without ordinals and those that count lines; a range is one."""
    list_lines = [match.end() for match in _LIST_LINE.finditer(reply)]
    list_marks = set(list_lines) if len(list_lines) > 1 else set[int]()
    numbers: list[_Number] = []
    for match in _NUMBER.finditer(reply):
        if match.start() in list_marks or _ORDINAL.match(reply, match.end("digits")):
            continue
        number = _number(match)
        previous = numbers[-1] if numbers else None
        if previous is not None and _is_range(reply, previous, number):
            numbers[-1] = _range_of(previous, number)
        else:
            numbers.append(number)
    return numbers


def _number(match: re.Match[str]) -> _Number:
    magnitude = _MAGNITUDES.get(
        (match["magnitude"] or "").lower(), 1e6 if match["million"] else 1.0
    )
    value = _decimal(match["digits"]) * magnitude * 10.0 ** int(match["exponent"] or 0)
    value = -value if match["sign"] else value
    unit = match["currency"] or match["unit"]
    return _Number(value, value, match.start(), match.end(), magnitude, unit)


def _is_range(reply: str, low: _Number, high: _Number) -> bool:
    gap = reply[low.end : high.start]
    is_between = _AND_GAP.fullmatch(gap) and _RANGE_START.search(
        reply, max(0, low.start - 40), low.start
    )
    return low.low == low.high and bool(_RANGE_GAP.fullmatch(gap) or is_between)


def _range_of(low: _Number, high: _Number) -> _Number:
    """A range: in '10 to 20 million kg' magnitude and unit stand once, behind the second number."""
    start = low.low * (high.magnitude if low.magnitude == 1 else 1.0)
    ends = sorted((start if start <= high.high else low.low, high.high))
    return _Number(ends[0], ends[1], low.start, high.end, high.magnitude, high.unit or low.unit)


def _decimal(digits: str) -> float:
    """The value of digits with separators.

    Of points and commas the last kind is the decimal one where both occur. One kind alone separates
    thousands where it occurs several times, or a comma stands previous three digits.
    """
    digits = re.sub(r"[ '’\u202f]", "", digits)
    point, comma = digits.rfind("."), digits.rfind(",")
    if point >= 0 and comma >= 0:
        thousands = "," if point > comma else "."
    elif comma >= 0:
        is_thousands = digits.count(",") > 1 or re.fullmatch(r"[1-9]\d{0,2},\d{3}", digits)
        thousands = "," if is_thousands else "."
    else:
        thousands = "." if digits.count(".") > 1 else ","
    return float(digits.replace(thousands, "").replace(",", "."))

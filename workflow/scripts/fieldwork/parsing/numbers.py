"""Reading the number that an answer gives.

Owns how numbers are written (separators, magnitudes, powers, digits of any script), which of several
counts, and what a unit says. What counts is, in this order: what is boxed or bold, what is stated as the
answer, the numbers with the question's unit, all numbers; the first of these that holds one number gives
it. Promises that a number in another unit is converted or left out, never taken as it is.
"""

import math
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from fieldwork.parsing.number_words import with_numerals
from fieldwork.parsing.refusals import is_refusal
from fieldwork.parsing.replies import SPACED_LETTER, reply_in_digits
from fieldwork.parsing.units import SIGNS, Unit, is_known, is_unit_of, unit_of, value_in
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
_MAGNITUDES = {
    **dict.fromkeys(("hundred", "hundreds"), 1e2),
    "dozen": 12.0,
    **dict.fromkeys(("k", "thousand", "thousands", "tsd", "tausend", "mille", "mila", "mil"), 1e3),
    **dict.fromkeys(("тысяча", "тысячи", "тысяч", "тыс", "ألف", "हज़ार"), 1e3),
    **dict.fromkeys(("lakh", "lakhs", "लाख"), 1e5),
    **dict.fromkeys(("million", "millions", "millionen", "millones", "mio", "mn", "mln"), 1e6),
    **dict.fromkeys(("millón", "milione", "milioni", "milhão", "milhões", "miljoen"), 1e6),
    **dict.fromkeys(("миллион", "миллиона", "миллионов", "млн", "مليون"), 1e6),
    **dict.fromkeys(("crore", "crores", "करोड़"), 1e7),
    **dict.fromkeys(
        ("billion", "billions", "milliarde", "milliarden", "milliard", "milliards"), 1e9
    ),
    **dict.fromkeys(("miliardo", "miliardi", "bilhão", "bilhões", "miljard", "bn", "mrd"), 1e9),
    **dict.fromkeys(("миллиард", "миллиарда", "миллиардов", "млрд", "مليار"), 1e9),
    **dict.fromkeys(("trillion", "trillions", "billionen", "billones", "трлн"), 1e12),
}
_SIGN_MAGNITUDES = {
    **dict.fromkeys("千천", 1e3),
    **dict.fromkeys("万萬만", 1e4),
    **dict.fromkeys("億亿억", 1e8),
    **dict.fromkeys("兆조", 1e12),
}
_LETTER_MAGNITUDES = {"m": 1e6, "b": 1e9, "t": 1e12}
_DIGITS = (
    # groups of three; India's groups of two; a decimal with point or comma
    r"\d{1,3}(?:[ '’\u202f.,]\d{3})+(?:[.,]\d+)?(?!\d)"
    r"|\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d+)?(?!\d)"
    r"|\d+(?:[.,]\d+)?|\.\d+"
)
_CODES = "USD|EUR|GBP|CHF|JPY|CNY|RMB|INR|KRW|CAD|AUD|NZD|HKD|SGD|BRL|MXN|SEK|NOK|DKK|PLN|ZAR|RUB"
_NO_UNIT = (
    r"(?!(?:to|and|or|bis|und|et|in|at|as|a|an|is|on|of|for|with|per|out|by|because|since)\b)"
)
_NUMBER = re.compile(
    rf"(?<!{SPACED_LETTER})(?<![.,^])(?P<sign>-(?=[{SIGNS}]?\.?\d))?"
    rf"(?P<currency>(?:US|CA?|AU?|NZ|HK|S|R|MX)?\$|[{SIGNS}]|(?-i:{_CODES})(?=[ ]?\d))?[ ]?"
    rf"(?P<digits>{_DIGITS})"
    r"(?:e(?P<exponent>[+-]?\d{1,2})\b"
    r"|\s?(?:[x×*·]|\\times)\s?10\s?(?:\^|\*\*)\s?\{?(?P<power>[+-]?\d{1,2})\}?"
    r"|(?:\^|\*\*)\{?(?P<raised>[+-]?\d{1,3})\}?)?"
    rf"(?:[ -]?(?P<magnitude>{'|'.join(sorted(_MAGNITUDES, key=len, reverse=True))})\b"
    rf"|(?P<sign_magnitude>[{''.join(_SIGN_MAGNITUDES)}])"
    r"|(?-i:(?P<letter>(?(currency)[ ]?[mbtMBT]|(?:[ ]?M|B)))(?![\w²³/^])))?"
    rf"(?:[ -]?{_NO_UNIT}(?P<unit>%|[{SIGNS}]"
    r"|(?:(?:square|cubic|sq|metric|us|degrees?)\s)?(?:°\s?)?[^\W\d_]+(?:\^?[23](?!\w))?))?"
    r"(?:\s*(?:/\s*|\b(?:per|an?|each)\s+)(?P<per>[^\W\d_]+))?",
    re.IGNORECASE,
)
_RANGE_GAP = re.compile(r"\s*(?:-|–|—|~|to|bis|à)\s*", re.IGNORECASE)
_AND_GAP = re.compile(r"\s*(?:and|und|et)\s*", re.IGNORECASE)
_PART_GAP = re.compile(r"\s*,?\s*(?:and\s+)?", re.IGNORECASE)
_RANGE_START = re.compile(r"\b(?:between|zwischen|entre)\s+(?:\w+\s+)?\Z", re.IGNORECASE)
_ORDINAL = re.compile(r"(?:st|nd|rd|th)\b", re.IGNORECASE)
_NAME_HYPHEN = re.compile(r"[^\W\d_]-\Z")
_UNIT_HYPHEN = re.compile(r"\d\s?[^\W\d_]{1,10}-\Z")
_LIST_LINE = re.compile(r"^[ \t]*\(?(?=\d{1,2}[.)]\s+\S)", re.MULTILINE)
_HIGHLIGHT = re.compile(r"\\boxed\s?\{([^{}\n]{1,80})\}|\*\*([^*\n]{1,80})\*\*")
_HEADING = re.compile(
    r"\b(?:step|question|part|option|case|example|point|phase|method|scenario|note|figure|table|chapter|day"
    r"|year)\s\Z",
    re.IGNORECASE,
)
_EQUATION = re.compile(
    r"(?<![\w.,])[\d.,()]+(?:\s*(?:[×x*+÷/·-]|\\times)\s*[\d.,()]+){1,20}\s*=\s*(?=-?[\d$€£.])"
)
"""What is worked out before the result."""
_STATEMENT_NOUN = re.compile(
    r"\b(?:answer|antwort|réponse|respuesta|estimate|guess|total|result|response|figure|number|schätzung)\b",
    re.IGNORECASE,
)
_STATEMENT_LINK = re.compile(
    r"[^\n.!?;]{0,60}?(?:\b(?:is|was|are|were|be|equals|to|of|ist|est|es)|[:=≈~])[\s*_`]*"
    r"(?:(?:about|around|approximately|approx\.?|roughly|nearly|almost|circa|ca\.|some|probably|likely|exactly"
    r"|just|over|under|maybe|perhaps|close\s+to|between|from|be|an?)\s+){0,3}[*_`]*",
    re.IGNORECASE,
)
"""What may stand between such a noun and the number: 'is about', but not 'has' or 'in'."""
_STATEMENT = 100
"""Characters before a number in which the noun stands."""
_ANSWER_NOUNS = frozenset(("answer", "antwort", "réponse", "respuesta"))
_YEARS = range(1900, 2100)

STRICT = ValueRules()
"""Rules under which only a reply that gives one number has a value."""

LENIENT = ValueRules("last", "middle")
"""Rules under which a reply is unreadable only where no setting could read it."""


class ParsedNumber(NamedTuple):
    value: float | None
    reason: str | None
    """Why there is no value."""


class _Number(NamedTuple):
    """A number of a reply, or a range: its ends, its place, its magnitude and its unit."""

    low: float
    high: float
    start: int
    end: int
    magnitude: float
    unit: Unit | None


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
    reply = _EQUATION.sub("= ", with_numerals(reply_in_digits(text).strip()))
    if not reply:
        return ParsedNumber(None, EMPTY)
    question_unit = unit_of(unit) if unit else None
    numbers = _numbers(reply, question_unit)
    if not numbers:
        return ParsedNumber(None, REFUSAL if is_refusal(reply, objecting=False) else NO_NUMBER)
    if _are_years(numbers) and is_refusal(reply, objecting=False):
        return ParsedNumber(None, REFUSAL)
    number = _answer_of(reply, numbers, question_unit, rules)
    if number is None:
        return ParsedNumber(None, SEVERAL_NUMBERS)
    if number.low != number.high and rules.ranges == "left_out":
        return ParsedNumber(None, RANGE)
    value = _in_unit(number, question_unit)
    if value is None:
        return ParsedNumber(None, OTHER_UNIT)
    is_inside = (-math.inf if lowest is None else lowest) <= value
    is_inside &= value <= (math.inf if highest is None else highest) and abs(value) <= _LARGEST
    return ParsedNumber(value, None) if is_inside else ParsedNumber(None, OUT_OF_RANGE)


def _are_years(numbers: Sequence[_Number]) -> bool:
    """Whether all numbers are years: 'my knowledge ends in 2021'."""
    return all(number.low == number.high and number.low in _YEARS for number in numbers)


def _in_unit(number: _Number, unit: Unit | None) -> float | None:
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
    return value / unit.factor if is_in_full else value


def _answer_of(
    reply: str, numbers: Sequence[_Number], unit: Unit | None, rules: ValueRules
) -> _Number | None:
    """The number that the reply gives as its answer; None for several of the same standing."""
    spans = [match.span() for match in _HIGHLIGHT.finditer(reply)]
    circles: tuple[Callable[[], Sequence[_Number]], ...] = (
        lambda: [
            n
            for n in numbers
            if any(a <= n.start < b for a, b in spans)
            and not _HEADING.search(reply, max(0, n.start - 20), n.start)
        ],
        lambda: _stated_numbers(reply, numbers),
        lambda: [n for n in numbers if unit and n.unit and is_unit_of(n.unit.word, unit)],
        lambda: numbers,
    )
    for circle in circles:
        members = circle()
        if len({(n.low, n.high) for n in members}) == 1:
            return members[-1]
    if rules.several_numbers == "left_out":
        return None
    return numbers[0 if rules.several_numbers == "first" else -1]


def _stated_numbers(reply: str, numbers: Sequence[_Number]) -> list[_Number]:
    """The last number that is called the answer; else those that are called a total, an estimate, …"""
    statements = [(_statement_noun(reply, number), number) for number in numbers]
    answers = [number for noun, number in statements if noun in _ANSWER_NOUNS]
    return answers[-1:] or [number for noun, number in statements if noun]


def _statement_noun(reply: str, number: _Number) -> str | None:
    """The last noun before a number, where it says that the number is the answer, a total, …"""
    text = reply[max(0, number.start - _STATEMENT) : number.start]
    noun = max(_STATEMENT_NOUN.finditer(text), key=re.Match.start, default=None)
    is_stated = noun is not None and _STATEMENT_LINK.fullmatch(text, noun.end())
    return noun[0].lower() if noun is not None and is_stated else None


# ---- the numbers of a reply --------------------------------------------------------------------------


def _numbers(reply: str, unit: Unit | None) -> list[_Number]:
    """The numbers of a reply in order, without ordinals and those that count lines.

    A range is one, and so are the parts of a quantity, as '2 hours 30 minutes'.
    """
    list_lines = [match.end() for match in _LIST_LINE.finditer(reply)]
    list_marks = set(list_lines) if len(list_lines) > 1 else set[int]()
    numbers: list[_Number] = []
    for match in _NUMBER.finditer(reply):
        if match.start() in list_marks or _is_part_of_a_name(reply, match):
            continue
        number = _number(match)
        previous = numbers[-1] if numbers else None
        joint = None if previous is None else _joint_of(reply, previous, number, unit)
        if joint is None:
            numbers.append(number)
        else:
            numbers[-1] = joint
    return numbers


def _is_part_of_a_name(reply: str, match: re.Match[str]) -> bool:
    """Whether a number is an ordinal, or belongs to a name such as COVID-19."""
    start = match.start()
    preceding = reply[max(0, start - 16) : start]
    is_name = _NAME_HYPHEN.search(preceding) and not _UNIT_HYPHEN.search(preceding)
    return bool(is_name or _ORDINAL.match(reply, match.end("digits")))


def _number(match: re.Match[str]) -> _Number:
    magnitude = _magnitude(match)
    value = _decimal(match["digits"])
    if match["raised"]:
        value = _power(value, int(match["raised"]))
    value *= magnitude * 10.0 ** int(match["exponent"] or match["power"] or 0)
    value = -value if match["sign"] else value
    word = match["currency"] or match["unit"]
    unit = unit_of(word)._replace(per=match["per"]) if word else None
    return _Number(value, value, match.start(), match.end(), magnitude, unit)


def _magnitude(match: re.Match[str]) -> float:
    if match["magnitude"]:
        return _MAGNITUDES[match["magnitude"].lower()]
    if match["sign_magnitude"]:
        return _SIGN_MAGNITUDES[match["sign_magnitude"]]
    return _LETTER_MAGNITUDES[match["letter"].strip().lower()] if match["letter"] else 1.0


def _power(value: float, exponent: int) -> float:
    try:
        return value**exponent
    except (OverflowError, ZeroDivisionError):
        return math.inf


def _joint_of(reply: str, first: _Number, second: _Number, unit: Unit | None) -> _Number | None:
    """One number of two that belong together; None where they do not."""
    gap = reply[first.end : second.start]
    if _is_range(reply, first, second):
        return _range_of(first, second)
    if not gap and first.magnitude > second.magnitude and first.unit is None:
        # 3億5000万
        value = first.low + second.low
        return second._replace(low=value, high=value, start=first.start, magnitude=first.magnitude)
    is_gap_of_parts = len(gap) <= 6 and _PART_GAP.fullmatch(gap)
    return _sum_of_parts(first, second, unit) if unit and is_gap_of_parts else None


def _sum_of_parts(first: _Number, second: _Number, unit: Unit) -> _Number | None:
    """'2 hours 30 minutes' in the question's unit; None for numbers that are no such parts."""
    parts = []
    for number in (first, second):
        if number.unit is None or not is_known(number.unit.word):
            return None
        one, value = (value_in(n, number.unit, unit) for n in (1.0, number.low))
        if one is None or value is None:
            return None
        parts.append((one, value))
    (one_of_first, large), (one_of_second, small) = parts
    # the smaller part does not fill one of the larger unit
    if not (one_of_second < one_of_first and 0 <= small < one_of_first):
        return None
    total = large + small
    return second._replace(low=total, high=total, start=first.start, unit=unit)


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

"""Reading the number that an answer gives.

Owns which number of a reply is its answer: one that opens the reply or is stated, what the last sentence
works out, or the only one. Promises that two different numbers, a number in a unit that cannot be
converted and a step on the way to a result give none.
"""

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

from fieldwork.parsing.refusals import is_refusal
from fieldwork.parsing.replies import reply_in_digits, with_ascii_powers
from fieldwork.parsing.units import SIGNS, Unit, unit_of
from fieldwork.parsing.written_numbers import MOST_NUMBERS, WrittenNumber, written_numbers
from fieldwork.records.parsing import (
    AMBIGUITY,
    EMPTY,
    NO_NUMBER,
    OTHER_UNIT,
    OUT_OF_RANGE,
    RANGE,
    REFUSAL,
    SEVERAL_NUMBERS,
    Reader,
)
from fieldwork.sections.asking import ValueRules

_LARGEST = 1e100
"""Above it a number is a run of digits that did not end."""

STRICT = ValueRules()
"""Rules under which only a reply that gives one number has a value."""

LENIENT = ValueRules(several_numbers="last", ranges="middle")
"""Rules under which a reply is unreadable only where no setting could read it."""

_COMMA_AND_SPACE = re.compile(rf"(\A[{SIGNS}\s]*\d{{1,3}}),\s(?=\d{{3}}(?:\.\d\d?)?(?![\d,]))")
_LIST_LINE = re.compile(r"^[ \t]*\(?(?=\d{1,2}[.)]\s+\S)", re.MULTILINE)
_HEDGE = (
    r"(?:(?:about|around|approximately|roughly|nearly|almost|probably|likely|exactly|just|only|maybe"
    r"|perhaps|an?)\s+){0,3}"
)
_MARKUP = r"[\s*_`\"'“$({\[]{0,8}"
_OPENING = re.compile(rf"[\s*_`\"'“#>($\[{{~≈-]{{0,12}}{_HEDGE}{_MARKUP}", re.IGNORECASE)
_CORRECTION = r"\W{0,8}(?:actually|wait|no|sorry|correction|or|rather|make\s+that)\b"
_NEXT_NUMBER = rf"[\s*_`#-]{{0,8}}[{SIGNS}]?\d"
_END_OF_OPENING = re.compile(
    rf"[ \t*_`\"'”)\]}}$]{{0,8}}(?:\s*\Z|(?:[.!](?![.!?\w])|\n)(?!{_NEXT_NUMBER})|[(\[]|:(?!\d)"
    rf"|[–—-]\s(?![{SIGNS}\d])|,?\s{{0,2}}\b(?:since|because|as|but|with)\b)(?!{_CORRECTION})",
    re.IGNORECASE,
)
"""The sentence ends or explains, and neither another number of a list nor a correction follows."""
_STATEMENT = re.compile(
    r"(?:(?<![^\W_])answers?(?![^\W_])[^\d\n.!?;]{0,60}?(?:\d{1,4}\s)?(?:\b(?:is|was|are|were|be|equals)\b|[:=≈~|])"
    rf"{_MARKUP}{_HEDGE}{_MARKUP}|^\W{{0,4}}A:{_MARKUP}|\\boxed\s?\{{{_MARKUP})\Z",
    re.IGNORECASE | re.MULTILINE,
)
"""What stands right before a number that is called the answer."""
_LONGEST_LINK = 140
"""Characters before a number in which it is stated."""
_LONE_NUMBER = re.compile(r"[^\w-]*-?[\d.,]+[^\w%]*")
_SENTENCE_END = re.compile(r"[.!?](?=\s)|\n")
_OPERATOR = r"(?:[×x*+÷/·–−-]|\\times|\b(?:plus|minus|times)\b)"
_EQUATION = re.compile(
    rf"(?:\d[^=\n]{{0,80}}?{_OPERATOR}|{_OPERATOR}\s?[{SIGNS}]?\d)[^=\n]{{0,80}}?(?:=|\bequals\b)"
)
_EQUALS = re.compile(r"=|\bequals\b")
_OPERAND = re.compile(rf"[^=\n.;:,()]{{0,20}}?\s?{_OPERATOR}\s?[{SIGNS}(]?\.?\d")
"""What follows a number that is worked with; the result is what counts."""
_CONCLUSION = re.compile(
    r"\b(?:so|thus|therefore|hence|leaves?|leaving|each(?!\s+of\b))\b", re.IGNORECASE
)
_NUMBER_WORD = re.compile(
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty"
    r"|hundred|thousand|[mb]illion|dozen|half|third|quarter)s?\b",
    re.IGNORECASE,
)
_RANGE_GAP = re.compile(r"[^\S\n]*(?:-|–|—|~|to|and)[^\S\n]*", re.IGNORECASE)


class ParsedNumber(NamedTuple):
    value: float | None
    reason: str | None
    """Why there is no value."""
    read_by: Reader | None = None
    """What found the value: its place in the reply."""


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
        unit: of the question; a number in another unit of its dimension is converted.
        lowest, highest: limits of what counts, in that unit.
        is_truncated: whether the reply was cut off, so that its last number may be a step or unfinished.
    """
    question_unit = unit_of(with_ascii_powers(unit)) if unit else None
    reply = reply_in_digits(text).strip()
    if not reply:
        return ParsedNumber(None, EMPTY)
    if question_unit is not None and question_unit.is_money:
        reply = _COMMA_AND_SPACE.sub(r"\1,", reply)
    numbers: Sequence[WrittenNumber] = written_numbers(reply, question_unit)
    if len(numbers) > MOST_NUMBERS:
        return ParsedNumber(None, SEVERAL_NUMBERS)
    if is_truncated and numbers and numbers[-1].end >= len(reply):
        numbers = numbers[:-1]
    numbers = _without_asides(reply, numbers, question_unit)
    place, answers = _answers(reply, numbers, question_unit, is_truncated)
    if place is None and is_refusal(reply, objecting=False):
        return ParsedNumber(None, REFUSAL)
    if not numbers:
        return ParsedNumber(None, NO_NUMBER)
    value, reason = _one_value(answers, question_unit)
    if reason == SEVERAL_NUMBERS and _is_range(reply, numbers):
        value, reason = (None, RANGE)
        if rules.ranges == "middle":
            place, (value, reason) = "range", _middle(numbers, question_unit)
    if reason == SEVERAL_NUMBERS and rules.several_numbers != "left_out" and not is_truncated:
        is_first = rules.several_numbers == "first"
        place = "first number" if is_first else "last number"
        value, reason = _one_value(numbers[:1] if is_first else numbers[-1:], question_unit)
    if value is None:
        return ParsedNumber(None, reason)
    is_inside = (-math.inf if lowest is None else lowest) <= value
    is_inside &= value <= (math.inf if highest is None else highest) and abs(value) <= _LARGEST
    if not is_inside:
        return ParsedNumber(None, OUT_OF_RANGE)
    return ParsedNumber(value, None, place or "only number")


def _without_asides(
    reply: str, numbers: Sequence[WrittenNumber], unit: Unit | None
) -> Sequence[WrittenNumber]:
    """The numbers without those of the lines of a list, and without shares where none is asked for."""
    lines = {match.end() for match in _LIST_LINE.finditer(reply)}
    return [
        number
        for number in numbers
        if not (number.start in lines and (len(lines) > 1 or number.start > 0))
        and not (unit is not None and not unit.is_share and number.name == "%" and len(numbers) > 1)
    ]


def _answers(
    reply: str, numbers: Sequence[WrittenNumber], unit: Unit | None, is_truncated: bool
) -> tuple[Reader | None, Sequence[WrittenNumber]]:
    """The numbers that have to be one, and where they stand; None for anywhere."""
    if not numbers:
        return None, []
    opening, statement = _opening(reply, numbers, unit), _statement(reply, numbers)
    if opening or statement:
        return "stated number" if statement else "opening number", [*opening, *statement]
    if is_truncated:
        return None, []
    if results := _results(reply, numbers):
        return "worked-out number", results
    return None, [] if _NUMBER_WORD.search(reply) else numbers


def _opening(
    reply: str, numbers: Sequence[WrittenNumber], unit: Unit | None
) -> Sequence[WrittenNumber]:
    """The number with which the reply begins, where its sentence ends or explains it behind it."""
    first = numbers[0]
    if first.start > 60 or not _OPENING.fullmatch(reply, 0, first.start):
        return []
    # '1. I think …' may be a list of one line, and '0.45 (45%)' is in another form
    is_mark = first.name is None and re.match(r"[.)] ?\S", reply[first.end : first.end + 3])
    is_part = unit is not None and unit.is_share and len(numbers) > 1 and abs(first.value) < 1
    is_opening = _END_OF_OPENING.match(reply, first.end) and not is_mark and not is_part
    return [first] if is_opening else []


def _statement(reply: str, numbers: Sequence[WrittenNumber]) -> Sequence[WrittenNumber]:
    """The last number that is called the answer, or that is all of the last line."""
    lines, _, last_line = reply.rpartition("\n")
    is_alone = _LONE_NUMBER.fullmatch(last_line) and numbers[-1].start >= len(lines)
    if is_alone and re.search(r"[^\W\d_]{2}", lines):
        return numbers[-1:]
    return [
        number
        for number in numbers
        if _STATEMENT.search(reply, max(0, number.start - _LONGEST_LINK), number.start)
        and not _OPERAND.match(reply, number.end)
    ][-1:]


def _results(reply: str, numbers: Sequence[WrittenNumber]) -> Sequence[WrittenNumber]:
    """What the last sentence with numbers works out.

    The number behind its last '=', else what follows 'so' or the like in it. After equations it may also
    only repeat the result, or be the only number of its sentence.
    """
    ends = [match.end() for match in _SENTENCE_END.finditer(reply, 0, numbers[-1].start)]
    start = ends[-1] if ends else 0
    earlier = [match.end() for match in _EQUATION.finditer(reply, 0, start)]
    if equations := [m.end() for m in (_EQUATION, _EQUALS)[bool(earlier)].finditer(reply, start)]:
        return [number for number in numbers if number.end > equations[-1]][:1]
    if conclusions := [match.end() for match in _CONCLUSION.finditer(reply, start)]:
        return [number for number in numbers if number.start >= conclusions[-1] - 1]
    if not earlier:
        return []
    members = [number for number in numbers if number.start >= start - 1]
    result = next(number.value for number in numbers if number.end > earlier[-1])
    return [number for number in members if number.value == result] or members


def _one_value(
    numbers: Sequence[WrittenNumber], unit: Unit | None
) -> tuple[float | None, str | None]:
    """The value of numbers that are one in the question's unit; else the reason why there is none."""
    spellings = {(number.value, number.name, number.per): number for number in numbers}
    if not all(number.is_clear for number in numbers):
        # '4.500 kg' is one number, and may be either of two
        return None, AMBIGUITY if len(spellings) == 1 else SEVERAL_NUMBERS
    if not 0 < len(spellings) < 10:
        return None, SEVERAL_NUMBERS
    values = [number.value_for(unit) for number in spellings.values()]
    known_values = [value for value in values if value is not None]
    if len(known_values) < len(values):
        return None, OTHER_UNIT
    is_one = all(math.isclose(value, known_values[-1]) for value in known_values)
    return (known_values[-1], None) if is_one else (None, SEVERAL_NUMBERS)


def _is_range(reply: str, numbers: Sequence[WrittenNumber]) -> bool:
    """Whether a reply has two numbers, with 'to' between them."""
    if len(numbers) != 2:
        return False
    gap = _RANGE_GAP.fullmatch(reply, numbers[0].end, numbers[1].start)
    is_between = re.search(r"\bbetween\s", reply[: numbers[0].start], re.IGNORECASE)
    return gap is not None and (gap[0].strip().lower() != "and" or is_between is not None)


def _middle(numbers: Sequence[WrittenNumber], unit: Unit | None) -> tuple[float | None, str | None]:
    """The middle of a range: in '10 to 20 million kg' magnitude and unit stand once."""
    low, high = numbers
    low = low._replace(name=low.name or high.name, per=low.per or high.per)
    if low.magnitude == 1 and low.value * high.magnitude <= high.value:
        low = low._replace(value=low.value * high.magnitude, magnitude=high.magnitude)
    ends = low.value_for(unit), high.value_for(unit)
    return (None, OTHER_UNIT) if None in ends else (sum(filter(None, ends)) / 2, None)

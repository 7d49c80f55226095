"""Which number of a reply is its answer.

What counts is, in this order: a number that opens the reply, what is stated as the answer or stands alone
on the last line, what the last sentence works out, what the speaker would say, the one number that is
bold, the one quantity in the question's unit. Promises that an opening and a statement that differ give
none, that a step on the way to a result is not the result, and that of an answer which was cut off only
an opening or a statement counts.
"""

import re
from collections.abc import Iterator, Sequence

from fieldwork.parsing.number_writing import WrittenNumber
from fieldwork.parsing.units import (
    SIGNS,
    Unit,
    is_known,
    is_percent,
    is_same_per,
    is_unit_of,
    value_in,
)
from fieldwork.records.parsing import ValueRules

_LIST_LINE = re.compile(r"^[ \t]*\(?(?=\d{1,2}[.)]\s+\S)", re.MULTILINE)
_HEADING = re.compile(
    r"\b(?:step|question|item|part|option|case|example|point|phase|method|scenario|note|figure|table|chapter|day"
    r"|year)\s\Z",
    re.IGNORECASE,
)
_HEDGE = (
    r"(?:(?:about|around|approximately|approx\.?|roughly|nearly|almost|circa|ca\.|some|probably|likely|exactly"
    r"|just|only|over|under|maybe|perhaps|close\s+to|at\s+least|at\s+most|up\s+to|between|from|be|an?)\s+){0,3}"
)
_MARKUP = r"[\s*_`\"'“$({\[]{0,8}"
_OPENING = re.compile(rf"[\s*_`\"'“#>($\[{{~≈-]{{0,12}}{_HEDGE}{_MARKUP}", re.IGNORECASE)
_END_OF_OPENING = re.compile(
    r"[\s*_`\"'”)\]}$]{0,8}(?:\Z|[.!?](?![.!?\w]))|[*_`\"'”)\]}$ ]{0,8}\n"
    r"|[*_`\"'”]{0,6}\s{0,2}(?:[(\[]|:(?!\d)|[–—](?!\s{0,2}\d)|-\s(?!\d)"
    r"|,?\s{0,2}\b(?:since|because|as|but|though|although|given|due|with|including|while)\b)",
    re.IGNORECASE,
)
_NEXT_NUMBER = re.compile(rf"[\s*_`#-]{{0,8}}[{SIGNS}]?\d")
_CORRECTION = re.compile(
    r"\W{0,8}(?:actually|wait|no|sorry|correction|or|rather|instead|make\s+that|on\s+second|hmm)\b",
    re.IGNORECASE,
)
_LINK = (
    r"[^\d\n.!?;]{0,60}?(?:\d{1,4}\s)?(?:\b(?:is|was|are|were|be|equals|ist|est|es|è|é)\b|[:=≈~|])"
    rf"{_MARKUP}{_HEDGE}{_MARKUP}"
)
"""What may stand between a word for an answer and its number: 'for 2023 is about', but not 'has'."""
_STATEMENT = re.compile(
    r"(?:(?<![^\W_])(?:answers?|antwort|réponse|respuesta|risposta|resposta)(?![^\W_])"
    rf"|(?<=\")(?:estimate|value|amount|number)(?=\")){_LINK}\Z"
    rf"|^\W{{0,4}}A:{_MARKUP}\Z|\\boxed\s?\{{{_MARKUP}\Z",
    re.IGNORECASE | re.MULTILINE,
)
"""What stands right before a number that is called the answer."""
_SAYING = re.compile(
    rf"\bmy\s+(?:best\s+)?(?:estimate|guess){_LINK}\Z"
    r"|\bI(?:(?P<would>['’](?:d|ll)|\s+(?:would|will|can|could)))?(?:\s+(?:probably|likely|only|just|have\s+to"
    r"|be\s+willing\s+to)){0,2}\s+(?:say|guess|estimate|(?(would)(?:pay|answer|choose|pick|go\s+with|go\s+for)|(?!)))"
    rf"[:,]?(?:\s+(?:that|it|it['’]s|is|at|for|there|there['’]s|i|i['’]m)){{0,3}}\s+{_HEDGE}{_MARKUP}\Z",
    re.IGNORECASE,
)
"""What stands before a number that the speaker would say or pay; 'I pay 300' may be one of several."""
_LONGEST_LINK = 140
"""Characters before a number in which it is stated."""
_BOLD = re.compile(r"\*\*([^*\n]{1,80})\*\*")
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
_FIRST_FACTOR = re.compile(
    r"\s?[x×/]\s?\d|\s(?:in|out\s+of)\s(?:every\s)?\d{1,3}(?!\d)", re.IGNORECASE
)
_LAST_FACTOR = re.compile(r"(?:\d\s?[x×/]|\d\s(?:in|out\s+of)(?:\s+every)?)\s?\Z", re.IGNORECASE)
_MONTHS = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december)"
)
_BEFORE_DATE = re.compile(
    rf"(?:\A\W*|[(,]\s*|\b(?:in|as\s+of|since|by|born|until|from|during|for|year|the|a|circa|im|seit|en|depuis"
    rf"|desde|nel|dal|в|с|{_MONTHS}(?:\s+\d\d?,?)?)\s+)\Z",
    re.IGNORECASE,
)
_DAY_OF_MONTH = re.compile(rf"\b{_MONTHS}\s+\Z", re.IGNORECASE)
_KNOWLEDGE = re.compile(
    r"\b(?:update|updated|cutoff|cut-off|knowledge|training)\b[^.\n\d]{0,40}\Z", re.IGNORECASE
)
_YEARS = range(1900, 2100)


def is_year(number: WrittenNumber) -> bool:
    is_plain = number.unit is None or not is_known(number.unit.word)
    is_whole = number.low == number.high and number.magnitude == 1 and not number.has_groups
    return is_plain and is_whole and number.low in _YEARS


def without_asides(
    reply: str, numbers: Sequence[WrittenNumber], unit: Unit | None
) -> list[WrittenNumber]:
    """The numbers without those that count lines and questions, and without dates.

    All stay where nothing else is left. A year may be the answer where the question has no unit.
    """
    list_lines = [match.end() for match in _LIST_LINE.finditer(reply)]
    list_marks = set(list_lines) if len(list_lines) > 1 else set[int]()
    kept_numbers = [number for number in numbers if number.start not in list_marks]
    quantities = [
        number
        for number in kept_numbers
        if not _HEADING.search(reply, max(0, number.start - 20), number.start)
        and not _is_date(reply, number, unit)
    ]
    return quantities or kept_numbers


def _is_date(reply: str, number: WrittenNumber, unit: Unit | None) -> bool:
    preceding = reply[max(0, number.start - 60) : number.start]
    if is_year(number) and _KNOWLEDGE.search(preceding):
        return True
    if unit is None or unit.word.casefold().removesuffix("s") == "year":
        return False
    if is_year(number):
        return _BEFORE_DATE.search(preceding[-20:]) is not None
    return number.low in range(1, 32) and _DAY_OF_MONTH.search(preceding[-20:]) is not None


def answer_of(
    reply: str,
    numbers: Sequence[WrittenNumber],
    unit: Unit | None,
    rules: ValueRules,
    *,
    is_truncated: bool = False,
) -> WrittenNumber | None:
    """The number that the reply gives as its answer; None for several of the same standing."""
    answers = [*_openings(reply, numbers, unit), *_statements(reply, numbers)[-1:]]
    if answers:
        answer = answers[0] if _are_one(answers, unit) else None
    elif is_truncated:
        return None
    else:
        candidates = _candidates(reply, numbers, unit)
        answer = next((circle[-1] for circle in candidates if _are_one(circle, unit)), None)
    if answer is None and rules.several_numbers != "left_out":
        return numbers[0 if rules.several_numbers == "first" else -1]
    return answer


def _candidates(
    reply: str, numbers: Sequence[WrittenNumber], unit: Unit | None
) -> Iterator[list[WrittenNumber]]:
    """What may be the answer where nothing is stated; the first that is one number is."""
    yield _results(reply, numbers)
    sayings = [n for n in numbers if _is_behind(_SAYING, reply, n) and not _is_factor(reply, n)]
    yield sayings
    if not sayings:
        spans = [match.span() for match in _BOLD.finditer(reply)]
        yield [n for n in numbers if any(start <= n.start < end for start, end in spans)]
        yield _quantities(reply, numbers, unit)
        yield list(numbers)


def _are_one(numbers: Sequence[WrittenNumber], unit: Unit | None) -> bool:
    """Whether numbers are the same, if need be in the question's unit."""
    if len({(n.low, n.high) for n in numbers}) < 2:
        return bool(numbers)
    if unit is None or len(numbers) > 10:
        return False
    values = [value_in(n.low, n.unit, unit) if n.unit else n.low for n in numbers]
    known_values = [value for value in values if value is not None]
    return len(known_values) == len(values) and max(known_values) - min(known_values) <= 1e-9 * max(
        map(abs, known_values)
    )


def _openings(
    reply: str, numbers: Sequence[WrittenNumber], unit: Unit | None
) -> list[WrittenNumber]:
    """The number with which the reply begins, where its sentence ends or explains it behind it."""
    first = numbers[0]
    if first.start > 60 or not _OPENING.fullmatch(reply, 0, first.start):
        return []
    end = _END_OF_OPENING.match(reply, first.end)
    if not end or _CORRECTION.match(reply, end.end()):
        return []
    # of a list of numbers none is the answer, and '1. I think …' may be a list of one line
    is_list = _NEXT_NUMBER.match(reply, end.end()) and end[0].strip()[-1:] in ("", ".", "!", "?")
    is_mark = first.low in range(1, 10) and re.match(r"[.)] ?\S", reply[first.end : first.end + 3])
    if is_list or (is_mark and first.unit is None and len(numbers) > 1):
        return []
    # '68°F (20°C)' is in another unit, '0.45 (45%)' in another form
    is_share = unit is not None and is_percent(unit.word) and 0 < first.low < 1
    is_of_unit = unit is None or (first.unit is None and not is_share) or _is_of_unit(first, unit)
    return [first] if is_of_unit or len(numbers) == 1 or end[0].strip() in ("", ".") else []


def _is_of_unit(number: WrittenNumber, unit: Unit | None) -> bool:
    """Whether a number is said to have the question's unit, and none to count for another period."""
    if unit is None or number.unit is None or not is_same_per(number.unit, unit):
        return False
    return not number.unit.word or is_unit_of(number.unit.word, unit)


def _is_behind(pattern: re.Pattern[str], reply: str, number: WrittenNumber) -> bool:
    return pattern.search(reply, max(0, number.start - _LONGEST_LINK), number.start) is not None


def _statements(reply: str, numbers: Sequence[WrittenNumber]) -> list[WrittenNumber]:
    """The numbers that are called the answer; the last also where it is all of the last line."""
    lines, _, last_line = reply.rstrip().rpartition("\n")
    is_alone = re.fullmatch(r"[^\w-]*-?[\d.,]+[^\w%]*", last_line)
    if is_alone and re.search(r"[^\W\d_]{2}", lines) and numbers[-1].start >= len(lines):
        return [numbers[-1]]
    return [
        number
        for number in numbers
        if _is_behind(_STATEMENT, reply, number) and not _OPERAND.match(reply, number.end)
    ]


def _results(reply: str, numbers: Sequence[WrittenNumber]) -> list[WrittenNumber]:
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
    result = next(number.low for number in numbers if number.end > earlier[-1])
    return [number for number in members if number.low == result] or members


def _is_factor(reply: str, number: WrittenNumber) -> bool:
    """Whether a number is a factor or a part of a fraction: '5 x 8 hours', '1/2 hour', '3 in 10'."""
    preceding = reply[max(0, number.start - 16) : number.start]
    return bool(_FIRST_FACTOR.match(reply, number.end) or _LAST_FACTOR.search(preceding))


def _quantities(
    reply: str, numbers: Sequence[WrittenNumber], unit: Unit | None
) -> list[WrittenNumber]:
    """The numbers with the question's unit, and those that may have it: bare or large ones."""
    if unit is None:
        return []
    return [
        number
        for number in numbers
        if not _is_factor(reply, number)
        and (
            number.unit is None
            or _is_of_unit(number, unit)
            or (not is_known(number.unit.word) and (number.has_groups or number.magnitude > 1))
        )
    ]

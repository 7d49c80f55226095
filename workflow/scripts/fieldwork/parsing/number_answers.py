"""Which number of a reply is its answer.

What counts is, in this order: a number that opens the reply, what is boxed or bold, what is stated as
the answer, what is said, guessed or totalled, what follows 'so' or '=', the numbers with the question's
unit, all numbers. The first of these that holds one number gives it. Promises that an opening and a
stated answer that differ give none, and that a guess is not passed over for a number with a unit.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence

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
_HIGHLIGHT = re.compile(r"\\boxed\s?\{([^{}\n]{1,80})\}|\*\*([^*\n]{1,80})\*\*")
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
_FULL_STOP = re.compile(r"[\s*_`\"'”)\]}$]{0,8}(?:\Z|[.!?](?![.!?\w]))|[*_`\"'”)\]}$ ]{0,8}\n")
_PAUSE = re.compile(
    r"[*_`\"'”]{0,6}\s{0,2}(?:[;(\[]|:(?!\d)|[–—]|-\s"
    r"|,?\s{0,2}\b(?:since|because|as|but|though|although|given|due|with|including|while)\b)",
    re.IGNORECASE,
)
"""What goes on after a number that opens a reply, to explain it."""
_NEXT_NUMBER = re.compile(rf"[\s*_`#-]{{0,8}}[{SIGNS}]?\d")
_CORRECTION = re.compile(
    r"\W{0,8}(?:actually|wait|no|sorry|correction|or|rather|instead|make\s+that|on\s+second|hmm)\b",
    re.IGNORECASE,
)
_NOUN = re.compile(
    r"(?<![^\W_])(?:(?P<answer>answers?|antwort|réponse|respuesta|risposta|resposta)"
    r"|estimate|guess|total|result|response|figure|number|schätzung"
    r"|(?<=\")(?:value|amount|rating|score)(?=\"\s?:))(?![^\W_])",
    re.IGNORECASE,
)
_NOUN_LINK = re.compile(
    rf"(?:\s+of|[^\n.!?;]{{0,60}}?(?:\b(?:is|was|are|were|be|equals|ist|est|es|è|é"
    rf"|(?:comes?|came|amounts?|equal|adds?\s+up)\s+to)\b|[:=≈~|])){_MARKUP}{_HEDGE}{_MARKUP}",
    re.IGNORECASE,
)
"""What may stand between such a noun and the number: 'is about', but not 'has' or 'in'."""
_VERB = re.compile(
    r"\bI(?:['’](?:d|ll)|\s+would|\s+will|\s+can|\s+could)?(?:\s+(?:probably|likely|only|just|have\s+to"
    r"|be\s+willing\s+to)){0,2}\s+(?:say|guess|estimate|pay|answer|choose|pick|go\s+with|go\s+for)\b",
    re.IGNORECASE,
)
_VERB_LINK = re.compile(
    rf"[:,]?(?:\s+(?:that|it|it['’]s|is|at|for|there|there['’]s|i|i['’]m)){{0,3}}\s+{_HEDGE}{_MARKUP}",
    re.IGNORECASE,
)
_CONCLUSION = re.compile(r"\b(?:so|thus|therefore|hence)\b|=", re.IGNORECASE)
_CONCLUSION_LINK = re.compile(
    rf"[:,]?(?:\s+(?:that|it|it['’]s|is|that['’]s|i|i['’]m|we)){{0,2}}\s*{_HEDGE}{_MARKUP}",
    re.IGNORECASE,
)
_LONGEST_LINK = 100
"""Characters between what states a number and the number."""
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
    reply: str, numbers: Sequence[WrittenNumber], unit: Unit | None, rules: ValueRules
) -> WrittenNumber | None:
    """The number that the reply gives as its answer; None for several of the same standing."""
    opening = _opening(reply, numbers, unit)
    answers = _answers(reply, numbers)
    if opening and not answers:
        return opening
    circles: tuple[Callable[[], Sequence[WrittenNumber]], ...] = (
        lambda: [opening] if opening else [],
        lambda: _highlights(reply, numbers),
        lambda: answers,
        lambda: _of_unit(_guesses(reply, numbers), unit),
        lambda: _conclusions(reply, numbers),
        lambda: _quantities(reply, numbers, unit),
        lambda: numbers,
    )
    is_contradiction = opening is not None and not _are_one([opening, *answers], unit)
    for circle in () if is_contradiction else circles:
        members = circle()
        if _are_one(members, unit):
            return members[-1]
        if members and circle is circles[3]:
            break
    if rules.several_numbers == "left_out":
        return None
    return numbers[0 if rules.several_numbers == "first" else -1]


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


def _opening(
    reply: str, numbers: Sequence[WrittenNumber], unit: Unit | None
) -> WrittenNumber | None:
    """The number with which the reply begins, where a line or sentence ends behind it.

    One in the question's unit, or without any, may also be explained in the same sentence.
    """
    if not numbers:
        return None
    first = numbers[0]
    if first.start > 60 or not _OPENING.fullmatch(reply, 0, first.start):
        return None
    is_plain = first.unit is None or unit is None
    if first.unit and unit:
        is_plain = _is_of_unit(first, unit) and is_same_per(first.unit, unit)
    # '0.45 (45%)'
    is_plain &= not (unit and is_percent(unit.word) and first.unit is None and first.low <= 1)
    end = _FULL_STOP.match(reply, first.end) or (is_plain and _PAUSE.match(reply, first.end))
    if not end or _CORRECTION.match(reply, end.end()):
        return None
    # of '400; 500' and a list of numbers none is the answer
    if end[0].strip()[-1:] in ("", ".", "!", "?", ";") and _NEXT_NUMBER.match(reply, end.end()):
        return None
    # '1. I think that …' may be a list of one line
    is_list_mark = first.low == 1 and re.match(r"[.)] ?\S", reply[first.end : first.end + 3])
    if is_list_mark and len(numbers) > 1:
        return None
    # so may '2. I would pay 10'
    is_doubtful = 0 < first.low < 10 and first.unit is None and reply[first.end :][:2] == ". "
    guesses = _guesses(reply, numbers[1:]) if is_doubtful else []
    return None if guesses and not _are_one([first, *guesses], unit) else first


def _is_of_unit(number: WrittenNumber, unit: Unit | None) -> bool:
    if unit is None or number.unit is None:
        return False
    return not number.unit.word or is_unit_of(number.unit.word, unit)


def _highlights(reply: str, numbers: Sequence[WrittenNumber]) -> list[WrittenNumber]:
    """The numbers that are boxed or bold."""
    spans = [match.span() for match in _HIGHLIGHT.finditer(reply)]
    starts = [start for start, _ in spans]
    places = [(number, bisect_right(starts, number.start) - 1) for number in numbers]
    return [number for number, n in places if n >= 0 and number.start < spans[n][1]]


def _answers(reply: str, numbers: Sequence[WrittenNumber]) -> list[WrittenNumber]:
    """The last number that is called the answer."""
    answers = [n for noun, n in _statements(reply, numbers, _NOUN, _NOUN_LINK) if noun["answer"]]
    return answers[-1:]


def _guesses(reply: str, numbers: Sequence[WrittenNumber]) -> list[WrittenNumber]:
    """The numbers that are called a total, an estimate, …, or that someone says, guesses or pays."""
    nouns = _statements(reply, numbers, _NOUN, _NOUN_LINK)
    verbs = _statements(reply, numbers, _VERB, _VERB_LINK)
    return [number for _, number in (*nouns, *verbs) if not _is_factor(reply, number)]


def _conclusions(reply: str, numbers: Sequence[WrittenNumber]) -> list[WrittenNumber]:
    """The numbers behind '=', and behind 'so' where the sentence ends with them."""
    return [
        number
        for match, number in _statements(reply, numbers, _CONCLUSION, _CONCLUSION_LINK)
        if match[0] == "=" or _FULL_STOP.match(reply, number.end)
    ]


def _statements(
    reply: str, numbers: Sequence[WrittenNumber], word: re.Pattern[str], link: re.Pattern[str]
) -> Iterator[tuple[re.Match[str], WrittenNumber]]:
    """The first number behind each such word, where the text between them says that it is it."""
    starts = [number.start for number in numbers]
    for match in word.finditer(reply):
        place = bisect_left(starts, match.end())
        # a year may stand between: 'my estimate for 2023 is 8'
        for number in numbers[place : place + 2]:
            is_close = number.start - match.end() <= _LONGEST_LINK
            if is_close and link.fullmatch(reply, match.end(), number.start):
                yield match, number
                break
            if not is_year(number):
                break


def _of_unit(numbers: list[WrittenNumber], unit: Unit | None) -> list[WrittenNumber]:
    """Of several those that can be in the question's unit: not the 20% of 'I pay 20%, which is $120'."""
    if unit is None:
        return numbers
    if not is_percent(unit.word):
        numbers = [n for n in numbers if n.unit is None or not is_percent(n.unit.word)]
    members = [n for n in numbers if n.unit is None or value_in(n.low, n.unit, unit) is not None]
    return members if len(numbers) > 1 else numbers


def _is_factor(reply: str, number: WrittenNumber) -> bool:
    """Whether a number is a factor or a part of a fraction: '5 x 8 hours', '1/2 hour', '3 in 10'."""
    preceding = reply[max(0, number.start - 16) : number.start]
    return bool(_FIRST_FACTOR.match(reply, number.end) or _LAST_FACTOR.search(preceding))


def _quantities(
    reply: str, numbers: Sequence[WrittenNumber], unit: Unit | None
) -> list[WrittenNumber]:
    """The numbers with the question's unit, but for factors; first those that count for the same."""
    members = [n for n in numbers if _is_of_unit(n, unit) and not _is_factor(reply, n)]
    same_members = [n for n in members if unit and n.unit and is_same_per(n.unit, unit)]
    if same_members:
        return same_members
    # '8 hours a day for 5 days' are no 56 hours a week
    pers = {Unit(n.unit.per) for n in members if n.unit and n.unit.per}
    is_product = any(n.unit and is_unit_of(n.unit.word, per) for n in numbers for per in pers)
    return [] if is_product else members

"""Reading the point of a scale that an answer gives.

Points are marked by letters or by numbers. Letters are read as a choice's. Of numbers these are read, the
first that says something: a number alone, an opening that is nothing but a number or a label, a statement
such as 'my answer is 4', a line that begins with a number and its label, a label in the text, the only
number of the scale in it. Promises that what contradicts itself gives no point: a number beside another
point's label, an opening and another statement.
"""

import math
import re
from collections.abc import Callable, Sequence
from string import ascii_uppercase
from typing import NamedTuple

from fieldwork.parsing.choice_texts import fits_choice
from fieldwork.parsing.choices import parse_choice
from fieldwork.parsing.number_scales import NUMBER, NumberScale, label_words
from fieldwork.parsing.refusals import is_refusal
from fieldwork.parsing.replies import SPACED_LETTER, reply_in_digits
from fieldwork.parsing.scale_descriptions import without_description
from fieldwork.records.parsing import (
    AMBIGUITY,
    EMPTY,
    NO_LETTER,
    NO_POINT,
    OUT_OF_RANGE,
    RANGE,
    REFUSAL,
)

_SHORT = 120
"""Characters up to which a reply is short enough to be a range as a whole."""
_LINK = (
    r"(?:is|are|be|as|at|an?|it|this|with|for|option|number|point|(?:score|rating|value)\s+of|of"
    r"|[:=]|[–—-](?=\s))"
)
"""What stands before a number that is stated; 'on', 'has' or 'that' say something else."""
_STATEMENT = re.compile(
    r"(?:\b(?P<noun>answer|rating|score|response|choice|position|opinion|view|mine)s?"
    rf"\b(?:[^\d\n.!?;]{{0,60}}?{_LINK})?"
    r"|\b(?P<verb>rate|choose|chose|chosen|select|selected|pick|picked|give|gave|go|going|say|said|place)"
    rf"\b(?:[^\d\n.!?;]{{0,60}}?{_LINK})?)"
    rf"\s*(?P<number>{NUMBER})",
    re.IGNORECASE,
)
_OTHER_PEOPLE = re.compile(
    r"\b(?:others?|their|his|her|people'?s?|average|typical|most|someone|previous|initial|your)\s(?:\w+\s){0,2}$",
    re.IGNORECASE,
)
_SPEAKER = re.compile(r"\b(?:i|i['’]?d|i['’]?ll|we|me|im|i['’]m)\b[^.\n!?;,]{0,30}$", re.IGNORECASE)
_NOT = re.compile(r"\b(?:not|never|neither|nor|cannot)\b|n['’]?t\b", re.IGNORECASE)
_CLAUSE_END = re.compile(r"[.!?;,\n](?!\d)")
_NOT_NOW = re.compile(
    r"\b(?:if|were|would\s+have|have\s+said|going\s+to\s+say|used\s+to|ago|initially|at\s+first)\b",
    re.IGNORECASE,
)
"""A sentence of what the speaker would say otherwise, or said once."""
_FOLLOWING = re.compile(
    rf"\s*(?:$|(?!{SPACED_LETTER}|\s)."
    r"|(?:in\s+(?!\d)|because|as|since|out|on|and|or|but|for|points?|stars?|here|overall|with|which|meaning"
    r"|i|to|rather|instead|over|based|if|though|although|given|so|is|weil|da|auf|von|punkte?|sur|car"
    r"|parce|pour|porque|para|puntos?|балл\w*|from\s+me|definitely|probably|without|all\s+the\s+way|at\s+best"
    r"|seems|feels|represents|reflects|best|most\s+likely|today|honestly|max|sagen|geben|antworten)\b)",
    re.IGNORECASE | re.DOTALL,
)
"""What follows a number that is no count of something."""
_HEAD = re.compile(rf"[\s>#\[(]*(?P<number>{NUMBER})[\])]*(?P<rest>[^\n]*)")
_SEPARATOR = re.compile(
    r"\s*(?:$|[.:;=(]|,(?!\s*-?\d)|[–—-](?!\s*\d)"
    r"|(?:because|as|since|is|weil|parce|porque|rather\s+than|instead\s+of)\b)"
)
_OR_ANOTHER = re.compile(
    r"\b(?:or|maybe|perhaps|possibly|but|actually|wait|make\s+that|no|oder|ou|o|vielleicht)\b"
    rf"(?![^.\n]{{0,12}}\bnot\b)[^.\n]{{0,20}}?{NUMBER}",
    re.IGNORECASE,
)
_CLOSING_NUMBER = re.compile(
    r"(?:[.!?。]\s+|\n\s*|\b(?:so|therefore|thus|deshalb|donc|então|quindi|поэтому)\s+|所以[选選]?|ので、?)"
    rf"(?P<number>{NUMBER})\W*\Z",
    re.IGNORECASE,
)
_CORRECTION = re.compile(
    rf"[^\n]{{0,20}}\b(?:actually|wait|make\s+that|scratch)\b[^\n]{{0,20}}?{NUMBER}", re.IGNORECASE
)
_OR_NUMBER = re.compile(rf"\s*(?:or|oder|ou|o|или|أو)\s+{NUMBER}", re.IGNORECASE)
_COUNT_BEFORE = re.compile(
    r"(?:\b(?:mother|father|mum|mom|dad|parent|family|household|group|one|team|class)\s+of"
    r"|\b(?:windows|top|article|chapter|section)|\b(?:not|never|nor|neither)(?:\s+an?)?)\s\Z",
    re.IGNORECASE,
)
_COUNT_AFTER = re.compile("[个個人名岁歳年次回本家時时]")
_RIVAL_DISTANCE = 15
"""Characters between two numbers that are alternatives, whatever stands between them."""
_LINE = re.compile(
    rf"^[\s>*_#\[(]*(?P<number>{NUMBER})[\])*_]*\s*(?:[.):=–—-]|is\b|\()?\s*(?P<rest>[^\n]*)$",
    re.M,
)
_LIST_MARK = re.compile(r"^\s*(?P<number>\d{1,2})[.)]\s+\S", re.MULTILINE)
_RANGE = re.compile(
    r"(?<![\w.,/])(?P<low>-?\d{1,2})\s*(?:-|–|—|~|～|to|bis)\s*(?P<high>-?\d{1,2})(?!\w|[.,]\d)"
    r"|\b(?:between|zwischen|entre|tra|между|بين)\s+(?:an?\s+)?(?P<low2>-?\d{1,2})"
    r"\s+(?:and|und|y|et|e|и|و)\s+(?:an?\s+)?(?P<high2>-?\d{1,2})\b",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"[*_`\"“”‘]|\\boxed|[{}$]")
_SENTENCE_END = re.compile(r"(?<=[.!?。])\s+")
_AROUND_LABEL = re.compile(
    r"i|i['’]?(?:d|m|ll)|would|will|say|that|my|answer|response|rating|opinion|position|view|is|it|with|this"
    r"|statement|the|personally|honestly|well|overall|somewhat|generally|mostly|tend|to|am|do|in|general"
)
"""Words beside a label that leave it what it is."""


_IF_IT_WERE = re.compile(r"\bwould\s+be\b[^.\n]*\bif\b|\bif\b[^.\n]*\bwould\s+be\b", re.IGNORECASE)


class ParsedScale(NamedTuple):
    """The letters of the options that a reply gives.

    Attributes:
        strict: the letter where the reply is nothing but the option's mark.
        letters: one for an option, two for the ends of a range, none where there is a `reason`.
        reason: why there is no option: a range has one too.
    """

    strict: str | None
    letters: tuple[str, ...]
    reason: str | None


class _Reading(NamedTuple):
    """What one pattern reads; as `ParsedScale`."""

    letters: tuple[str, ...]
    reason: str | None = None


_Reader = Callable[[str, NumberScale], _Reading | None]


def parse_scale(
    text: str | None,
    *,
    marks: Sequence[str] | None,
    choices: Sequence[str],
    n_points: int | None = None,
) -> ParsedScale:
    """Read the point of a reply.

    Args:
        marks: numbers of the options in order; None where letters mark them.
        choices: their texts.
        n_points: how many of them are points, the first; None for all.
    """
    if marks is None:
        letters = ascii_uppercase[: len(choices)]
        strict, letter, reason = parse_choice(text, letters=letters, choices=choices)
        if letter and _is_beside_another_label(text or "", letter, choices):
            return ParsedScale(strict, (), AMBIGUITY)
        reason = NO_POINT if reason == NO_LETTER else reason
        return ParsedScale(strict, (letter,) if letter else (), reason)
    scale = NumberScale(marks, choices, n_points or len(choices))
    reply = reply_in_digits(text).strip()
    if not reply:
        return ParsedScale(None, (), EMPTY)
    if len(reply) == 1 and reply in ascii_uppercase[: len(choices)]:
        # a model that is scored by the likelihood of options answers with the letter of one
        return ParsedScale(None, (reply,), None)
    strict = scale.letter(reply) if reply in marks else None
    letters_read, reason = _read(reply, scale)
    if not letters_read and reason == NO_POINT and is_refusal(reply, objecting=False):
        reason = REFUSAL
    return ParsedScale(strict, letters_read, reason)


def _is_beside_another_label(text: str, letter: str, choices: Sequence[str]) -> bool:
    """Whether a reply is a letter and the whole label of another point: 'A. Strongly agree'."""
    match = re.fullmatch(rf"\W*{letter}\b\W*(?P<rest>[^\n]{{1,80}})", text.strip())
    if match is None:
        return False
    own_label, words = (
        label_words(choices[ascii_uppercase.index(letter)]),
        label_words(match["rest"]),
    )
    labels = [label_words(label) for label in choices]
    return words in labels and words != own_label


def _read(reply: str, scale: NumberScale) -> _Reading:
    """The result of the first pattern that says something."""
    description = without_description(reply, scale)
    text = description.text
    readers: tuple[_Reader, ...] = (
        *(_range, _bare_number, _opening_and_statement, _marked_line, _label, _mention),
    )
    readings = (read(text, scale) for read in readers)
    reading = next((reading for reading in readings if reading is not None), None)
    if reading is not None:
        return reading
    if description.has_other_top:
        return _Reading((), OUT_OF_RANGE)
    return _Reading((), AMBIGUITY if description.has_legend else NO_POINT)


def _range(reply: str, scale: NumberScale) -> _Reading | None:
    """Two points with 'to' between them, or a number between two points; all of a short reply or head."""
    bare = _MARKUP.sub("", reply)
    if len(bare) > _SHORT:
        bare = _SENTENCE_END.split(bare.strip().partition("\n")[0])[0]
    match = _RANGE.search(bare) if len(bare) <= _SHORT else None
    if match is None or re.search(NUMBER, bare[match.end() :]):
        # 'between 3 and 4, so 4' says more than the range
        return None
    ends = _letters(match["low"] or match["low2"], match["high"] or match["high2"], scale)
    return _Reading(ends, RANGE) if ends else None


def _letters(low: str, high: str, scale: NumberScale) -> tuple[str, ...]:
    """The letters of two points; none where one is no point, or both are the same."""
    ends = scale.letter(low) or "", scale.letter(high) or ""
    return ends if all(ends) and ends[0] != ends[1] else ()


def _ends_around(number: str, scale: NumberScale) -> tuple[str, ...]:
    """The letters of the points beside a number between two of them; none for other numbers."""
    low = math.floor(float(number))
    return _letters(str(low), str(low + 1), scale) if float(number) != low else ()


def _bare_number(reply: str, scale: NumberScale) -> _Reading | None:
    bare = " ".join(_MARKUP.sub("", reply).split())
    match = re.fullmatch(rf"[\W_]*?({NUMBER})[\s.):=(\[\]–—,-]*([^\d]*)", bare)
    if match is None or not _may_be_point(bare, match.span(1), scale):
        return None
    return _with_label(match[1], match[2], scale)


def _with_label(number: str, rest: str, scale: NumberScale) -> _Reading:
    """A number and what follows it: nothing, its own label, or another point's, which contradicts it."""
    letter = scale.letter(number)
    if letter is None:
        ends = _ends_around(number, scale)
        return _Reading(ends, RANGE) if ends else _Reading((), OUT_OF_RANGE)
    other = scale.label_letter(rest.strip(" .()\n")) if rest.strip() else None
    if other not in (None, letter) and not _is_reworded(rest, letter, other or "", scale):
        return _Reading((), AMBIGUITY)
    return _Reading((letter,))


def _is_reworded(rest: str, letter: str, other: str, scale: NumberScale) -> bool:
    """Whether a text has all words of a point's label, in another order: 'agree strongly'."""
    own_words, other_words = (set(label_words(scale.label(one))) for one in (letter, other))
    return own_words <= set(label_words(rest)) and not own_words <= other_words


# ---- openings and statements -------------------------------------------------------------------------


def _opening_and_statement(reply: str, scale: NumberScale) -> _Reading | None:
    """What the reply opens with and what it states; nothing where the two differ."""
    opening, statement = _opening(reply, scale), _statement(reply, scale)
    if opening is not None and statement is not None and opening.letters != statement.letters:
        return _Reading((), AMBIGUITY)
    return statement if opening is None else opening


def _opening(reply: str, scale: NumberScale) -> _Reading | None:
    """A first line that begins with a number and goes on otherwise, or a first sentence with a label."""
    bare = _MARKUP.sub("", reply).strip()
    line = bare.partition("\n")[0]
    head = _HEAD.match(line)
    if head is None:
        return _opening_label(bare, _SENTENCE_END.split(line)[0], scale)
    number, rest = head["number"], head["rest"]
    if (_LIST_MARK.match(line) and _is_list(bare)) or not _SEPARATOR.match(rest):
        return None
    if last := re.fullmatch(rf"[.)]\s+[^\n]*:\s*({NUMBER})\W*", rest):
        # the number of a question, its text and the answer
        return _with_label(last[1], "", scale)
    if _OR_ANOTHER.search(rest) or re.fullmatch(rf"\W*{NUMBER}\W*", rest):
        return _Reading((), AMBIGUITY)
    bare_lines = {line.strip(" .") for line in bare.splitlines()} & set(scale.marks)
    if len(bare_lines | {number}) > 1:
        return _Reading((), AMBIGUITY)
    clause = _SENTENCE_END.split(rest.lstrip(" .:;=(–—,-)"))[0]
    return _with_label(number, clause[:60], scale)


def _opening_label(reply: str, sentence: str, scale: NumberScale) -> _Reading | None:
    """A label that begins the reply, but for words such as 'I' and 'my answer is'."""
    letter = None if sentence.endswith("?") else scale.label_letter(sentence)
    if letter is None:
        return None
    words, label = label_words(sentence), label_words(scale.label(letter))
    place = next((n for n in range(len(words)) if words[n : n + len(label)] == label), None)
    if place is None or not _are_around(words[:place]):
        return None
    if _contradicts(sentence, letter, scale):
        return _Reading((), AMBIGUITY)
    is_alone = _are_around(words[place + len(label) :])
    closing = None if is_alone else scale.label_letter(reply)
    return _Reading((letter,)) if closing in (None, letter) else _Reading((), AMBIGUITY)


def _are_around(words: Sequence[str]) -> bool:
    return all(map(_AROUND_LABEL.fullmatch, words))


def _statement(reply: str, scale: NumberScale) -> _Reading | None:
    """The number that closes the reply, else the last that it states as its own answer."""
    bare = _MARKUP.sub("", reply)
    if closing := _CLOSING_NUMBER.search(bare):
        return _with_label(closing["number"], "", scale)
    matches = [
        match
        for match in _STATEMENT.finditer(bare)
        if _is_own(bare, match) and _may_be_point(bare, match.span("number"), scale)
    ]
    if not matches:
        return None
    span = matches[-1].span("number")
    if _OR_NUMBER.match(bare, span[1]) or _CORRECTION.match(bare, span[1]):
        return _Reading((), AMBIGUITY)
    clause = re.split(r"[.;,]\s|\bbecause\b|\bas\b", bare[span[1] :].partition("\n")[0])[0]
    return _with_label(matches[-1]["number"], clause[:60], scale)


def _is_own(bare: str, match: re.Match[str]) -> bool:
    """Whether a statement is the speaker's, is meant now, and is no denial."""
    preceding = bare[max(0, match.start() - 60) : match.start()]
    stretch = bare[match.start() : match.start("number")]
    if _NOT.search(_CLAUSE_END.split(preceding)[-1] + stretch):
        return False
    rest = bare[match.end("number") : match.end("number") + 60]
    sentence = _SENTENCE_END.split(preceding)[-1] + stretch + re.split(r"[.!?\n]", rest)[0]
    if _NOT_NOW.search(sentence):
        return False
    if match["verb"]:
        return _SPEAKER.search(preceding) is not None
    return _OTHER_PEOPLE.search(preceding) is None


# ---- labels and mentions -----------------------------------------------------------------------------


def _marked_line(reply: str, scale: NumberScale) -> _Reading | None:
    """The one line that begins with a point's number and its label."""
    letters = set()
    for match in _LINE.finditer(reply):
        letter = scale.letter(match["number"])
        rest = match["rest"]
        is_own = letter and rest.strip() and fits_choice(rest, scale.label(letter))
        if letter and is_own and scale.label_letter(rest) in (None, letter):
            letters.add(letter)
    return _Reading((letters.pop(),)) if len(letters) == 1 else None


def _label(reply: str, scale: NumberScale) -> _Reading | None:
    """The one label of the reply; nothing where a point with another label is mentioned too."""
    letter = scale.label_letter(reply) or scale.beginning_letter(reply)
    if letter is None:
        return None
    if _IF_IT_WERE.search(reply) or is_refusal(reply, objecting=False):
        return None
    return _Reading((), AMBIGUITY) if _contradicts(reply, letter, scale) else _Reading((letter,))


def _mention(reply: str, scale: NumberScale) -> _Reading | None:
    """The only point that is mentioned, where no other number stands close to it."""
    bare = _MARKUP.sub("", reply)
    spans = _mentions(bare, scale)
    letters = {scale.letter(bare[start:end]) or "" for start, end in spans}
    if len(letters) == 1 and not any(_has_rival(bare, span, scale) for span in spans):
        return _Reading((letters.pop(),))
    return _Reading((), AMBIGUITY) if letters else None


def _contradicts(text: str, letter: str, scale: NumberScale) -> bool:
    """Whether a text mentions points, and not the one with this letter."""
    bare = _MARKUP.sub("", text)
    letters = {scale.letter(bare[start:end]) for start, end in _mentions(bare, scale)}
    return bool(letters) and letter not in letters


def _mentions(bare: str, scale: NumberScale) -> list[tuple[int, int]]:
    """Where points are mentioned by number, numbers of a list left out."""
    list_marks = {match.start("number") for match in _LIST_MARK.finditer(bare)}
    left_out = list_marks if len(list_marks) > 1 else set[int]()
    return [
        match.span()
        for match in re.finditer(NUMBER, bare)
        if scale.letter(match.group())
        and match.start() not in left_out
        and _may_be_point(bare, match.span(), scale)
    ]


def _has_rival(bare: str, span: tuple[int, int], scale: NumberScale) -> bool:
    """Whether another number of the scale stands close by: '3 oder 4', '5 rather than 4'."""
    letter = scale.letter(bare[span[0] : span[1]])
    start, end = max(0, span[0] - _RIVAL_DISTANCE - 3), span[1] + _RIVAL_DISTANCE + 3
    letters = {scale.letter(match.group()) for match in re.finditer(NUMBER, bare[start:end])}
    return bool(letters - {None, letter})


def _is_list(bare: str) -> bool:
    return len(_LIST_MARK.findall(bare)) > 1


def _may_be_point(bare: str, span: tuple[int, int], scale: NumberScale) -> bool:
    """Whether what stands around a number lets it be a point: '2 reasons' and '3 in 4' are none."""
    start, end = span
    if _COUNT_BEFORE.search(bare, max(0, start - 30), start) or _COUNT_AFTER.match(bare, end):
        return False
    rest = bare[end : end + 80]
    if _FOLLOWING.match(rest):
        return True
    letter = scale.letter(bare[start:end])
    return letter is not None and fits_choice(rest.partition("\n")[0], scale.label(letter))

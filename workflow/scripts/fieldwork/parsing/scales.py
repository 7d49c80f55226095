"""Reading the point of a scale that an answer gives.

Points are marked by letters or by numbers. Letters that stand in the reply are read as a choice's. Where
numbers mark the points, a number counts that opens the reply, closes it or is stated ('my answer is 4').
So does a label that is stated (`stances`), whatever marks the points. Promises that what contradicts
itself gives no point, and that the number of a line in a list is none. A range is two points.
"""

import math
import re
from collections.abc import Iterator, Sequence
from string import ascii_uppercase
from typing import NamedTuple

from fieldwork.parsing.choices import parse_choice
from fieldwork.parsing.number_words import SMALL_NUMBERS
from fieldwork.parsing.refusals import is_refusal
from fieldwork.parsing.replies import SPACED_LETTER, reply_in_digits
from fieldwork.parsing.stances import stance_of
from fieldwork.records.parsing import (
    AMBIGUITY,
    EMPTY,
    NO_LETTER,
    NO_POINT,
    OUT_OF_RANGE,
    RANGE,
    REFUSAL,
)

NUMBER = (
    rf"(?<!{SPACED_LETTER})(?<![.,/])(?<!\d-)-?\d{{1,2}}(?:\.\d{{1,2}})?"
    rf"(?!{SPACED_LETTER}|%|[.,]\d|/\d)"
)
"""A number that may be a point: no part of a word, a date, a percentage or a larger number."""
_SHORT = 120
"""Characters up to which a reply is short enough to be a range as a whole."""
_LINK = (
    r"(?:is|are|be|as|at|an?|it|this|with|for|option|number|point|(?:score|rating|value)\s+of|of"
    r"|[:=]|[–—-](?=\s))"
)
"""What stands before a number that is stated; 'on', 'has' or 'that' say something else."""
_STATEMENT = re.compile(
    r"(?:\b(?P<noun>answer|rating|score|response|choice|position|opinion|view|mine|label)s?"
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
_NOT = re.compile(r"\b(?:not|never|neither|nor|cannot|dont|cant|wont)\b|n['’]t\b", re.IGNORECASE)
_CLAUSE_END = re.compile(r"[.!?;,\n](?!\d)")
_NOT_NOW = re.compile(
    r"\b(?:if|were|would\s+have|have\s+said|going\s+to\s+say|used\s+to|ago|initially|at\s+first)\b",
    re.IGNORECASE,
)
"""A sentence of what the speaker would say otherwise, or said once."""
_FOLLOWING = re.compile(
    rf"[ \t]*(?:$|\n)|\s*(?:(?!{SPACED_LETTER}|\s)."
    r"|(?:in\s+(?!\d)|because|as|since|out|on|and|or|but|for|points?|stars?|here|overall|with|which|meaning"
    r"|i|to|rather|instead|over|based|if|though|although|given|so|is)\b)",
    re.IGNORECASE | re.DOTALL,
)
"""What follows a number that is no count of something."""
_OPENING = re.compile(
    rf"[\s>#\[(+]*(?P<number>{NUMBER})[\])]*(?=\s*(?:$|\.$|[:;(\[]|,(?!\s*-?\d)|[–—-](?!\s*\d)"
    r"|(?:because|as|since|is|on|rather\s+than|instead\s+of)\b))",
    re.IGNORECASE | re.MULTILINE,
)
_LINE_OF_A_LIST = re.compile(r"\W*\d{1,2}[.)]\s+\S")
_LIST = re.compile(r"^\W{0,3}\d{1,2}[.)]", re.MULTILINE)
"""Lines with numbers; the last of a reply that was cut off is one of them."""
_CLOSING = re.compile(
    rf"(?:[^:\s]\s*\n\s*|:[ \t]*|\b(?:so|therefore|thus),?\s+)(?P<number>{NUMBER})\W*\Z",
    re.IGNORECASE,
)
_BARE = re.compile(
    rf"[^A-Za-z\d\n]{{0,12}}?(?P<number>{NUMBER})(?![个個人名岁歳年次回本家時时])[^\w\n]*"
    r"[^\W\dA-Za-z]{0,2}\W*"
)
"""A number with a word or two around it in a script without spaces: '我选择4'."""
_ALTERNATIVE = re.compile(
    r"[^\n.]{0,20}?\b(?:or|maybe|perhaps|possibly|but|actually|wait|make\s+that|oder|ou|o|или|أو)\b"
    rf"(?![^.\n]{{0,12}}\b(?:not|others?|people|some)\b)[^.\n]{{0,20}}?(?P<other>{NUMBER})",
    re.IGNORECASE,
)
_RANGE = re.compile(
    r"(?<![\w.,/])(?P<low>-?\d{1,2})\s*(?:-|–|—|~|～|to|bis)\s*(?P<high>-?\d{1,2})(?!\w|[.,]\d)"
    r"|\b(?:between|zwischen|entre|tra)\s+(?:an?\s+)?(?P<low2>-?\d{1,2})"
    r"\s+(?:and|und|y|et|e)\s+(?:an?\s+)?(?P<high2>-?\d{1,2})\b",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"[*_`\"“”‘]|\\boxed|[{}$]")
_SENTENCE_END = re.compile(r"(?<=[.!?。])\s+")
_TO = r"(?:-|–|—|~|～|to|through|and|bis|à|al?|até|до|到|至|から|und|y|et|e|и)"
_FRACTION = re.compile(
    rf"(?<!{SPACED_LETTER})(?<![.,/])(?P<number>-?\d{{1,2}}(?:\.\d{{1,2}})?)(?:\s*(?:points?|stars?|балл\w*))?"
    r"\s*(?:/|out\s+of|of|von|sur|de|su|из)\s*"
    rf"(?P<top>\d{{1,3}})(?!{SPACED_LETTER}|/|[.,]\d)",
    re.IGNORECASE,
)
_WORDS = "|".join(SMALL_NUMBERS)
_WORD = re.compile(
    rf"(?:\A\W*|\b(?:is|say|an?)\s+|:\s*|\b(?=\w+\s+out\s+of\s))(?P<word>{_WORDS})(?=\W*\Z|\s+out\s+of\s)"
    rf"|(?<=out\sof\s)(?P<top>{_WORDS})\b",
    re.IGNORECASE,
)
_MINUS = re.compile(r"(?:\b(?:minus|negative)\s+|(?<!\d)(?<!\d\s)[–—-]\s?)(?=\d)", re.IGNORECASE)


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


class _NumberScale(NamedTuple):
    """A scale with numbers.

    Attributes:
        marks: numbers of the options, in order.
        labels: their labels; those that are numbers say nothing more.
        n_points: options that are points; the others stand behind them.
    """

    marks: Sequence[str]
    labels: Sequence[str]
    n_points: int

    @property
    def ends(self) -> tuple[str, str]:
        """The numbers of the first and the last point."""
        return self.marks[0], self.marks[self.n_points - 1]

    def letter(self, number: str) -> str | None:
        """The letter of the option with this number."""
        whole = re.sub(r"\.0+$", "", number)
        return ascii_uppercase[self.marks.index(whole)] if whole in self.marks else None


class _Reading(NamedTuple):
    """As `ParsedScale`."""

    letters: tuple[str, ...]
    reason: str | None = None


def parse_scale(
    text: str | None,
    *,
    marks: Sequence[str] | None,
    choices: Sequence[str],
    n_points: int | None = None,
    is_truncated: bool = False,
) -> ParsedScale:
    """Read the point of a reply.

    Args:
        marks: numbers of the options in order; None where letters mark them.
        choices: their texts.
        n_points: how many of them are points, the first; None for all.
        is_truncated: whether the reply was cut off, so that a last number closes nothing.
    """
    n_points = n_points or len(choices)
    if marks is None:
        return _of_letters(text, choices, n_points)
    scale = _NumberScale(marks, choices, n_points)
    reply = reply_in_digits(text).strip()
    if not reply:
        return ParsedScale(None, (), EMPTY)
    if len(reply) == 1 and reply in ascii_uppercase[: len(choices)]:
        # a model that is scored by the likelihood of options answers with the letter of one
        return ParsedScale(None, (reply,), None)
    strict = scale.letter(reply) if reply in marks else None
    letters, reason = _read(reply, scale, is_truncated)
    if not letters and reason == NO_POINT and is_refusal(reply, objecting=False):
        reason = REFUSAL
    return ParsedScale(strict, letters, reason)


def _of_letters(text: str | None, choices: Sequence[str], n_points: int) -> ParsedScale:
    """The reading where letters mark points: a choice's where the letter stands there, else a stance."""
    letters = ascii_uppercase[: len(choices)]
    strict, letter, reason = parse_choice(text, letters=letters, choices=choices)
    if letter and _is_beside_another_label(text or "", letter, choices):
        return ParsedScale(strict, (), AMBIGUITY)
    is_marked = letter and re.search(rf"(?<!\w){letter}(?!\w)", text or "")
    if is_marked or reason not in (None, REFUSAL, NO_LETTER):
        return ParsedScale(strict, (letter,) if letter else (), reason)
    reply = _MARKUP.sub("", reply_in_digits(text)).strip()
    stance = stance_of(reply, labels=choices, marks=(), n_points=n_points).letters
    if len(stance) == 1:
        return ParsedScale(strict, tuple(stance), None)
    return ParsedScale(
        strict, (), AMBIGUITY if stance else REFUSAL if reason == REFUSAL else NO_POINT
    )


def _is_beside_another_label(text: str, letter: str, choices: Sequence[str]) -> bool:
    """Whether a reply is a letter and the whole label of another point: 'A. Strongly agree'."""
    match = re.fullmatch(rf"\W*{letter}\b\W*(?P<rest>[^\n]{{1,80}})", text.strip())
    words = _words(match["rest"]) if match else []
    label = _words(choices[ascii_uppercase.index(letter)])
    return words != label and words in [_words(choice) for choice in choices]


def _words(text: str) -> list[str]:
    """The words of a text in small letters, without numbers."""
    return [word for word in re.findall(r"[\w'’]+", text.casefold()) if not word.isdigit()]


def _read(reply: str, scale: _NumberScale, is_truncated: bool) -> _Reading:
    """The one point that is stated by number or label; a range where nothing else is said."""
    text, has_other_top = _without_scale(reply, scale)
    bare = _MARKUP.sub("", text).strip()
    if (ends := _range(bare, scale)) is not None:
        return ends
    stance = stance_of(bare, labels=scale.labels, marks=scale.marks, n_points=scale.n_points)
    numbers = [*_stated_numbers(stance.rest.strip(), is_truncated)]
    letters = {letter for number in numbers if (letter := scale.letter(number))} | stance.letters
    if len(letters) > 1:
        return _Reading((), AMBIGUITY)
    if letters:
        return _Reading((letters.pop(),))
    if numbers or has_other_top:
        low = math.floor(float(numbers[0])) if numbers else 0
        is_between = numbers and float(numbers[0]) != low
        neighbours = _ends(str(low), str(low + 1), scale) if is_between else ()
        return _Reading(neighbours, RANGE) if neighbours else _Reading((), OUT_OF_RANGE)
    return _Reading((), NO_POINT)


def _range(bare: str, scale: _NumberScale) -> _Reading | None:
    """Two points with 'to' between them; all of a short reply, or its first sentence."""
    first = bare if len(bare) <= _SHORT else _SENTENCE_END.split(bare.partition("\n")[0])[0]
    match = _RANGE.search(first) if len(first) <= _SHORT else None
    if match is None or re.search(NUMBER, first[match.end() :]):
        # 'between 3 and 4, so 4' says more than the range
        return None
    ends = _ends(match["low"] or match["low2"], match["high"] or match["high2"], scale)
    return _Reading(ends, RANGE) if ends else None


def _ends(low: str, high: str, scale: _NumberScale) -> tuple[str, ...]:
    """The letters of two points; none where one is no point, or both are the same."""
    ends = scale.letter(low) or "", scale.letter(high) or ""
    return ends if all(ends) and ends[0] != ends[1] else ()


def _stated_numbers(bare: str, is_truncated: bool) -> Iterator[str]:
    """The numbers that open or close a reply or are stated in it, with the alternatives behind them."""
    if whole := _BARE.fullmatch(bare):
        yield whole["number"]
        return
    matches = [match for match in _STATEMENT.finditer(bare) if _is_own(bare, match)][-1:]
    opening = None if _LINE_OF_A_LIST.match(bare) else _OPENING.match(bare)
    closing = _CLOSING.search(bare)
    if closing and (is_truncated or ("\n" in closing[0] and _LIST.search(bare))):
        closing = None
    for match in (opening, closing, *matches):
        if match is not None:
            yield match["number"]
            if alternative := _ALTERNATIVE.match(bare, match.end("number")):
                yield alternative["other"]


def _is_own(bare: str, match: re.Match[str]) -> bool:
    """Whether a statement is the speaker's, is meant now, counts nothing, and is no denial."""
    preceding = bare[max(0, match.start() - 60) : match.start()]
    stretch = bare[match.start() : match.start("number")]
    rest = bare[match.end("number") : match.end("number") + 60]
    if "\n" in stretch and re.match(r"[.)]\s+\S", rest):
        # 'choose one of these:' and a list
        return False
    if not _FOLLOWING.match(rest) or _NOT.search(_CLAUSE_END.split(preceding)[-1] + stretch):
        return False
    sentence = _SENTENCE_END.split(preceding)[-1] + stretch + re.split(r"[.!?\n]", rest)[0]
    if _NOT_NOW.search(sentence):
        return False
    if match["verb"]:
        return _SPEAKER.search(preceding) is not None
    return _OTHER_PEOPLE.search(preceding) is None


def _without_scale(reply: str, scale: _NumberScale) -> tuple[str, bool]:
    """The reply without 'from 1 to 5', with `4/5` and `four` as 4, and if it had another fraction."""
    if any(mark.startswith("-") for mark in scale.marks):
        reply = _MINUS.sub("-", reply)
    reply = _WORD.sub(_in_digits, reply)
    low, top = map(re.escape, scale.ends)
    reply = re.sub(
        rf"(?<!{SPACED_LETTER})(?<![.,/-])(?:between\s+)?{low}\s*{_TO}\s*{top}(?!{SPACED_LETTER}|[.,]\d)",
        " ",
        reply,
        flags=re.IGNORECASE,
    )
    tops = {scale.ends[1], scale.marks[-1]}
    has_other_top = any(match["top"] not in tops for match in _FRACTION.finditer(reply))
    text = _FRACTION.sub(lambda match: match["number"] if match["top"] in tops else " ", reply)
    return re.sub(rf"\bout\s+of\s+{top}\b", " ", text, flags=re.IGNORECASE), has_other_top


def _in_digits(match: re.Match[str]) -> str:
    word = match["word"] or match["top"]
    return match[0].replace(word, str(SMALL_NUMBERS.index(word.casefold())))

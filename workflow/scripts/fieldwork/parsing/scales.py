"""Reading the point of a scale that an answer gives.

Points are marked by letters or by numbers. Letters that stand in the reply are read as a choice's. A
number or a label counts where it is stated (`stances`). Promises that what contradicts itself gives no
point. A range is two points.
"""

import math
import re
from collections.abc import Sequence
from string import ascii_uppercase
from typing import NamedTuple

from fieldwork.parsing.choices import parse_choice
from fieldwork.parsing.refusals import is_refusal
from fieldwork.parsing.replies import SPACED_LETTER, reply_in_digits
from fieldwork.parsing.stances import stated_points
from fieldwork.records.parsing import (
    AMBIGUITY,
    EMPTY,
    NO_LETTER,
    NO_POINT,
    OUT_OF_RANGE,
    RANGE,
    REFUSAL,
    Reader,
)

_LONGEST_RANGE = 40
"""Characters up to which a reply with two numbers is a range."""
_RANGE = re.compile(
    r"(?<![\w.,/])(?P<low>-?\d{1,2})\s*(?:-|–|—|~|to)\s*(?P<high>-?\d{1,2})(?!\w|[.,]\d)"
    r"|\bbetween\s+(?:an?\s+)?(?P<low2>-?\d{1,2})\s+and\s+(?:an?\s+)?(?P<high2>-?\d{1,2})\b",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"[*_`\"“”‘]|\\boxed|[{}$]")
_TO = r"(?:-|–|—|~|to|through|and)"
_FRACTION = re.compile(
    rf"(?<!{SPACED_LETTER})(?<![.,/])(?P<number>-?\d{{1,2}}(?:\.\d{{1,2}})?)\s*(?:/|out\s+of)\s*"
    rf"(?P<top>\d{{1,3}})(?!{SPACED_LETTER}|/|[.,]\d)",
    re.IGNORECASE,
)
_MINUS = re.compile(r"(?:\b(?:minus|negative)\s+|(?<!\d)(?<!\d\s)[–—-]\s?)(?=\d)", re.IGNORECASE)
_LAST_NUMBER = re.compile(r"\d[\d.]*\W*\Z")


class ParsedScale(NamedTuple):
    """The letters of the options that a reply gives.

    Attributes:
        strict: the letter where the reply is nothing but the option's mark.
        letters: one for an option, two for the ends of a range, none where there is a `reason`.
        reason: why there is no option: a range has one too.
        read_by: what found the letters.
    """

    strict: str | None
    letters: tuple[str, ...]
    reason: str | None
    read_by: Reader | None = None


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

    def pair(self, low: str, high: str) -> tuple[str, ...]:
        """The letters of two points that follow each other; none where one is no point."""
        letters = self.letter(low) or "", self.letter(high) or ""
        return letters if letters[0] and letters[0] < letters[1] else ()


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
        return ParsedScale(None, (reply,), None, "bare letter")
    if reply in marks:
        strict = ascii_uppercase[marks.index(reply)]
        return ParsedScale(strict, (strict,), None, "bare number")
    if is_truncated and "\n" in reply:
        reply = _LAST_NUMBER.sub("", reply)
    letters, reason = _read(reply, scale)
    if not letters and reason == NO_POINT and is_refusal(reply, objecting=False):
        reason = REFUSAL
    reader: Reader = "range" if reason else "stated point"
    return ParsedScale(None, letters, reason, reader if letters else None)


def _of_letters(text: str | None, choices: Sequence[str], n_points: int) -> ParsedScale:
    """The reading where letters mark points: a choice's where the letter stands there, else a stance."""
    letters = ascii_uppercase[: len(choices)]
    strict, letter, reason, read_by = parse_choice(text, letters=letters, choices=choices)
    if letter and _is_beside_another_label(text or "", letter, choices):
        return ParsedScale(strict, (), AMBIGUITY)
    is_marked = letter and re.search(rf"(?<!\w){letter}(?!\w)", text or "")
    if is_marked or reason not in (None, REFUSAL, NO_LETTER):
        return ParsedScale(strict, (letter,) if letter else (), reason, read_by)
    reply = _MARKUP.sub("", reply_in_digits(text)).strip()
    points = stated_points(reply, labels=choices, marks=(), n_points=n_points)
    stances = frozenset[str]().union(*(point.letters for point in points))
    if len(stances) == 1:
        return ParsedScale(strict, tuple(stances), None, "stated point")
    return ParsedScale(
        strict, (), AMBIGUITY if stances else REFUSAL if reason == REFUSAL else NO_POINT
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


def _read(reply: str, scale: _NumberScale) -> tuple[tuple[str, ...], str | None]:
    """The one point that is stated by number or label, or a range, and why there is not one."""
    text, has_other_top = _without_scale(reply, scale)
    match = _RANGE.search(text) if len(text) <= _LONGEST_RANGE else None
    if match and (
        ends := scale.pair(match["low"] or match["low2"], match["high"] or match["high2"])
    ):
        return ends, RANGE
    points = stated_points(text, labels=scale.labels, marks=scale.marks, n_points=scale.n_points)
    numbers = [point.number for point in points if point.number]
    letters = frozenset[str]().union(*(point.letters for point in points))
    letters |= {letter for number in numbers if (letter := scale.letter(number))}
    if len(letters) > 1:
        return (), AMBIGUITY
    if letters:
        return tuple(letters), None
    if numbers or has_other_top:
        low = math.floor(float(numbers[0])) if numbers else 0
        is_between = numbers and float(numbers[0]) != low
        neighbours = scale.pair(str(low), str(low + 1)) if is_between else ()
        return neighbours, RANGE if neighbours else OUT_OF_RANGE
    return (), NO_POINT


def _without_scale(reply: str, scale: _NumberScale) -> tuple[str, bool]:
    """The bare reply without 'from 1 to 5', with `4/5` as 4, and whether it had another fraction."""
    if any(mark.startswith("-") for mark in scale.marks):
        reply = _MINUS.sub("-", reply)
    low, top = map(re.escape, scale.ends)
    reply = re.sub(
        rf"(?<!{SPACED_LETTER})(?<![.,/-])(?:\(|on\s+an?\s+|between\s+)?{low}\s*{_TO}\s*{top}(?!{SPACED_LETTER}|[.,]\d)(?:\)|\s+scale)?",
        " ",
        reply,
        flags=re.IGNORECASE,
    )
    tops = {scale.ends[1], scale.marks[-1]}
    has_other_top = any(match["top"] not in tops for match in _FRACTION.finditer(reply))
    text = _FRACTION.sub(lambda match: match["number"] if match["top"] in tops else " ", reply)
    return _MARKUP.sub("", text).strip(), has_other_top

"""Reading the point of a scale that an answer gives.

Points are marked by letters or by numbers. Letters are read as a choice's. Of numbers these are read, the
first that says something: a number or a label alone, a statement such as 'my answer is 4', a line that
begins with a number and its label, a label in the text, the only number of the scale in it. `4/5` and
`4 out of 5` are 4. Promises that a number beside another point's label gives none.
"""

import re
from collections.abc import Callable, Sequence
from string import ascii_uppercase
from typing import NamedTuple

from fieldwork.parsing.choice_texts import fits_choice, letter_of_choice_text
from fieldwork.parsing.choices import parse_choice
from fieldwork.parsing.refusals import is_refusal
from fieldwork.parsing.replies import reply_in_digits
from fieldwork.records.parsing import (
    AMBIGUITY,
    EMPTY,
    NO_LETTER,
    NO_POINT,
    OUT_OF_RANGE,
    RANGE,
    REFUSAL,
)

_NUMBER = r"(?<![\w.,/])(?<!\d-)-?\d{1,2}(?:\.\d{1,2})?(?![\w%]|[.,]\d|/\d)"
_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_WORD = re.compile(rf"^\W*({'|'.join(_WORDS)})\W*$", re.IGNORECASE)
_WORD_OF = re.compile(
    rf"\b({'|'.join(_WORDS)})\s+out\s+of\s+(?:{'|'.join(_WORDS)}|\d+)", re.IGNORECASE
)
_DESCRIPTION = re.compile(
    r"\b(?:scale|range|ranging|points?)\b[^.\n\d]{0,25}-?\d{1,2}\s*(?:-|–|—|to|through|and)\s*-?\d{1,2}"
    r"|(?:\(|\bwhere\s+|\bwith\s+)-?\d{1,2}\s*(?:=|being|is|means|meaning|indicates|for)\s[^).;\n]{1,120}",
    re.IGNORECASE,
)
"""How a reply describes the scale: its numbers are no answer."""
_STATEMENT = re.compile(
    r"\b(?:answer|rating|rate|score|response|choice|choose|chose|chosen|select(?:ed)?|pick(?:ed)?|give|gave|go|"
    r"going|say|said|option|position|place|opinion|view)\b[^\d\n]{0,60}?(?P<number>"
    + _NUMBER
    + r")(?=(?P<rest>[^\n]{0,80}))",
    re.IGNORECASE,
)
_NOT = re.compile(r"\b(?:not|never|neither|nor)\b|n['’]t\b", re.IGNORECASE)
_LINE = re.compile(
    rf"^[\s>*_#\[(]*(?P<number>{_NUMBER})[\])*_]*\s*(?:[.):=–—-]|is\b|\()?\s*(?P<rest>[^\n]*)$",
    re.M,
)
_RANGE = re.compile(
    r"(?<![\w.,/])(?P<low>-?\d{1,2})\s*(?:-|–|—|to|bis)\s*(?P<high>-?\d{1,2})(?!\w|[.,]\d)"
    r"|\bbetween\s+(?:an?\s+)?(?P<low2>-?\d{1,2})\s+and\s+(?:an?\s+)?(?P<high2>-?\d{1,2})\b",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"[*_`\"“”'‘’]|\\boxed|[{}$]")


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


class _NumberScale(NamedTuple):
    """A scale with numbers: its marks and labels, in order; labels that are numbers say nothing more."""

    marks: Sequence[str]
    labels: Sequence[str]

    def letter(self, number: str) -> str | None:
        """The letter of the option with this number."""
        whole = re.sub(r"\.0+$", "", number)
        return ascii_uppercase[self.marks.index(whole)] if whole in self.marks else None

    def label_letter(self, text: str) -> str | None:
        """The letter of the one label that a text gives."""
        places = [
            n for n, label in enumerate(self.labels) if not label.strip().lstrip("-").isdigit()
        ]
        return letter_of_choice_text(
            text,
            letters="".join(ascii_uppercase[n] for n in places),
            choices=[self.labels[n] for n in places],
        )


def parse_scale(
    text: str | None, *, marks: Sequence[str] | None, choices: Sequence[str]
) -> ParsedScale:
    """Read the point of a reply.

    Args:
        marks: numbers of the options in order; None where letters mark them.
        choices: their texts.
    """
    if marks is None:
        letters = ascii_uppercase[: len(choices)]
        strict, letter, reason = parse_choice(text, letters=letters, choices=choices)
        reason = NO_POINT if reason == NO_LETTER else reason
        return ParsedScale(strict, (letter,) if letter else (), reason)
    scale = _NumberScale(marks, choices)
    reply = reply_in_digits(text).strip()
    if not reply:
        return ParsedScale(None, (), EMPTY)
    if len(reply) == 1 and reply in ascii_uppercase[: len(choices)]:
        # a model that is scored by the likelihood of options answers with the letter of one
        return ParsedScale(None, (reply,), None)
    strict = scale.letter(reply) if reply in marks else None
    letters_read, reason = _read(_without_description(reply, scale), scale)
    if not letters_read and reason == NO_POINT and is_refusal(reply, objecting=False):
        reason = REFUSAL
    return ParsedScale(strict, letters_read, reason)


def _without_description(reply: str, scale: _NumberScale) -> str:
    """The reply without what it says of the scale; `4/5`, `4 out of 5` and a lone `four` are 4."""
    if word := _WORD.match(reply):
        return str(_WORDS.index(word[1].lower()))
    reply = _WORD_OF.sub(lambda match: str(_WORDS.index(match[1].lower())), reply)
    tops = {mark for mark in scale.marks if mark.lstrip("-").isdigit()}
    reply = re.sub(
        rf"(?<![\w.,/])(-?\d+(?:\.\d+)?)\s*(?:/|out\s+of|of|von|sur)\s*(?:{'|'.join(sorted(tops))})(?![\w/])",
        r"\1",
        reply,
    )
    return _DESCRIPTION.sub(" ", reply)


def _read(reply: str, scale: _NumberScale) -> _Reading:
    """The result of the first pattern that says something."""
    readers: tuple[Callable[[str, _NumberScale], _Reading | None], ...] = (
        _range,
        _bare_number,
        _statement,
        _marked_line,
        _label,
        _mention,
    )
    readings = (read(reply, scale) for read in readers)
    return next((reading for reading in readings if reading is not None), _Reading((), NO_POINT))


def _range(reply: str, scale: _NumberScale) -> _Reading | None:
    """Two points with 'to' between them, or a number between two points; all of a short reply."""
    bare = _MARKUP.sub("", reply)
    match = _RANGE.search(bare) if len(bare) <= 120 else None
    if match:
        low, high = match["low"] or match["low2"], match["high"] or match["high2"]
    elif (lone := re.fullmatch(r"\W*(-?\d{1,2})\.(?!0)\d{1,2}\W*", bare)) is not None:
        low, high = lone[1], str(int(lone[1]) + 1)
    else:
        return None
    ends = scale.letter(low), scale.letter(high)
    if None in ends or ends[0] == ends[1]:
        return None
    return _Reading((ends[0] or "", ends[1] or ""), RANGE)


def _bare_number(reply: str, scale: _NumberScale) -> _Reading | None:
    bare = " ".join(_MARKUP.sub("", reply).split())
    match = re.fullmatch(rf"[\W_]*?({_NUMBER})[\s.):=(\[\]–—,-]*([^\d]*)", bare)
    if match is None:
        return None
    return _with_label(match[1], match[2], scale)


def _with_label(number: str, rest: str, scale: _NumberScale) -> _Reading | None:
    """A number and what follows it: nothing, its own label, or another point's, which contradicts it."""
    letter = scale.letter(number)
    if letter is None:
        return _Reading((), OUT_OF_RANGE)
    label = scale.labels[ascii_uppercase.index(letter)]
    other = scale.label_letter(rest.strip(" .()\n")) if rest.strip() else None
    if other is not None and other != letter and not fits_choice(rest, label):
        return _Reading((), AMBIGUITY)
    return _Reading((letter,))


def _statement(reply: str, scale: _NumberScale) -> _Reading | None:
    """The last number that the reply states as its answer."""
    bare = _MARKUP.sub("", reply)
    matches = [
        match
        for match in _STATEMENT.finditer(bare)
        if not _NOT.search(bare[max(0, match.start() - 12) : match.start("number")])
    ]
    if not matches:
        return None
    rest = re.split(r"[.;,]\s|\bbecause\b|\bas\b", matches[-1]["rest"])[0]
    return _with_label(matches[-1]["number"], rest[:60], scale)


def _marked_line(reply: str, scale: _NumberScale) -> _Reading | None:
    """The one line that begins with a point's number and its label."""
    letters = set()
    for match in _LINE.finditer(reply):
        letter = scale.letter(match["number"])
        if letter and match["rest"].strip():
            label = scale.labels[ascii_uppercase.index(letter)]
            if fits_choice(match["rest"], label):
                letters.add(letter)
    return _Reading((letters.pop(),)) if len(letters) == 1 else None


def _label(reply: str, scale: _NumberScale) -> _Reading | None:
    letter = scale.label_letter(reply)
    return _Reading((letter,)) if letter else None


def _mention(reply: str, scale: _NumberScale) -> _Reading | None:
    """The only number of the scale that is mentioned."""
    numbers = re.findall(_NUMBER, _MARKUP.sub("", reply))
    letters = {letter for number in numbers if (letter := scale.letter(number))}
    if len(letters) == 1:
        return _Reading((letters.pop(),))
    return _Reading((), AMBIGUITY) if letters else None

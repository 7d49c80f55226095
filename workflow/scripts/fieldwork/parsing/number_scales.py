"""Scales whose points have numbers: their numbers and labels, and what of a reply only describes them.

A reply may repeat the scale ('1 = strongly disagree, …, 5 = strongly agree', 'from 1 to 5') and may give
its point as a fraction ('4/5'). Promises that a fraction of another number ('4 out of 10') is no point.
"""

import re
from collections.abc import Sequence
from string import ascii_uppercase
from typing import NamedTuple

from fieldwork.parsing.choice_texts import letter_of_choice_text
from fieldwork.parsing.replies import SPACED_LETTER

NUMBER = (
    rf"(?<!{SPACED_LETTER})(?<![.,/])(?<!\d-)-?\d{{1,2}}(?:\.\d{{1,2}})?"
    rf"(?!{SPACED_LETTER}|%|[.,]\d|/\d)"
)
"""A number that may be a point: no part of a word, a date, a percentage or a larger number."""
_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_WORD = re.compile(rf"^\W*({'|'.join(_WORDS)})\W*$", re.IGNORECASE)
_WORD_OF = re.compile(
    rf"\b({'|'.join(_WORDS)})\s+out\s+of\s+(?P<top>{'|'.join(_WORDS)}|\d+)", re.IGNORECASE
)
_FRACTION = re.compile(
    r"(?<![\w.,/])(?P<number>-?\d{1,2}(?:\.\d{1,2})?)\s*(?:/|out\s+of|of|von|sur)\s*(?P<top>\d{1,3})(?![\w/]|[.,]\d)",
    re.IGNORECASE,
)
_DESCRIPTION = re.compile(
    r"\b(?:scale|range|ranging|points?)\b[^.\n\d]{0,25}-?\d{1,2}\s*(?:-|–|—|to|through|and)\s*-?\d{1,2}"
    r"|(?:\(|\bwhere\s+|\bwith\s+)-?\d{1,2}\s*(?:=|being|is|means|meaning|indicates|for)\s[^).;\n]{1,120}",
    re.IGNORECASE,
)
_LEGEND = re.compile(
    r"(?<![\w.,/-])(?:-?\d{1,2}\s*[=:]\s*[^\d,;.:\n]{2,40}[,;\n]\s*){2,}-?\d{1,2}\s*[=:]\s*[^\d,;.:\n]{2,40}"
)
"""Three numbers or more, each with its meaning."""
_JOIN = r"\s*(?:=|:|-|–|—|\(|\.|\)|means|is|being|for|indicates)\s*"
"""What stands between a number and its label."""


class Description(NamedTuple):
    """A reply without its description of the scale.

    Attributes:
        text: what is left of it.
        has_legend: whether it repeated several points with their labels.
        has_other_top: whether it held a fraction of a number that is not the scale's highest.
    """

    text: str
    has_legend: bool
    has_other_top: bool


class NumberScale(NamedTuple):
    """A scale with numbers.

    Attributes:
        marks: numbers of the options, in order.
        labels: their labels; those that are numbers say nothing more.
        n_points: options that are points; the others stand behind them.
    """

    marks: Sequence[str]
    labels: Sequence[str]
    n_points: int

    def letter(self, number: str) -> str | None:
        """The letter of the option with this number."""
        whole = re.sub(r"\.0+$", "", number)
        return ascii_uppercase[self.marks.index(whole)] if whole in self.marks else None

    def label(self, letter: str) -> str:
        return self.labels[ascii_uppercase.index(letter)]

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

    def beginning_letter(self, text: str) -> str | None:
        """The letter of the one label that begins with a text, as `Neither` does."""
        words = re.findall(r"\w+", text.casefold())
        labels = [re.findall(r"\w+", label.casefold()) for label in self.labels]
        places = [n for n, label in enumerate(labels) if words and label[: len(words)] == words]
        is_word = any(word.isalpha() for word in words)
        return ascii_uppercase[places[0]] if is_word and len(places) == 1 else None

    def without_description(self, reply: str) -> Description:
        """The reply without what it says of the scale; `4/5`, `4 out of 5` and a lone `four` are 4."""
        if word := _WORD.match(reply):
            return Description(str(_WORDS.index(word[1].lower())), False, False)
        reply, has_legend = self._without_legend(_without_words(reply))
        ends = re.escape(self.marks[0]), re.escape(self.marks[self.n_points - 1])
        reply = re.sub(
            rf"(?<![\w.,/-])(?:between\s+)?{ends[0]}\s*(?:-|–|—|to|through|and|bis)\s*{ends[1]}(?!\w|[.,]\d)",
            " ",
            _DESCRIPTION.sub(" ", reply),
            flags=re.IGNORECASE,
        )
        tops = {self.marks[self.n_points - 1], self.marks[-1]}
        has_other_top = any(match["top"] not in tops for match in _FRACTION.finditer(reply))
        text = _FRACTION.sub(lambda match: match["number"] if match["top"] in tops else " ", reply)
        return Description(text, has_legend, has_other_top)

    def _without_legend(self, reply: str) -> tuple[str, bool]:
        """The reply without the first mention of each point beside its label, where it has several."""
        if legend := _LEGEND.search(reply):
            return f"{reply[: legend.start()]} {reply[legend.end() :]}", True
        spans = []
        for mark, label in zip(self.marks, self.labels, strict=True):
            number, text = re.escape(mark), r"\s+".join(map(re.escape, label.split()))
            match = re.search(
                rf"(?<![\w.,/-]){number}{_JOIN}\W{{0,4}}{text}(?!\w)\)?|(?<!\w){text}{_JOIN}{number}(?!\w)\)?",
                reply,
                re.IGNORECASE,
            )
            if match and label.split():
                spans.append(match.span())
        if len(spans) < 2:
            return reply, False
        for start, end in sorted(spans, reverse=True):
            reply = f"{reply[:start]} {reply[end:]}"
        return reply, True


def _without_words(reply: str) -> str:
    """The reply with `four out of five` in digits."""

    def in_digits(match: re.Match[str]) -> str:
        top = match["top"].lower()
        return f"{_WORDS.index(match[1].lower())}/{_WORDS.index(top) if top in _WORDS else top}"

    return _WORD_OF.sub(in_digits, reply)

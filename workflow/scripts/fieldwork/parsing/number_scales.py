"""Scales whose points have numbers: which option a number is, and which a text names.

Promises that a label that is denied, in English or in another language, is not read as that label.
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
_NEGATION = (
    r"nicht|kein\w*|kaum|keineswegs|no|nada|poco|pas|peu|jamais|não|nao|nem|pouco|non|niente|не|ни|нет"
    r"|niet|geen|لا|لست|غير|nie|inte|ikke"
)
_DENIAL_BEFORE = re.compile(
    rf"(?:\b(?:{_NEGATION})\s+(?:[\w'’]+\s+){{0,3}}|[不没沒非无無未][\u4e00-\u9fff]{{0,2}})\Z",
    re.IGNORECASE,
)
"""A negation and at most three words before a label; 'No, I agree' has a comma between."""
_NEGATIVE_START = re.compile(
    rf"(?:{_NEGATION}|nothing|not|überhaupt|совсем|[不没沒非无無未])", re.IGNORECASE
)
"""How a label begins that is negative itself, and comes with a second negation: 'non … per niente'."""
_DENIAL_AFTER = re.compile(
    r"(?:し(?:ません|ない|かね)|できません|できない|では?な|じゃな|하지\s?[않못]|지\s?[않못])"
)
EVERYDAY_WORD = re.compile(
    r"some|no|good|fair|poor|bad|excellent|great|all|none|most|few|many|well|same|like|better|worse"
)
"""Labels that say nothing in the middle of a sentence: 'I have some thoughts'."""


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

    @property
    def ends(self) -> tuple[str, str]:
        """The numbers of the first and the last point."""
        return self.marks[0], self.marks[self.n_points - 1]

    def letter(self, number: str) -> str | None:
        """The letter of the option with this number."""
        whole = re.sub(r"\.0+$", "", number)
        return ascii_uppercase[self.marks.index(whole)] if whole in self.marks else None

    def label(self, letter: str) -> str:
        return self.labels[ascii_uppercase.index(letter)]

    def label_letter(self, text: str) -> str | None:
        """The letter of the one label that a text gives, and does not deny."""
        letter = letter_of_label(text, self.labels)
        return letter if letter and self._is_meant(text, self.label(letter)) else None

    def _is_meant(self, text: str, label: str) -> bool:
        """Whether a label stands in a text as an answer: not denied, and no everyday word in passing."""
        if EVERYDAY_WORD.fullmatch(label.strip().casefold()):
            return _stands_alone(text, label)
        matches = list(re.finditer(_pattern_of(label), text, re.IGNORECASE))
        return not matches or any(not _is_denied(text, label, match) for match in matches)


def _pattern_of(label: str) -> str:
    return re.escape(" ".join(label.split())).replace(r"\ ", r"\s+")


def _is_denied(text: str, label: str, match: re.Match[str]) -> bool:
    if _DENIAL_AFTER.match(text, match.end()):
        return True
    preceding = text[max(0, match.start() - 60) : match.start()]
    return bool(_DENIAL_BEFORE.search(preceding)) and not _NEGATIVE_START.match(label.strip())


def _stands_alone(text: str, label: str) -> bool:
    """Whether a sentence is the label, or ends with it after 'I'd say' or 'is'."""
    beginning = r"(?:\A|[.!?:\n*\"]|\b(?:say|is|be|it|it's|as))\s*[*\"]*"
    pattern = rf"{beginning}{re.escape(label.strip())}[*\"]*\s*(?:[.!,(\n]|\Z)"
    return re.search(pattern, text, re.IGNORECASE) is not None


def letter_of_label(text: str, labels: Sequence[str]) -> str | None:
    """The letter of the one label that a text gives; labels that are numbers do not count."""
    places = [n for n, label in enumerate(labels) if not label.strip().lstrip("-").isdigit()]
    return letter_of_choice_text(
        text,
        letters="".join(ascii_uppercase[n] for n in places),
        choices=[labels[n] for n in places],
    )


def label_words(text: str) -> list[str]:
    """The words of a text in small letters, without numbers."""
    return [word for word in re.findall(r"[\w'’]+", text.casefold()) if not word.isdigit()]

"""Letters and words of a text in any script.

Owns what counts as one letter: a base with all its marks, as a reader sees it, so that no vowel sign or
accent is ever torn from its letter. Promises that the pieces put together again give the text.
"""

import re
import unicodedata
from functools import cache
from typing import NamedTuple

_JOINED_BY_VIRAMA = frozenset({"DEVANAGARI", "BENGALI", "GUJARATI", "ORIYA", "TELUGU", "MALAYALAM"})
"""Scripts whose consonants merge across a virama (Unicode annex 29, rule GB9c)."""
_ASCII_WORD = re.compile("[A-Za-z]+")
_VIRAMA = 9
"""Canonical combining class of signs that silence the vowel of a consonant."""
_JOINER = "\u200d"
_NON_JOINER = "\u200c"
_AM_VOWELS = "\u0e33\u0eb3"
"""Thai and Lao letters that are signs of the consonant before them."""
_IDEOGRAPHIC = frozenset(
    {"CJK", "IDEOGRAPHIC", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "BOPOMOFO", "HALFWIDTH"}
)


class Word(NamedTuple):
    """A run of letters, from `start` to `end` of the text. An apostrophe or a hyphen ends it."""

    start: int
    end: int
    letters: tuple[str, ...]


def clusters(text: str) -> list[str]:
    """The characters of a text as readers count them, in order."""
    parts: list[str] = []
    for character in text:
        if parts and _continues(parts[-1], character):
            parts[-1] += character
        else:
            parts.append(character)
    return parts


def _continues(part: str, character: str) -> bool:
    if character.isascii():
        return False
    if unicodedata.category(character).startswith("M") or character in _AM_VOWELS:
        return not part.isspace()
    if character in (_JOINER, _NON_JOINER):
        return is_letter(part)
    if "\u1160" <= character <= "\u11ff":
        return "\u1100" <= part[0] <= "\u11ff" or "\uac00" <= part[0] <= "\ud7a3"
    if not is_letter(part) or not is_letter(character):
        return False
    signs = part.rstrip(_JOINER)
    return unicodedata.combining(signs[-1]) == _VIRAMA and script_of(part) in _JOINED_BY_VIRAMA


def is_letter(cluster: str) -> bool:
    """Whether a character, with its marks, is a letter of any script."""
    return cluster[0].isalpha()


def words(text: str) -> list[Word]:
    """The words of a text. What a script writes without spaces is one long word."""
    if text.isascii():
        # quick: here every character is a cluster
        return [Word(*match.span(), tuple(match[0])) for match in _ASCII_WORD.finditer(text)]
    found_words: list[Word] = []
    letters: list[str] = []
    place = start = 0
    for cluster in [*clusters(text), ""]:
        if cluster and is_letter(cluster):
            start = start if letters else place
            letters.append(cluster)
        elif letters:
            found_words.append(Word(start, place, tuple(letters)))
            letters = []
        place += len(cluster)
    return found_words


@cache
def script_of(letter: str) -> str:
    """The script of a letter as Unicode names it: LATIN, CYRILLIC, DEVANAGARI, HANGUL, CJK."""
    return unicodedata.name(letter[0], "").split(" ")[0]


def is_typed_by_key(letter: str) -> bool:
    """Whether a letter is typed as such. Ideographs and kana are chosen by an input method."""
    return script_of(letter) not in _IDEOGRAPHIC


def is_ideographic(text: str) -> bool:
    """Whether a text has more ideographs and kana than words of other letters."""
    n_ideographs = sum(c.isalpha() and not is_typed_by_key(c) for c in text)
    return n_ideographs > sum(any(map(is_typed_by_key, word.letters)) for word in words(text))

"""How hard the prose of an answer reads: sentences, whether it is English, two indices.

Owns what ends a sentence, and the rule for English: its letters and function words. Promises an index
only of English prose that is long enough, else the reason, and time linear in the text.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from fieldwork.parsing.form.syllables import count_syllables

LEAST_WORDS = 100
"""Words of a text that has an index: those of one of Flesch's samples (Flesch 1948)."""
LEAST_ENGLISH = 0.12
"""Share of function words from which on prose in Latin letters is English (docs/methods.md)."""
LEAST_LATIN = 0.95
"""Share of the letters that English has anyway."""

NOT_ENGLISH = "not English prose"
TOO_SHORT = f"fewer than {LEAST_WORDS} words of prose"

_FUNCTION_WORD_TEXT = """
about also and are because been being but by can could did does each every for from had has have
he her here his how if into is it its itself many may more most much my not of or other our out
over own she should some such than that the their them then there these they this those through to
too under was we were what when where which while who why will with would you your
"""
_FUNCTION_WORDS = frozenset(_FUNCTION_WORD_TEXT.split())
"""Words of English grammar, without those that other languages in Latin letters use as often."""
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_SENTENCE_END = re.compile(
    r"(?:[.!?…]{1,9}[\"'”’»)\]]{0,3}(?=\s|$)|[。！？｡]{1,9}[」』”’）]{0,3}|[।॥؟۔።]{1,9})"
)
_LAST_WORD = re.compile(r"([^\W\d_]+(?:\.[^\W\d_]+)*)$")
_ABBREVIATION_TEXT = """
al approx ca capt cf col corp dept dr e.g ed eds est fig figs gen gov i.e inc jr lt ltd mr mrs ms
mt no nos op pp prof rep rev sen sgt sr st u.k u.s viz vol vs
"""
_ABBREVIATIONS = frozenset(_ABBREVIATION_TEXT.split())
_LONGEST_NAME = 30


class ProseWords(NamedTuple):
    """The words of sentences that have any, and whether they are English."""

    sentences: list[list[str]]
    is_english: bool


class ReadingLevel(NamedTuple):
    """Flesch's reading ease and the Flesch-Kincaid grade, or why there are none."""

    reading_ease: float | None
    grade: float | None
    reason: str | None


def split_sentences(part: str) -> list[str]:
    """The sentences of a part of prose, each with a letter or digit; what follows the last mark is one.

    A full stop ends none after an abbreviation or an initial, nor before a small letter.
    """
    ends = [match.end() for match in _SENTENCE_END.finditer(part) if _is_end(part, match)]
    bounds = [0, *ends, len(part)]
    pieces = (part[start:end] for start, end in pairwise(bounds))
    return [piece for piece in pieces if any(map(str.isalnum, piece))]


def _is_end(part: str, mark: re.Match[str]) -> bool:
    if not mark[0].startswith((".", "…")):
        return True
    following = part[mark.end() : mark.end() + 3].lstrip()
    if following[:1].islower():
        return False
    word = _LAST_WORD.search(part[max(0, mark.start() - _LONGEST_NAME) : mark.start()])
    if word is None or not following:
        return True
    is_initial = len(word[1]) == 1 and word[1].isupper() and word[1] != "I"
    return not is_initial and word[1].lower() not in _ABBREVIATIONS


def read_prose(prose: Sequence[str]) -> ProseWords:
    """The words of parts of prose, and whether they are English.

    English has hardly any letters but the 26, and many function words.
    """
    sentences = [_WORD.findall(sentence) for part in prose for sentence in split_sentences(part)]
    words = [word for sentence in sentences for word in sentence]
    n_letters = sum(map(len, words))
    n_latin = sum(len(word) if word.isascii() else sum(map(str.isascii, word)) for word in words)
    n_function_words = sum(word.lower() in _FUNCTION_WORDS for word in words)
    is_latin = bool(words) and n_latin >= LEAST_LATIN * n_letters
    is_english = is_latin and n_function_words >= LEAST_ENGLISH * len(words)
    return ProseWords([sentence for sentence in sentences if sentence], is_english)


def reading_level(prose: ProseWords) -> ReadingLevel:
    """Two indices of English prose.

    Reading ease is 206.835 - 1.015 words / sentences - 84.6 syllables / words (Flesch 1948), higher is
    easier; the grade 0.39 words / sentences + 11.8 syllables / words - 15.59 (Kincaid et al. 1975).
    Numerals are no words here, because nothing says how they are read out.
    """
    n_words = sum(map(len, prose.sentences))
    if n_words < LEAST_WORDS:
        return ReadingLevel(None, None, TOO_SHORT)
    if not prose.is_english:
        return ReadingLevel(None, None, NOT_ENGLISH)
    length = n_words / len(prose.sentences)
    syllables = sum(count_syllables(word) for words in prose.sentences for word in words) / n_words
    ease = 206.835 - 1.015 * length - 84.6 * syllables
    return ReadingLevel(ease, 0.39 * length + 11.8 * syllables - 15.59, None)

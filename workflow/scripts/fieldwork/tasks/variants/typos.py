"""Slips of the keyboard.

Each letter of a word is hit with a probability, the rate. A letter that is hit is struck beside its key,
left out, typed twice, or exchanged with the next one; the four are equally likely where all are possible,
and a letter meets one of them at most. First letters are hit as others are.

A word keeps two of its letters, so words of one letter are left alone: they are articles, or symbols. No
word turns into a negation or a number (`on` never becomes `no`). What is protected, negations included,
is not touched. Letters stay capital or small.

It works by script. Latin, Cyrillic, Greek, Hebrew and Arabic have neighbours on a keyboard; in other
alphabets letters are left out, doubled and exchanged with all their marks. Ideographs and kana are chosen
from what an input method offers and do not slip so: a text mostly of these comes back as it was.
"""

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from fieldwork.tasks.variants.kept_words import NEGATIONS, NUMBER_WORDS
from fieldwork.tasks.variants.keyboards import neighbours
from fieldwork.tasks.variants.letters import Word, is_ideographic, is_typed_by_key, words
from fieldwork.tasks.variants.protected import split_text

LEAST_LETTERS = 2
"""Letters that a word keeps."""
_KEPT_WORDS = NEGATIONS | NUMBER_WORDS


class SlippedText(NamedTuple):
    """A text after slips: `n_hits` of its `n_letters` letters that could be hit."""

    text: str
    n_hits: int
    n_letters: int


class _Part(NamedTuple):
    """A part of a text: the letters of a word that can be hit, or whatever lies between these."""

    text: str
    letters: tuple[str, ...]


def put_typos(text: str, rate: float, random: Random) -> str:
    """The text with slips at a rate from 0 to 1."""
    return slip_letters(text, rate, random).text


def letters_at_risk(text: str) -> list[str]:
    """The letters that can be hit, with their marks, in order."""
    return [letter for part in _parts(text) for letter in part.letters]


def slip_letters(text: str, rate: float, random: Random) -> SlippedText:
    """The text with slips, and how many there are."""
    parts: list[str] = []
    n_hits = n_letters = 0
    for part in _parts(text):
        hits = [random.random() < rate for _ in part.letters]
        n_hits += sum(hits)
        n_letters += len(hits)
        parts.append(_slip_word(part.letters, hits, random) if any(hits) else part.text)
    return SlippedText("".join(parts), n_hits, n_letters)


def _parts(text: str) -> Iterator[_Part]:
    is_out_of_reach = is_ideographic(text)
    for piece in split_text(text, negations=True):
        place = 0
        for word in words(piece.text) if not (piece.is_protected or is_out_of_reach) else []:
            yield _Part(piece.text[place : word.start], ())
            yield _Part(
                piece.text[word.start : word.end], word.letters if _is_at_risk(word) else ()
            )
            place = word.end
        yield _Part(piece.text[place:], ())


def _is_at_risk(word: Word) -> bool:
    return len(word.letters) >= LEAST_LETTERS and all(map(is_typed_by_key, word.letters))


def _slip_word(letters: tuple[str, ...], hits: list[bool], random: Random) -> str:
    """A word with a slip at each hit; drawn again where it would become a word that must be kept."""
    while True:
        word = _draw_slips(letters, hits, random)
        if word.casefold() not in _KEPT_WORDS:
            return word


def _draw_slips(letters: tuple[str, ...], hits: list[bool], random: Random) -> str:
    strokes: list[str] = []
    n_left = len(letters)
    place = 0
    while place < len(letters):
        letter = letters[place]
        following = letters[place + 1] if place + 1 < len(letters) else ""
        is_next_free = bool(following) and not hits[place + 1] and following != letter
        keys = neighbours(letter)
        slips = ["double"]
        slips += ["drop"] if n_left > LEAST_LETTERS else []
        slips += ["neighbour"] if keys else []
        slips += ["swap"] if is_next_free else []
        slip = random.choice(slips) if hits[place] else "none"
        if slip == "none":
            strokes.append(letter)
        elif slip == "double":
            strokes += [letter, letter.lower() if following[:1].islower() else letter]
        elif slip == "drop":
            n_left -= 1
        elif slip == "neighbour":
            strokes.append(random.choice(keys))
        else:
            strokes += _swap(letter, following)
            place += 1
        place += 1
    return "".join(strokes)


def _swap(letter: str, following: str) -> list[str]:
    """Two letters exchanged; a capital stays where it was."""
    if letter[0].isupper() and following[0].islower():
        return [_case_of(letter, following), letter.lower()]
    return [following, letter]


def _case_of(model: str, letter: str) -> str:
    capital = letter.upper()
    return capital if model[0].isupper() and len(capital) == len(letter) else letter

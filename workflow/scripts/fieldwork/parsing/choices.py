"""Reading the letter that a multiple-choice answer gives.

Owns two readings of one reply: HELM's, which accepts a bare letter only, and a flexible one. Promises
that the reply states the flexible letter, that its last clear statement counts, and that two letters
with equal support give none.
"""

import unicodedata
from collections.abc import Callable, Sequence
from typing import NamedTuple

from fieldwork.parsing.answer_statements import (
    LetterReading,
    statement,
    verdict,
    with_plain_letters,
)
from fieldwork.parsing.choice_texts import letter_of_choice_text, with_marked_romans
from fieldwork.parsing.letter_readings import (
    aside,
    conclusion,
    lone_letter,
    marked_line,
    marked_option,
    mention,
    part_before_next_question,
    rivals,
    several_letters,
)
from fieldwork.parsing.refusals import is_refusal
from fieldwork.parsing.visible_text import visible_text
from fieldwork.records.parsing import AMBIGUITY, EMPTY, NO_LETTER, REFUSAL, Reader

_MAX_TEXT = 200_000
_BARE: Reader = "bare letter"


class ParsedChoice(NamedTuple):
    strict: str | None
    """HELM's reading: the reply without outer white space is one of the letters, or None."""
    letter: str | None
    """The flexible reading."""
    reason: str | None
    """Why `letter` is None: `refused`, `empty`, `ambiguous` or `no letter found`."""
    read_by: Reader | None = None
    """The way in which `letter` was found."""


def parse_choice(
    text: str | None, *, letters: str = "ABCD", choices: Sequence[str] = ()
) -> ParsedChoice:
    """Read the letter of a reply to an item with one option for each of `letters`.

    `strict` follows HELM's multiple-choice adapter (exact match after stripping white space): 'B.' is no
    letter. `letter` looks, in this order, for a statement such as 'the answer is B' (the last one
    counts), a letter alone, a mark at one of several options, a verdict such as 'B is correct', a line
    that begins with a lettered option, a concluding sentence or aside, the text of exactly one of
    `choices`, and the only option mentioned.

    Raises ValueError where `letters` is empty or repeats a letter.
    """
    if not letters or len(set(letters)) != len(letters):
        raise ValueError(f"letters must be distinct and not empty, not {letters!r}")
    reply = (text or "").strip()
    strict = reply if len(reply) == 1 and reply in letters else None
    # full-width letters, brackets and colons become ASCII
    visible = unicodedata.normalize("NFKC", visible_text(text)[-_MAX_TEXT:])
    if not visible.strip():
        return ParsedChoice(strict, strict, None if strict else EMPTY, _BARE if strict else None)
    plain = with_plain_letters(with_marked_romans(visible, choices), letters, choices)
    reply_text = part_before_next_question(plain, letters)
    reader, reading = _read(reply_text, letters, choices)
    if reading is None and strict:
        return ParsedChoice(strict, strict, None, _BARE)
    if reading is None:
        declines = is_refusal(visible, objecting=False)
        return ParsedChoice(None, None, REFUSAL if declines else NO_LETTER)
    if reading.letter is None:
        return ParsedChoice(strict, None, AMBIGUITY if reading.is_rivalry else NO_LETTER)
    return ParsedChoice(strict, reading.letter, None, reader)


def _read(
    text: str, letters: str, choices: Sequence[str]
) -> tuple[Reader | None, LetterReading | None]:
    """The first way that finds something, and what; without a letter it is ambiguous."""
    readers: tuple[tuple[Reader | None, Callable[[], LetterReading | None]], ...] = (
        ("stated letter", lambda: statement(text, letters)),
        ("lone letter", lambda: lone_letter(text, letters)),
        ("marked option", lambda: marked_option(text, letters)),
        (None, lambda: several_letters(text, letters)),
        ("verdict", lambda: verdict(text, letters)),
        ("marked line", lambda: marked_line(text, letters, choices)),
        ("conclusion", lambda: conclusion(text, letters)),
        ("aside", lambda: aside(text, letters)),
        (
            "option text",
            lambda: _reading_of(letter_of_choice_text(text, letters=letters, choices=choices)),
        ),
        ("only letter", lambda: mention(text, letters)),
        (None, lambda: rivals(text, letters)),
    )
    readings = ((name, read()) for name, read in readers)
    return next((reading for reading in readings if reading[1] is not None), (None, None))


def _reading_of(letter: str | None) -> LetterReading | None:
    return LetterReading(letter) if letter else None

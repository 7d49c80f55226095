"""Reading the letter a multiple-choice answer gives.

Owns two readings of one reply: HELM's, which knows a bare letter only, and a flexible one. Promises
that the flexible letter is one the reply states, that its last clear statement counts, and that two
letters with equal claim give none.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from fieldwork.parsing.choice_texts import letter_of_choice_text, with_marked_romans
from fieldwork.parsing.closings import aside, conclusion, mention, own_part
from fieldwork.parsing.letter_lines import lone_letter, marked_line, rivals, several_letters
from fieldwork.parsing.letters import normalise
from fieldwork.parsing.refusals import is_refusal
from fieldwork.parsing.statements import Reading, statement, verdict
from fieldwork.parsing.visible import visible_text

REFUSED = "refused"
EMPTY = "empty"
AMBIGUOUS = "ambiguous"
NO_LETTER = "no letter found"

_MAX_TEXT = 200_000


class ParsedChoice(NamedTuple):
    """What a choice answer says, read twice."""

    strict: str | None
    """HELM's reading: the reply without outer white space is one of the letters, or None."""
    letter: str | None
    """The flexible reading."""
    reason: str | None
    """Why `letter` is None: `refused`, `empty`, `ambiguous` or `no letter found`."""


def parse_choice(
    text: str | None, *, letters: str = "ABCD", choices: Sequence[str] = ()
) -> ParsedChoice:
    """Read the letter of a reply to an item with one option for each of `letters`.

    `strict` follows HELM's multiple-choice adapter (exact match after stripping white space):
    'B.' is no letter. `letter` looks, in this order, for a statement such as 'the answer is B' (the
    last one counts), a letter alone, a verdict such as 'B is correct', a line that begins with a
    lettered option, a concluding sentence or aside, the text of exactly one of `choices`, and the only
    option mentioned.

    Raises ValueError where `letters` is empty or repeats a letter.
    """
    if not letters or len(set(letters)) != len(letters):
        raise ValueError(f"letters must be distinct and not empty, not {letters!r}")
    stripped = (text or "").strip()
    strict = stripped if len(stripped) == 1 and stripped in letters else None
    visible = normalise(visible_text(text)[-_MAX_TEXT:])
    if not visible.strip():
        return ParsedChoice(strict, strict, None if strict else EMPTY)
    reading = _read(own_part(with_marked_romans(visible, choices), letters), letters, choices)
    if reading is None:
        return ParsedChoice(strict, strict, None if strict else _reason(visible))
    missing = AMBIGUOUS if reading.is_rivalry else NO_LETTER
    return ParsedChoice(strict, reading.letter, None if reading.letter else missing)


def _read(text: str, letters: str, choices: Sequence[str]) -> Reading | None:
    """The first way of reading that finds something; a Reading without letter is ambiguous."""
    ways: tuple[Callable[[], Reading | None], ...] = (
        lambda: statement(text, letters),
        lambda: lone_letter(text, letters),
        lambda: several_letters(text, letters),
        lambda: verdict(text, letters),
        lambda: marked_line(text, letters, choices),
        lambda: conclusion(text, letters),
        lambda: aside(text, letters),
        lambda: _of_text(letter_of_choice_text(text, letters=letters, choices=choices)),
        lambda: mention(text, letters),
        lambda: rivals(text, letters),
    )
    readings = (way() for way in ways)
    return next((reading for reading in readings if reading is not None), None)


def _of_text(letter: str | None) -> Reading | None:
    return Reading(letter) if letter else None


def _reason(visible: str) -> str:
    return REFUSED if is_refusal(visible, objecting=False) else NO_LETTER

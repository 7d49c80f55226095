"""A question without its politeness: greetings, thanks, frames of asking, and words about the asker.

A table for English says what goes. `opening` patterns go from the start of a sentence, `closing` ones
from its end, and a `sentence` pattern takes a sentence as a whole. What is asked remains: only wording
that the table lists is dropped, so that no premise is lost ("I have had a fever for a week." stays), and
a text of which nothing would be left stays as it is. A sentence that holds a number, a name, a quotation
or anything else that is protected is never dropped, whatever the table says.

Sentences go from the two ends of a text only: greetings further in are part of what is asked about. The
mark at the end stays. Doing it twice is the same as once.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple, cast, get_args

from fieldwork.errors import StudyError
from fieldwork.files import texts
from fieldwork.tasks.variants.protected import protected_stretches
from fieldwork.tasks.variants.substitution import (
    WordingRule,
    is_protected,
    settle,
    substitute,
    wording_rule,
)

Place = Literal["opening", "closing", "sentence"]
_SENTENCE_END = re.compile(r"[.?!]+[\"'”’)]*(?:\s+|$)|\n+")
_SHAPES: dict[Place, str] = {
    "opening": r"^(\s*)(?:{pattern})(?:\s*[,:;!–—-]+\s*|\s+|(?=[.?!]))",
    "closing": r"[\s,;–—-]*(?<!\w)(?:{pattern})(?=\s*[.?!]*\s*$)",
    "sentence": r"^\s*(?:{pattern})[\s.!?,:;)]*$",
}


class PoliteWording(NamedTuple):
    """A wording that goes from its place in a sentence."""

    place: Place
    rule: WordingRule


def read_politeness(path: str | Path) -> list[PoliteWording]:
    """Rules from a table of place, pattern, replacement.

    A replacement takes the place of an opening; it may name groups by name: `\\g<verb>`.

    Raises:
        StudyError: a place is unknown, or a pattern is no regular expression.
    """
    wordings: list[PoliteWording] = []
    for row, cells in enumerate(
        texts.read_table(path, ("place", "pattern", "replacement")), start=2
    ):
        place = cells["place"].strip()
        if place not in get_args(Place) or not cells["pattern"].strip():
            raise StudyError(
                f"{path}: row {row} has the place {place!r} and the pattern {cells['pattern']!r}; write "
                f"a pattern, and one of {', '.join(get_args(Place))}"
            )
        place = cast(Place, place)
        wording_rule(cells["pattern"], "", f"{path}: row {row}")
        pattern = _SHAPES[place].replace("{pattern}", cells["pattern"].strip())
        replacement = cells["replacement"].strip()
        template = rf"\1{replacement} " if replacement else r"\1"
        rule = wording_rule(pattern, template if place == "opening" else "", f"{path}: row {row}")
        wordings.append(PoliteWording(place, rule))
    return wordings


def put_fragment(text: str, wordings: Sequence[PoliteWording]) -> str:
    """The text with no more than what it asks."""

    def change(wording: str) -> str:
        left = [_drop_phrases(s, wordings) for s in split_sentences(wording)]
        while left and _is_dropped(left[0], wordings):
            left.pop(0)
        while left and _is_dropped(left[-1], wordings):
            left.pop()
        return "".join(left).strip() if any(map(_has_words, left)) else wording

    fragment = settle(text, change)
    return text if fragment == text.strip() else fragment


def split_sentences(text: str) -> list[str]:
    """The sentences of a text with the spaces after them; what is protected is in one piece."""
    stretches = protected_stretches(text)
    sentences: list[str] = []
    start = 0
    for match in _SENTENCE_END.finditer(text):
        if is_protected(match, stretches):
            continue
        sentences.append(text[start : match.end()])
        start = match.end()
    return [*sentences, text[start:]] if start < len(text) else sentences


def _drop_phrases(sentence: str, wordings: Sequence[PoliteWording]) -> str:
    for place, rule in wordings:
        if place == "sentence":
            continue
        shorter = substitute(sentence, rule)
        if shorter == sentence or not _has_words(shorter):
            continue
        sentence = _capital_as_in(sentence, shorter) if place == "opening" else shorter
    return sentence


def _is_dropped(sentence: str, wordings: Sequence[PoliteWording]) -> bool:
    if not sentence.strip():
        return True
    if _holds_meaning(sentence):
        return False
    return any(
        place == "sentence" and rule.pattern.search(sentence) is not None
        for place, rule in wordings
    )


def _holds_meaning(sentence: str) -> bool:
    """Whether a sentence holds something protected, or a name: a capital behind its first word."""
    if any(not sentence[start:end].isspace() for start, end in protected_stretches(sentence)):
        return True
    capitals = re.finditer(r"(?<![\w'’])[^\W\d_]+", sentence.strip())
    return any(word[0][0].isupper() and word[0] != "I" for word in capitals if word.start() > 0)


def _has_words(text: str) -> bool:
    return any(character.isalnum() for character in text)


def _capital_as_in(sentence: str, shorter: str) -> str:
    """The rest of a sentence with a capital at its front, if the sentence had one."""
    body = shorter.lstrip()
    if not body or not sentence.lstrip()[:1].isupper():
        return shorter
    stretches = protected_stretches(body)
    if stretches and stretches[0].start == 0:
        return shorter
    return shorter[: len(shorter) - len(body)] + body[0].upper() + body[1:]

"""Common misspellings, from a table of words and how they are often misspelt.

Each word of the text that the table has is misspelt with a probability, the rate. The case of the word
stays: a capital at its front, or capitals throughout. A word with several misspellings gets one at
random. What is protected is left alone, negations and numbers included.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random

from fieldwork.errors import StudyError
from fieldwork.files import texts
from fieldwork.tasks.variants.kept_words import NEGATIONS
from fieldwork.tasks.variants.letters import Word, words
from fieldwork.tasks.variants.protected import split_text


def read_misspellings(path: str | Path) -> dict[str, list[str]]:
    """Word → its misspellings, from a table of word, misspelling.

    Raises:
        StudyError: a cell is empty or no single word, a negation would be misspelt, or a misspelling is
            itself a word of the table.
    """
    table: dict[str, list[str]] = {}
    for row, cells in enumerate(texts.read_table(path, ("word", "misspelling")), start=2):
        word, misspelling = cells["word"].strip().lower(), cells["misspelling"].strip().lower()
        if not (_is_word(word) and _is_word(misspelling)) or word == misspelling:
            raise StudyError(
                f"{path}: row {row} does not hold a word and its misspelling, one word each "
                f"({word!r}, {misspelling!r}); correct or delete it"
            )
        if word in NEGATIONS:
            raise StudyError(
                f"{path}: row {row} misspells {word!r}, which negates; delete it, as questions would "
                f"change their meaning"
            )
        table.setdefault(word, []).append(misspelling)
    for word, misspellings in table.items():
        if clash := next((m for m in misspellings if m in table), None):
            raise StudyError(
                f"{path}: {clash!r} stands as a misspelling of {word!r} and as a word; delete one"
            )
    return table


def _is_word(text: str) -> bool:
    return len(words(text)) == 1 and words(text)[0].end - words(text)[0].start == len(text)


def put_misspellings(
    text: str, rate: float, table: Mapping[str, Sequence[str]], random: Random
) -> str:
    """The text with words misspelt at a rate from 0 to 1."""
    parts: list[str] = []
    for piece in split_text(text, negations=True):
        place = 0
        for word in [] if piece.is_protected else _eligible(piece.text, table):
            spelling = piece.text[word.start : word.end]
            misspelling = random.choice(table[spelling.lower()])
            is_hit = random.random() < rate
            parts.append(piece.text[place : word.start])
            parts.append(_in_case_of(spelling, misspelling) if is_hit else spelling)
            place = word.end
        parts.append(piece.text[place:])
    return "".join(parts)


def misspellable_words(text: str, table: Mapping[str, Sequence[str]]) -> list[str]:
    """The words of a text that can be misspelt, in order."""
    return [
        piece.text[word.start : word.end]
        for piece in split_text(text, negations=True)
        if not piece.is_protected
        for word in _eligible(piece.text, table)
    ]


def _eligible(text: str, table: Mapping[str, Sequence[str]]) -> Iterator[Word]:
    return (word for word in words(text) if text[word.start : word.end].lower() in table)


def _in_case_of(spelling: str, misspelling: str) -> str:
    if len(spelling) > 1 and spelling.isupper():
        return misspelling.upper()
    return misspelling[0].upper() + misspelling[1:] if spelling[0].isupper() else misspelling

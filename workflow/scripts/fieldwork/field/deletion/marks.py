"""What a participant can be recognised by in a file, and how certain each of these is.

Owns when an id may be looked for anywhere and when it would be met by chance, and every way in which a
program may have written it: encodings, Unicode forms, and the escapes of CSV, JSON, XML and addresses.
"""

import html
import json
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from typing import Literal, NamedTuple
from urllib.parse import quote

LEAST_LENGTH = 8
"""Characters of an id below which it is looked for as a whole cell only."""
ID_MASK = "[id]"

_ENCODINGS = ("utf-8", "utf-16-le", "utf-16-be", "cp1252")
# a border must be there to be seen, as files are read in blocks; the zero bytes are those of UTF-16
_BORDER_BEFORE = rb"(?:(?<=[^0-9A-Za-z\x00])|(?<=[^0-9A-Za-z]\x00))"
_BORDER_AFTER = rb"(?=[^0-9A-Za-z\x00]|\x00[^0-9A-Za-z])"
_WORD = _BORDER_BEFORE + rb"%b" + _BORDER_AFTER
_CELL = rb"(?<=[,;\t|\"\r\n<>])[ \x00]*%b[ \x00]*(?=[,;\t|\"\r\n<>])"

Reach = Literal["anywhere", "word", "cell"]


class Mark(NamedTuple):
    """A text that gives a participant away.

    Attributes:
        reach: `anywhere`, in any case; `word`, where no letter or digit touches it; `cell`, where it is
            all of a cell, a line or a quoted text.
    """

    text: str
    reach: Reach


def is_distinctive(participant_id: str) -> bool:
    """Whether an id can be looked for in any file: nothing else is written like it by chance."""
    return len(participant_id) >= LEAST_LENGTH and (
        _has_letter_and_digit(participant_id) or "@" in participant_id
    )


def _has_letter_and_digit(participant_id: str) -> bool:
    return bool(re.search(r"[^\W\d_]", participant_id) and re.search(r"\d", participant_id))


def distinctive_mark(participant_id: str, all_ids: Collection[str]) -> Mark:
    """The mark of a telling id: as a word only where it is part of another participant's id."""
    folded_id = participant_id.casefold()
    is_part = any(
        folded_id in other_id.casefold() for other_id in all_ids if other_id != participant_id
    )
    return Mark(participant_id, "word" if is_part else "anywhere")


def ambiguous_mark(participant_id: str) -> Mark:
    """The mark of an id that other things may be called as well."""
    is_word = len(participant_id) >= LEAST_LENGTH or _has_letter_and_digit(participant_id)
    return Mark(participant_id, "word" if is_word else "cell")


def without_ids(text: str, ids: Iterable[str]) -> str:
    """The text with `[id]` for each id in it, so that a file can be named that is called after one."""
    for participant_id in sorted(ids, key=len, reverse=True):
        pattern = re.escape(participant_id)
        if not is_distinctive(participant_id):
            pattern = rf"(?<![^\W_]){pattern}(?![^\W_])"
        text = re.sub(pattern, lambda _: ID_MASK, text, flags=re.IGNORECASE)
    return text


class Matcher:
    """Looks for marks in bytes and texts."""

    def __init__(self, marks: Iterable[Mark]) -> None:
        self._anywhere: set[bytes] = set()
        self._patterns: dict[bytes, re.Pattern[bytes]] = {}
        self.texts: set[str] = set()
        for mark in marks:
            self.texts |= {form.lower() for form in _forms(mark.text)}
            for form in _byte_forms(mark.text):
                if mark.reach == "anywhere":
                    self._anywhere.add(form.lower())
                else:
                    pattern = (_WORD if mark.reach == "word" else _CELL) % re.escape(form)
                    self._patterns[form] = re.compile(pattern)
        self.n_bytes = max(map(len, (*self._anywhere, *self._patterns)), default=0)
        """Length of the longest form."""

    def matches(self, block: bytes) -> bool:
        """Whether a mark stands in bytes of any encoding; their ends are not taken for borders."""
        lower_block = block.lower()
        return any(form in lower_block for form in self._anywhere) or any(
            form in block and pattern.search(block) for form, pattern in self._patterns.items()
        )

    def matches_text(self, text: str) -> bool:
        """Whether a mark stands in a text, such as a cell, whose ends are borders."""
        return self.matches(f"\n{text}\n".encode("utf-8", "replace"))


def _forms(text: str) -> Iterator[str]:
    """The text's Unicode forms: files of one operating system have the one, of another the other."""
    yield unicodedata.normalize("NFC", text)
    yield unicodedata.normalize("NFD", text)


def _byte_forms(text: str) -> Iterator[bytes]:
    """The bytes that programs write for a text."""
    for form in _forms(text):
        spellings = {
            form,
            form.replace('"', '""'),
            json.dumps(form)[1:-1],
            json.dumps(form, ensure_ascii=False)[1:-1],
            html.escape(form),
            html.escape(form, quote=False),
            quote(form, safe=""),
        }
        for spelling in spellings:
            for encoding in _ENCODINGS:
                try:
                    yield spelling.encode(encoding)
                except UnicodeEncodeError:
                    continue

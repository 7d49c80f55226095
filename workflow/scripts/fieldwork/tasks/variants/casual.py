"""The casual way of a chat: small letters, little punctuation, abbreviations of chats.

Commas, semicolons and the marks that end sentences go, in every script that has them (. ? ! … 。 ？ ؟ ।);
in Chinese and Japanese a space takes their place, as chats there write it. Colons, brackets, hyphens and
line breaks stay: they hold a text together. A comma between two numbers stays, and so does every mark
inside a protected part. Abbreviations come from a table for English. It writes `dont` and `its`, as chats
do, but no form that is another word: `were` for `we're` and `ill` for `I'll` are not in it.

Quoted passages stay as they are: they are spoken about. Doing it twice is the same as once.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from fieldwork.errors import StudyError
from fieldwork.files import texts
from fieldwork.tasks.variants.kept_words import NUMBER_WORDS
from fieldwork.tasks.variants.protected import Piece, protected_stretches, split_text
from fieldwork.tasks.variants.substitution import is_protected, settle

_MARKS = ".,;!?…،؛؟।॥۔።፣፤။၊។"
"""Commas, semicolons and ends of sentences in scripts with spaces."""
_SPACED_MARKS = re.compile(rf"[ \t]*[{_MARKS}]+(?=[\s)\]}}\"'”’»]|$)")
_COMMA = re.compile(r"[)\]}]*[ \t]*[,;،][ \t]*[(\[{]*")
_OPENING_MARKS = re.compile(r"[¿¡]")
_UNSPACED_ENDS = re.compile(r"[。！？，、；]+(?=[ \t]*[\n」』）)])")
_UNSPACED_LAST = re.compile(r"[。！？，、；]+(?=\s*$)")
_UNSPACED_MARKS_WITHIN = re.compile(r"[。！？，、；]+[ \t]*")


class ChatWords(NamedTuple):
    """Abbreviations by phrase, and the pattern that finds the phrases, longest first."""

    pattern: re.Pattern[str]
    abbreviations: Mapping[str, str]


def read_chat_words(path: str | Path) -> ChatWords:
    """Abbreviations of chats, from a table of phrase, chat.

    Raises:
        StudyError: a cell is empty, an abbreviation is longer than its phrase or the letter of an
            option, or it is a phrase of the table too, so that a text would change again.
    """
    chat_words: dict[str, str] = {}
    for row, cells in enumerate(texts.read_table(path, ("phrase", "chat")), start=2):
        phrase, chat = cells["phrase"].strip().lower(), cells["chat"].strip().lower()
        if not phrase or not chat or phrase in chat_words:
            raise StudyError(
                f"{path}: row {row} lacks a phrase or its chat word, or repeats {phrase!r}; complete or "
                f"delete it"
            )
        if len(chat) > len(phrase) or (len(chat) == 1 and chat in "abcdefghij"):
            raise StudyError(
                f"{path}: row {row} puts {chat!r} for {phrase!r}; an abbreviation is no longer than its "
                f"phrase and no letter of an option (a to j), so write another"
            )
        chat_words[phrase] = chat
    _require_rest(path, chat_words)
    longest_first = sorted(chat_words, key=lambda phrase: (-len(phrase), phrase))
    phrases = "|".join(map(_phrase_pattern, longest_first)) or r"(?!)"
    pattern = re.compile(rf"(?<![\w'’-])(?:{phrases})(?![\w'’-])", re.IGNORECASE)
    return ChatWords(pattern, chat_words)


def _require_rest(path: str | Path, chat_words: Mapping[str, str]) -> None:
    """Raise StudyError for an abbreviation that would be abbreviated again."""
    for phrase, chat in chat_words.items():
        if chat in chat_words:
            raise StudyError(
                f"{path}: {chat!r} stands as the chat word of {phrase!r} and as a phrase; delete one"
            )


def _phrase_pattern(phrase: str) -> str:
    """The phrase with apostrophes straight or curled, and any spaces within a line."""
    return re.escape(phrase).replace("'", "['’]").replace(r"\ ", r"[ \t]+")


def put_casual(text: str, chat_words: ChatWords) -> str:
    """The text as it might be typed into a chat."""
    return settle(text, lambda wording: _plain(_abbreviate(wording, chat_words)))


def _abbreviate(text: str, chat_words: ChatWords) -> str:
    stretches = protected_stretches(text)

    def chat(match: re.Match[str]) -> str:
        phrase = " ".join(match[0].lower().replace("’", "'").split())
        return match[0] if is_protected(match, stretches) else chat_words.abbreviations[phrase]

    return chat_words.pattern.sub(chat, text)


def _plain(text: str) -> str:
    """Small letters and no marks, in the free pieces of a text."""
    pieces = split_text(text)
    parts: list[str] = []
    for index, piece in enumerate(pieces):
        follower = pieces[index + 1].text if index + 1 < len(pieces) else ""
        is_kept = piece.is_protected or _is_list_comma(pieces, index)
        parts.append(piece.text if is_kept else _bare(piece, follower))
    return "".join(parts)


def _is_list_comma(pieces: Sequence[Piece], index: int) -> bool:
    """Whether a piece is the comma between two numbers or symbols: (2, 3), x, y."""
    if not 0 < index < len(pieces) - 1 or not _COMMA.fullmatch(pieces[index].text):
        return False
    neighbours = (pieces[index - 1].text, pieces[index + 1].text)
    return not any(text.casefold() in NUMBER_WORDS for text in neighbours)


def _bare(piece: Piece, follower: str) -> str:
    # the mark before a protected part that follows at once belongs to it, as in `x.y`
    body = _OPENING_MARKS.sub("", piece.text.lower())
    body = _UNSPACED_ENDS.sub("", body)
    body = body if follower else _UNSPACED_LAST.sub("", body)
    body = _UNSPACED_MARKS_WITHIN.sub(" ", body)
    last = body[len(body.rstrip(_MARKS)) :] if follower else ""
    head = body[: len(body) - len(last)]
    return _SPACED_MARKS.sub("", head) + last

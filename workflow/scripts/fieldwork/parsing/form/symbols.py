"""Signs that are no words: emoji, decoration, and words in capitals.

Promises counts for any text, in time linear in it.
"""

import re

_PICTURE = (
    "[\U0001f000-\U0001f1e5\U0001f200-\U0001f3fa\U0001f400-\U0001faff\u2600-\u27bf\u231a\u231b\u23e9-\u23f3\u23f8-\u23fa"
    "\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55]"
)
_MODIFIERS = "[\ufe0f\U0001f3fb-\U0001f3ff]{0,2}"
_EMOJI = re.compile(
    f"[\U0001f1e6-\U0001f1ff]{{2}}|[0-9#*]\ufe0f?\u20e3|{_PICTURE}{_MODIFIERS}(?:\u200d{_PICTURE}{_MODIFIERS})*"
)
_WORD_OR_BAR = re.compile(r"[\w|]")
_LEAST_SYMBOLS = 3
_REPEATED_SYMBOL = re.compile(r"([^\w\s.…|`])\1{2,}")
_QUOTED_OR_HEADED = re.compile(r"^[ \t]*(?:>[ \t]?)*(?:#{1,6}(?=\s))?")
_WORD = re.compile(r"[^\W\d_]+")
_LEAST_CAPITALS = 4
"""Letters of a word in capitals; most shorter ones are abbreviations, as `USA` is."""


def count_emoji(text: str) -> int:
    """Emoji and pictographs; a joined sequence, a flag and a keycap are one each."""
    return 0 if text.isascii() else len(_EMOJI.findall(text))


def count_decorations(text: str) -> int:
    """Lines of symbols alone, and elsewhere the same symbol three times or more in a row.

    An ellipsis is none, nor are the stars of emphasis that touch a word; emoji are counted as such.
    """
    lines = _EMOJI.sub("", text).split("\n")
    return sum(map(_count_in_line, lines))


def _count_in_line(line: str) -> int:
    if _is_rule(line):
        return 1
    body = _QUOTED_OR_HEADED.sub("", line)
    runs = _REPEATED_SYMBOL.finditer(body)
    return sum(not _is_emphasis(body, run) for run in runs)


def _is_rule(line: str) -> bool:
    """Whether a line has three symbols or more and nothing else; underscores are symbols here."""
    symbols = "".join(line.replace("_", "-").split())
    is_bare = len(symbols) >= _LEAST_SYMBOLS and not _WORD_OR_BAR.search(symbols)
    return is_bare and not set(symbols) <= set(".…>#`")


def _is_emphasis(line: str, run: re.Match[str]) -> bool:
    if run[1] not in "*_":
        return False
    return bool(line[run.end() : run.end() + 1].strip() or line[: run.start()][-1:].strip())


def count_capital_words(text: str) -> int:
    """Words of four letters or more in capitals, in scripts that have them."""
    words = _WORD.findall(text)
    return sum(len(word) >= _LEAST_CAPITALS and word.isupper() for word in words)

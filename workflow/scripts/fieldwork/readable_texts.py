"""Texts as readers see them: without signs of no width, such as a blank that a web page left behind.

Promises that two texts which look alike have one key, so that no reader has to tell them apart.
"""

import re
import unicodedata

_INVISIBLE = re.compile(
    "[\u00ad\u034f\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\u3164\ufeff]"
)


def without_invisible(text: str) -> str:
    """A text without its signs of no width."""
    return _INVISIBLE.sub("", text)


def look_of(text: str) -> str:
    """What texts that look alike have in common, blanks of any kind and number among them."""
    return " ".join(unicodedata.normalize("NFC", without_invisible(text)).split())


def cut(text: str, *, letters: int) -> str:
    """`text` on one line; a text longer than `letters` ends in … after a word.

    A word itself is cut only where less than half of the room would be used.
    """
    line = " ".join(text.split())
    if len(line) <= letters:
        return line
    head = line[: letters - 1]
    words = head if line[len(head)] == " " else head.rpartition(" ")[0]
    return (words if 2 * len(words) >= letters else head).rstrip(" ,;:.–-") + "…"

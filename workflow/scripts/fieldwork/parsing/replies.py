"""What readers of numbers and scales see of a reply: its visible part, in the digits of ASCII."""

import unicodedata

from fieldwork.parsing.visible_text import visible_text

_MAX_TEXT = 200_000
_MINUS = str.maketrans({"−": "-", "‒": "-", "‑": "-"})


def reply_in_digits(text: str | None) -> str:
    """The visible part of a reply: full-width forms and digits of any script become ASCII's."""
    visible = unicodedata.normalize("NFKC", visible_text(text)[-_MAX_TEXT:]).translate(_MINUS)
    return (
        "".join(
            str(unicodedata.decimal(sign)) if sign.isdecimal() and not sign.isascii() else sign
            for sign in visible
        )
        .replace("\u066c", ",")
        .replace("\u066b", ".")
    )

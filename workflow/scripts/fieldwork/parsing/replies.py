"""What readers of numbers and scales see of a reply: its visible part, in the digits of ASCII."""

import re
import unicodedata

from fieldwork.parsing.visible_text import visible_text

SPACED_LETTER = (
    r"[^\W\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff"
    r"\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]"
)
"""A letter or digit of a script that puts spaces, or ends of words, beside numbers."""
_MAX_TEXT = 200_000
_MINUS = str.maketrans({"−": "-", "‒": "-", "‐": "-"})
"""Signs that are written for a hyphen; NFKC has made ‐ of the hyphen that does not break."""
_MIXED_FRACTION = re.compile(r"(\d{1,15}) ?([½¼¾⅓⅔⅛⅜⅝⅞⅕⅖⅗⅘⅙⅚])")
_POWER = re.compile("[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")


def reply_in_digits(text: str | None) -> str:
    """The visible part of a reply: full-width forms and digits of any script become ASCII's."""
    visible = _MIXED_FRACTION.sub(_in_decimals, visible_text(text)[-_MAX_TEXT:])
    visible = with_ascii_powers(visible).translate(_MINUS)
    return (
        "".join(
            str(unicodedata.decimal(sign)) if sign.isdecimal() and not sign.isascii() else sign
            for sign in visible
        )
        .replace("\u066c", ",")
        .replace("\u066b", ".")
    )


def _in_decimals(match: re.Match[str]) -> str:
    """2½ is 2.5, and not 21⁄2 as in the compatibility form."""
    return f"{int(match[1]) + round(unicodedata.numeric(match[2]), 4):.15g}"


def with_ascii_powers(text: str) -> str:
    """The text in its compatibility form; raised digits keep a mark: 10⁶ is 10^6, and not 106."""
    with_marks = _POWER.sub(lambda match: f"^{match.group()}", text)
    return unicodedata.normalize("NFKC", with_marks)

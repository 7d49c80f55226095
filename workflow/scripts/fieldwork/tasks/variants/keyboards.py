"""Which keys lie beside each other, for scripts with one layout that most people use.

Owns the layouts: QWERTY for Latin, the standard Russian, Greek and Hebrew layouts, and Arabic 101. They
are the national standards that operating systems ship. A letter that has no key of its own (Urdu, German
ß) has no neighbours. A letter with a mark (é, ά) has one: itself without the mark, which is what a hand
in haste leaves out.
"""

import unicodedata
from functools import cache

_ROWS = {
    "LATIN": ("qwertyuiop", "asdfghjkl", "zxcvbnm"),
    "CYRILLIC": ("йцукенгшщзхъ", "фывапролджэ", "ячсмитьбю"),
    "GREEK": (" ςερτυθιοπ", "ασδφγηξκλ", "ζχψωβνμ"),
    "HEBREW": ("  קראטוןםפ", "שדגכעיחלךף", "זסבהנמצתץ"),
    "ARABIC": ("ضصثقفغعهخحجد", "شسيبلاتنمكط", "ئءؤر ىةوزظ"),
}
"""Rows of letters from the top, a space for a key without a letter."""
_SHIFTS = (0.0, 0.25, 0.75)
"""How far each row begins to the right of the top row, in widths of a key."""
_REACH = 1.0
"""Neighbours are at most this far apart sideways, and at most a row apart."""


@cache
def neighbours(letter: str) -> tuple[str, ...]:
    """Letters beside a letter, in its case; none where its script has no layout here."""
    small = unicodedata.normalize("NFC", letter.lower())
    keys = _keys_beside(small)
    if not keys:
        base = unicodedata.normalize("NFD", small)[0]
        keys = (base,) if base != small and _keys_beside(base) else ()
    return tuple(key.upper() if letter[0].isupper() else key for key in keys)


def _keys_beside(letter: str) -> tuple[str, ...]:
    for rows in _ROWS.values():
        places = {
            key: (index + _SHIFTS[row], row)
            for row, keys in enumerate(rows)
            for index, key in enumerate(keys)
            if key != " "
        }
        if letter in places:
            x, row = places[letter]
            return tuple(
                key
                for key, (other_x, other_row) in places.items()
                if key != letter and abs(other_x - x) <= _REACH and abs(other_row - row) <= 1
            )
    return ()

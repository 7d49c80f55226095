"""Names of columns as people write them, compared without case, accents, spaces and signs.

`Conversation ID`, `conversation_id` and `conversationId` are one name; so are `rôle` and `role`.
"""

import unicodedata
from collections.abc import Iterable, Sequence

_MOST_NAMES = 20
_LONGEST_NAME = 40


def bare_name(name: str) -> str:
    """A name in lower case, without accents, spaces and signs."""
    letters = unicodedata.normalize("NFKD", name.replace("ß", "ss")).casefold()
    return "".join(letter for letter in letters if letter.isalnum())


def find_column(names: Iterable[str], candidates: Sequence[str]) -> str | None:
    """The first column whose bare name is a candidate, in the order of the candidates; None without "
    "one."""
    bare: dict[str, str] = {}
    for name in names:
        bare.setdefault(bare_name(name), name)
    return next((bare[name] for name in candidates if name in bare), None)


def name_list(names: Iterable[str]) -> str:
    """Names of columns for a message: long names are cut, and of many names the first are listed."""
    words = [str(name) for name in names if str(name).strip()]
    short = [
        name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"
        for name in words[:_MOST_NAMES]
    ]
    rest = f" and {len(words) - _MOST_NAMES} more" if len(words) > _MOST_NAMES else ""
    return f"{', '.join(' '.join(name.split()) for name in short) or 'none'}{rest}"

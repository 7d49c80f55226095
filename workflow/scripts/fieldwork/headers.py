"""Names of columns as people write them, matched to what they hold.

`Conversation ID`, `conversation_id` and `conversationId` are one name; so are `rôle` and `role`.
"""

import unicodedata
from collections.abc import Iterable, Sequence


def bare_name(name: str) -> str:
    """A name without case, accents, spaces and signs."""
    letters = unicodedata.normalize("NFKD", name.replace("ß", "ss")).casefold()
    return "".join(letter for letter in letters if letter.isalnum())


def column_called(names: Iterable[str], called: Sequence[str]) -> str | None:
    """The first of the columns that is called by one of some bare names, which are tried in order."""
    bare: dict[str, str] = {}
    for name in names:
        bare.setdefault(bare_name(name), name)
    return next((bare[name] for name in called if name in bare), None)

"""Names of columns as people write them, matched to what they hold.

`Conversation ID`, `conversation_id` and `conversationId` are one name; so are `rôle` and `role`.
"""

import unicodedata
from collections.abc import Iterable, Sequence

_MOST = 20
_LONGEST = 40


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


def listed(names: Iterable[str]) -> str:
    """Names of columns for a message; what is as long as a sentence is cut, and what are many."""
    there = [str(name) for name in names if str(name).strip()]
    short = [name if len(name) <= _LONGEST else f"{name[:_LONGEST]}…" for name in there[:_MOST]]
    more = f" and {len(there) - _MOST} more" if len(there) > _MOST else ""
    return f"{', '.join(' '.join(name.split()) for name in short) or 'none'}{more}"

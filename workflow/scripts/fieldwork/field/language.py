"""The language a text is written in, where it is long enough to tell.

Owns the language identifier, which no other module loads. Promises to be conservative: names say
little about the language around them, and a text of nothing else gets no language.
"""

from functools import cache
from importlib import import_module
from typing import Protocol, cast

LEAST_LETTERS = 20
"""Letters below which no language is told: a letter, a name, a number."""
LEAST_CERTAINTY = 0.9
"""Probability from which on a language counts (docs/field.md: what it flags rightly and wrongly)."""
_MOST_CHARACTERS = 20_000


class _Identifier(Protocol):
    def classify(self, text: str) -> tuple[str, float]: ...


def language_of(text: str) -> str | None:
    """ISO 639-1 code of the text's language; None where it is too short or cannot be told.

    The probability is py3langid's, which flattens it with the length of the text: five names in any
    language stay below the threshold.
    """
    shown = text[:_MOST_CHARACTERS]
    if sum(character.isalpha() for character in shown) < LEAST_LETTERS:
        return None
    language, certainty = _identifier().classify(shown)
    return language if certainty >= LEAST_CERTAINTY else None


@cache
def _identifier() -> _Identifier:
    """All languages it knows: a choice of them would force the others' texts upon one of these."""
    langid = import_module("py3langid.langid")
    return cast(
        "_Identifier",
        langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE, norm_probs=True),
    )

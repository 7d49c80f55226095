"""Whether a text is in another language than its prompt, where it is long enough to tell.

Owns the language identifier, which no other module loads. Promises to be conservative: names say
little about the language around them, and a list of nothing else is in no other language.
"""

from functools import cache
from importlib import import_module
from typing import Protocol

LEAST_LETTERS = 20
"""Letters below which no language is identified: a letter, a name, a number."""
LEAST_CERTAINTY = 0.9
"""Probability from which on a prompt's language is certain enough."""
MOST_DOUBT = 1e-4
"""Probability of the prompt's language below which a text is in another. Lists of names, whose
probability is spread over many languages, stay 30 times above it (docs/field.md)."""
_MOST_CHARACTERS = 20_000


class _Identifier(Protocol):
    def rank(self, text: str) -> list[tuple[str, float]]: ...


def language_of(text: str) -> str | None:
    """ISO 639 code of the text's language; None where it is too short or cannot be told."""
    language, certainty = next(iter(_ranking(text)), ("", 0.0))
    return language if certainty >= LEAST_CERTAINTY else None


def is_other_language(text: str, prompt_language: str) -> bool:
    """Whether the text is hardly in the prompt's language; false for a text too short to tell.

    The probability is py3langid's, which flattens it with the length of the text.
    """
    ranking = _ranking(text)
    return bool(ranking) and dict(ranking).get(prompt_language, 0.0) < MOST_DOUBT


def _ranking(text: str) -> list[tuple[str, float]]:
    """Languages and their probabilities, the likeliest first; empty for a text too short."""
    beginning = text[:_MOST_CHARACTERS]
    if sum(character.isalpha() for character in beginning) < LEAST_LETTERS:
        return []
    return _identifier().rank(beginning)


@cache
def _identifier() -> _Identifier:
    """All languages it knows: a choice of them would force the others' texts upon one of these."""
    langid = import_module("py3langid.langid")
    identifier: _Identifier = langid.LanguageIdentifier.from_model_file(
        langid.MODEL_FILE, norm_probs=True
    )
    return identifier

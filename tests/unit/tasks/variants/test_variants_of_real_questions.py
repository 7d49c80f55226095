"""Every kind over the real questions of MMLU: how many it reaches, and that it comes to rest."""

import random
from collections.abc import Callable

import pytest

from fieldwork.tasks.variants.casual import put_casual, read_chat_words
from fieldwork.tasks.variants.dialects import put_dialect, read_dialect
from fieldwork.tasks.variants.fragments import put_fragment, read_politeness
from fieldwork.tasks.variants.misspellings import put_misspellings, read_misspellings
from fieldwork.tasks.variants.protected import split_text
from fieldwork.tasks.variants.typos import put_typos
from unit.tasks.variants.planted_texts import REAL, TABLES, mmlu_questions, survive

CHAT_WORDS = read_chat_words(TABLES / "chat_words.csv")
POLITENESS = read_politeness(TABLES / "politeness.csv")
MISSPELLINGS = read_misspellings(TABLES / "misspellings.csv")
AFRICAN_AMERICAN = read_dialect(TABLES / "dialects.csv", "african_american_english")
INDIAN = read_dialect(TABLES / "dialects.csv", "indian_english")

KINDS: dict[str, tuple[Callable[[str], str], float, bool]] = {
    "typos": (lambda text: put_typos(text, 0.1, random.Random(1)), 0.98, False),
    "misspellings": (
        lambda text: put_misspellings(text, 0.5, MISSPELLINGS, random.Random(1)),
        0.5,
        False,
    ),
    "casual": (lambda text: put_casual(text, CHAT_WORDS), 0.98, True),
    "fragment": (lambda text: put_fragment(text, POLITENESS), 0.2, True),
    "african_american": (lambda text: put_dialect(text, AFRICAN_AMERICAN), 0.05, True),
    "indian": (lambda text: put_dialect(text, INDIAN), 0.2, True),
}
"""Kind → its function, the least share of questions it reaches, and whether twice is once."""

pytestmark = [
    pytest.mark.real_data,
    pytest.mark.skipif(not REAL.is_dir(), reason="no real extracts at ../shared/data"),
]


@pytest.mark.parametrize("kind", KINDS)
def test_real_questions(kind: str) -> None:
    put, least_share, is_idempotent = KINDS[kind]
    # every third is enough, and quick
    questions = mmlu_questions()[::3]
    variants = [put(question) for question in questions]
    share = sum(v != q for v, q in zip(variants, questions, strict=True)) / len(questions)
    assert least_share <= share <= 1
    for question, variant in zip(questions, variants, strict=True):
        kept = [piece.text for piece in split_text(question) if piece.is_protected]
        assert survive(kept, variant)
        if is_idempotent:
            assert put(variant) == variant

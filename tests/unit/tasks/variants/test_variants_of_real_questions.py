"""Every kind over the real questions of MMLU: how many it reaches, and that it comes to rest."""

import random
from collections.abc import Callable

import pytest

from fieldwork.tasks.variants.misspellings import put_misspellings
from fieldwork.tasks.variants.protected import split_text
from fieldwork.tasks.variants.typos import put_typos
from unit.tasks.variants.planted_texts import REAL, mmlu_questions, survive
from unit.tasks.variants.test_wordings import MISSPELLINGS, PUT

KINDS: dict[str, tuple[Callable[[str], str], float]] = {
    "typos": (lambda text: put_typos(text, 0.1, random.Random(1)), 0.98),
    "misspellings": (lambda text: put_misspellings(text, 0.5, MISSPELLINGS, random.Random(1)), 0.5),
    "casual": (PUT["casual"], 0.98),
    "fragment": (PUT["fragment"], 0.2),
    "african_american_english": (PUT["african_american_english"], 0.05),
    "indian_english": (PUT["indian_english"], 0.2),
}
"""Kind → its function, and the least share of questions it reaches."""

pytestmark = [
    pytest.mark.real_data,
    pytest.mark.skipif(not REAL.is_dir(), reason="no real extracts at ../shared/data"),
]


@pytest.mark.parametrize("kind", KINDS)
def test_real_questions(kind: str) -> None:
    put, least_share = KINDS[kind]
    # every third is enough, and quick
    questions = mmlu_questions()[::3]
    variants = [put(question) for question in questions]
    share = sum(v != q for v, q in zip(variants, questions, strict=True)) / len(questions)
    assert least_share <= share <= 1
    for question, variant in zip(questions, variants, strict=True):
        kept = [piece.text for piece in split_text(question) if piece.is_protected]
        assert survive(kept, variant)
        if kind in PUT:
            assert put(variant) == variant

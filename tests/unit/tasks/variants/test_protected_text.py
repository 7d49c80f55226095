"""Which parts of a text mean what they are, and that texts are cut without a loss."""

import pytest
from hypothesis import given

from fieldwork.tasks.variants.letters import clusters, words
from fieldwork.tasks.variants.protected import protected_stretches, split_text
from unit.tasks.variants.planted_texts import STEADY, mixed_texts


def protected_parts(text: str, *, negations: bool = False) -> list[str]:
    return [piece.text for piece in split_text(text, negations=negations) if piece.is_protected]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("It costs $5 and $10 here", ["$5", "$10"]),
        ("A. one thing\n(b) other\niv) last", ["A.", "one", "(b)", "iv)"]),
        ("option C or vitamin A is best", ["C", "A"]),
        ("I and II only", ["I", "II"]),
        ("A dog barks", []),
        ("2023年的人口是多少？", ["2023"]),
        ("import numpy as np\nhow do I sort", ["import numpy as np"]),
        ("for (i = 0; i < n; i++) {\nwhy so slow", ["for (i = 0; i < n; i++) {"]),
        ("the students' and teachers' rooms", []),
        ("so it's the 'first best' then", ["'first best'"]),
        ("5! is 120", ["5!", "120"]),
        ("Я знаю, что США и ООН", ["США", "ООН"]),
    ],
)
def test_protected_parts(text: str, parts: list[str]) -> None:
    assert protected_parts(text) == parts


@STEADY
@given(text=mixed_texts)
def test_pieces_are_the_text(text: str) -> None:
    for negations in (False, True):
        pieces = split_text(text, negations=negations)
        assert "".join(piece.text for piece in pieces) == text
        assert all(piece.text for piece in pieces)
        ends = [0, *(s.end for s in protected_stretches(text, negations=negations))]
        starts = [s.start for s in protected_stretches(text, negations=negations)]
        assert all(end <= start for end, start in zip(ends, starts, strict=False))


@STEADY
@given(text=mixed_texts)
def test_clusters_are_the_text_and_words_lie_in_it(text: str) -> None:
    assert "".join(clusters(text)) == text
    for word in words(text):
        assert "".join(word.letters) == text[word.start : word.end]


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        ("नहीं", ["न", "हीं"]),
        ("e\u0301te\u0301", ["e\u0301", "t", "e\u0301"]),
        ("한국", ["한", "국"]),
        ("\u1112\u1161\u11ab", ["\u1112\u1161\u11ab"]),
    ],
)
def test_a_letter_keeps_its_marks(text: str, letters: list[str]) -> None:
    assert clusters(text) == letters

"""Syllables of English words are counted as dictionaries divide them."""

import pytest

from fieldwork.parsing.form.syllables import count_syllables

# fmt: off
KNOWN = {
    1: """
the cat strength through though thought walked jumped played called used makes times names games
whole house horse fire eyes eye queue league vague friend field build juice guide school boats
great breathe clothes change looked dreamed please choose worth world months friends don't we're
can't aisle heart once smile share piece size
""",
    2: """
water paper table apple handle handled settled people women science client quiet poem ruin fluid
create doing being going trying wanted needed boxes changes places washes breaches coaches city
cities studies study applied careful hopeful basement statement lovely likely safety something
sometimes homework website software household someone therefore lifestyle business evening every
language value unique argue equal region million special patient ocean movie player beyond royal
didn't isn't rhythm prism chaos acre soldier cashier lion giant
""",
    3: """
another family example important computer area idea video radio media serious various period
violent happier carrier supplier audience society reality's everyone anyone everything forever
element implement basketball retirement loneliness customers continue influence arguing actual
usual annual manual animal banana company company's theater scientist proactive studying
musical energy industry remember december tomorrow following different beautiful triangle
criticism mechanism nuclear department
""",
    4: """
information education experience ingredient variety society's material individual's situation
technology community political American economy available development environment variable
creativity's January geography appreciate negotiate priority security category automatic
algorithm necessary dictionary helicopter reality
""",
    5: """
university individual opportunity creativity international communication organization
association appreciation continuity automatically characteristic vocabulary hippopotamus
refrigerator electricity simultaneous
""",
}
# fmt: on
ODD = {
    **{"society": 4, "society's": 4, "individual's": 5, "creativity's": 5, "reality's": 4},
    **{"triangle": 3, "situation": 4, "business": 2, "vocabulary": 5, "experience": 4},
}
"""Words whose count differs from that of their line, or is worth a second look."""


def test_hardly_a_known_word_is_wrong() -> None:
    counts = {word: n for n, words in KNOWN.items() for word in words.split()} | ODD
    wrong = [(word, n) for word, n in counts.items() if count_syllables(word) != n]
    assert len(counts) >= 230
    assert len(wrong) <= len(counts) // 50, wrong


@pytest.mark.parametrize(
    ("word", "n"),
    [("well-known", 2), ("IBM", 3), ("NOT", 1), ("html", 4), ("", 1), ("42", 1), ("слово", 5)],
)
def test_other_tokens_have_a_number(word: str, n: int) -> None:
    assert count_syllables(word) == n


def test_a_long_token_is_not_read_to_its_end() -> None:
    assert count_syllables("ba" * 500_000) == 30

"""Slips of the keyboard: their rate, their forms, and what they never reach."""

import math
import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldwork.tasks.variants.letters import clusters
from fieldwork.tasks.variants.typos import letters_at_risk, put_typos, slip_letters
from unit.tasks.variants.planted_texts import (
    STEADY,
    mixed_texts,
    negated_texts,
    protected_texts,
    survive,
)

RATES = (0.1, 0.3, 0.5)
WORDS = {
    "Latin": "which organ makes the hormone that lowers sugar in blood after meals",
    "Cyrillic": "какой орган вырабатывает гормон который снижает сахар крови после еды",
    "Arabic": "ينتج العضو هرمون يخفض السكر الدم بعد الطعام",
    "Devanagari": "कौनसा अंग हार्मोन बनाता जिससे शर्करा घटती भोजन बाद",
    "Hangul": "어떤 기관이 혈당을 낮추는 호르몬을 만드는지",
}


def interval(n: int, rate: float) -> tuple[float, float]:
    """Counts within four standard deviations of a binomial: all but 6 in 100,000."""
    spread = 4 * math.sqrt(n * rate * (1 - rate))
    return n * rate - spread, n * rate + spread


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("script", WORDS)
def test_the_rate_is_met_in_every_script(script: str, rate: float) -> None:
    text = " ".join([WORDS[script]] * 60)
    slipped = slip_letters(text, rate, random.Random(7))
    assert slipped.n_letters == len(letters_at_risk(text)) > 300
    low, high = interval(slipped.n_letters, rate)
    assert low <= slipped.n_hits <= high
    assert slipped.text != text


def test_every_form_of_slip_happens_about_equally_often() -> None:
    def form_of(typed: str) -> str:
        if len(typed) != 6:
            return "drop" if len(typed) < 6 else "double"
        return "swap" if sorted(typed) == sorted("bundle") else "neighbour"

    typed = put_typos(" ".join(["bundle"] * 20_000), 0.02, random.Random(5)).split(" ")
    forms = Counter(form_of(word) for word in typed if word != "bundle")
    total = forms.total()
    assert set(forms) == {"drop", "double", "swap", "neighbour"}
    # the last letter has no next one to be exchanged with, so swaps are a little rarer
    assert all(0.18 < count / total < 0.31 for count in forms.values())


@STEADY
@given(
    pair=st.one_of(protected_texts, negated_texts),
    rate=st.sampled_from([*RATES, 1.0]),
    seed=st.integers(0, 999),
)
def test_protected_parts_and_negations_survive_in_order(
    pair: tuple[str, list[str]], rate: float, seed: int
) -> None:
    text, kept = pair
    assert survive(kept, put_typos(text, rate, random.Random(seed)))


@STEADY
@given(text=mixed_texts, rate=st.floats(0, 1), seed=st.integers(0, 999))
def test_the_same_seed_gives_the_same_text(text: str, rate: float, seed: int) -> None:
    first = put_typos(text, rate, random.Random(seed))
    assert first == put_typos(text, rate, random.Random(seed))
    assert put_typos(text, 0.0, random.Random(seed)) == text
    slipped = slip_letters(text, rate, random.Random(seed))
    assert slipped.n_letters == len(letters_at_risk(text))
    assert slipped.n_hits > 0 or slipped.text == text


def test_no_word_turns_into_a_negation_or_a_number() -> None:
    typed = put_typos(" ".join(["on", "tow", "sic", "het", "nto"] * 2_000), 0.5, random.Random(2))
    assert not {"no", "two", "six", "not", "ten"} & set(typed.split(" "))
    assert len(set(typed.split(" "))) > 100


def test_marks_stay_on_their_letters() -> None:
    """Every letter of Devanagari after slips is a letter of the text, its vowel signs with it."""
    text = " ".join([WORDS["Devanagari"]] * 30)
    typed = put_typos(text, 0.5, random.Random(4))
    assert set(clusters(typed)) <= set(clusters(text))
    assert all(len(word) >= 2 for word in typed.split())

"""English number words as digits, and what has no number."""

import pytest

from fieldwork.parsing.number_words import with_numerals
from fieldwork.parsing.numbers import parse_number
from fieldwork.records.parsing import NO_NUMBER


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Zero.", 0),
        ("One person", 1),
        ("Two.", 2),
        ("I have two children", 2),
        ("two and a half", 2.5),
        ("one and a half million", 1.5e6),
        ("5 hundred", 500),
        ("two dozen", 24),
        ("a million", 1e6),
        ("three hundred thousand", 300e3),
        ("five hundred million", 500e6),
        ("a hundred million", 100e6),
        ("a hundred thousand dollars", 100e3),
        ("two million five hundred thousand", 2.5e6),
        ("1.4 thousand million", 1.4e9),
        ("a dozen", 12),
        ("half a dozen", 6),
        ("an hour", 1),
        ("half an hour", 0.5),
        ("a year and a half", 1.5),
        ("five grand", 5e3),
        ("минус 20", -20),
        ("零下20", -20),
        ("moins 20", -20),
        ("au moins 20", 20),
        ("al menos 20", 20),
    ],
)
def test_words_are_numbers(text: str, value: float) -> None:
    assert parse_number(text).value == pytest.approx(value)


@pytest.mark.parametrize(
    "text",
    [
        "two thirds",
        "three quarters",
        "deux millions",
        "several million",
        "millions of people",
        "hundreds of thousands",
        "tens of millions",
        "a quarter of a million",
        "five figures",
        "no one",
    ],
)
def test_fractions_and_magnitudes_without_a_number_are_none(text: str) -> None:
    assert parse_number(text).reason == NO_NUMBER


def test_small_words_of_a_long_text_stay_words() -> None:
    text = "On the one hand there are costs, on the other hand two or more uses of it."
    assert with_numerals(text) == text

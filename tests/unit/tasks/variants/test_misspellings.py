"""Common misspellings: their table, their rate, and the case of a word."""

import math
import random

import pytest
from hypothesis import given

from fieldwork.tasks.variants.kept_words import NEGATIONS, NUMBER_WORDS
from fieldwork.tasks.variants.misspellings import (
    misspellable_words,
    put_misspellings,
    read_misspellings,
)
from unit.tasks.variants.planted_texts import STEADY, TABLES, mixed_texts

TABLE = read_misspellings(TABLES / "misspellings.csv")
_OTHER_WORDS = """
then than form trail quite quiet lose loose desert dessert casual causal principal principle county whit
thru bared sever rote effected planed posses exiting martial marital
"""
OTHER_WORDS = frozenset(_OTHER_WORDS.split())
"""Slips that are words of their own, beside the words of the table."""


def test_the_table_is_of_common_words_and_of_nothing_that_is_a_word() -> None:
    misspellings = {m for forms in TABLE.values() for m in forms}
    assert len(TABLE) > 300
    assert not misspellings & set(TABLE)
    assert not misspellings & (NEGATIONS | NUMBER_WORDS)
    assert not set(TABLE) & (NEGATIONS | NUMBER_WORDS)
    assert not misspellings & OTHER_WORDS
    assert all(form.isascii() and form.isalpha() for form in misspellings)


@pytest.mark.parametrize("rate", [0.05, 0.2, 0.5])
def test_the_rate_is_met(rate: float) -> None:
    text = " ".join(["The government will receive their separate address"] * 1_000)
    words = misspellable_words(text, TABLE)
    assert len(words) == 5_000
    put = put_misspellings(text, rate, TABLE, random.Random(11))
    n_hits = sum(a != b for a, b in zip(text.split(" "), put.split(" "), strict=True))
    spread = 4 * math.sqrt(5_000 * rate * (1 - rate))
    assert abs(n_hits - 5_000 * rate) <= spread
    assert not {"The", "will"} - set(put.split(" "))


@pytest.mark.parametrize(
    ("text", "put"),
    [
        ("receive", "recieve"),
        ("Receive it.", "Recieve it."),
        ("I receive", "I recieve"),
        ("RECEIVE", "RECEIVE"),
        ("`receive`", "`receive`"),
        ("say “receive” now", "say “receive” now"),
        ("receiver, deceive", "receiver, deceive"),
        ("पत्र receive", "पत्र recieve"),
    ],
)
def test_a_word_keeps_its_case_and_its_place(text: str, put: str) -> None:
    assert put_misspellings(text, 1.0, {"receive": ["recieve"]}, random.Random(0)) == put


def test_all_misspellings_of_a_word_are_used() -> None:
    put = put_misspellings(" ".join(["answer"] * 100), 1.0, TABLE, random.Random(0))
    assert set(put.split(" ")) == set(TABLE["answer"])
    assert len(TABLE["answer"]) > 1


@STEADY
@given(text=mixed_texts)
def test_what_cannot_be_misspelt_comes_back(text: str) -> None:
    assert put_misspellings(text, 0.0, TABLE, random.Random(0)) == text
    if not misspellable_words(text, TABLE):
        assert put_misspellings(text, 1.0, TABLE, random.Random(0)) == text

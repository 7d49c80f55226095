"""Common misspellings: their table, their rate, and the case of a word."""

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


@pytest.mark.parametrize(
    ("text", "put"),
    [
        ("receive", "recieve"),
        ("RECEIVE", "RECEIVE"),
        ("`receive`", "`receive`"),
        ("say “receive” now", "say “receive” now"),
        ("पत्र receive", "पत्र recieve"),
    ],
)
def test_a_word_keeps_its_case_and_its_place(text: str, put: str) -> None:
    assert put_misspellings(text, 1.0, {"receive": ["recieve"]}, random.Random(0)) == put


@STEADY
@given(text=mixed_texts)
def test_what_cannot_be_misspelt_comes_back(text: str) -> None:
    assert put_misspellings(text, 0.0, TABLE, random.Random(0)) == text
    if not misspellable_words(text, TABLE):
        assert put_misspellings(text, 1.0, TABLE, random.Random(0)) == text

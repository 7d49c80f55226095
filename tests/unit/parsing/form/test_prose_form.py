"""Sentences end where they should, English is told from other languages, indices follow formulas."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from fieldwork.parsing.form.prose import (
    NOT_ENGLISH,
    TOO_SHORT,
    ProseWords,
    read_prose,
    reading_level,
    split_sentences,
)
from fieldwork.parsing.form.readings import read_text_form

ROOT = Path(__file__).resolve().parents[4]
THREADS = ROOT.parent / "shared/data/conversations/oasst1_validation_threads_953.parquet"


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("Dr. Smith met J. Doe at 3.5 p.m. today.", 1),
        ("Fruit, e.g. apples, is cheap. Buy it.", 2),
        ('He said "Stop!" Then he left.', 2),
        ("Wait... what? Yes… no.", 2),
        ("It was me and I. He knew.", 2),
        ("यह एक वाक्य है। यह दूसरा है।", 2),
        ("هل هذا سؤال؟ نعم.", 2),
        ("", 0),
        ("... !!! ---", 0),
    ],
)
def test_sentences(text: str, n: int) -> None:
    assert len(split_sentences(text)) == n


def test_the_indices_are_those_of_their_formulas() -> None:
    # 100 words of one syllable in ten sentences: 206.835 - 10.15 - 84.6 and 3.9 + 11.8 - 15.59
    level = reading_level(ProseWords([["cat"] * 10] * 10, is_english=True))
    assert level.reading_ease == pytest.approx(112.085)
    assert level.grade == pytest.approx(0.11)
    assert level.reason is None


def test_short_or_other_prose_has_a_reason() -> None:
    assert reading_level(ProseWords([["cat"] * 99], is_english=True)).reason == TOO_SHORT
    assert reading_level(ProseWords([["Katze"] * 100], is_english=False)).reason == NOT_ENGLISH
    assert reading_level(ProseWords([], is_english=False)).reason == TOO_SHORT


@pytest.mark.parametrize(
    ("text", "is_english"),
    [
        ("This is what you should do when the weather is bad.", True),
        ("Das ist, was du tun solltest, wenn das Wetter in den Bergen schlecht ist.", False),
        ("天气不好的时候你应该这样做。", False),
        ("Godfather, Inception, Titanic, Alien, Heat", False),
        ("", False),
    ],
)
def test_english_is_told_by_its_function_words(text: str, is_english: bool) -> None:
    assert read_prose([text]).is_english is is_english


@pytest.mark.skipif(not THREADS.exists(), reason="no real extracts at ../shared/data")
def test_english_is_told_in_real_answers_of_fifteen_languages() -> None:
    talks = pq.read_table(THREADS, columns=["conversation"])["conversation"].to_pylist()
    answers = {m["content"]: m["language"] for talk in talks for m in talk if m["role"] != "user"}
    assert len(set(answers.values())) == 15
    long_answers = [
        (language == "en", form.columns["is_english"])
        for text, language in answers.items()
        if (form := read_text_form(text)) and form.columns["reason"] != TOO_SHORT
    ]
    n_wrong = sum(truth != reading for truth, reading in long_answers)
    assert len(long_answers) > 500
    # three English answers that list words of other languages or states, a Spanish one that quotes films
    assert n_wrong <= 4

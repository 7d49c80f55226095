"""The casual way of a chat: small letters, few marks, abbreviations, and what stays."""

from pathlib import Path

import pytest
from hypothesis import given

from fieldwork.errors import StudyError
from fieldwork.tasks.variants.casual import put_casual, read_chat_words
from unit.tasks.variants.planted_texts import (
    NEGATIONS,
    STEADY,
    TABLES,
    mixed_texts,
    negated_texts,
    protected_texts,
    survive,
)

CHAT_WORDS = read_chat_words(TABLES / "chat_words.csv")


@pytest.mark.parametrize(
    ("text", "put"),
    [
        ("Are you sure? Please tell me, because I don't know.", "r u sure pls tell me bc idk"),
        ("My bill is 1,200.50 dollars, too high!", "my bill is 1,200.50 dollars too high"),
        ("What is NASA? And what's DNA?", "whats NASA and whats DNA"),
        ("A. Paris\nB. Rome, of course.", "A. paris\nB. rome of course"),
        ("Solve (2, 3), x, y and $a, b$.", "solve (2, 3), x, y and $a, b$"),
        ('Correct this: "You are, I think, Late."', 'correct this: "You are, I think, Late."'),
        ("See https://x.org/A?b=C. Then go.", "see https://x.org/A?b=C then go"),
        ("It isn’t true; I can't!", "it isnt true i cant"),
        ("Who were you? We're ill.", "who were u we're ill"),
        ("भारत की राजधानी क्या है? बताइए।", "भारत की राजधानी क्या है बताइए"),
        ("你好，请问今天天气怎么样？谢谢。", "你好 请问今天天气怎么样 谢谢"),
        ("ما هي العاصمة؟ شكرا، لك.", "ما هي العاصمة شكرا لك"),
        ("¿Dónde está Perú?", "dónde está perú"),
        ("Я знаю. Где Москва?", "я знаю где москва"),
        ("already plain: yes", "already plain: yes"),
        ("1. First thing.\n2. Next thing.", "1. First thing\n2. next thing"),
        ("", ""),
    ],
)
def test_casual(text: str, put: str) -> None:
    assert put_casual(text, CHAT_WORDS) == put


@STEADY
@given(text=mixed_texts)
def test_twice_is_once(text: str) -> None:
    put = put_casual(text, CHAT_WORDS)
    assert put_casual(put, CHAT_WORDS) == put
    assert put.count("\n") == text.count("\n")


@STEADY
@given(pair=protected_texts)
def test_protected_parts_survive(pair: tuple[str, list[str]]) -> None:
    text, kept = pair
    assert survive(kept, put_casual(text, CHAT_WORDS))


@STEADY
@given(pair=negated_texts)
def test_negations_still_negate(pair: tuple[str, list[str]]) -> None:
    """Each stays, without its apostrophe at most."""
    text, kept = pair
    bare = [word.replace("'", "").replace("’", "") for word in kept]
    assert survive(bare, put_casual(text, CHAT_WORDS))
    assert len(NEGATIONS) > 10


def test_no_abbreviation_is_another_common_word() -> None:
    barred = {"were", "ill", "hell", "shell", "well", "wed", "shed", "id", "no", "not", "to", "for"}
    assert not barred & set(CHAT_WORDS.abbreviations.values())


@pytest.mark.parametrize(
    ("rows", "complaint"),
    [
        ("you,", "lacks a phrase"),
        ("you,u\nYou,yu", "repeats 'you'"),
        ("be,b", "letter of an option"),
        ("u,you", "no longer than its phrase"),
        ("thank you,thanks\nthanks,thx", "'thanks' stands as the chat word"),
    ],
)
def test_a_bad_table_is_refused(tmp_path: Path, rows: str, complaint: str) -> None:
    path = tmp_path / "chat_words.csv"
    path.write_text(f"phrase,chat\n{rows}\n", encoding="utf-8")
    with pytest.raises(StudyError, match=complaint) as error:
        read_chat_words(path)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)

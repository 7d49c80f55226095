"""What the script of a text tells: words, capitals, ends of sentences."""

import pytest

from fieldwork.parsing.writing_systems import (
    count_words,
    ends_sentence,
    has_case,
    is_unspaced,
    starts_small,
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        ("The Grand Hotel", 3),
        ("Die Verwandlung", 2),
        ("Война и мир", 3),
        ("القاهرة القديمة", 2),
        ("北京", 1),
        ("故宫博物院", 3),
        ("我推荐你去故宫博物院参观", 6),
        ("วัดพระแก้ว", 2),
        ("서울 타워", 2),
        ("iPhone 手机", 2),
        ("《你好，李焕英》", 3),
    ],
)
def test_words_are_counted_in_every_script(text: str, words: int) -> None:
    assert count_words(text) == words


@pytest.mark.parametrize(
    ("text", "is_cased", "is_unspaced_text", "small"),
    [
        ("Rome", True, False, False),
        ("rome", True, False, True),
        ("*rome*", True, False, True),
        ("Рим", True, False, False),
        ("рим", True, False, True),
        ("北京", False, True, False),
        ("กรุงเทพ", False, True, False),
        ("서울", False, False, False),
        ("القاهرة", False, False, False),
        ("दिल्ली", False, False, False),
        ("3 men", True, False, False),
        ("42", False, False, False),
        ("", False, False, False),
    ],
)
def test_scripts_without_capitals_have_no_small_letters(
    text: str, is_cased: bool, is_unspaced_text: bool, small: bool
) -> None:
    assert has_case(text) == is_cased
    assert is_unspaced(text) == is_unspaced_text
    assert starts_small(text) == small


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("It rains.", True),
        ("It rains.**", True),
        ('He said "no."', True),
        ("下雨了。", True),
        ("雨が降る。」", True),
        ("बारिश हो रही है।", True),
        ("هل تمطر؟", True),
        ("Rome", False),
        ("東京", False),
    ],
)
def test_sentences_end_in_every_script(text: str, ends: bool) -> None:
    assert ends_sentence(text) == ends

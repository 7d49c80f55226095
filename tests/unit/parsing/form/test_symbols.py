"""Emoji, decoration and capitals are counted as a reader meets them."""

import pytest

from fieldwork.parsing.form.symbols import (
    count_capital_words,
    count_decorations,
    count_emoji,
)


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("plain", 0),
        ("😀😀", 2),
        ("👨\u200d👩\u200d👧", 1),
        ("👍🏽", 1),
        ("🇩🇪🇫🇷", 2),
        ("1️⃣ 2️⃣", 2),
        ("café ™ → ∑", 0),
    ],
)
def test_emoji(text: str, n: int) -> None:
    assert count_emoji(text) == n


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("a\n---\nb", 1),
        ("=====\nTitle\n=====", 2),
        ("Wow!!! Really???", 2),
        ("so... and so on…", 0),
        ("***bold*** **b**", 0),
        ("★★★★☆ great", 0),
        ("1. a\n- b", 0),
        ("", 0),
    ],
)
def test_decorations(text: str, n: int) -> None:
    assert count_decorations(text) == n


def test_capital_words() -> None:
    assert count_capital_words("NEVER use the USA or NASA, ПРИВЕТ, 中文中文, iPhone") == 3

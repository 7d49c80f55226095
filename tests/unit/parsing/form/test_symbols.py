"""Emoji, decoration and capitals are counted as a reader meets them."""

from collections.abc import Callable

import pytest

from fieldwork.parsing.form.symbols import (
    count_capital_words,
    count_decorations,
    count_emoji,
)


@pytest.mark.parametrize(
    ("count", "text", "n"),
    [
        (count_emoji, "plain", 0),
        (count_emoji, "😀😀", 2),
        (count_emoji, "👨\u200d👩\u200d👧", 1),
        (count_emoji, "👍🏽", 1),
        (count_emoji, "🇩🇪🇫🇷", 2),
        (count_emoji, "1️⃣ 2️⃣", 2),
        (count_emoji, "café ™ → ∑", 0),
        (count_decorations, "a\n---\nb", 1),
        (count_decorations, "=====\nTitle\n=====", 2),
        (count_decorations, "Wow!!! Really???", 2),
        (count_decorations, "so... and so on…", 0),
        (count_decorations, "***bold*** **b**", 0),
        (count_decorations, "★★★★☆ great", 0),
        (count_decorations, "1. a\n- b", 0),
        (count_decorations, "", 0),
        (count_capital_words, "NEVER use the USA or NASA, ПРИВЕТ, 中文中文, iPhone", 3),
    ],
)
def test_signs_are_counted(count: Callable[[str], int], text: str, n: int) -> None:
    assert count(text) == n

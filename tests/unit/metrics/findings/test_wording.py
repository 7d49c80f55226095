"""Numbers and texts are written so that a reader sees what they are."""

import pytest

from fieldwork.markdown_text import literal
from fieldwork.metrics.findings.wording import (
    interval_cell,
    join_words,
    number_cell,
    p_cell,
    percent,
    points,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (p_cell(0.0), "<0.001"),
        (p_cell(0.0123), "0.012"),
        (p_cell(None), "–"),
        (percent(-0.116), "−12 %"),
        (points(0.384), "+38 points"),
        (number_cell(None, 2), "–"),
        (interval_cell(0.16, None, 0.5, digits=0, scale=100), "16 (none)"),
        (interval_cell(None, 0.1, 0.5, digits=0), "–"),
        (interval_cell(0.2, -0.001, 0.5, digits=2, is_difference=True), "+0.20 (0.00…0.50)"),
        (join_words(["a", "b", "c"]), "a, b and c"),
    ],
)
def test_numbers_in_words(text: str, expected: str) -> None:
    assert text == expected


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<img src=x onerror=alert(1)>", "&lt;img src=x onerror=alert(1)>"),
        ("[a](javascript:b)", r"\[a\](javascript:b)"),
        ("`code` \\ ~~gone~~", r"\`code\` \\ \~\~gone\~\~"),
        ("a|b", r"a\|b"),
        ("two\nlines\n\n# and more", "two lines # and more"),
    ],
)
def test_a_text_stands_on_the_page_just_as_it_is(text: str, shown: str) -> None:
    assert literal(text) == shown

"""What of a reply is the answer."""

import pytest

from fieldwork.parsing.visible_text import visible_text


@pytest.mark.parametrize(
    ("text", "visible"),
    [
        (None, ""),
        ("", ""),
        (" \n ", ""),
        ("a", "a"),
        ("<think>x</think>a", "a"),
        ("<think>\nx\n</think>\n\na\n", "a"),
        ("<THINK>x</THINK>a", "a"),
        ("<thinking>x</thinking>a<thinking>y</thinking>b", "ab"),
        ("[THINK]x[/THINK]a", "a"),
        ("x</think>a", "a"),
        ("a<think>x", "a"),
        ("<think>x", ""),
        ("<think>x<think>y</think>a", "a"),
        (
            "<|channel|>analysis<|message|>x<|end|><|start|>assistant<|channel|>final<|message|>a",
            "a",
        ),
        ("```text\na\n```", "a"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("\u200ba\u00a0b\ufeff", "a b"),
        ("a<br>b<br/>c", "a\nb\nc"),
        ("<b>a</b> <strong>b</strong>", "a b"),
        ("  a\n  b", "  a\n  b"),
        ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
    ],
)
def test_visible_text(text: str | None, visible: str) -> None:
    assert visible_text(text) == visible

"""Texts as readers see them: cut after a word, and alike where they look alike."""

import pytest

from fieldwork.readable_texts import cut, look_of


@pytest.mark.parametrize(
    ("text", "letters", "expected"),
    [
        ("What is it?", 11, "What is it?"),
        ("two\n\nlines  and\ttabs", 40, "two lines and tabs"),
        ("What is the capital of Australia?", 20, "What is the capital…"),
        ("What is the capital of Australia?", 19, "What is the…"),
        ("Well, who is it, then?", 18, "Well, who is it…"),
        ("Donaudampfschifffahrtsgesellschaft", 10, "Donaudamp…"),
        ("An Donaudampfschifffahrtsgesellschaft", 10, "An Donaud…"),
        ("", 5, ""),
    ],
)
def test_a_text_is_cut_after_a_word(text: str, letters: int, expected: str) -> None:
    assert cut(text, letters=letters) == expected
    assert len(expected) <= letters


def test_signs_of_no_width_tell_no_texts_apart() -> None:
    assert look_of("yes\u200b") == look_of(" yes ")
    assert look_of("yes") != look_of("yes.")

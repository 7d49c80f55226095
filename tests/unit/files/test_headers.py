"""Names of columns as people write them."""

import pytest

from fieldwork.files.headers import bare_name, find_column


@pytest.mark.parametrize(
    ("name", "bare"),
    [
        ("Conversation ID", "conversationid"),
        (" conversation_id ", "conversationid"),
        ("Rôle", "role"),
        ("Straße (Nr.)", "strassenr"),
        ("---", ""),
    ],
)
def test_names_are_compared_without_case_accents_and_signs(name: str, bare: str) -> None:
    assert bare_name(name) == bare


def test_the_first_that_is_looked_for_is_taken() -> None:
    names = ["Text", "Content", "content"]
    assert find_column(names, ["content", "text"]) == "Content"
    assert find_column(names, ["body", "text"]) == "Text"
    assert find_column(names, ["body"]) is find_column([], ["body"]) is None

"""Names of columns as people write them."""

import pytest

from fieldwork.files.headers import bare_name, column_called, listed


@pytest.mark.parametrize(
    ("name", "bare"),
    [
        ("Conversation ID", "conversationid"),
        ("conversationId", "conversationid"),
        (" conversation_id ", "conversationid"),
        ("Rôle", "role"),
        ("Straße (Nr.)", "strassenr"),
        ("Énoncé", "enonce"),
        ("---", ""),
    ],
)
def test_names_are_compared_without_case_accents_and_signs(name: str, bare: str) -> None:
    assert bare_name(name) == bare


def test_the_first_that_is_called_so_is_taken_in_the_order_of_the_names_that_are_looked_for() -> (
    None
):
    names = ["Text", "Content", "content"]
    assert column_called(names, ["content", "text"]) == "Content"
    assert column_called(names, ["body", "text"]) == "Text"
    assert column_called(names, ["body"]) is None
    assert column_called([], ["body"]) is None


def test_columns_in_a_message_are_short_and_few() -> None:
    assert listed(["a", "", "b\nc"]) == "a, b c"
    assert listed([]) == "none"
    assert listed(["x" * 50]) == f"{'x' * 40}…"
    assert listed(map(str, range(25))).endswith("18, 19 and 5 more")

"""Names of columns as people write them."""

import pytest

from fieldwork.files.headers import bare_name, find_column, name_list


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
    assert find_column(names, ["content", "text"]) == "Content"
    assert find_column(names, ["body", "text"]) == "Text"
    assert find_column(names, ["body"]) is None
    assert find_column([], ["body"]) is None


def test_columns_in_a_message_are_short_and_few() -> None:
    assert name_list(["a", "", "b\nc"]) == "a, b c"
    assert name_list([]) == "none"
    assert name_list(["x" * 50]) == f"{'x' * 40}…"
    assert name_list(map(str, range(25))).endswith("18, 19 and 5 more")

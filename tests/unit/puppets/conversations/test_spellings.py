"""Columns that differ in spelling alone are one column, and no value of theirs is lost."""

from collections.abc import Mapping
from typing import Any

import pytest

from fieldwork.errors import StudyError
from fieldwork.files.sheets import Record
from fieldwork.puppets.conversations.spellings import joined_spellings


def join(*rows: dict[str, Any], **columns: str | None) -> list[Mapping[str, Any]]:
    records = [Record(f"row {n}", row) for n, row in enumerate(rows, start=2)]
    return [record.fields for record in joined_spellings("a.csv", records, columns)]


def test_two_spellings_of_one_name_are_one_column() -> None:
    rows = [
        {"user": "anna", "User": "", "text": "hi"},
        {"user": None, "User": "ben", "text": "hi"},
        {"user": "cleo", "User": " cleo", "text": "hi"},
        {"User": "dora", "text": "hi"},
    ]
    assert [row["user"] for row in join(*rows)] == ["anna", "ben", "cleo", "dora"]
    assert all("User" not in row for row in join(*rows))


def test_what_two_columns_say_differently_is_refused() -> None:
    with pytest.raises(StudyError) as caught:
        join(
            {"Conversation ID": "1", "conversation_id": "1"},
            {"Conversation ID": "2", "conversation_id": "3"},
        )
    assert str(caught.value) == (
        "a.csv: row 3 says one thing in column 'Conversation ID' and another in 'conversation_id', which "
        "is the same name; say in `columns` of the corpus which counts, or delete the other"
    )


def test_the_setting_says_which_column_counts() -> None:
    row = {"User": "anna", "user": "ben"}
    assert join(row, user="user") == [{"user": "ben"}]
    assert join(row, user="User") == [{"User": "anna"}]
    # a file that spells it in another way is read by its own header
    assert join({"USER": "anna"}, user="user") == [{"user": "anna"}]


def test_other_columns_stay_as_they_are() -> None:
    row = {"C": 1, "c": 2, "+": 3, "-": 4}
    assert join(row) == [row]

"""Who speaks and what is said, whatever a tool calls them; what is no text is counted."""

from typing import Any

import pytest

from fieldwork.errors import StudyError
from fieldwork.puppets.conversations.messages import MessageReader, message_text


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("hello", "hello"),
        (7, "7"),
        (None, None),
        (" \n", None),
        ([{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {}}], "a"),
        ([{"type": "input_text", "text": "a"}, {"type": "text", "text": "b"}, "c"], "a\n\nb\n\nc"),
        ([{"type": "refusal", "refusal": "I cannot"}], "I cannot"),
        ([{"type": "tool_use", "input": {}}, {"type": "thinking", "thinking": "hm"}], None),
        ([{"type": "text", "text": None}, {"text": 4}, None, 3], None),
        ([{"type": "text", "text": {"value": "a", "annotations": []}}], "a"),
        ([{"type": "text", "content": "a"}, {"type": "tool_result", "content": "b"}], "a"),
        ({"type": "text", "text": "a"}, "a"),
        ({"parts": ["a", {"text": "b"}, {"inline_data": {}}]}, "a\n\nb"),
    ],
)
def test_a_message_is_its_text(content: Any, text: str | None) -> None:
    assert message_text(content) == text


@pytest.mark.parametrize(
    ("role", "speaker"),
    [
        ("user", "user"),
        ("Human", "user"),
        (" NUTZER ", "user"),
        ("gpt", "assistant"),
        ("developer", "system"),
        ("Moderatorin", "user"),
        ("Maschine", "assistant"),
    ],
)
def test_roles_go_by_many_names(role: str, speaker: str) -> None:
    reader = MessageReader({"moderatorin": "user", "Maschine": "assistant"})
    assert reader.knows(role)
    assert reader.read(role, "x") == {"role": speaker, "content": "x"}


def test_what_is_left_out_is_counted_by_its_kind() -> None:
    reader = MessageReader({"narrator": None})
    read = [
        reader.read(*pair)
        for pair in (("tool", "x"), ("narrator", "x"), ("user", []))
        for _ in "ab"
    ]
    assert read == [None] * 6
    assert dict(reader.left_out) == {"messages of tools": 4, "messages without text": 2}
    reader.refuse_unknown("a.csv")


def test_roles_that_nobody_explained_are_refused_all_at_once() -> None:
    reader = MessageReader({"user": "assistant"})
    for role in ("Anna", "Bert", "Anna", "user"):
        reader.read(role, "x")
    with pytest.raises(StudyError) as caught:
        reader.refuse_unknown("a.csv")
    assert str(caught.value).startswith(
        "a.csv: 3 messages have an unknown role: 'Anna' (2), 'Bert' (1)"
    )
    assert "`roles`" in str(caught.value)

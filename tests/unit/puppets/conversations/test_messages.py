"""Who speaks, when and what is said, whatever a tool calls it; what is no text is counted."""

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest

from fieldwork.errors import StudyError
from fieldwork.puppets.conversations.messages import MessageReader, instant, message_text


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
    ("roles", "speaker"),
    [
        (["user", "Human", " NUTZER ", "Moderatorin"], "user"),
        (["gpt", "Maschine"], "assistant"),
        (["developer"], "system"),
    ],
)
def test_roles_go_by_many_names(roles: list[str], speaker: str) -> None:
    reader = MessageReader({"moderatorin": "user", "Maschine": "assistant"})
    for role in roles:
        assert reader.knows(role)
        assert reader.read(role, "x") == {"role": speaker, "content": "x"}


def test_what_is_left_out_is_counted_by_its_kind() -> None:
    reader = MessageReader({"narrator": None})
    for pair in (("tool", "x"), ("narrator", "x"), ("user", [])) * 2:
        assert reader.read(*pair) is None
    assert dict(reader.left_out) == {"messages of tools": 4, "messages without text": 2}
    reader.refuse_unknown("a.csv")


def test_roles_that_nobody_explained_are_refused_all_at_once() -> None:
    reader = MessageReader({"user": "assistant"})
    for role in ("Anna", "Bert", "Anna", "user"):
        reader.read(role, "x")
    sentence = r"^a\.csv: 3 messages have an unknown role: 'Anna' \(2\), 'Bert' \(1\).*`roles`"
    with pytest.raises(StudyError, match=sentence):
        reader.refuse_unknown("a.csv")


# ---- times ---------------------------------------------------------------------------------------

NOON = datetime(2024, 3, 9, 12, tzinfo=UTC)
SECONDS = int(NOON.timestamp())


@pytest.mark.parametrize(
    "value",
    [
        *("2024-03-09T12:00:00Z", "2024-03-09T13:00:00+01:00", "2024-03-09 12:00:00 UTC"),
        *("09.03.2024 12:00", NOON.replace(tzinfo=None)),
        NOON.astimezone(timezone(timedelta(hours=-5))),
        *(SECONDS, str(SECONDS), SECONDS * 1_000, SECONDS * 1_000_000_000),
    ],
)
def test_one_time_in_many_forms(value: Any) -> None:
    assert instant(value) == NOON


def test_a_day_is_its_first_moment() -> None:
    midnight = NOON.replace(hour=0)
    assert instant("2024-03-09") == instant("09.03.2024") == instant(date(2024, 3, 9)) == midnight


@pytest.mark.parametrize(
    "value", [None, "", "yesterday", "03/09/2024", 7, "12:30", "0000-01-01", 10**25]
)
def test_what_is_no_time_or_could_be_two_is_none(value: Any) -> None:
    assert instant(value) is None

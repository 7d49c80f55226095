"""Rows become conversations: who the user is, what comes first, and which rows belong together."""

from collections import Counter
from datetime import UTC, datetime
from typing import Any

import pytest

from fieldwork.errors import StudyError
from fieldwork.files.sheets import Record
from fieldwork.puppets.conversations.chats import (
    OTHER_BRANCHES,
    Chat,
    MessageRow,
    RowReader,
    gather_chats,
)
from fieldwork.puppets.conversations.columns import find_layout
from fieldwork.puppets.conversations.messages import MessageReader


def reader_of(rows: list[dict[str, Any]]) -> tuple[RowReader, list[Record]]:
    records = [Record(f"row {n}", row) for n, row in enumerate(rows, start=2)]
    messages = MessageReader({})
    return RowReader(find_layout("a.csv", records, {}, messages.knows), messages), records


def chats_of(*rows: dict[str, Any]) -> list[Chat]:
    """Conversations of rows that are whole."""
    reader, records = reader_of([*rows])
    return [*reader.chats(records)]


def rows_of(rows: list[dict[str, Any]]) -> list[MessageRow]:
    reader, records = reader_of(rows)
    return [*reader.message_rows(0, records, "a.csv")]


def line(number: int, role: str, user: str | None = None, **more: Any) -> MessageRow:
    columns: dict[str, Any] = dict.fromkeys(MessageRow._fields)
    columns |= {"file": 0, "number": number, "conversation_id": "c", "content": f"m{number}"}
    return MessageRow(**columns | {"role": role, "user_id": user} | more)


def gather(*rows: MessageRow, left_out: Counter[str] | None = None) -> list[Chat]:
    return [*gather_chats(rows, "a.csv", Counter() if left_out is None else left_out)]


def contents(chat: Chat) -> list[str | None]:
    return [message["content"] for message in chat.messages]


def day(n: int) -> datetime:
    return datetime(2024, 1, n, tzinfo=UTC)


def test_a_row_with_a_list_is_a_conversation() -> None:
    messages = [
        {"role": "system", "content": "Be kind.", "time": None},
        {"role": "user", "content": "hi", "time": "2024-01-02"},
        {"role": "assistant", "content": [{"type": "image"}], "time": "2024-01-03"},
        None,
    ]
    flags = {"language": "English", "model": "m", "toxic": "false", "redacted": 1}
    row = {"id": 7, "user": "anna@example.org", "messages": messages, **flags}
    first, second = chats_of(row, {"id": 8, "messages": None})
    said = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "hi"}]
    assert first == Chat("7", "anna@example.org", day(2), "English", "m", False, True, said)
    assert second == Chat("8", None, None, None, None, None, None, [])


def test_times_and_flags_that_cannot_be_read_are_counted() -> None:
    rows = [
        {"chat_id": "1", "role": "user", "text": "hi", "date": when, "toxic": flag, "nr": place}
        for when, flag, place in (("03/04/2024", "maybe", "first"), ("2024-01-01", "TRUE", "2"))
    ]
    reader, records = reader_of(rows)
    first, second = reader.message_rows(0, records, "a.csv")
    assert (first.sent_at, first.is_toxic, first.position) == (None, None, None)
    assert (second.sent_at, second.is_toxic, second.position) == (day(1), True, 2.0)
    assert dict(reader.unread_cells) == {"time": 1, "toxic": 1, "order": 1}


def test_a_message_that_belongs_to_no_conversation_is_refused() -> None:
    rows = [{"chat_id": chat, "role": "user", "text": "hi"} for chat in ("1", " ")]
    with pytest.raises(StudyError, match=r"^a\.csv: row 3 is empty in column 'chat_id'"):
        rows_of(rows)


@pytest.mark.parametrize(
    ("of_first", "of_second", "expected"),
    [
        ({}, {}, "m1 m2"),
        ({"sent_at": day(2)}, {"sent_at": day(1)}, "m2 m1"),
        ({"sent_at": day(2)}, {}, "m1 m2"),
        ({"position": 1.0, "sent_at": day(1)}, {"position": 0.0, "sent_at": day(2)}, "m2 m1"),
        ({"position": 1.0, "sent_at": day(2)}, {"position": 1.0, "sent_at": day(1)}, "m2 m1"),
    ],
)
def test_messages_stand_by_position_else_by_time_else_by_row(
    of_first: dict[str, Any], of_second: dict[str, Any], expected: str
) -> None:
    (chat,) = gather(line(2, "user", **of_second), line(1, "assistant", **of_first))
    assert contents(chat) == expected.split()


@pytest.mark.parametrize(
    ("speakers", "user"),
    [
        ([("user", "u"), ("assistant", "bot"), ("user", None)], "u"),
        ([("assistant", "u")], "u"),
        ([("user", None), ("assistant", None)], None),
    ],
)
def test_the_user_is_whoever_speaks_as_user(
    speakers: list[tuple[str, str | None]], user: str | None
) -> None:
    (chat,) = gather(*(line(n, *who) for n, who in enumerate(speakers)))
    assert chat.user_id == user


def test_an_id_that_begins_anew_with_each_user_is_several_conversations() -> None:
    first, second = gather(line(1, "user", "a"), line(2, "user", "b"), line(3, "assistant", "a"))
    assert (first.user_id, contents(first)) == ("a", ["m1", "m3"])
    assert (second.user_id, contents(second)) == ("b", ["m2"])


def test_messages_that_could_be_to_any_user_are_refused() -> None:
    sentence = (
        r"^a\.csv: conversation 'c' has messages of 2 users and messages without a user"
        r".*columns: \{user: null\}"
    )
    with pytest.raises(StudyError, match=sentence):
        gather(line(1, "user", "a"), line(2, "user", "b"), line(3, "assistant", "bot"))


def test_what_is_said_of_messages_is_said_of_their_conversation() -> None:
    (chat,) = gather(
        line(1, "user", language="de", is_toxic=False),
        line(2, "assistant", language="en", model="m1", is_toxic=True, sent_at=day(3)),
        line(3, "assistant", model="m2", sent_at=day(2)),
    )
    assert chat[:-1] == ("c", None, day(2), "de", "m1", True, None)


# ---- branches ------------------------------------------------------------------------------------


def message(name: str, parent: str | None, sender: str, **more: Any) -> dict[str, Any]:
    return {"uuid": name, "parent_message_uuid": parent, "sender": sender, "text": name} | more


BRANCHES = [
    message("u1", "root", "human"),
    message("a1", "u1", "assistant"),
    message("a2", "u1", "assistant"),
    message("u2", "a2", "human"),
    message("u3", "a2", "human"),
    message("a3", "u3", "assistant"),
    message("a4", "u2", "assistant"),
]


@pytest.mark.parametrize(
    ("leaf", "expected"),
    [("a3", ["u1", "a2", "u3", "a3"]), ("a1", ["u1", "a1"]), (None, ["u1", "a2", "u2", "a4"])],
)
def test_of_a_tree_in_a_list_the_branch_that_was_seen_last_is_the_conversation(
    leaf: str | None, expected: list[str]
) -> None:
    row = {"id": 1, "chat_messages": BRANCHES, "current_leaf_message_uuid": leaf}
    reader, records = reader_of([row])
    (chat,) = reader.chats(records)
    assert contents(chat) == expected
    assert reader._messages.left_out[OTHER_BRANCHES] == len(BRANCHES) - len(expected)


def test_messages_in_rows_have_branches_too_and_one_without_text_ends_none() -> None:
    rows = [{"chat_id": "c", **entry} for entry in BRANCHES]
    rows[2]["text"] = ""
    left_out = Counter[str]()
    (chat,) = gather(*rows_of(rows), left_out=left_out)
    assert contents(chat) == ["u1", "u2", "a4"]
    assert left_out[OTHER_BRANCHES] == 3


@pytest.mark.parametrize("parents", [["root"] * 3, [None, "x", "y"], ["root", "u1", "a1"]])
def test_a_list_without_branches_stays_whole(parents: list[str | None]) -> None:
    names, senders = ["u1", "a1", "u2"], ["human", "assistant", "human"]
    entries = [message(*entry) for entry in zip(names, parents, senders, strict=True)]
    (chat,) = chats_of({"id": 1, "chat_messages": entries})
    assert contents(chat) == names


def test_the_text_beside_empty_parts_counts() -> None:
    entries = [
        {"sender": "human", "content": [], "text": "beside nothing"},
        {"sender": "assistant", "content": [{"type": "text", "text": ""}], "text": "beside a part"},
        {"sender": "human", "content": [{"type": "voice_note", "text": "spoken"}], "text": ""},
        {"sender": "assistant", "content": [{"type": "text", "text": "a part"}], "text": "another"},
        {"sender": "human", "content": [], "text": ""},
    ]
    (chat,) = chats_of({"id": 1, "chat_messages": entries})
    assert contents(chat) == ["beside nothing", "beside a part", "spoken", "a part"]


@pytest.mark.parametrize(
    "names",
    ["prompt response", "question answer", "instruction output", "input output", "Frage Antwort"],
)
def test_a_row_with_a_prompt_and_its_response_is_a_conversation(names: str) -> None:
    prompt, response = names.split()
    first, second = chats_of(
        {prompt: "hi", response: "hello", "user_id": "anna", "note": ""},
        {prompt: "why?", response: None, "user_id": "ben", "note": "x"},
    )
    assert [m["role"] for m in first.messages] == ["user", "assistant"]
    assert (first.user_id, first.conversation_id) == ("anna", None)
    assert (contents(first), contents(second)) == (["hi", "hello"], ["why?"])


def test_what_an_instruction_is_about_stands_below_it() -> None:
    (chat,) = chats_of({"instruction": "Translate.", "input": "Haus", "output": "house"})
    assert contents(chat) == ["Translate.\n\nHaus", "house"]


def test_exchanges_with_one_id_are_one_conversation() -> None:
    exchanges = [("s", "a", "b"), ("t", "x", "y"), ("s", "c", "d")]
    names = ("session_id", "prompt", "response")
    rows = rows_of([dict(zip(names, exchange, strict=True)) for exchange in exchanges])
    (chat,) = gather(*(row for row in rows if row.conversation_id == "s"))
    assert contents(chat) == ["a", "b", "c", "d"]
    assert len({row.number for row in rows}) == 6

"""What columns hold is known by their names in several languages, or by the config's word."""

from collections.abc import Mapping
from typing import Any

import pytest

from fieldwork.errors import StudyError
from fieldwork.files.sheets import Record
from fieldwork.puppets.conversations.columns import (
    ConversationLayout,
    find_layout,
    messages_at,
    value_at,
)
from fieldwork.puppets.conversations.messages import MessageReader


def layout(
    *rows: dict[str, Any], mapped: Mapping[str, str | None] | None = None, roles: Any = None
) -> ConversationLayout:
    records = [Record(f"row {n}", row) for n, row in enumerate(rows, start=2)]
    return find_layout("a.csv", records, mapped or {}, MessageReader(roles or {}).knows)


@pytest.mark.parametrize(
    ("header", "cells"),
    [
        ("conversation_id user_id role content timestamp", "1 u user hi 2024-01-01"),
        ("Chat ID;Participant;Sender;Message;Sent at", "1;u;Human;hi;2024-01-01"),
        ("Gespräch;Teilnehmer;Rolle;Nachricht;Zeitpunkt", "1;u;Nutzerin;hi;2024-01-01"),
        ("Conversation;Utilisateur;Rôle;Texte;Date", "1;u;utilisateur;hi;2024-01-01"),
        ("conversationId;userName;author;utterance;createdAt", "1;u;bot;hi;2024-01-01"),
    ],
)
def test_a_message_a_row_by_its_names(header: str, cells: str) -> None:
    separator = ";" if ";" in header else " "
    names = header.split(separator)
    file_layout = layout(dict(zip(names, cells.split(separator), strict=True)))
    roles = ("conversation", "user", "role", "text", "time")
    assert dict(file_layout.columns) == dict(zip(roles, names, strict=True))
    assert (file_layout.keys, file_layout.unused_columns) == (None, ())


def test_the_column_of_roles_is_known_by_its_cells() -> None:
    """`author` may be who wrote, and `kind` may hold the roles."""
    rows = [
        {"thread_id": "1", "author": "Anna", "kind": "human", "text": "hi", "note": "x"},
        {"thread_id": "1", "author": "GPT-4o", "kind": "bot", "text": "hello", "note": ""},
    ]
    file_layout = layout(*rows)
    assert file_layout.columns["role"] == "kind"
    assert file_layout.unused_columns == ("author", "note")


CHAT = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
TURN = {"sender": "human", "text": "hi", "created_at": "2024-01-01"}
EXPORT = {"uuid": "1", "name": "x", "account": {"uuid": "u"}, "chat_messages": [TURN]}
PACKED = '[{"author": {"role": "user"}, "content": "hi"}]'


@pytest.mark.parametrize(
    ("row", "columns", "keys"),
    [
        ({"messages": CHAT}, "messages=messages", "role=role text=content"),
        (
            {"id": "1", "conversations": [{"from": "human", "value": "hi"}]},
            "messages=conversations conversation=id",
            "role=from text=value",
        ),
        (
            EXPORT,
            "messages=chat_messages conversation=uuid user=account.uuid",
            "role=sender text=text time=created_at",
        ),
        (
            {"Nr": 1, "messages": PACKED},
            "messages=messages conversation=Nr",
            "role=author.role text=content",
        ),
    ],
)
def test_a_conversation_a_row_by_its_names(row: dict[str, Any], columns: str, keys: str) -> None:
    file_layout = layout(row)
    assert dict(file_layout.columns) == dict(pair.split("=") for pair in columns.split())
    assert dict(file_layout.keys or {}) == dict(pair.split("=") for pair in keys.split())


def test_the_config_says_what_names_do_not() -> None:
    row = {"a": "1", "b": "Anna", "c": "hi", "user": "2", "conversation": "x"}
    mapped = {"conversation": "a", "role": "b", "text": "c", "user": None}
    file_layout = layout(row, mapped=mapped)
    assert dict(file_layout.columns) == {"role": "b", "conversation": "a", "text": "c"}
    inner = layout(
        {"x": [{"r": "user", "t": "hi"}]}, mapped={"messages": "x", "role": "r", "text": "t"}
    )
    assert dict(inner.keys or {}) == {"role": "r", "text": "t"}


def test_an_exchange_a_row_by_its_names_or_the_config_s() -> None:
    file_layout = layout({"prompt": "hi", "response": "hello", "source": "x"})
    assert file_layout.has_conversations
    assert file_layout.sentence() == (
        "one prompt and its response a row (prompt = prompt, response = response); not used: source"
    )
    row = {"a": "hi", "b": "hello", "chat": "1"}
    file_layout = layout(row, mapped={"prompt": "a", "response": "b"})
    assert dict(file_layout.columns) == {"prompt": "a", "response": "b", "conversation": "chat"}
    assert not file_layout.has_conversations
    row = {"chat_id": "1", "role": "user", "text": "hi", "question": "?", "answer": "!"}
    assert not layout(row).has_exchanges


@pytest.mark.parametrize(
    ("row", "mapped", "sentence"),
    [
        (
            {"id": "1", "role": "user", "text": "hi"},
            {},
            "a.csv: no column has a usual name for the conversation's id (there are id, role, text); "
            "rename one to `conversation_id`, or name it in `columns.conversation` of the corpus",
        ),
        ({"chat_id": "1", "text": "hi"}, {}, "`columns.role`"),
        ({"chat_id": "1", "role": "user", "x": "hi"}, {}, "`columns.text`"),
        (
            {"chat_id": "1", "role": "user", "text": "hi"},
            {"user": "person"},
            "a.csv: has no column 'person', which `columns.user` of the corpus names (there are "
            "chat_id, role, text); correct the setting",
        ),
        (
            {"messages": [{"who_knows": "user", "content": "hi"}]},
            {},
            "have no key with a usual name for the role (there are who_knows, content)",
        ),
    ],
)
def test_a_file_that_is_not_understood_is_refused_with_its_columns(
    row: dict[str, Any], mapped: dict[str, str], sentence: str
) -> None:
    with pytest.raises(StudyError, match=r"^a\.csv: .*") as caught:
        layout(row, mapped=mapped)
    assert sentence in str(caught.value)


def test_a_value_may_lie_in_an_object() -> None:
    assert value_at({"a": {"b": 1}, "a.b": 2}, "a.b") == 2
    assert value_at({"a": {"b": 1}}, "a.b") == 1
    assert value_at({"a": 1}, "a.b") is None
    assert messages_at({"m": "[not JSON"}, "m") == []
    assert messages_at({"m": '{"a": 1}'}, "m") == []

"""The text that stands for a conversation, and a shard's vectors: new text only."""

from pathlib import Path

import numpy as np
import pytest

from fieldwork import encoder
from fieldwork.encoder import Encoder, EncoderSettings, Vectors, text_key
from fieldwork.puppets.embedding import (
    EmbeddedText,
    conversation_text,
    embed,
    shard_of,
    store_of,
    texts_by_shard,
)
from fieldwork.records.puppets import Conversation, ConversationText, Message
from fieldwork.streams import KeyedBlock

TALK = [
    Message("system", "rules"),
    Message("user", "one"),
    Message("assistant", "two"),
    Message("user", "three\n"),
]


@pytest.mark.parametrize(
    ("messages", "text", "expected"),
    [
        (TALK, "user_turns", "one\n\nthree\n"),
        (TALK, "first_user_turn", "one"),
        (TALK, "all_turns", "rules\n\none\n\ntwo\n\nthree\n"),
        (TALK[:1], "user_turns", ""),
        (TALK[:1], "first_user_turn", ""),
        ([], "all_turns", ""),
        ([Message("user", ""), Message("user", "b")], "first_user_turn", ""),
    ],
)
def test_text(messages: list[Message], text: EmbeddedText, expected: str) -> None:
    assert conversation_text(messages, text) == expected


# ---- a shard -------------------------------------------------------------------------------------


class Counting:
    """An encoder's model: vectors from the text alone; remembers what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def encode(self, texts: list[str], **_: object) -> Vectors:
        self.asked += texts
        raw = np.array([[len(t), t.count("a") + 1] for t in texts], np.float32)
        unit: Vectors = raw / np.linalg.norm(raw, axis=1, keepdims=True)
        return unit


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Counting:
    counting = Counting()
    monkeypatch.setattr(encoder, "_load", lambda _: counting)
    return counting


def rows(n: int) -> list[ConversationText]:
    return [ConversationText(f"c{i:03d}", f"text {'a' * (i % 7)}") for i in range(n)]


def embedded(stores: Path, *batches: list[ConversationText]) -> list[KeyedBlock]:
    counts: list[int] = []
    made = list(embed(batches, Encoder(EncoderSettings(), stores), stores, counts.append))
    assert sum(counts) == sum(map(len, batches))
    return made


def test_only_new_text_is_embedded(model: Counting, tmp_path: Path) -> None:
    first = embedded(tmp_path, rows(20), rows(40)[20:])
    assert len(model.asked) < 40
    assert [b.vectors.tolist() for b in embedded(tmp_path, rows(20), rows(40)[20:])] == [
        b.vectors.tolist() for b in first
    ]
    model.asked.clear()
    (grown,) = embedded(tmp_path, [*rows(40), ConversationText("new", "new")])
    assert model.asked == ["new"]
    assert grown.vectors[:20].tolist() == first[0].vectors.tolist()
    assert grown.keys[-1] == text_key("new")


def test_each_conversation_has_its_own_store(model: Counting, tmp_path: Path) -> None:
    embedded(tmp_path, rows(40))
    used = {f"{store_of(row.conversation_id):02d}.sqlite" for row in rows(40)}
    assert {path.name for path in tmp_path.glob("*.sqlite")} == used
    # a store by itself serves the shard it belongs to
    model.asked.clear()
    alone = [row for row in rows(40) if store_of(row.conversation_id) == store_of("c000")]
    embedded(tmp_path, alone)
    assert model.asked == []


def test_every_conversation_goes_to_its_shard() -> None:
    talks = [
        Conversation(f"c{n}", "u", None, None, None, 1, 1, [Message("user", f"question {n}")])
        for n in range(20)
    ]
    parts = [*texts_by_shard([talks[:7], talks[7:]], 3, "user_turns")]
    assert [row for _, row in parts] == [
        ConversationText(f"c{n}", f"question {n}") for n in range(20)
    ]
    assert [n for n, _ in parts] == [shard_of(talk.conversation_id, 3) for talk in talks]
    assert {n for n, _ in parts} == {0, 1, 2}

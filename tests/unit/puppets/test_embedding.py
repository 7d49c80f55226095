"""The text that stands for a conversation, its place, and a shard's vectors: new text only."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from fieldwork import encoder, streams, tables
from fieldwork.encoder import Encoder, EncoderSettings, Vectors, text_key
from fieldwork.puppets.embedding import (
    N_STORES,
    EmbeddedText,
    conversation_text,
    embed,
    shard_of,
    store_of,
    texts_by_shard,
)
from fieldwork.records.puppets import Conversation, ConversationText, Message
from fieldwork.streams import KeyedBlock
from puppets import embed_corpus, split_corpus

TALK = [
    Message("system", "rules"),
    Message("user", "one"),
    Message("assistant", "two"),
    Message("user", "three\n"),
]
EMBEDDING = {"model": "all-MiniLM-L6-v2", "batch_size": 1, "device": None, "precision": "fp32"}


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


# ---- places --------------------------------------------------------------------------------------


def test_places_never_change() -> None:
    # stores of earlier runs are found by these numbers
    assert [store_of(i) for i in ("", "a", "conversation-1", "ü", "\ud800")] == [20, 10, 45, 36, 52]


@pytest.mark.parametrize("n_shards", [1, 2, 3, 64])
def test_shards_are_of_a_size_and_share_no_store(n_shards: int) -> None:
    ids = [f"conversation-{i}" for i in range(6_400)]
    sizes = Counter(shard_of(i, n_shards) for i in ids)
    assert set(sizes) == set(range(n_shards))
    assert max(sizes.values()) < 1.6 * min(sizes.values())
    assert len({(store_of(i), shard_of(i, n_shards)) for i in ids}) == N_STORES


@pytest.mark.parametrize("n_shards", [0, -1, 65])
def test_a_number_of_shards_that_cannot_be(n_shards: int) -> None:
    with pytest.raises(ValueError, match="between 1 and 64"):
        shard_of("c", n_shards)


# ---- vectors -------------------------------------------------------------------------------------


class Counting:
    """An encoder's model: vectors from the text alone; remembers what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def encode(self, texts: list[str], **_: object) -> Vectors:
        self.asked += texts
        raw = np.array([[len(t), sum(map(ord, t)) % 97 + 1] for t in texts], np.float32)
        unit: Vectors = raw / np.linalg.norm(raw, axis=1, keepdims=True)
        return unit


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Counting:
    counting = Counting()
    monkeypatch.setattr(encoder, "_load", lambda _: counting)
    monkeypatch.chdir(tmp_path)
    return counting


def texts(n: int) -> list[ConversationText]:
    return [ConversationText(f"c{i:03d}", f"text {'a' * (i % 7)}") for i in range(n)]


def embedded(stores: Path, *batches: list[ConversationText]) -> list[KeyedBlock]:
    counts: list[int] = []
    made = list(embed(batches, Encoder(EncoderSettings(), stores), stores, counts.append))
    assert sum(counts) == sum(map(len, batches))
    return made


def test_only_new_text_is_embedded(model: Counting, tmp_path: Path) -> None:
    first = embedded(tmp_path, texts(20), texts(40)[20:])
    assert len(model.asked) < 40
    again = embedded(tmp_path, texts(20), texts(40)[20:])
    assert [b.vectors.tolist() for b in again] == [b.vectors.tolist() for b in first]
    model.asked.clear()
    (grown,) = embedded(tmp_path, [*texts(40), ConversationText("new", "new")])
    assert model.asked == ["new"]
    assert grown.vectors[:20].tolist() == first[0].vectors.tolist()
    assert grown.keys[-1] == text_key("new")


def test_each_conversation_has_its_own_store(model: Counting, tmp_path: Path) -> None:
    embedded(tmp_path, texts(40))
    used = {f"{store_of(row.conversation_id):02d}.sqlite" for row in texts(40)}
    assert {path.name for path in tmp_path.glob("*.sqlite")} == used
    # a store by itself serves the shard it belongs to
    model.asked.clear()
    alone = [row for row in texts(40) if store_of(row.conversation_id) == store_of("c000")]
    embedded(tmp_path, alone)
    assert model.asked == []


def talks(n: int) -> list[Conversation]:
    return [
        Conversation(f"c{i:03d}", "u", None, None, None, 1, 1, [Message("user", f"question {i}")])
        for i in range(n)
    ]


def test_every_conversation_goes_to_its_shard() -> None:
    parts = [*texts_by_shard([talks(20)[:7], talks(20)[7:]], 3, "user_turns")]
    rows = [ConversationText(f"c{n:03d}", f"question {n}") for n in range(20)]
    assert parts == [(shard_of(row.conversation_id, 3), row) for row in rows]
    assert {n for n, _ in parts} == {0, 1, 2}


def shards(n: int, n_shards: int) -> list[Path]:
    """A corpus of n conversations through both scripts, as the rules call them."""
    tables.write_rows("corpus.parquet", talks(n), Conversation)
    parts = [Path(f"{i}-of-{n_shards}.texts.parquet") for i in range(n_shards)]
    split_corpus.main("corpus.parquet", [str(path) for path in parts], "user_turns")
    made = [Path(f"{i}-of-{n_shards}.parquet") for i in range(n_shards)]
    for text, shard in zip(parts, made, strict=True):
        embed_corpus.main(str(text), [], str(shard), "sample", EMBEDDING, 1)
    return made


def vectors(paths: list[Path]) -> dict[str, list[float]]:
    return {
        i: vector
        for ids, block in streams.read_blocks(paths)
        for i, vector in zip(ids, block.tolist(), strict=True)
    }


def test_more_conversations_and_another_number_of_shards_compute_what_is_new(
    model: Counting,
) -> None:
    paths = shards(50, 8)
    first = vectors(paths)
    assert len(first) == 50
    model.asked.clear()
    assert vectors(shards(50, 3)) == first
    assert model.asked == []
    before = {path: path.read_bytes() for path in paths}
    shards(52, 8)
    assert sorted(model.asked) == ["question 50", "question 51"]
    assert 1 <= sum(path.read_bytes() != before[path] for path in paths) <= 2

"""The corpus through both scripts: cut into shards, embedded; again with more data, or other shards."""

from pathlib import Path

import numpy as np
import pytest

from fieldwork import encoder, streams, tables
from fieldwork.encoder import EncoderSettings, Vectors
from fieldwork.records.puppets import Conversation, Message
from puppets import embed_corpus, split_corpus

EMBEDDING = {"model": "all-MiniLM-L6-v2", "batch_size": 1, "device": None, "precision": "fp32"}


class Study:
    """A folder with a corpus of n conversations; remembers what the encoder was asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.asked: list[str] = []

    def encode(self, texts: list[str], **_: object) -> Vectors:
        self.asked += texts
        angles = np.array([float(t.removeprefix("question ")) for t in texts], np.float32)
        return np.stack([np.cos(angles), np.sin(angles)], axis=1)

    def embed(self, n: int, n_shards: int) -> list[Path]:
        """Both steps, as the rules call them."""
        rows = [
            Conversation(
                f"c{i:04d}", "u", None, None, None, 1, 3, [Message("user", f"question {i}")]
            )
            for i in range(n)
        ]
        corpus = self.folder / "conversations.parquet"
        tables.write_rows(corpus, rows, Conversation)
        texts = [self.folder / f"{i}-of-{n_shards}.texts.parquet" for i in range(n_shards)]
        split_corpus.main(str(corpus), [str(path) for path in texts], "user_turns")
        shards = [self.folder / f"{i}-of-{n_shards}.parquet" for i in range(n_shards)]
        for text, shard in zip(texts, shards, strict=True):
            embed_corpus.main(str(text), [], str(shard), "sample", EMBEDDING, 1)
        return shards


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    made = Study(tmp_path)

    def load(_: EncoderSettings) -> Study:
        return made

    monkeypatch.setattr(encoder, "_load", load)
    monkeypatch.chdir(tmp_path)
    return made


def vectors(shards: list[Path]) -> dict[str, list[float]]:
    return {
        i: vector
        for ids, block in streams.read_blocks(shards)
        for i, vector in zip(ids, block.tolist(), strict=True)
    }


def test_another_number_of_shards_computes_nothing(study: Study) -> None:
    first = vectors(study.embed(50, 3))
    study.asked.clear()
    assert vectors(study.embed(50, 7)) == first
    assert study.asked == []


def test_added_conversations_are_all_that_is_computed(study: Study) -> None:
    shards = study.embed(50, 8)
    before = {path: path.read_bytes() for path in shards}
    study.asked.clear()
    study.embed(52, 8)
    assert sorted(study.asked) == ["question 50", "question 51"]
    changed = [path for path in shards if path.read_bytes() != before[path]]
    assert 1 <= len(changed) <= 2

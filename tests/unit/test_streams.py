"""Rows and vectors come back as they were written, in blocks that do not depend on how they came."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq
import pytest

from fieldwork import streams, tables
from fieldwork.errors import StudyError
from fieldwork.records.puppets import ConversationText, ConversationVector
from fieldwork.streams import KeyedBlock

TEXTS = [ConversationText(f"c{i:03d}", f"text {i}") for i in range(25)]


def numbers(n: int, dimensions: int = 4) -> npt.NDArray[np.float32]:
    return np.random.default_rng(1).normal(size=(n, dimensions)).astype(np.float32)


def blocks(n: int, size: int) -> list[KeyedBlock]:
    vectors = numbers(n)
    ids, keys = [f"c{i:03d}" for i in range(n)], [f"k{i}" for i in range(n)]
    return [
        KeyedBlock(ids[i : i + size], keys[i : i + size], vectors[i : i + size])
        for i in range(0, n, size)
    ]


@pytest.mark.parametrize("n", [0, 9, 10, 25])
@pytest.mark.parametrize("size", [1, 10, 25])
def test_vectors_keep_their_bits_in_blocks_of_one_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n: int, size: int
) -> None:
    monkeypatch.setattr(streams, "ROWS_PER_BLOCK", 10)
    path = tmp_path / "v.parquet"
    streams.write_blocks(path, blocks(n, size))
    stored_blocks = list(streams.read_blocks([path]))
    assert [len(block.ids) for block in stored_blocks] == [10] * (n // 10) + [n % 10] * (n % 10 > 0)
    assert [i for block in stored_blocks for i in block.ids] == [f"c{i:03d}" for i in range(n)]
    assert [v for block in stored_blocks for v in block.vectors.tolist()] == numbers(n).tolist()
    assert all(block.vectors.dtype == np.float32 for block in stored_blocks)
    streams.write_blocks(tmp_path / "w.parquet", blocks(n, 7))
    assert path.read_bytes() == (tmp_path / "w.parquet").read_bytes()


def test_vectors_are_a_declared_table_that_numpy_reads(tmp_path: Path) -> None:
    path = tmp_path / "v.parquet"
    streams.write_blocks(path, blocks(3, 3))
    rows = tables.read_rows(path, ConversationVector)
    assert [row.text_sha256 for row in rows] == ["k0", "k1", "k2"]
    assert [np.frombuffer(row.vector, "<f4").tolist() for row in rows] == numbers(3).tolist()
    assert pq.read_schema(path).equals(tables.schema_of(ConversationVector))


@pytest.mark.parametrize("ids", [["b", "a"], ["a", "a"]])
@pytest.mark.parametrize("size", [1, 2])
def test_ids_out_of_order_are_refused(tmp_path: Path, ids: list[str], size: int) -> None:
    each = [KeyedBlock(ids[i : i + size], ["k"] * size, numbers(size)) for i in range(0, 2, size)]
    with pytest.raises(ValueError, match="do not ascend"):
        streams.write_blocks(tmp_path / "v.parquet", each)
    assert list(tmp_path.iterdir()) == []


def test_vectors_of_two_encoders_are_not_mixed(tmp_path: Path) -> None:
    for name, dimensions in (("a", 4), ("b", 5)):
        streams.write_blocks(
            tmp_path / f"{name}.parquet", [KeyedBlock(["c"], ["k"], numbers(1, dimensions))]
        )
    with pytest.raises(
        StudyError, match=r"b\.parquet: vectors have different .* \(4 and 5 numbers\)"
    ):
        list(streams.read_blocks([tmp_path / "a.parquet", tmp_path / "b.parquet"]))


@pytest.mark.parametrize("size", [1, 7, 1_000])
def test_rows_go_to_their_parts_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(streams, "ROWS_PER_BATCH", size)
    paths = [tmp_path / f"{i}.parquet" for i in range(3)]
    rows = [(i % 2 * 2, row) for i, row in enumerate(TEXTS)]
    streams.write_parts(paths, rows, ConversationText)
    assert tables.read_rows(paths[0], ConversationText) == TEXTS[::2]
    assert tables.read_rows(paths[1], ConversationText) == []
    batches = list(streams.stream_rows(paths[2], ConversationText))
    assert [row for batch in batches for row in batch] == TEXTS[1::2]
    assert max(map(len, batches)) <= size

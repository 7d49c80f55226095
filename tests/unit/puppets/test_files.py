"""Rows dealt out to parts and picked in order, and fields read without the texts beside them."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fieldwork.puppets.files import ROWS_PER_READ, read_fields, split_rows, take_rows


def rows(*keys: int) -> pa.Table:
    parts, texts = [key % 3 for key in keys], [f"text {key}" for key in keys]
    return pa.table({"key": pa.array(keys, pa.int64()), "part": parts, "text": texts})


def test_rows_come_out_of_their_part_in_the_order_of_the_keys(tmp_path: Path) -> None:
    tables = [rows(*range(0, 5_000)), rows(), rows(*range(9_000, 5_000, -1))]
    narrow = list(split_rows([t.to_reader(700) for t in tables], tmp_path, wide="text"))
    assert [table.num_rows for table in narrow] == [5_000, 0, 4_000]
    assert {tuple(table.column_names) for table in narrow} == {("key", "part")}
    wanted = [8_998, 4, 1, 7_000, *range(7, 8_000, 3)]
    picked = pa.concat_tables(take_rows(tmp_path, 1, pa.array(wanted, pa.int64()), by="key"))
    assert picked["key"].to_pylist() == wanted
    assert picked["text"].to_pylist() == [f"text {key}" for key in wanted]
    # what was picked takes no more room
    assert sorted(p.name for p in tmp_path.iterdir()) == ["000000.arrow", "000002.arrow"]


@pytest.mark.parametrize("n", [1, 140_000])
def test_fields_are_read_with_their_place_and_without_texts(tmp_path: Path, n: int) -> None:
    turn = {"role": "user", "content": "a text", "deep": {"role": "x", "other": 1}}
    row: dict[str, Any] = {"id": "a", "other": 1, "talk": [turn]}
    schema = pa.Table.from_pylist([row]).schema
    file = tmp_path / "in.parquet"
    pq.write_table(pa.Table.from_pylist([row] * n, schema), file, row_group_size=15_000)
    batches = list(read_fields(file, {"id": (), "talk": ("role", "absent"), "nowhere": ()}))
    assert max(batch.num_rows for batch in batches) <= ROWS_PER_READ
    read = pa.concat_tables(batches)
    assert read.num_rows == n
    assert read["file_row_number"].to_pylist() == list(range(n))
    assert set(read["file_index"].to_pylist()) <= {0}
    assert set(read.column_names) == {"id", "talk", "file_row_number", "file_index"}
    assert read["talk"][0].as_py() == [{"role": "user", "deep": {"role": "x"}}]


def test_a_file_without_rows_has_no_fields_to_read(tmp_path: Path) -> None:
    file = tmp_path / "in.parquet"
    pq.write_table(pa.table({"id": pa.array([], pa.string())}), file)
    assert list(read_fields(file, {"id": ()})) == []

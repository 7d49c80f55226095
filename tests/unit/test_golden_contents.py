"""Rows of results are the same on every machine, and what differs between two makings is named."""

import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from goldens.contents import Contents, differences, files_of, read_contents


def table(folder: Path, **columns: list[Any]) -> Contents:
    """The contents of a table with these columns."""
    pq.write_table(pa.table(columns), folder / "table.parquet")
    return read_contents(folder / "table.parquet")


def test_the_last_digits_of_a_number_are_not_compared(tmp_path: Path) -> None:
    one = table(tmp_path, x=[math.pi, 0.0, None], parts=[[0.1 + 0.2], [], None])
    other = table(tmp_path, x=[math.pi + 1e-12, 1e-17, None], parts=[[0.3], [], None])
    assert one.digest == other.digest
    for changed in (3.1416, 1e-6):
        assert table(tmp_path, x=[changed, 0.0, None], parts=[[0.3], [], None]).digest != one.digest


def test_a_row_that_differs_is_named_by_its_names_with_old_and_new(tmp_path: Path) -> None:
    old = table(tmp_path, task=["a", "b", "c"], n=[3, 3, 3], p=[0.5, 0.25, 0.125])
    new = table(tmp_path, task=["b", "a", "d"], n=[3, 3, 3], p=[0.25, 0.75, 0.125])
    assert [*differences(old, new)] == [
        "row 1 (a): p 0.5 → 0.75",
        "row 3 is gone: c, 3, 0.125",
        "row 4 is new: d, 3, 0.125",
    ]
    assert old.digest != new.digest
    assert [*differences(old, old)] == []


def test_pictures_and_twins_of_tables_are_left_out(tmp_path: Path) -> None:
    kept = ["cost.csv", "figures/fig1.marks.parquet", "metrics/claims.parquet"]
    twins = ["metrics/claims.csv", "figures/fig1.svg", "provenance/versions.csv"]
    for name in (*kept, *twins, "explorer/.snakemake_timestamp"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert files_of(tmp_path) == kept

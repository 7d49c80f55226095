"""Files that tables are written to: CSV and Parquet, whole or not at all."""

import os
import signal
import threading
from itertools import pairwise
from pathlib import Path

import pytest

from fieldwork import streams, tables
from fieldwork.errors import StudyError
from fieldwork.files import texts
from fieldwork.records.generation import Request
from fieldwork.records.parsing import MergedItem


@pytest.mark.parametrize("text", ["=1+1", "@SUM(A1)", "＝1"])
def test_no_cell_of_a_csv_is_a_formula(tmp_path: Path, text: str) -> None:
    path = tmp_path / "m.csv"
    tables.write_csv_rows(path, [MergedItem("t", "i", text, "-", "near", -3)], MergedItem)
    (row,) = texts.read_table(path)
    assert (row["raw"], row["canonical"], row["n"]) == (f"'{text}", "'-", "-3")
    tables.write_rows(tmp_path / "r.parquet", [Request(text, None, None, -1)], Request)
    tables.write_csv(tmp_path / "r.csv", tmp_path / "r.parquet")
    (row,) = texts.read_table(tmp_path / "r.csv")
    assert (row["item_id"], row["replicate"]) == (f"'{text}", "-1")


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        (b"\xef\xbb\xbfa,b\r\n1,\r\n", [{"a": "1", "b": ""}]),
        (b"a,b\n1\n\n", [{"a": "1", "b": ""}]),
        (b"a,b\n", []),
        (b"a ;b\n\xe9;2\n", [{"a": "é", "b": "2"}]),
    ],
)
def test_csv_as_people_write_it(tmp_path: Path, content: bytes, rows: list[dict[str, str]]) -> None:
    """What else a CSV may look like is tried where sheets are read."""
    (tmp_path / "a.csv").write_bytes(content)
    assert texts.read_table(tmp_path / "a.csv") == rows
    with pytest.raises(StudyError, match=r"b\.csv: cannot be read"):
        texts.read_table(tmp_path / "b.csv")


def fail_inside(path: Path, error: BaseException) -> None:
    with tables.atomic_path(path) as partial:
        partial.write_text("half")
        raise error


@pytest.mark.parametrize("error", [ValueError("bug"), KeyboardInterrupt(), StudyError("mistake")])
def test_an_error_leaves_the_file_as_it_was(tmp_path: Path, error: BaseException) -> None:
    path = tmp_path / "made" / "f.txt"
    for before in ([], ["before"]):
        if before:
            path.write_text(*before)
        with pytest.raises(type(error)):
            fail_inside(path, error)
        assert [f.read_text() for f in path.parent.iterdir()] == before


def test_a_full_disk_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"f\.txt: cannot be written \(No space left") as caught:
        fail_inside(tmp_path / "f.txt", OSError(28, "No space left on device"))
    assert "--directory" in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def ranged(start: int, stop: int) -> str:
    return (
        "SELECT i::INTEGER AS replicate, 'i' || i AS item_id, NULL AS context_id, 'p' AS puppet_id "
        f"FROM range({start}, {stop}) t(i) ORDER BY i"
    )


@pytest.mark.parametrize(
    "bounds",
    [(0, 20_000), (0, 1, 20_000), (0, 2_048, 4_096, 20_000), (0, 5_000, 5_000, 5_001, 20_000)],
    ids=len,
)
def test_batches_become_a_table_whose_bytes_do_not_tell_them_apart(
    tmp_path: Path, bounds: tuple[int, ...]
) -> None:
    with tables.open_database() as database:
        batches = [database.sql(ranged(*pair)).to_arrow_table() for pair in pairwise(bounds)]
        streams.copy_tables(database, batches, tmp_path / "r.parquet", Request)
        whole = database.sql(ranged(0, 20_000)).to_arrow_table()
        streams.copy_tables(database, [whole], tmp_path / "one.parquet", Request)
    rows = tables.read_rows(tmp_path / "r.parquet", Request)
    assert len(rows) == 20_000
    assert rows[19_999] == Request("i19999", None, "p", 19_999)
    assert (tmp_path / "r.parquet").read_bytes() == (tmp_path / "one.parquet").read_bytes()


def test_a_batch_with_missing_values_leaves_nothing(tmp_path: Path) -> None:
    query = "SELECT NULL::VARCHAR item_id, 'c' context_id, 'p' puppet_id, 0 replicate"
    with tables.open_database() as database:
        batch = database.sql(query).to_arrow_table()
        with pytest.raises(StudyError, match="1 rows have no item_id"):
            streams.copy_tables(database, [batch], tmp_path / "r.parquet", Request)
    assert list(tmp_path.iterdir()) == []


def test_a_database_sums_the_same_bits_and_tells_utc() -> None:
    query = "SELECT current_setting('threads'), current_setting('TimeZone')"
    with tables.open_database() as database:
        for connection in (database, database.cursor()):
            assert connection.sql(query).fetchall() == [(1, "UTC")]


def count_for_hours() -> None:
    with tables.open_database() as database:
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        database.sql("SELECT count(*) FROM range(100000000000) a, range(100) b").fetchall()


def test_ctrl_c_within_a_query_is_ctrl_c() -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            count_for_hours()
    finally:
        signal.signal(signal.SIGINT, before)

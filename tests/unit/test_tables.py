"""Tables hold what their row types say, come out the same whatever went in first, or not at all."""

import dataclasses
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fieldwork import streams, tables
from fieldwork.errors import StudyError
from fieldwork.records.generation import Request
from fieldwork.records.puppets import Context, Conversation, Message, Profile
from fieldwork.records.shared import ItemKey
from fieldwork.records.tasks import Item

CONVERSATION = Conversation(
    "c1", "u1", datetime(2024, 2, 29, 12, 30, 1, 5, tzinfo=UTC), None, "m", 1, 9,
    [Message("user", "Hé?\n\n{x} $y"), Message("assistant", "")],
)  # fmt: skip
REQUESTS = [Request(f"i{n}", None if n % 2 else f"c{n}", f"p{n % 3}", n) for n in range(40)]


def profile(text: str, puppet_id: str = "p") -> Profile:
    return Profile(puppet_id, "persona", [text], text)


def write_profiles(path: Path, *profiles: Profile) -> Path:
    tables.write_rows(path, profiles, Profile)
    return path


# ---- writing and reading rows --------------------------------------------------------------------


@pytest.mark.parametrize("limit", [tables.MOST_BYTES_SORTED, 0])
def test_bytes_do_not_depend_on_the_order_of_the_rows_nor_on_how_many_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    tables.write_rows(tmp_path / "1", REQUESTS, Request)
    monkeypatch.setattr(tables, "MOST_BYTES_SORTED", limit)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(REQUESTS))
        tables.write_rows(tmp_path / "2", [REQUESTS[i] for i in order], Request)
        assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


NO_TEXT: Any = Message("user", None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (profile("t", None), "1 rows have no puppet_id, but every row must have one"),  # type: ignore[arg-type]
        (Request("i", None, None, 2**70), "a row does not fit Request"),
        (Context("c", "p", None, [], [NO_TEXT], 0, 0), "a column does not fit Context"),
    ],
)
def test_rows_that_do_not_fit_are_refused(tmp_path: Path, row: Any, message: str) -> None:
    with pytest.raises(StudyError, match=rf"bad\.parquet: .*{message}"):
        tables.write_rows(tmp_path / "bad.parquet", [row], type(row))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("\ud800 high", "\ufffd high"),
        ("low \udfff", "low \ufffd"),
        ("\udc00\ud800", "\ufffd\ufffd"),
        ("nul \0 stays", "nul \0 stays"),
        ("\ufeffmark 😀 \u2028", "\ufeffmark 😀 \u2028"),
    ],
)
def test_any_text_can_be_written(tmp_path: Path, written: str, read: str) -> None:
    path = write_profiles(tmp_path / "p.parquet", profile(written, "b"), profile("plain", "a"))
    assert tables.read_rows(path, Profile) == [profile("plain", "a"), profile(read, "b")]


def parquet(path: Path, **columns: list[Any]) -> Path:
    pq.write_table(pa.table(columns), path)
    return path


READERS: dict[str, Callable[[Path], object]] = {
    "rows": lambda path: tables.read_rows(path, Request),
    "arrow": tables.read_arrow,
    "lookup": lambda path: tables.read_lookup(path, Request, "item_id", ["i"]),
    "columns": lambda path: tables.read_columns(path, Request, ["item_id"]),
    "groups": lambda path: tables.read_groups(path, "item_id", "puppet_id"),
    "blank": lambda path: tables.blank_columns(path, path.with_name("b"), {"messages"}, "gone"),
    "stream": lambda path: list(streams.stream_rows(path, Request)),
    "blocks": lambda path: list(streams.read_blocks([path])),
    "count": lambda path: streams.count_rows([path]),
}


@pytest.mark.parametrize("content", [None, b"", b"PAR1", b"PAR1 half a file PAR1", b"item_id\n1\n"])
@pytest.mark.parametrize("reader", sorted(READERS))
def test_a_file_that_is_no_parquet_is_named(
    tmp_path: Path, reader: str, content: bytes | None
) -> None:
    path = tmp_path / "t.parquet"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(StudyError, match=r"t\.parquet: cannot be read as Parquet") as caught:
        READERS[reader](path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("reader", ["rows", "stream", "blocks"])
def test_other_columns_are_refused(tmp_path: Path, reader: str) -> None:
    path = parquet(tmp_path / "r.parquet", item_id=["i"])
    with pytest.raises(StudyError, match=r"r\.parquet: its columns are \['item_id'\] instead of"):
        READERS[reader](path)
    for item, replicate in (("i", "x"), (None, 1)):
        parquet(path, item_id=[item], context_id=["c"], puppet_id=["p"], replicate=[replicate])
        with pytest.raises(StudyError, match=r"a column does not fit Request \(docs/data\.md\)"):
            tables.read_rows(path, Request)


def test_order_and_width_of_columns_do_not_matter(tmp_path: Path) -> None:
    columns = {
        "replicate": pa.array([1], pa.int8()),
        "puppet_id": pa.array([None], pa.null()),
        "item_id": pa.array(["i"], pa.large_string()),
        "context_id": pa.array(["c"], pa.dictionary(pa.int32(), pa.string())),
    }
    path = parquet(tmp_path / "r.parquet", **columns)
    assert tables.read_rows(path, Request) == [Request("i", "c", None, 1)]


def test_parts_of_a_table(tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    tables.write_rows(path, REQUESTS, Request)
    assert tables.read_lookup(path, Request, "item_id", ["i7", "none", "i7"]) == [REQUESTS[7]]
    assert tables.read_lookup(path, Request, "item_id", []) == []
    assert tables.read_columns(path, Request, ["replicate", "item_id"])[0] == (15, "i15")
    groups = tables.read_groups(path, "puppet_id", "item_id")
    assert list(groups) == ["p0", "p1", "p2"]
    assert groups["p1"] == sorted(r.item_id for r in REQUESTS if r.puppet_id == "p1")


def test_columns_are_blanked_and_all_else_stays(tmp_path: Path) -> None:
    source, target = tmp_path / "profiles.parquet", tmp_path / "blank.parquet"
    write_profiles(source, profile("one"), profile("two", "q"))
    tables.blank_columns(source, target, {"persona", "sentences", "text", "messages"}, "gone")
    assert tables.read_rows(target, Profile) == [
        Profile(puppet_id, "gone", [], "gone") for puppet_id in ("p", "q")
    ]
    assert b"persona description" not in target.read_bytes()


def test_messages_are_blanked_to_a_note(tmp_path: Path) -> None:
    source, target = tmp_path / "conversations.parquet", tmp_path / "blank.parquet"
    tables.write_rows(source, [CONVERSATION], Conversation)
    assert tables.read_rows(source, Conversation) == [CONVERSATION]
    tables.blank_columns(source, target, {"messages", "language"}, "gone")
    (blank,) = tables.read_rows(target, Conversation)
    assert blank == dataclasses.replace(CONVERSATION, messages=[Message("user", "gone")])


def test_items_of_several_tasks_are_one_frame(tmp_path: Path) -> None:
    item = Item("i", "choice", "q", "p", ["a", "b"], None, None, "here")
    paths = [tmp_path / "x.parquet", tmp_path / "y.parquet"]
    for path in paths:
        tables.write_rows(path, [item], Item)
    frame = tables.read_items(paths)
    assert frame[["task", "item_id"]].values.tolist() == [["x", "i"], ["y", "i"]]
    assert frame.index.tolist() == [0, 1]
    assert tables.read_questions(paths) == {ItemKey("x", "i"): item, ItemKey("y", "i"): item}

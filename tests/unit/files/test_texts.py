"""Texts come out of every kind of file alike."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fieldwork.errors import StudyError
from fieldwork.files.texts import read_texts

ROWS: list[dict[str, Any]] = [{"t": "a"}, {"t": ["b", "c", None]}, {"t": None}, {"t": "d\u2028e"}]
LINES = "\n".join(json.dumps(row, ensure_ascii=False) for row in ROWS)


def test_json_in_all_its_forms(tmp_path: Path) -> None:
    """What else a JSON file may look like is tried where values are streamed."""
    for name, content in {
        "lines.jsonl": LINES.encode(),
        "list.json": json.dumps(ROWS, indent=2).encode(),
        "lines.jsonl.gz": gzip.compress(LINES.encode(), mtime=0),
    }.items():
        (tmp_path / name).write_bytes(content)
        assert read_texts([tmp_path / name], "t") == ["a", "b", "c", "d\u2028e"], name


def test_parquet_with_texts_and_lists_and_a_workbook_as_a_person_sees_it(tmp_path: Path) -> None:
    pq.write_table(pa.table({"t": ["a", None]}), tmp_path / "texts.parquet")
    pq.write_table(pa.table({"t": [["b", None], None, ["c"]]}), tmp_path / "lists.parquet")
    pd.DataFrame({"t": ["d", 3.0, None]}, dtype=object).to_excel(tmp_path / "a.xlsx", index=False)
    files = [tmp_path / name for name in ("texts.parquet", "lists.parquet", "a.xlsx")]
    assert read_texts(files, "t") == ["a", "b", "c", "d", "3"]


@pytest.mark.parametrize(
    ("name", "content", "column", "message"),
    [
        ("a.jsonl", b'{"u": 1}', "t", "a.jsonl: line 1 has no column 't' (it has u)"),
        ("a.csv", b"u\n1\n", "t", "a.csv: row 2 has no column 't' (it has u)"),
        (
            "b.jsonl.gz",
            gzip.compress(LINES.encode(), mtime=0)[:-9],
            "t",
            "b.jsonl.gz: cannot be read",
        ),
        ("a.txtt", b"t", "t", "a.txtt: this kind of file is not read"),
        (
            "two.csv",
            b"id,persona\n1,A nurse\n",
            None,
            "two.csv: row 2 has the columns id, persona; na",
        ),
        ("a.txt", b"\xc3\xa9\nb\n\xe9\n", None, "row 3 is Windows-1252 but row 1 is UTF-8"),
    ],
)
def test_an_unreadable_file_is_named(
    tmp_path: Path, name: str, content: bytes, column: str | None, message: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(StudyError, match=re.escape(message)):
        read_texts([tmp_path / name], *[column] * (column is not None))


def test_without_a_column_a_file_holds_texts_alone(tmp_path: Path) -> None:
    forms = {
        "a.txt": "A nurse, 40\r\n\nEin Förster\n".encode("cp1252"),
        "b.txt": "A nurse, 40\n\nEin Förster".encode("utf-16"),
        "a.csv": '\ufeffpersona\n"A nurse, 40"\nEin Förster\n'.encode(),
        "a.json": '["A nurse, 40", "Ein Förster"]'.encode(),
        "a.jsonl": '{"p": "A nurse, 40"}\n{"p": "Ein Förster"}\n'.encode(),
    }
    for name, content in forms.items():
        (tmp_path / name).write_bytes(content)
        read = read_texts([tmp_path / name])
        assert [text for text in read if text] == ["A nurse, 40", "Ein Förster"], name

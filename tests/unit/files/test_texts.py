"""Texts come out of every kind of file alike."""

import gzip
import json
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
    forms = {
        "lines.jsonl": LINES.encode(),
        "blank_lines.json": f"\n{LINES}\n\n".encode(),
        "carriage_returns.jsonl": LINES.replace("\n", "\r\n").encode(),
        "marked.jsonl": b"\xef\xbb\xbf" + LINES.encode(),
        "list.json": json.dumps(ROWS, indent=2).encode(),
        "lines.jsonl.gz": gzip.compress(LINES.encode(), mtime=0),
    }
    for name, content in forms.items():
        (tmp_path / name).write_bytes(content)
        assert read_texts([tmp_path / name], "t") == ["a", "b", "c", "d\u2028e"], name


def test_parquet_with_texts_and_with_lists(tmp_path: Path) -> None:
    pq.write_table(pa.table({"t": ["a", None]}), tmp_path / "texts.parquet")
    pq.write_table(pa.table({"t": [["b", None], None, ["c"]]}), tmp_path / "lists.parquet")
    files = [tmp_path / "texts.parquet", tmp_path / "lists.parquet"]
    assert read_texts(files, "t") == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", b'{"u": 1}', "a.jsonl: line 1 has no column 't' (it has u)"),
        ("a.csv", b"u\n1\n", "a.csv: row 2 has no column 't' (it has u)"),
        ("b.jsonl.gz", gzip.compress(LINES.encode(), mtime=0)[:-9], "b.jsonl.gz: cannot be read"),
        ("a.txtt", b"t", "a.txtt: this kind of file is not read"),
    ],
)
def test_an_unreadable_file_is_named(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(StudyError) as caught:
        read_texts([tmp_path / name], "t")
    assert message in str(caught.value)


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
    (tmp_path / "two.csv").write_text("id,persona\n1,A nurse\n")
    with pytest.raises(
        StudyError, match=r"two\.csv: row 2 has the columns id, persona; name the one"
    ):
        read_texts([tmp_path / "two.csv"])


def test_a_text_file_in_two_encodings_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xc3\xa9\nb\n\xe9\n")
    with pytest.raises(StudyError, match=r"row 3 is Windows-1252 but row 1 is UTF-8"):
        read_texts([tmp_path / "a.txt"])


def test_a_workbook_holds_texts_as_a_person_sees_them(tmp_path: Path) -> None:
    pd.DataFrame({"t": ["a", 3.0, None]}, dtype=object).to_excel(tmp_path / "a.xlsx", index=False)
    assert read_texts([tmp_path / "a.xlsx"], "t") == ["a", "3"]

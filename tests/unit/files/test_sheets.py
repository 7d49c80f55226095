"""Files of any tool: the cells a person sees, under the row numbers a person sees."""

import csv
import datetime
import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fieldwork.errors import StudyError
from fieldwork.files.sheets import Record, Sheet, read_sheet, stream_records

KINDS = ".csv, .tsv, .csv.gz, .tsv.gz, .xlsx, .parquet"
TABLE = "id,movies,note\np1,Amélie,“ja”\np2,Brazil,\n"
ROWS = [(2, ("p1", "Amélie", "“ja”")), (3, ("p2", "Brazil", ""))]


def read_whole(path: Path) -> Sheet:
    sheet = read_sheet(path)
    return sheet._replace(rows=list(sheet.rows))


def sheet_of(path: Path, content: bytes) -> Sheet:
    path.write_bytes(content)
    return read_whole(path)


def refusal(path: Path, content: bytes | None = None) -> str:
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(StudyError) as caught:
        read_whole(path)
    sentence = str(caught.value)
    assert sentence.startswith(f"{path}: ")
    assert "\n" not in sentence
    return sentence


def workbook(path: Path, **sheets: Sequence[Sequence[Any]]) -> Path:
    with pd.ExcelWriter(path, engine="openpyxl") as writer:
        for name, rows in sheets.items():
            frame = pd.DataFrame([*rows], dtype=object)
            frame.to_excel(writer, sheet_name=name, header=False, index=False)
    return path


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"]
)
@pytest.mark.parametrize(
    ("name", "delimiter"), [("a.csv", ","), ("a.CSV", ";"), ("a.csv", "\t"), ("a.tsv", "\t")]
)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_text_files_of_every_encoding_and_separator_read_the_same(
    tmp_path: Path, encoding: str, name: str, delimiter: str, line_end: str
) -> None:
    content = TABLE.replace(",", delimiter).replace("\n", line_end).encode(encoding)
    for path, packed in ((name, content), (f"{name}.gz", gzip.compress(content))):
        sheet = sheet_of(tmp_path / path, packed)
        assert (sheet.header, sheet.rows) == (("id", "movies", "note"), ROWS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('id,a\np1,"1. Alien\n2. Brazil\n"\np2,x\n', [(2, "1. Alien\n2. Brazil\n"), (3, "x")]),
        ("id,a\n\np1,x\n,\n  , \np2,y\n\n", [(3, "x"), (6, "y")]),
        ("id,a\np1\np2,NA\n", [(2, ""), (3, "NA")]),
        ("id,a\np1,x\x00y\n", [(2, "x\x00y")]),
        ("id,a\np1,a\x85b\u2028c\n", [(2, "a\x85b\u2028c")]),
    ],
)
def test_a_row_is_a_row_however_many_lines_it_has(
    tmp_path: Path, text: str, expected: list[tuple[int, str]]
) -> None:
    sheet = sheet_of(tmp_path / "a.csv", text.encode())
    assert [(row.number, row.cells[1]) for row in sheet.rows] == expected


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "the file is empty"),
        (b"id,a\np1,\xc3\xa9\np2,x\np3,\xe9t\xe9\n", "row 4 is Windows-1252 but row 2 is UTF-8"),
        ("id,a\np1,x\n".encode("utf-16") + b"\x00", "is not UTF-16"),
        (b"id,a\np1,x,y\n", "row 2 has more cells than the header in row 1; put texts that"),
        (b"PK\x03\x04\x00\x01,b\np1,x\n", "is not a text file; give it the ending of its kind"),
        (b'id,a\np1,x\np2,"open\np3,y\n', "row 3 cannot be read"),
        (b'id,a\np1,"x" y\n', "row 2 cannot be read"),
    ],
)
def test_a_text_file_that_cannot_be_trusted_is_refused_with_its_row(
    tmp_path: Path, content: bytes, problem: str
) -> None:
    assert problem in refusal(tmp_path / "a.csv", content)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"\n,\nid,a\np1,x\n", 4),
        (b"sep=;\r\nid;a\r\np1;x\r\n", 2),
        (b'\xef\xbb\xbf"sep=|"\nid|a\np1|x\n', 2),
        ("sep=;\nid;a\np1;x\n".encode("utf-16"), 2),
    ],
)
def test_what_tools_write_above_the_header_is_passed_over(
    tmp_path: Path, content: bytes, expected: int
) -> None:
    sheet = sheet_of(tmp_path / "a.csv", content)
    assert (sheet.header, sheet.rows) == (("id", "a"), [(expected, ("p1", "x"))])


def test_a_workbook_keeps_its_cells_and_its_row_numbers(tmp_path: Path) -> None:
    path, day = tmp_path / "a.xlsx", datetime.datetime(2026, 5, 3)
    rows = [["id", "a"], [1, "x"], [None, None], ["p3", "NA"], [4.5, day], [2.0, True]]
    sheet = read_whole(workbook(path, Answers=rows, Empty=[]))
    assert sheet.header == ("id", "a")
    assert sheet.rows == [(2, (1, "x")), (4, ("p3", "NA")), (5, (4.5, day)), (6, (2, True))]
    # a formula without a value is no empty answer
    rows = [["id", "a"], ["p1", "Heat"], [None, None], ["p2", "= My picks =\n1. Heat"]]
    problem = refusal(workbook(path, One=rows))
    assert "row 4, column 2 holds a formula without a computed value" in problem
    assert "picks" not in problem
    problem = refusal(workbook(path, One=[["id"], [1]], Two=[["x"]]))
    assert "has 2 sheets with cells; save the one" in problem


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.sav", b"$FL2", f"this kind of file is not read; save it as one of {KINDS}"),
        ("a.xlsx", b"PK no zip", "cannot be read as an Excel workbook"),
        ("a.parquet", b"PAR0", "cannot be read as Parquet"),
        ("b.csv.gz", b"no gzip", "cannot be read"),
        ("c.csv.gz", gzip.compress(TABLE.encode(), mtime=0)[:-9], "cannot be read"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, name: str, content: bytes, problem: str) -> None:
    assert problem in refusal(tmp_path / name, content)


CELLS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x00\ufeff"), max_size=9
)


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(st.tuples(CELLS, CELLS), max_size=6),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    delimiter=st.sampled_from(",;\t"),
)
def test_what_a_spreadsheet_writes_is_read_back_cell_by_cell(
    tmp_path_factory: pytest.TempPathFactory, rows: Any, encoding: str, delimiter: str
) -> None:
    path = tmp_path_factory.mktemp("round") / "a.csv"
    with path.open("w", newline="", encoding=encoding) as handle:
        csv.writer(handle, delimiter=delimiter).writerows([["id", "answer"], *rows])
    written = [(n, row) for n, row in enumerate(rows, start=2) if any(map(str.strip, row))]
    assert read_whole(path).rows == written


def test_parquet_keeps_its_types_and_counts_from_the_header(tmp_path: Path) -> None:
    columns = {"id": ["p1", None, "p3"], "a": [1, None, 3]}
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    sheet = read_whole(tmp_path / "a.parquet")
    assert sheet.header == ("id", "a")
    assert sheet.rows == [(2, ("p1", 1)), (4, ("p3", 3))]


def test_rows_are_read_as_they_are_asked_for(tmp_path: Path) -> None:
    """Memory is a row's: what is wrong at the end shows itself only there."""
    rows = "".join(f"p{n},{'x' * 1000}\n" for n in range(2000))
    (tmp_path / "a.csv").write_text(f"id,a\n{rows}p,x,too many\n")
    waiting = iter(read_sheet(tmp_path / "a.csv").rows)
    assert next(waiting).number == 2
    with pytest.raises(StudyError, match="row 2002 has more cells"):
        list(waiting)


OBJECTS: list[dict[str, Any]] = [{"id": "p1", "a": [{"b": 1}]}, {"id": "p2", "more": None}]


def test_every_kind_gives_records_with_their_places(tmp_path: Path) -> None:
    rows = [["id", "a"], ["p1", "x"], ["", ""], ["p3", "y"]]
    (tmp_path / "a.csv").write_text("\n".join(map(",".join, rows)))
    workbook(tmp_path / "a.xlsx", One=rows)
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, OBJECTS)))
    (tmp_path / "a.json").write_text(json.dumps(OBJECTS, indent=1))
    pq.write_table(pa.Table.from_pylist(OBJECTS[:1]), tmp_path / "a.parquet")
    cells = [("row 2", {"id": "p1", "a": "x"}), ("row 4", {"id": "p3", "a": "y"})]
    for kind, expected in {
        "csv": cells,
        "xlsx": cells,
        "jsonl": [*zip(("line 1", "line 2"), OBJECTS, strict=True)],
        "json": [*zip(("entry 1", "entry 2"), OBJECTS, strict=True)],
        "parquet": [("row 1", OBJECTS[0])],
    }.items():
        records = stream_records(tmp_path / f"a.{kind}")
        assert list(records) == [Record(*record) for record in expected]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"\na,b,a\n1,2,3\n", "row 2, the header, names the column 'a' twice; rename one"),
        ("a.jsonl", b'{"a": 1}\n[2]\n', "line 2 is not a JSON object"),
        ("a.txt", b"text", "save it as one of .csv, .tsv, .xlsx, .parquet, .jsonl, .ndjson, .json"),
    ],
)
def test_what_is_no_table_of_records_is_refused(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(StudyError) as caught:
        list(stream_records(tmp_path / name))
    assert str(caught.value).startswith(f"{tmp_path}/{name}: ")
    assert message in str(caught.value)

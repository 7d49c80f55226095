"""Rows are taken out of files of answers, and every other byte or cell of these stays."""

import datetime
import json
import os
import stat
import unicodedata
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fieldwork.errors import StudyError
from fieldwork.field.deletion.raw_files import (
    RawFile,
    delete_file,
    read_pages,
    read_raw_files,
    take_rows,
)
from fieldwork.field.sources import read_sheet
from fieldwork.files import delimited

IDS = '"{""ImportId"":""QID1""}","{""ImportId"":""QID2_TEXT""}"'


def raw_of(path: Path, column: str = "id") -> RawFile:
    (raw,) = read_raw_files([path], column)
    return raw


def ignore(_file: Path, _successor: Path | None) -> None:
    """Nobody needs to know."""


def take(path: Path, who: str, column: str = "id") -> dict[int, str]:
    """Take a participant's rows out of a file; which these were."""
    raw = raw_of(path, column)
    rows = raw.rows_of([unicodedata.normalize("NFC", who)])
    take_rows(raw, rows, ignore)
    assert [p.name for p in path.parent.iterdir() if p.name.startswith(".")] == []
    return rows


CASES: dict[str, tuple[str, str, list[int], str]] = {
    # who, text, rows taken, text left
    "plain": ("p2", "id,a\np1,x\np2,y\np3,z\n", [3], "id,a\np1,x\np3,z\n"),
    "several rows": ("p2", "id,a\np2,x\np1,y\np2,z\n", [2, 4], "id,a\np1,y\n"),
    "last row without an end": ("p2", "id,a\r\np1,x\r\np2,y", [3], "id,a\r\np1,x\r\n"),
    "part of another id": ("p1", "id,a\np1,x\np10,y\nxp1,z\n", [2], "id,a\np10,y\nxp1,z\n"),
    "quoted and padded": ("p1", 'id,a\n" p1 ",x\n"p2",y\n', [2], 'id,a\n"p2",y\n'),
    "quote inside an id": ('p"1', 'id,a\n"p""1",x\np2,y\n', [2], "id,a\np2,y\n"),
    "separator inside an id": ("p;1", 'id;a\n"p;1";x\np2;"y;z"\n', [2], 'id;a\np2;"y;z"\n'),
    "multi-line cells": (
        "p2",
        'id,a\np1,"1. x\n2. p2,y\n"\np2,"one\n\ntwo"\np3,z\n',
        [3],
        'id,a\np1,"1. x\n2. p2,y\n"\np3,z\n',
    ),
    "line ends of two kinds": (
        "p2",
        'id,a\r\np1,"x\ny"\r\np2,z\np3,w\r',
        [3],
        'id,a\r\np1,"x\ny"\r\np3,w\r',
    ),
    "empty rows": ("p2", "\n\nid,a\n\np1,x\n,\np2,y\n\n\n", [7], "\n\nid,a\n\np1,x\n,\n\n\n"),
    "semicolons": ("p1", 'id;a\np1;"x,y"\np2;"1,5\nb"\n', [2], 'id;a\np2;"1,5\nb"\n'),
    "tabs": ("p1", 'id\ta\np1\t"x;,y"\np2\t"z\n,"\n', [2], 'id\ta\np2\t"z\n,"\n'),
    "Qualtrics": (
        "p1",
        f'id,Q1\nYour id,"Recommend\nfive p1"\n{IDS}\np1,Alien\np2,Brazil\n',
        [4],
        f'id,Q1\nYour id,"Recommend\nfive p1"\n{IDS}\np2,Brazil\n',
    ),
    "guarded cells": ("-p1", "id,a\n'-p1,x\n'-p2,'=y\n", [2], "id,a\n'-p2,'=y\n"),
    "composed and not": (
        "Jürgen",
        f"id,a\nJürgen,x\n{unicodedata.normalize('NFD', 'Jürgen')},ü\nJurgen,y\n",
        [2, 3],
        "id,a\nJurgen,y\n",
    ),
    "separators of other kinds": (
        "p1",
        "id,a\np1,x\np2,a\x85b\u2028c\x0bd\n",
        [2],
        "id,a\np2,a\x85b\u2028c\x0bd\n",
    ),
}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("case", CASES)
def test_a_text_file_keeps_every_other_byte(tmp_path: Path, case: str, encoding: str) -> None:
    who, text, numbers, left = CASES[case]
    path = tmp_path / "wave.csv"
    path.write_bytes(text.encode(encoding))
    assert sorted(take(path, who)) == numbers
    assert path.read_bytes() == left.encode(encoding)


CELL = st.text(st.sampled_from('p12,;\t"\n\r x='), max_size=6)


@settings(max_examples=150, deadline=None)
@given(
    rows=st.lists(
        st.tuples(st.sampled_from(["p1", "p12", "p2"]), CELL, CELL), min_size=1, max_size=8
    ),
    delimiter=st.sampled_from(",;\t"),
    line_end=st.sampled_from(["\n", "\r\n"]),
    encoding=st.sampled_from(["utf-8", "utf-16", "utf-8-sig"]),
)
def test_what_is_left_reads_as_before(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[str, str, str]],
    delimiter: str,
    line_end: str,
    encoding: str,
) -> None:
    path = tmp_path_factory.mktemp("any") / "wave.csv"
    quoted = [[f'"{c.replace(chr(34), chr(34) * 2)}"' for c in row] for row in rows]
    lines = [delimiter.join(row) for row in [["id", "a", "b"], *quoted]]
    path.write_bytes((line_end.join(lines) + line_end).encode(encoding))
    before = [row.cells for row in read_sheet(path).rows]
    take(path, "p1")
    assert [row.cells for row in read_sheet(path).rows] == [c for c in before if c[0] != "p1"]
    kept = [line for line, row in zip(lines[1:], rows, strict=True) if row[0] != "p1"]
    assert path.read_bytes() == (line_end.join([lines[0], *kept]) + line_end).encode(encoding)


# ---- Excel and Parquet ---------------------------------------------------------------------------


def workbook_of(rows: Sequence[Sequence[Any]]) -> Any:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(list(row))
    book.active.title = "Answers"
    return book


def test_a_workbook_keeps_other_cells_and_nothing_of_the_row(tmp_path: Path) -> None:
    path = tmp_path / "wave.xlsx"
    day = datetime.datetime(2026, 11, 22, 9, 30)
    book = workbook_of(
        [
            ["id", "a", "n", "when"],
            ["p1", "Alien", 1, day],
            [7, "grün, “ja”", 1.5, day],
            [None, None, None, None],
            ["p1", "again", True, None],
            ["p3", "=not a formula", None, day],
        ],
    )
    sheet = book.active
    sheet["B6"].data_type = "s"
    sheet["A2"].hyperlink = "mailto:secret@example.org"
    sheet["A5"].comment = openpyxl.comments.Comment("secret", "secret")
    sheet.merge_cells("C5:C6")
    book.create_sheet("Empty")
    book.save(path)
    before = [row.cells for row in read_sheet(path).rows]
    assert take(path, "p1") == {2: "p1", 5: "p1"}
    after = [row.cells for row in read_sheet(path).rows]
    assert after == [before[1], before[3]]
    assert after[0] == (7, "grün, “ja”", 1.5, day)
    assert after[1][1] == "=not a formula"
    written = openpyxl.load_workbook(path)["Answers"]
    assert written["B4"].data_type == "s"
    assert written["D2"].number_format == "yyyy-mm-dd h:mm:ss"
    with zipfile.ZipFile(path) as archive:
        members = b"".join(archive.read(name) for name in archive.namelist())
    assert b"secret" not in members
    assert b"p1" not in members


def test_a_formula_keeps_the_value_that_it_shows(tmp_path: Path) -> None:
    path = tmp_path / "wave.xlsx"
    workbook_of([["id", "a"], ["p1", "x"], ["p2", "y"]]).save(path)
    # as a spreadsheet program saves it: the formula and its value
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    sheet = members["xl/worksheets/sheet1.xml"].decode()
    cell = sheet[sheet.index('<c r="B3"') : sheet.index("</c>", sheet.index('<c r="B3"')) + 4]
    formula = '<c r="B3" t="str"><f>UPPER("y")</f><v>Y</v></c>'
    members["xl/worksheets/sheet1.xml"] = sheet.replace(cell, formula).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    take(path, "p1")
    assert [row.cells for row in read_sheet(path).rows] == [("p2", "Y")]


def test_parquet_keeps_types_metadata_and_compression(tmp_path: Path) -> None:
    path = tmp_path / "wave.parquet"
    frame = pd.DataFrame({"id": ["p1", "p2", "p1"], "n": [1.5, None, 2], "l": [["a"], None, []]})
    table = pa.Table.from_pandas(frame).replace_schema_metadata({"made by": "a survey tool"})
    pq.write_table(table, path, compression="gzip")
    schema = pq.ParquetFile(path).schema_arrow
    assert take(path, "p1") == {2: "p1", 4: "p1"}
    left = pq.ParquetFile(path)
    assert left.read().to_pylist() == [{"id": "p2", "n": None, "l": None}]
    assert left.schema_arrow.equals(schema, check_metadata=True)
    assert left.metadata.row_group(0).column(0).compression == "GZIP"
    assert b"p1" not in path.read_bytes()


# ---- what may go wrong ---------------------------------------------------------------------------


def test_a_file_without_the_column_is_no_file_of_participants(tmp_path: Path) -> None:
    (tmp_path / "codebook.csv").write_text("name,meaning\nid,p1\n")
    assert read_raw_files([tmp_path / "codebook.csv"], "id") == []


def test_who_may_read_a_file_stays_and_a_link_is_followed(tmp_path: Path) -> None:
    real = tmp_path / "archive" / "wave_2026.csv"
    real.parent.mkdir()
    real.write_text("id,a\np1,x\np2,y\n")
    real.chmod(0o600)
    link = tmp_path / "wave.csv"
    link.symlink_to(real)
    take(link, "p1")
    assert link.is_symlink()
    assert real.read_text() == "id,a\np2,y\n"
    assert stat.S_IMODE(real.stat().st_mode) == 0o600
    delete_file(link)
    assert not link.exists()
    assert not real.exists()


@pytest.mark.parametrize("lock", ["~$wave.xlsx", ".~lock.wave.xlsx#"])
def test_a_file_that_is_open_elsewhere_is_not_touched(tmp_path: Path, lock: str) -> None:
    path = tmp_path / "wave.xlsx"
    workbook_of([["id", "a"], ["p1", "x"], ["p2", "y"]]).save(path)
    (tmp_path / lock).write_text("somebody")
    before = path.read_bytes()
    with pytest.raises(StudyError, match="open in a spreadsheet program"):
        take(path, "p1")
    assert path.read_bytes() == before


def test_nothing_changes_where_the_edited_file_would_read_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a wrong row, taken out, would make it."""
    path = tmp_path / "wave.csv"
    path.write_text("id,a\np1,x\np2,y\n")
    raw = raw_of(path)
    write = delimited.without_rows
    monkeypatch.setattr(
        delimited,
        "without_rows",
        lambda path, numbers, separators: write(path, {n + 1 for n in numbers}, separators),
    )
    with pytest.raises(StudyError, match=r"delete row\(s\) 2 by hand"):
        take_rows(raw, [2], ignore)
    assert path.read_text() == "id,a\np1,x\np2,y\n"
    assert [p.name for p in tmp_path.iterdir()] == ["wave.csv"]


def test_a_crash_leaves_the_file_as_it_was_and_the_next_run_clears_up(tmp_path: Path) -> None:
    path = tmp_path / "wave.csv"
    path.write_text("id,a\np1,x\np2,y\n")

    def kill(_file: Path, _successor: Path | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        take_rows(raw_of(path), [2], kill)
    assert path.read_text() == "id,a\np1,x\np2,y\n"
    left = tmp_path / ".forget.partial.csv"
    left.write_text("what a killed run left")
    take(path, "p1")
    assert path.read_text() == "id,a\np2,y\n"
    assert not left.exists()


def test_the_edited_file_is_known_before_it_takes_the_place(tmp_path: Path) -> None:
    path = tmp_path / "wave.csv"
    path.write_text("id,a\np1,x\np2,y\n")
    calls: list[tuple[Path, str, str]] = []

    def remember(file: Path, successor: Path | None) -> None:
        assert successor is not None
        calls.append((file, file.read_text(), successor.read_text()))

    take_rows(raw_of(path), [2], remember)
    assert calls == [(path, "id,a\np1,x\np2,y\n", "id,a\np2,y\n")]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_is_said(tmp_path: Path) -> None:
    path = tmp_path / "wave.csv"
    path.write_text("id,a\np1,x\np2,y\n")
    tmp_path.chmod(0o500)
    with pytest.raises(StudyError, match="cannot be edited"):
        take(path, "p1")
    with pytest.raises(StudyError, match="cannot be deleted"):
        delete_file(path)


def test_files_of_the_survey_page_are_told_by_what_is_in_them(tmp_path: Path) -> None:
    contents = {
        "a.json": json.dumps(
            {"format": "fieldwork-survey-1", "participant": " A01 ", "answers": []}
        ),
        "b.json": json.dumps({"format": "fieldwork-survey-1", "participant": "Ju\u0308rgen"}),
        "c.json": json.dumps({"format": "something else", "participant": "A01"}),
        "d.json": json.dumps([{"participant": "A01"}]),
        "e.json": "{broken",
        "f.json": json.dumps({"format": None}),
    }
    for name, content in contents.items():
        (tmp_path / name).write_text(content)
    assert read_pages(sorted(tmp_path.iterdir())) == {
        tmp_path / "a.json": "A01",
        tmp_path / "b.json": "Jürgen",
    }

"""Rows are taken out of files of answers, and every other byte or cell of these stays."""

import datetime
import json
import os
import re
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
QUALTRICS = f'id,Q1\nYour id,"Recommend\nfive p1"\n{IDS}\n'
PLAIN, LEFT = "id,a\np1,x\np2,y\n", "id,a\np2,y\n"


def raw_of(path: Path) -> RawFile:
    (raw,) = read_raw_files([path], "id")
    return raw


@pytest.fixture
def wave(tmp_path: Path) -> Path:
    path = tmp_path / "wave.csv"
    path.write_text(PLAIN)
    return path


def ignore(_file: Path, _successor: Path | None) -> None:
    """Nobody needs to know."""


def take(path: Path, who: str) -> dict[int, str]:
    """Take a participant's rows out of a file; which these were."""
    raw = raw_of(path)
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
    "multi-line cells": ("p2", 'id,a\np1,"1. x\n2. p2,y\n"\np2,"one\n\ntwo"\np3,z\n', [3],
                         'id,a\np1,"1. x\n2. p2,y\n"\np3,z\n'),
    "line ends of two kinds": ("p2", 'id,a\r\np1,"x\ny"\r\np2,z\np3,w\r', [3],
                               'id,a\r\np1,"x\ny"\r\np3,w\r'),
    "empty rows": ("p2", "\n\nid,a\n\np1,x\n,\np2,y\n\n\n", [7], "\n\nid,a\n\np1,x\n,\n\n\n"),
    "semicolons": ("p1", 'id;a\np1;"x,y"\np2;"1,5\nb"\n', [2], 'id;a\np2;"1,5\nb"\n'),
    "tabs": ("p1", 'id\ta\np1\t"x;,y"\np2\t"z\n,"\n', [2], 'id\ta\np2\t"z\n,"\n'),
    "Qualtrics": ("p1", f"{QUALTRICS}p1,Alien\np2,Brazil\n", [4], f"{QUALTRICS}p2,Brazil\n"),
    "guarded cells": ("-p1", "id,a\n'-p1,x\n'-p2,'=y\n", [2], "id,a\n'-p2,'=y\n"),
    "composed and not": ("Jürgen", "id,a\nJürgen,x\nJu\u0308rgen,ü\nJurgen,y\n", [2, 3],
                         "id,a\nJurgen,y\n"),
    "separators of other kinds": ("p1", "id,a\np1,x\np2,a\x85b\u2028c\x0bd\n", [2],
                                  "id,a\np2,a\x85b\u2028c\x0bd\n"),
}  # fmt: skip


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


def workbook_of(rows: Sequence[Sequence[Any]]) -> Any:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(list(row))
    book.active.title = "Answers"
    return book


def test_a_workbook_keeps_other_cells_and_nothing_of_the_row(tmp_path: Path) -> None:
    path, day = tmp_path / "wave.xlsx", datetime.datetime(2026, 11, 22, 9, 30)
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
    members = b"".join(members_of(path).values())
    assert b"secret" not in members
    assert b"p1" not in members


def members_of(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_a_formula_keeps_the_value_that_it_shows(tmp_path: Path) -> None:
    path, place = tmp_path / "wave.xlsx", "xl/worksheets/sheet1.xml"
    workbook_of([["id", "a"], ["p1", "x"], ["p2", "y"]]).save(path)
    # as a spreadsheet program saves it: the formula and its value
    members = members_of(path)
    formula = '<c r="B3" t="str"><f>UPPER("y")</f><v>Y</v></c>'
    sheet = re.sub('<c r="B3".*?</c>', formula, members[place].decode())
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in (members | {place: sheet.encode()}).items():
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


def test_a_file_without_the_column_is_no_file_of_participants(tmp_path: Path) -> None:
    (tmp_path / "codebook.csv").write_text("name,meaning\nid,p1\n")
    assert read_raw_files([tmp_path / "codebook.csv"], "id") == []


def test_who_may_read_a_file_stays_and_a_link_is_followed(tmp_path: Path, wave: Path) -> None:
    wave.chmod(0o600)
    link = tmp_path / "linked" / "wave.csv"
    link.parent.mkdir()
    link.symlink_to(wave)
    take(link, "p1")
    assert link.is_symlink()
    assert wave.read_text() == LEFT
    assert stat.S_IMODE(wave.stat().st_mode) == 0o600
    delete_file(link)
    assert not link.exists()
    assert not wave.exists()


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
    wave: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a wrong row, taken out, would make it."""
    raw, write = raw_of(wave), delimited.without_rows

    def take_next(path: Path, numbers: set[int], separators: Any) -> Any:
        return write(path, {n + 1 for n in numbers}, separators)

    monkeypatch.setattr(delimited, "without_rows", take_next)
    with pytest.raises(StudyError, match=r"delete row\(s\) 2 by hand"):
        take_rows(raw, [2], ignore)
    assert wave.read_text() == PLAIN
    assert [p.name for p in wave.parent.iterdir()] == ["wave.csv"]


def test_a_crash_leaves_the_file_as_it_was_and_the_next_run_clears_up(wave: Path) -> None:
    """The edited file is known before it takes the place."""
    calls: list[tuple[Path, str, str]] = []

    def kill(file: Path, successor: Path | None) -> None:
        assert successor is not None
        calls.append((file, file.read_text(), successor.read_text()))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        take_rows(raw_of(wave), [2], kill)
    assert calls == [(wave, PLAIN, LEFT)]
    assert wave.read_text() == PLAIN
    left = wave.with_name(".forget.partial.csv")
    left.write_text("what a killed run left")
    take(wave, "p1")
    assert wave.read_text() == LEFT
    assert not left.exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_is_said(wave: Path) -> None:
    wave.parent.chmod(0o500)
    with pytest.raises(StudyError, match="cannot be edited"):
        take(wave, "p1")
    with pytest.raises(StudyError, match="cannot be deleted"):
        delete_file(wave)


def test_files_of_the_survey_page_are_told_by_what_is_in_them(tmp_path: Path) -> None:
    survey = {"format": "fieldwork-survey-1"}
    contents: dict[str, Any] = {
        "a.json": survey | {"participant": " A01 ", "answers": []},
        "b.json": survey | {"participant": "Ju\u0308rgen"},
        "c.json": {"format": "something else", "participant": "A01"},
        "d.json": [{"participant": "A01"}],
        "f.json": {"format": None},
    }
    for name, content in contents.items():
        (tmp_path / name).write_text(json.dumps(content))
    (tmp_path / "e.json").write_text("{broken")
    people = {path.name: who for path, who in read_pages(sorted(tmp_path.iterdir())).items()}
    assert people == {"a.json": "A01", "b.json": "Jürgen"}

"""Field files: what is read of what survey tools write, and what those add to it."""

import gzip
from pathlib import Path

import pandas as pd
import pytest

from fieldwork.errors import StudyError
from fieldwork.field.sources import read_sheet
from fieldwork.files.sheets import Sheet


def sheet_of(path: Path, content: bytes) -> Sheet:
    path.write_bytes(content)
    return read_sheet(path)


IDS = '"{""ImportId"":""QID1""}","{""ImportId"":""QID2_TEXT""}"'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f'id,Q1\nYour id,"Recommend\nfive movies"\n{IDS}\np1,Alien\n', [4]),
        ("id,Q1\nYour id,Which\np1,Alien\n", [2, 3]),
        (f"id,Q1\np1,Alien\np2,Brazil\n{IDS}\n", [2, 3, 4]),
        # a second row of headers; one cell may well be the name of its column
        ("StartDate,ResponseId,a\nStart Date,Response ID,Paste the answer.\n2026,R_1,A\n", [3]),
        ("id,platform,answer\np1,Platform,A\n", [2]),
        # a status of another tool means nothing
        ("id,Status,answer\np1,1,A\np2,spam,B\n", [2, 3]),
    ],
)
def test_rows_that_survey_tools_add_are_no_answers(
    tmp_path: Path, text: str, expected: list[int]
) -> None:
    sheet = sheet_of(tmp_path / "a.csv", text.encode())
    assert [row.number for row in sheet.rows] == expected


def test_a_guard_before_a_formula_is_taken_off_text_files_alone(tmp_path: Path) -> None:
    rows = [["id", "'=a"], ["p1", "'=HYPERLINK()"], ["p2", "'quoted'"]]
    sheet = sheet_of(tmp_path / "a.csv", "\n".join(map(",".join, rows)).encode())
    assert sheet.header == ("id", "=a")
    assert [row.cells[1] for row in sheet.rows] == ["=HYPERLINK()", "'quoted'"]
    pd.DataFrame(rows).to_excel(tmp_path / "a.xlsx", header=False, index=False)
    cells = [row.cells[1] for row in read_sheet(tmp_path / "a.xlsx").rows]
    assert cells == ["'=HYPERLINK()", "'quoted'"]


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.sav", b"$FL2"), ("a.csv.gz", gzip.compress(b"id,a\n", mtime=0)), ("a.jsonl", b"{}")],
)
def test_other_kinds_of_files_are_refused(tmp_path: Path, name: str, content: bytes) -> None:
    with pytest.raises(StudyError) as caught:
        sheet_of(tmp_path / name, content)
    assert f"{name}: not one of .csv, .tsv, .xlsx, .parquet" in str(caught.value)
    assert "field.path" in str(caught.value)


EXPORT = "ResponseId,Status,DistributionChannel,consent,answer\n"
KEPT = "R_1,IP Address,anonymous,I agree,A\nR_2,0,anonymous,I agree,B\n"


@pytest.mark.parametrize(
    "row",
    [
        "R_3,Survey Preview,preview,I agree,A",
        "R_3,1,anonymous,I agree,A",
        "R_3,Spam,anonymous,I agree,A",
        "R_3,IP Address,preview,I agree,A",
        "R_3,IP Address,anonymous,I do not agree,A",
    ],
)
def test_what_the_survey_tool_marks_as_no_response_is_left_out(
    row: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    sheet = sheet_of(tmp_path / "a.csv", f"{EXPORT}{row}\n{KEPT}".encode())
    assert [cells[0] for _, cells in sheet.rows] == ["R_1", "R_2"]
    assert "1 rows are left out, as the survey tool marks them" in caplog.text

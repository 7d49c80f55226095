"""The table of merged options goes out to a person and comes back, whatever the options look like."""

import csv
import dataclasses
from pathlib import Path
from typing import Any

import pytest

from fieldwork import tables
from fieldwork.errors import StudyError
from fieldwork.records.parsing import Answer
from parsing import canonicalise_answers

WRITTEN = ["=HYPERLINK(A1)", "-ism", "'+1", "plain"]


@pytest.fixture
def parsed(tmp_path: Path) -> str:
    blank: dict[str, Any] = {field.name: None for field in dataclasses.fields(Answer)}
    named = {"model": "m", "task": "t", "condition": "c", "item_id": "i", "replicate": 0}
    answer = Answer(**blank | named | {"kind": "list", "outcome": "ok", "raw_items": WRITTEN})
    tables.write_rows(tmp_path / "parsed.parquet", [answer], Answer)
    return str(tmp_path / "parsed.parquet")


def merged(parsed: str, folder: Path, overrides: str = "") -> list[str]:
    canonicalise_answers.main(
        parsed_answers=[parsed],
        field=[],
        aliases=[],
        overrides=[overrides] if overrides else [],
        answers=str(folder / "answers.parquet"),
        merges=str(folder / "items.csv"),
        near_duplicates=100,
        cut_lists=True,
    )
    (answer,) = tables.read_rows(folder / "answers.parquet", Answer)
    return answer.items or []


def test_a_persons_corrections_reach_the_options_they_are_of(parsed: str, tmp_path: Path) -> None:
    assert set(merged(parsed, tmp_path)) == set(WRITTEN)
    with (tmp_path / "items.csv").open(newline="", encoding="utf-8") as handle:
        rows = list(csv.DictReader(handle))
    assert {row["raw"] for row in rows} == {"'=HYPERLINK(A1)", "'-ism", "''+1", "plain"}
    edited = tmp_path / "mine.csv"
    with edited.open("w", newline="", encoding="utf-8") as handle:
        writer = csv.DictWriter(handle, rows[0])
        writer.writeheader()
        # as a spreadsheet saves what it shows
        writer.writerows(row | {"canonical": f"{row['canonical']} corrected"} for row in rows)
    corrections = merged(parsed, tmp_path, str(edited))
    assert set(corrections) == {f"{written} corrected" for written in WRITTEN}


def test_corrections_without_a_column_name_the_file_and_its_columns(
    parsed: str, tmp_path: Path
) -> None:
    (tmp_path / "mine.csv").write_text("task,item_id,written,canonical\n")
    with pytest.raises(
        StudyError, match=r"mine\.csv: no column 'raw' \(its columns are task, item_id, wr"
    ):
        merged(parsed, tmp_path, str(tmp_path / "mine.csv"))

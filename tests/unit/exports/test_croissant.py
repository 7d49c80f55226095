"""The description of a study's tables agrees with their files and their row types."""

import hashlib
from pathlib import Path

import pytest

from fieldwork import tables
from fieldwork.exports.croissant import JsonObject, StudyLabel, croissant
from fieldwork.records.generation import Request
from fieldwork.records.parsing import MergedItem
from fieldwork.records.tasks import Item


@pytest.fixture
def description(tmp_path: Path) -> JsonObject:
    item = Item("q1", "choice", "Round?", "Round?", ["yes", "no"], "A", None, "test")
    for path, rows, row_type in (
        ("tasks/quiz.parquet", [item], Item),
        ("tasks/survey.parquet", [item], Item),
        ("answers/items.csv", [], MergedItem),
        ("requests/quiz/offline.parquet", [Request("q1", None, None, 0)], Request),
    ):
        tables.write_table(tmp_path / path, rows, row_type)
    return croissant(tmp_path, StudyLabel("mine", "0.1.0", None, None))


def test_every_file_with_its_hash(description: JsonObject, tmp_path: Path) -> None:
    files = {f["@id"]: f for f in description["distribution"] if f["@type"] == "cr:FileObject"}
    assert set(files) == {
        *("tasks/quiz.parquet", "tasks/survey.parquet", "answers/items.csv"),
        "requests/quiz/offline.parquet",
    }
    content = (tmp_path / "tasks/quiz.parquet").read_bytes()
    assert files["tasks/quiz.parquet"]["sha256"] == hashlib.sha256(content).hexdigest()
    assert files["answers/items.csv"]["encodingFormat"] == "text/csv"
    assert files["tasks/quiz.parquet"]["contentUrl"] == "tasks/quiz.parquet"


def test_every_column_with_its_meaning(description: JsonObject) -> None:
    sets = {record["@id"]: record for record in description["recordSet"]}
    assert set(sets) == {"items", "merged_items", "requests"}
    columns = {field["@id"]: field for field in sets["items"]["field"]}
    assert columns["items/item_id"]["description"] == "unique within the task"
    assert columns["items/choices"]["repeated"] is True
    assert columns["items/list_length"]["dataType"] == "sc:Integer"
    assert columns["items/item_id"]["source"] == {
        "fileSet": {"@id": "items-files"},
        "extract": {"column": "item_id"},
    }
    (merged,) = {str(f["source"].get("fileObject")) for f in sets["merged_items"]["field"]}
    assert "answers/items.csv" in merged

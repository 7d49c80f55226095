"""Tables as files for statistics programs: read back, every value, label and gap is the table's."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyreadstat
import pytest

from fieldwork import tables
from fieldwork.cells import mark_counted
from fieldwork.database import write_database
from fieldwork.errors import StudyError
from fieldwork.exports import data_files
from fieldwork.exports.data_files import DataSettings, write_data_files
from fieldwork.records.field import FieldAnswer
from fieldwork.records.generation import OptionProbability, Response
from fieldwork.records.judging import AlternativeAnnotator
from fieldwork.records.metrics import Novelty, RunAccuracy, ScoreSpread
from fieldwork.records.parsing import Answer
from fieldwork.records.tasks import Item
from unit.table_rows import answer_of, field_answer, response_of, row_of

PSEUDONYMS = ("p00c0ffee00c0ffee", "pdeadbeefdeadbeef")
RATERS = ("rfeedfacefeedface", "rbadc0de0badc0de0")
SECRET = "what a person wrote"
LABELS = {"offline": "No user", "history": "One conversation", "field": "Field"}
SETTINGS = DataSettings("mine", "0.1.0", {"gpt": "GPT ß"}, LABELS, has_field=False)


def answer(condition: str, puppet: str | None, item: str, **more: Any) -> Answer:
    keys = {"model": "gpt", "task": "quiz", "condition": condition, "puppet_id": puppet}
    return answer_of(**keys, item_id=item, **more)


def response(row: Answer, text: str | None) -> Response:
    names = ("model", "task", "condition", "item_id", "puppet_id", "replicate", "outcome")
    return response_of(text, **{name: getattr(row, name) for name in names})


GAMES = [OptionProbability("Go", 0.75), OptionProbability("Tea", 0.25)]
LIST = {"kind": "list", "raw_items": ["gogo", "Tee"], "items": ["Go", "Tea"]}
ASKED = [
    (answer("history", "u1", "q1", letter="A", letter_strict="A"), "A, naïvely 日本"),
    (answer("history", "u1", "q1", letter="B", letter_strict="B", replicate=1), "=B"),
    (answer("history", "u2", "q1", reason="no letter found"), "x" * 40_000),
    (answer("offline", None, "q1", reason="failed", outcome="failed"), None),
    (answer("offline", None, "l1", **LIST, option_probabilities=GAMES), "1. gogo\n2. Tee"),
]
OF_PEOPLE = [
    answer("field", PSEUDONYMS[1], "q1", letter="A", letter_strict="A", raw_items=[SECRET]),
    answer("field", PSEUDONYMS[0], "l1", kind="list", raw_items=[SECRET], items=["Go"]),
]


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("study")
    items = [
        Item("q1", "choice", "Round?", "Round?", ["yes", "no"], "A", None, "t"),
        Item("l1", "list", "Two games?", "Two games?", ["Go"] * 30, None, None, "t"),
    ]
    said = [
        field_answer(
            row.puppet_id or "", model="gpt", task="quiz", item_id=row.item_id, text=SECRET
        )
        for row in OF_PEOPLE
    ]
    runs = [
        RunAccuracy("gpt", "quiz", condition, 0, puppet, 0, 1.0, 1.0, 0.0, 1, 1, True)
        for condition, puppet in (("history", "u1"), ("field", PSEUDONYMS[1]))
    ]
    spread = row_of(ScoreSpread, model="gpt", task="quiz", condition="history", metric="em_strict",
                    baseline="offline", n_units=0, n_units_baseline=0, unit="puppet",
                    reason="too few <users>")  # fmt: skip
    annotators = [
        row_of(AlternativeAnnotator, scale="s", judge="gpt", person=name, n_units=1, penalty=0.1)
        for name in RATERS
    ]
    files = {}
    contents: Sequence[tuple[str, str, type[Any], list[Any]]] = (
        ("items", "tasks/quiz", Item, items),
        ("responses", "r", Response, [response(*pair) for pair in ASKED]),
        ("answers", "a", Answer, mark_counted([*(row for row, _ in ASKED), *OF_PEOPLE])),
        ("field_answers", "f", FieldAnswer, said),
        ("accuracy_runs", "c", RunAccuracy, runs),
        ("score_spreads", "s", ScoreSpread, [spread]),
        ("novelty", "n", Novelty, []),
        ("alternative_annotators", "v", AlternativeAnnotator, annotators),
    )
    for table, name, row_type, rows in contents:
        files[table] = [str(folder / f"{name}.parquet")]
        tables.write_rows(files[table][0], rows, row_type)
    write_database(folder / "study.duckdb", files)
    return folder / "study.duckdb"


@pytest.fixture(scope="module")
def export(database: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("export")
    write_data_files(folder, database, SETTINGS)
    return folder


@pytest.fixture(scope="module")
def export_with_field(database: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("export")
    write_data_files(folder, database, SETTINGS._replace(has_field=True))
    return folder


def cells(folder: Path, name: str) -> list[dict[str, str]]:
    csv.field_size_limit(10**6)
    with (folder / f"{name}.csv").open(newline="", encoding="utf-8") as handle:
        return list(csv.DictReader(handle))


def read(path: Path) -> tuple[pd.DataFrame, Any]:
    reader = pyreadstat.read_sav if path.suffix == ".sav" else pyreadstat.read_dta
    frame, meta = reader(path)
    return frame, meta


def book_of(folder: Path) -> Any:
    return json.loads((folder / "codebook.json").read_text(encoding="utf-8"))


def entries(folder: Path, table: str) -> dict[str, Any]:
    (entry,) = (t for t in book_of(folder)["tables"] if t["name"] == table)
    return {variable["name"]: variable for variable in entry["variables"]}


@pytest.mark.parametrize("ending", [".sav", ".dta"])
@pytest.mark.parametrize("name", ["answers", "items", "accuracy_runs", "score_spreads", "novelty"])
def test_what_is_read_back_is_what_csv_holds(export: Path, name: str, ending: str) -> None:
    book, variables = book_of(export), entries(export, name)
    frame, _ = read(export / f"{name}{ending}")
    rows = cells(export, name)
    assert list(frame.columns) == list(variables)
    assert len(frame) == len(rows)
    for key, variable in variables.items():
        codes = {c["code"]: c["value"] for c in book["codes"].get(variable["codes"] or "", ())}
        kind = variable["kind"]
        for cell, value in zip((row[key] for row in rows), frame[key], strict=True):
            if cell == "" or pd.isna(value):
                assert cell == ""
                assert value == "" if kind == "text" else pd.isna(value)
            elif kind == "code":
                assert codes[int(value)] == cell
            elif kind == "text":
                # CSV guards formulas
                is_cut = ending == ".sav" and len(value.encode()) == 32_766
                assert is_cut or value == cell.removeprefix("'")
            else:
                assert float(cell) == value


@pytest.mark.parametrize("ending", [".sav", ".dta"])
def test_labels_are_those_of_the_config_and_the_data_dictionary(export: Path, ending: str) -> None:
    frame, meta = read(export / f"answers{ending}")
    labels = dict(zip(meta.column_names, meta.column_labels, strict=True))
    assert labels["puppet_id"] == "the puppet or participant, missing offline"
    assert labels["items_2"].startswith("2. list: canonical options")
    values = meta.variable_value_labels
    assert values["model"] == {1: "GPT ß"}
    assert values["condition"] == {1: "No user", 2: "One conversation", 3: "Field"}
    assert values["outcome"][6] == "failed"
    assert values["is_correct"] == {0: "no", 1: "yes"}
    assert values["letter"] == values["gold"] == values["letter_strict"]
    assert meta.file_label == "answers of the study mine"
    assert frame["puppet_id"].isna().tolist() == [False, False, False, True, True]


def test_an_answer_says_whether_it_counts_and_is_right(export: Path) -> None:
    rows = {
        (r["condition"], r["puppet_id"], r["item_id"], r["replicate"]): r
        for r in cells(export, "answers")
    }
    first = rows["history", "u1", "q1", "0"]
    assert (first["counts"], first["is_correct"], first["gold"]) == ("1", "1", "A")
    assert first["text"] == "A, naïvely 日本"
    again = rows["history", "u1", "q1", "1"]
    assert (again["counts"], again["is_correct"]) == ("0", "0")
    assert again["left_out"] == "a later answer of the same user"
    assert again["text"] == "'=B"
    assert rows["history", "u2", "q1", "0"]["is_correct"] == "0"
    failed = rows["offline", "", "q1", "0"]
    assert (failed["is_correct"], failed["text"], failed["counts"]) == ("", "", "0")
    assert rows["offline", "", "l1", "0"]["option_probabilities"] == "Go=0.75; Tea=0.25"


def test_a_text_longer_than_spss_allows_is_cut_counted_and_said_and_bytes_are_equal(
    export: Path, database: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_data_files(tmp_path, database, SETTINGS)
    assert "answers.sav: 1 text(s) of text are longer than SPSS allows" in caplog.text
    assert entries(tmp_path, "answers")["text"]["n_cut"] == 1
    assert "(1 cut in .sav)" in (tmp_path / "codebook.html").read_text(encoding="utf-8")
    short = read(tmp_path / "answers.sav")[0]["text"][2]
    assert short.endswith("x…")
    assert len(short.encode()) == 32_766
    for path in export.iterdir():
        assert path.read_bytes() == (tmp_path / path.name).read_bytes(), path.name
    _, meta = read(export / "score_spreads.sav")
    assert f"{meta.creation_time:%m-%d %H:%M:%S}" == "01-01 00:00:00"


def test_no_row_of_real_users_unless_the_study_says_so(export: Path) -> None:
    assert {row["condition"] for row in cells(export, "answers")} == {"offline", "history"}
    assert {row["puppet_id"] for row in cells(export, "accuracy_runs")} == {"u1"}
    notes = {t["name"]: t["notes"] for t in book_of(export)["tables"]}
    assert "Rows of real users are left out" in notes["answers"][0]
    assert "explorer.field" in notes["accuracy_runs"][0]
    assert notes["items"] == notes["score_spreads"] == []


def test_real_users_have_numbers_and_no_texts(export_with_field: Path) -> None:
    rows = [row for row in cells(export_with_field, "answers") if row["condition"] == "field"]
    assert [(r["puppet_id"], r["item_id"], r["items_1"], r["letter"]) for r in rows] == [
        ("participant 0001", "l1", "Go", ""),
        ("participant 0002", "q1", "", "A"),
    ]
    assert {(row["text"], row["raw_items_1"]) for row in rows} == {("", "")}
    (run,) = (r for r in cells(export_with_field, "accuracy_runs") if r["condition"] == "field")
    assert run["puppet_id"] == "participant 0002"
    persons = [row["person"] for row in cells(export_with_field, "alternative_annotators")]
    assert persons == ["person 0001", "person 0002"]


@pytest.mark.parametrize("folder", ["export", "export_with_field"])
def test_no_file_holds_a_pseudonym_or_what_a_person_wrote(
    folder: str, request: pytest.FixtureRequest
) -> None:
    place: Path = request.getfixturevalue(folder)
    for path in place.iterdir():
        if path.suffix in (".sav", ".dta"):
            frame, meta = read(path)
            text = frame.to_csv() + str(meta.variable_value_labels)
        else:
            text = path.read_text(encoding="utf-8")
        assert not [secret for secret in (*PSEUDONYMS, *RATERS, SECRET) if secret in text], (
            path.name
        )


def test_the_codebook_says_what_a_variable_holds(export: Path) -> None:
    variables = entries(export, "answers")
    assert variables["puppet_id"] == {
        "name": "puppet_id", "column": "puppet_id", "kind": "code", "codes": "puppet_id",
        "label": "the puppet or participant, missing offline",
        "n_missing": 2, "missing_share": pytest.approx(0.4), "n_distinct": 2,
    }  # fmt: skip
    assert (variables["replicate"]["minimum"], variables["replicate"]["maximum"]) == (0, 1)
    codes = book_of(export)["codes"]["condition"]
    assert codes[1] == {"code": 2, "value": "history", "label": "One conversation"}
    page = (export / "codebook.html").read_text(encoding="utf-8")
    assert "<code>replicate</code>" in page
    assert '<a href="#codes_condition">' in page
    assert "<script" not in page


def test_a_table_of_many_rows_is_csv_alone(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data_files, "MOST_ROWS", 1)
    write_data_files(tmp_path, database, SETTINGS)
    assert not (tmp_path / "answers.sav").exists()
    assert (tmp_path / "score_spreads.dta").exists()
    (table,) = (t for t in book_of(tmp_path)["tables"] if t["name"] == "answers")
    assert table["files"] == ["answers.csv"]
    assert table["notes"][-1] == "A table of more than 1 rows is written as CSV alone."


def test_a_database_that_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "study.duckdb"
    path.write_bytes(b"nothing of the kind" * 1_000)
    with pytest.raises(StudyError, match="delete it so that it is made again"):
        write_data_files(tmp_path / "export", path, SETTINGS)

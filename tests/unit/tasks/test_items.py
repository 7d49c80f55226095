"""Items come out of every source alike, and a file that does not fit says where."""

import datetime
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fieldwork.errors import StudyError
from fieldwork.records.tasks import Item
from fieldwork.tasks.items import load_items, read_candidates, read_sources
from fieldwork.tasks.own_items import TaskSource, require_distinct
from unit.tasks.task_sources import OWN, changed, complaint, csv_file, items_of

LISTS = changed(OWN, kind="list")
WHOLE = {"item_id": "q", "question": "?", "option_a": "x", "option_b": "y"}


def test_choice_items_with_an_option_a_column(tmp_path: Path) -> None:
    header = "item_id,question,option_a,option_b,option_c,gold,subject"
    text = f"{header}\nq1,Which?,yes,no,maybe, b ,s\nq2,What {{x}}?,0,1,,,\n"
    first, second = items_of(tmp_path, text)
    assert first == Item(
        item_id="q1",
        kind="choice",
        question="Which?",
        prompt="Which?\nA. yes\nB. no\nC. maybe\n\nAnswer with only a single letter.",
        choices=["yes", "no", "maybe"],
        gold="B",
        subject="s",
        provenance="mine: items.csv",
    )
    assert (second.question, second.choices) == ("What {x}?", ["0", "1"])
    assert (second.gold, second.subject) == (None, None)


def test_list_items_may_say_how_many_options_they_ask_for(tmp_path: Path) -> None:
    items = items_of(tmp_path, "item_id,question,list_length\na,Which?,7\nb,What?,\n", kind="list")
    rows = {"item_id": ["a", "b"], "question": ["Which?", "What?"], "list_length": [7, None]}
    pq.write_table(pa.table(rows), tmp_path / "a.parquet")
    for one in (items, load_items([tmp_path / "a.parquet"], LISTS, {})):
        assert [item.list_length for item in one] == [7, None]


@pytest.mark.parametrize("cell", ["0", "-1", "101", "five", "2.5", "1e2", "٥", "nan"])
def test_a_number_of_options_that_is_none_is_named(tmp_path: Path, cell: str) -> None:
    words = rf"item 'films'.*`list_length` is '{cell}'; write a whole number from 1 to 100"
    with pytest.raises(StudyError, match=words):
        items_of(tmp_path, f"item_id,question,list_length\nfilms,Which?,{cell}\n", kind="list")


def test_a_file_may_hold_both_kinds(tmp_path: Path) -> None:
    text = "item_id,kind,prompt,option_a,option_b\nl,list,Name some.,,\nc,,Pick.,x,y\n"
    (tmp_path / "a.csv").write_text(text)
    candidates = {"l": ["z"], "c": ["z"]}
    items = load_items([tmp_path / "a.csv"], changed(OWN, kind="mixed"), candidates)
    kinds = [(item.kind, item.choices) for item in items]
    assert kinds == [("list", ["z"]), ("choice", ["x", "y"])]


@pytest.mark.parametrize(("kind", "other"), [("choice", "list"), ("list", "choice")])
def test_an_item_of_another_kind_than_its_source_is_refused(
    tmp_path: Path, kind: str, other: str
) -> None:
    message = f"items.csv: item 'q' is of kind {other}, but the task's source says kind: {kind}"
    with pytest.raises(StudyError, match=message):
        items_of(tmp_path, f'item_id,kind,question,choices\nq,{other},?,"[1, 2]"\n', kind=kind)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"item_id": ""}, "row 2: the column 'item_id' is empty"),
        ({"question": ""}, "row 2: item 'q': the column 'question' is empty; write the question"),
        ({"kind": "poem"}, "item 'q': kind 'poem' is unknown; write one of list, choice, scale"),
        ({"option_b": ""}, "item 'q': a choice question needs 2 to 10 options, but this one has 1"),
        ({"option_b": "", "option_c": "z"}, "there is an empty option before the last one"),
        ({"gold": "C"}, "the right option 'C' is neither the letter nor the text of one of the 2"),
        ({"gold": "1"}, "correct it, or say `gold: from_0` or `gold: from_1`"),
        ({"option_b": "A", "gold": "a"}, "is the letter of one option and the text of another"),
        ({"choices": '{"x": 1}'}, "item 'q': the column `choices` does not hold a list"),
        ({"choices": str([*range(11)])}, "needs 2 to 10 options, but this one has 11"),
        ({"choices": '["x", null]'}, "the list in the column `choices` has an empty option"),
    ],
)
def test_a_row_that_does_not_fit_is_named(
    tmp_path: Path, row: dict[str, str], message: str
) -> None:
    whole = WHOLE | row
    path = csv_file(tmp_path / "items.csv", [[*whole], [*whole.values()]])
    refusal = complaint([path], OWN)
    assert refusal.startswith(f"{path}: ")
    assert message in refusal


GERMAN = pd.DataFrame(
    [["1", "Welche?", "ja", "nein", "", "nein"], ["2", "Warum?", "x", "y", "z", "Z"]],
    columns=["Nr.", "Frage", "A", "B", "C", "richtig"],
)
MAPPED = changed(
    OWN,
    columns={"item_id": "Nr.", "question": "Frage", "options": ["A", "B", "C"], "gold": "richtig"},
)


@pytest.mark.parametrize("end", ["csv", "tsv", "csv.gz", "xlsx", "jsonl", "json", "parquet"])
def test_every_kind_of_file_gives_the_same_items(tmp_path: Path, end: str) -> None:
    path = tmp_path / f"a.{end}"
    if end == "xlsx":
        GERMAN.to_excel(path, index=False)
    elif end == "parquet":
        GERMAN.to_parquet(path)
    elif "json" in end:
        GERMAN.to_json(path, orient="records", lines=end == "jsonl")
    else:
        GERMAN.to_csv(path, index=False, sep="\t" if end == "tsv" else ";", encoding="utf-8-sig")
    first, second = load_items([path], MAPPED, {})
    assert (first.item_id, first.question) == ("1", "Welche?")
    assert (first.choices, first.gold) == (["ja", "nein"], "B")
    assert (second.choices, second.gold) == (["x", "y", "z"], "C")


def test_a_column_that_is_mapped_must_be_there(tmp_path: Path) -> None:
    path = csv_file(tmp_path / "a.csv", [[*GERMAN.columns], *GERMAN.to_numpy().tolist()])
    refusal = complaint([path], changed(MAPPED, columns={"question": "Question"}))
    assert refusal == (
        f"{path}: has no column 'Question', which `columns.question` of the task's source names; "
        f"correct that setting, the columns of the file are Nr., Frage, A, B, C, richtig"
    )


def test_rows_without_ids_are_numbered_as_they_stand(tmp_path: Path) -> None:
    items = items_of(tmp_path, "prompt,note\na,\n,\nc,\n", kind="list")
    assert [item.item_id for item in items] == ["items-000", "items-001"]


@pytest.mark.parametrize(
    ("gold", "form", "letter"),
    [
        ("b", "auto", "B"),
        ("B.", "letter", "B"),
        ("Lyon", "auto", "B"),
        ("paris", "text", "A"),
        ("0", "from_0", "A"),
        (2, "from_1", "B"),
        (None, "auto", None),
    ],
)
def test_the_right_option_is_a_letter_a_text_or_a_number(
    tmp_path: Path, gold: Any, form: Any, letter: str | None
) -> None:
    row = {"item_id": "q", "question": "?", "choices": ["paris", "Lyon", "PARIS"], "gold": gold}
    path = tmp_path / "items.json"
    path.write_text(json.dumps([row]))
    (item,) = load_items([path], changed(OWN, gold=form), {})
    assert item.gold == letter


def test_options_in_one_mapped_column_and_cells_that_hold_no_text(tmp_path: Path) -> None:
    path, row = tmp_path / "a.jsonl", {"q": "?", "answers": ["x", 2, True], "right": "2"}
    source = changed(OWN, columns={"question": "q", "options": "answers", "gold": "right"})
    path.write_text(json.dumps(row))
    (item,) = load_items([path], source, {})
    assert (item.item_id, item.choices, item.gold) == ("a-000", ["x", "2", "True"], "B")
    path.write_text(json.dumps(row | {"q": ["?"]}))
    assert "q holds a list or an object; write a text" in complaint([path], source)


def test_a_text_that_excel_made_a_date_is_refused(tmp_path: Path) -> None:
    """`1-2` and `May 5` become dates as they are typed, and no longer say what was written."""
    rows = {
        "question": ["When?"],
        "option_a": ["today"],
        "option_b": [datetime.datetime(2026, 5, 5)],
    }
    pd.DataFrame(rows).to_excel(tmp_path / "a.xlsx", index=False)
    words = "row 2: item 'a-000': option_b is a date in the workbook; format the cell as text"
    assert words in complaint([tmp_path / "a.xlsx"], OWN)


def test_selection_keeps_its_order_and_refuses_what_is_not_there(tmp_path: Path) -> None:
    text = "item_id,prompt\na,p\nb,p\nc,p\nd,p\n"
    items = items_of(tmp_path, text, kind="list", item_ids=["c", "a"])
    assert [item.item_id for item in items] == ["c", "a"]
    words = "^mine: has no item 'z'; correct `item_ids`, the items begin with a, b, c$"
    with pytest.raises(StudyError, match=words):
        items_of(tmp_path, text, kind="list", item_ids=["a", "z"])


def test_no_items_and_repeated_items_are_refused(tmp_path: Path) -> None:
    words = "mine: there are no items in no file; `format: items` expects"
    assert complaint([], LISTS).startswith(words)
    with pytest.raises(
        StudyError, match=r"^mine: items.csv: item_id 'a' occurs twice; rename one$"
    ):
        items_of(tmp_path, "item_id,prompt\na,p\na,q\n", kind="list")
    first, second = (Item("a", "list", "q", "p", [], None, None, name) for name in ("a.csv", "b"))
    with pytest.raises(StudyError, match=r"^b: item_id 'a' occurs twice, first in a\.csv; rename"):
        require_distinct([first, second])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("item_id,candidate\na,x\na,\n", "a row has no item_id or no candidate"),
        ("item_id,candidate\na,x\n,x\n", "a row has no item_id or no candidate"),
        ("item_id,answer\na,x\n", r"no column 'candidate' \(its columns are item_id, answer\)"),
    ],
)
def test_candidates(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "c.csv"
    path.write_text("item_id,candidate\na,x\nb,y\na,z\n")
    assert read_candidates(str(path)) == {"a": ["x", "z"], "b": ["y"]}
    path.write_text(text)
    with pytest.raises(StudyError, match=words):
        read_candidates(str(path))


def test_a_task_is_read_source_by_source(tmp_path: Path) -> None:
    texts = {
        "names": "item_id,prompt\ndogs,Name five dogs.\n",
        "letters": "item_id,question,option_a,option_b,gold\nends,Which?,x,y,B\n",
        "candidates": "item_id,candidate\ndogs,Beagle\n",
    }
    names, letters, candidates = (str(tmp_path / f"{name}.csv") for name in texts)
    for name, text in texts.items():
        (tmp_path / f"{name}.csv").write_text(text)
    own = changed(LISTS, files=[names], candidates=candidates)
    dogs, ends = read_sources([own, TaskSource(format="items", dataset="b", files=[letters])])
    assert (dogs.item_id, dogs.kind, dogs.choices) == ("dogs", "list", ["Beagle"])
    assert (ends.item_id, ends.kind, ends.gold) == ("ends", "choice", "B")
    with pytest.raises(StudyError, match="'dogs' occurs twice"):
        read_sources([own, own])

"""Items come out of every source alike, and a file that does not fit says where."""

import csv
import datetime
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fieldwork.errors import StudyError
from fieldwork.records.tasks import Item, ItemKind
from fieldwork.tasks.items import load_items, read_candidates, read_sources
from fieldwork.tasks.own_items import TaskSource, require_distinct
from unit.tasks.task_sources import changed

HOME = Path(__file__).resolve().parents[3]
MMLU_ROWS = [
    ["Two and two, is?", "3", "4", "5", "six, or so", "B"],
    ['"Quoted"\nline', *"wxyz", "D"],
]
OWN = TaskSource(format="items", dataset="mine")
LISTS = changed(OWN, kind="list")


def csv_file(path: Path, rows: Sequence[Sequence[object]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as handle:
        csv.writer(handle).writerows(rows)
    return path


def own_file(folder: Path, suffix: str, columns: dict[str, list[Any]]) -> Path:
    path = folder / f"items{suffix}"
    if suffix == ".parquet":
        pq.write_table(pa.table(columns), path)
        return path
    return csv_file(path, [list(columns), *zip(*columns.values(), strict=True)])


def complaint(files: list[Path], options: TaskSource) -> str:
    with pytest.raises(StudyError) as caught:
        load_items(files, options, {})
    assert "\n" not in str(caught.value)
    return str(caught.value)


# ---- items of one's own --------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_choice_items_with_an_option_a_column(tmp_path: Path, suffix: str) -> None:
    columns = {
        "item_id": ["q1", "q2"],
        "question": ["Which?", "What {x}?"],
        "option_a": ["yes", "0"],
        "option_b": ["no", "1"],
        "option_c": ["maybe", ""],
        "gold": [" b ", ""],
        "subject": ["s", ""],
    }
    first, second = load_items([own_file(tmp_path, suffix, columns)], OWN, {})
    assert first == Item(
        item_id="q1",
        kind="choice",
        question="Which?",
        prompt="Which?\nA. yes\nB. no\nC. maybe\n\nAnswer with only a single letter.",
        choices=["yes", "no", "maybe"],
        gold="B",
        subject="s",
        provenance=f"mine: items{suffix}",
    )
    assert (second.choices, second.gold, second.subject) == (["0", "1"], None, None)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_list_items_may_say_how_many_options_they_ask_for(tmp_path: Path, suffix: str) -> None:
    columns = {"item_id": ["a", "b"], "question": ["Which?", "What?"], "list_length": [7, None]}
    if suffix == ".csv":
        columns["list_length"] = ["7", ""]
    items = load_items([own_file(tmp_path, suffix, columns)], LISTS, {})
    assert [item.list_length for item in items] == [7, None]


@pytest.mark.parametrize("cell", ["0", "-1", "101", "five", "2.5", "1e2", "٥", "nan"])
def test_a_number_of_options_that_is_none_is_named(tmp_path: Path, cell: str) -> None:
    columns = {"item_id": ["films"], "question": ["Which?"], "list_length": [cell]}
    message = complaint([own_file(tmp_path, ".csv", columns)], LISTS)
    assert "item 'films'" in message
    assert f"`list_length` is {cell!r}; write a whole number from 1 to 100" in message


def test_a_file_may_hold_both_kinds(tmp_path: Path) -> None:
    columns = {
        "item_id": ["l", "c"],
        "kind": ["list", ""],
        "prompt": ["Name some.", "Pick."],
        "option_a": ["", "x"],
        "option_b": ["", "y"],
    }
    listed, chosen = load_items(
        [own_file(tmp_path, ".csv", columns)], changed(OWN, kind="mixed"), {"l": ["z"], "c": ["z"]}
    )
    assert (listed.kind, listed.choices) == ("list", ["z"])
    assert (chosen.kind, chosen.choices) == ("choice", ["x", "y"])


@pytest.mark.parametrize(("kind", "other"), [("choice", "list"), ("list", "choice")])
def test_an_item_of_another_kind_than_its_source_is_refused(
    tmp_path: Path, kind: ItemKind, other: str
) -> None:
    columns = {"item_id": ["q"], "kind": [other], "question": ["?"], "choices": ['["x", "y"]']}
    message = f"items.csv: item 'q' is of kind {other}, but the task's source says kind: {kind}"
    with pytest.raises(StudyError, match=message):
        load_items([own_file(tmp_path, ".csv", columns)], changed(OWN, kind=kind), {})


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"item_id": ""}, "row 2: the column 'item_id' is empty"),
        (
            {"question": ""},
            "row 2: item 'q': the column 'question' is empty; write the question there, or",
        ),
        (
            {"kind": "poem"},
            "item 'q': kind 'poem' is unknown; write one of list, choice, scale, number, text",
        ),
        (
            {"option_b": ""},
            "item 'q': a choice question needs 2 to 10 options, but this one has 1; write them",
        ),
        ({"option_b": "", "option_c": "z"}, "there is an empty option before the last one"),
        (
            {"gold": "C"},
            "item 'q': the right option 'C' is neither the letter nor the text of one of the 2 "
            "options; correct it",
        ),
        (
            {"gold": "1"},
            "correct it, or say `gold: from_0` or `gold: from_1`",
        ),
        (
            {"option_b": "A", "gold": "a"},
            "the right option 'a' is the letter of one option and the text of another",
        ),
        ({"choices": '{"x": 1}'}, "item 'q': the column `choices` does not hold a list"),
        (
            {"choices": str(list(range(11)))},
            "item 'q': a choice question needs 2 to 10 options, but this one has 11",
        ),
        (
            {"choices": '["x", null]'},
            "item 'q': the list in the column `choices` has an empty option",
        ),
    ],
)
def test_a_row_that_does_not_fit_is_named(
    tmp_path: Path, row: dict[str, str], message: str
) -> None:
    whole = {"item_id": "q", "question": "?", "option_a": "x", "option_b": "y", **row}
    path = own_file(tmp_path, ".csv", {key: [value] for key, value in whole.items()})
    refusal = complaint([path], OWN)
    assert refusal.startswith(f"{path}: ")
    assert message in refusal


GERMAN = {
    "Nr.": ["1", "2"],
    "Frage": ["Welche?", "Warum?"],
    "A": ["ja", "x"],
    "B": ["nein", "y"],
    "C": ["", "z"],
    "richtig": ["nein", "Z"],
}
MAPPED = changed(
    OWN,
    columns={"item_id": "Nr.", "question": "Frage", "options": ["A", "B", "C"], "gold": "richtig"},
)


@pytest.mark.parametrize(
    "name", ["a.csv", "a.tsv", "a.csv.gz", "a.xlsx", "a.jsonl", "a.json", "a.parquet"]
)
def test_every_kind_of_file_gives_the_same_items(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    frame = pd.DataFrame(GERMAN)
    if name == "a.xlsx":
        frame.to_excel(path, index=False)
    elif name == "a.parquet":
        frame.to_parquet(path)
    elif ".json" in name:
        frame.to_json(path, orient="records", lines=name.endswith("l"))
    else:
        frame.to_csv(path, index=False, sep=("\t" if ".tsv" in name else ";"), encoding="utf-8-sig")
    first, second = load_items([path], MAPPED, {})
    assert (first.item_id, first.question, first.choices, first.gold) == (
        "1",
        "Welche?",
        ["ja", "nein"],
        "B",
    )
    assert (second.choices, second.gold) == (["x", "y", "z"], "C")


def test_a_column_that_is_mapped_must_be_there(tmp_path: Path) -> None:
    path = own_file(tmp_path, ".csv", GERMAN)
    refusal = complaint([path], changed(MAPPED, columns={"question": "Question"}))
    assert refusal == (
        f"{path}: has no column 'Question', which `columns.question` of the task's source names; "
        f"correct that setting, the columns of the file are Nr., Frage, A, B, C, richtig"
    )


def test_rows_without_ids_are_numbered_as_they_stand(tmp_path: Path) -> None:
    path = own_file(tmp_path, ".csv", {"prompt": ["a", "", "c"], "note": ["", "", ""]})
    assert [item.item_id for item in load_items([path], LISTS, {})] == ["items-000", "items-001"]


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
    rows = [{"q": "?", "answers": ["x", 2, True], "right": "2"}]
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(rows[0]))
    columns = {"question": "q", "options": "answers", "gold": "right"}
    (item,) = load_items([path], changed(OWN, columns=columns), {})
    assert (item.item_id, item.choices, item.gold) == ("a-000", ["x", "2", "True"], "B")
    path.write_text(json.dumps({"q": ["?"], "answers": ["x", "y"], "right": "x"}))
    assert "q holds a list or an object; write a text" in complaint(
        [path], changed(OWN, columns=columns)
    )


def test_a_text_that_excel_made_a_date_is_refused(tmp_path: Path) -> None:
    """`1-2` and `May 5` become dates as they are typed, and no longer say what was written."""
    day = datetime.datetime(2026, 5, 5)
    rows = {"question": ["When?"], "option_a": ["today"], "option_b": [day]}
    pd.DataFrame(rows).to_excel(tmp_path / "a.xlsx", index=False)
    refusal = complaint([tmp_path / "a.xlsx"], OWN)
    assert (
        "row 2: item 'a-000': option_b is a date in the workbook; format the cell as text"
        in refusal
    )


def test_selection_keeps_its_order_and_refuses_what_is_not_there(tmp_path: Path) -> None:
    path = own_file(tmp_path, ".csv", {"item_id": list("abcd"), "prompt": ["p"] * 4})
    chosen = load_items([path], changed(LISTS, item_ids=["c", "a"]), {})
    assert [item.item_id for item in chosen] == ["c", "a"]
    refusal = complaint([path], changed(LISTS, item_ids=["a", "z"]))
    assert refusal == "mine: has no item 'z'; correct `item_ids`, the items begin with a, b, c"


def test_no_items_and_repeated_items_are_refused(tmp_path: Path) -> None:
    assert complaint([], LISTS).startswith(
        "mine: there are no items in no file; `format: items` expects"
    )
    path = own_file(tmp_path, ".csv", {"item_id": ["a", "a"], "prompt": ["p", "q"]})
    assert complaint([path], LISTS) == "mine: items.csv: item_id 'a' occurs twice; rename one"
    first, second = (Item("a", "list", "q", "p", [], None, None, name) for name in ("a.csv", "b"))
    with pytest.raises(StudyError, match=r"^b: item_id 'a' occurs twice, first in a\.csv; rename"):
        require_distinct([first, second])


def test_candidates(tmp_path: Path) -> None:
    rows = [["item_id", "candidate"], ["a", "x"], ["b", "y"], ["a", "z"]]
    path = csv_file(tmp_path / "c.csv", rows)
    assert read_candidates(str(path)) == {"a": ["x", "z"], "b": ["y"]}
    for bad in ([*rows, ["a", ""]], [*rows, ["", "x"]]):
        with pytest.raises(StudyError, match="a row has no item_id or no candidate"):
            read_candidates(str(csv_file(tmp_path / "bad.csv", bad)))
    with pytest.raises(
        StudyError, match=r"no column 'candidate' \(its columns are item_id, answer\)"
    ):
        read_candidates(str(csv_file(tmp_path / "bad.csv", [["item_id", "answer"], ["a", "x"]])))


def test_a_task_is_read_source_by_source(tmp_path: Path) -> None:
    names = csv_file(tmp_path / "names.csv", [["item_id", "prompt"], ["dogs", "Name five dogs."]])
    letters = csv_file(
        tmp_path / "letters.csv",
        [
            ["item_id", "question", "option_a", "option_b", "gold"],
            ["ends", "Which?", "x", "y", "B"],
        ],
    )
    candidates = csv_file(tmp_path / "c.csv", [["item_id", "candidate"], ["dogs", "Beagle"]])
    own = TaskSource(
        format="items", dataset="own", kind="list", files=[str(names)], candidates=str(candidates)
    )
    other = TaskSource(format="items", dataset="b", files=[str(letters)])
    dogs, ends = read_sources([own, other])
    assert (dogs.item_id, dogs.kind, dogs.choices) == ("dogs", "list", ["Beagle"])
    assert (ends.item_id, ends.kind, ends.gold) == ("ends", "choice", "B")
    with pytest.raises(StudyError, match="'dogs' occurs twice"):
        read_sources([own, own])

"""Items come out of every source alike, and a file that does not fit says where."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fieldwork.errors import StudyError
from fieldwork.records import Item, ItemKind
from fieldwork.tasks.item_checks import require_distinct
from fieldwork.tasks.items import (
    SourceOptions,
    load_items,
    read_candidates,
    read_records,
)

HOME = Path(__file__).resolve().parents[3]
MMLU_ROWS = [
    ["Two and two, is?", "3", "4", "5", "six, or so", "B"],
    ['"Quoted"\nline', *"wxyz", "D"],
]
OWN = SourceOptions("items", "mine")
LISTS = OWN._replace(kind="list")


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


def complaint(files: list[Path], options: SourceOptions) -> str:
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
def test_choice_items_with_a_list_of_choices(tmp_path: Path, suffix: str) -> None:
    choices: list[Any] = [["x", "y"]] if suffix == ".parquet" else ['["x", "y"]']
    columns = {"item_id": ["q"], "prompt": ["Pick A or B."], "choices": choices}
    (item,) = load_items([own_file(tmp_path, suffix, columns)], OWN, {})
    assert (item.choices, item.prompt, item.question) == (
        ["x", "y"],
        "Pick A or B.",
        "Pick A or B.",
    )


def test_values_of_parquet_may_be_numbers_or_missing(tmp_path: Path) -> None:
    columns: dict[str, list[Any]] = {
        "item_id": [0, 1],
        "question": ["Zero?", "One?"],
        "prompt": [None, " Zero or one?\n"],
        "option_a": [0, 0],
        "option_b": [1, 1],
        "gold": ["A", None],
        "subject": [7, None],
    }
    zero, one = load_items([own_file(tmp_path, ".parquet", columns)], OWN, {})
    assert (zero.item_id, zero.choices, zero.gold, zero.subject) == ("0", ["0", "1"], "A", "7")
    assert zero.prompt.startswith("Zero?\nA. 0\nB. 1\n")
    assert (one.gold, one.prompt) == (None, " Zero or one?\n")


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_list_items(tmp_path: Path, suffix: str) -> None:
    columns = {
        "item_id": ["films", "books"],
        "domain": ["film", "print"],
        "question": ["Which films?", "Which books?"],
        "prompt": ["Name five films.", ""],
    }
    path = own_file(tmp_path, suffix, columns)
    films, books = load_items([path], LISTS, {"films": ["Alien", "Heat"], "other": ["x"]})
    assert films == Item(
        item_id="films",
        kind="list",
        question="Which films?",
        prompt="Name five films.",
        choices=["Alien", "Heat"],
        gold=None,
        subject="film",
        provenance=f"mine: items{suffix}",
    )
    assert (books.prompt, books.choices) == ("Which books?", [])


def test_a_file_may_hold_both_kinds(tmp_path: Path) -> None:
    columns = {
        "item_id": ["l", "c"],
        "kind": ["list", ""],
        "prompt": ["Name some.", "Pick."],
        "option_a": ["", "x"],
        "option_b": ["", "y"],
    }
    listed, chosen = load_items(
        [own_file(tmp_path, ".csv", columns)], OWN._replace(kind="mixed"), {"l": ["z"], "c": ["z"]}
    )
    assert (listed.kind, listed.choices) == ("list", ["z"])
    assert (chosen.kind, chosen.choices) == ("choice", ["x", "y"])


@pytest.mark.parametrize(("kind", "other"), [("choice", "list"), ("list", "choice")])
def test_an_item_of_another_kind_than_its_source_is_refused(
    tmp_path: Path, kind: ItemKind, other: str
) -> None:
    columns = {"item_id": ["q"], "kind": [other], "question": ["?"], "choices": ['["x", "y"]']}
    message = f"items.csv: item 'q' is of kind {other}, and the task's source says kind: {kind}"
    with pytest.raises(StudyError, match=message):
        load_items([own_file(tmp_path, ".csv", columns)], OWN._replace(kind=kind), {})


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"item_id": ""}, "every row needs a value in column 'item_id'"),
        ({"question": ""}, "item 'q' has neither `question` nor `prompt`"),
        ({"kind": "essay"}, "item 'q': kind 'essay' is neither `list` nor `choice`"),
        ({"option_b": ""}, "choice item 'q' has 1 choices; give 2 to 10"),
        ({"option_b": "", "option_c": "z"}, "an option is empty before the last one"),
        ({"gold": "C"}, "item 'q': gold 'C' is no letter of its choices"),
        ({"gold": "AB"}, "item 'q': gold 'AB' is no letter of its choices"),
        ({"gold": "1"}, "item 'q': gold '1' is no letter of its choices"),
        ({"choices": "x, y"}, "item 'q': `choices` is no JSON list"),
        ({"choices": '{"x": 1}'}, "item 'q': `choices` is no list"),
        ({"choices": "3"}, "item 'q': `choices` is no list"),
        ({"choices": str(list(range(11)))}, "choice item 'q' has 11 choices"),
        ({f"option_{x}": x for x in "abcdefghijk"}, "choice item 'q' has 11 choices; give 2 to 10"),
        ({"choices": '["x", null]'}, "item 'q': one of its `choices` is empty"),
        ({"choices": '["x", " "]'}, "item 'q': one of its `choices` is empty"),
    ],
)
def test_a_row_that_does_not_fit_is_named(
    tmp_path: Path, row: dict[str, str], message: str
) -> None:
    whole = {"item_id": "q", "question": "?", "option_a": "x", "option_b": "y", **row}
    path = own_file(tmp_path, ".csv", {key: [value] for key, value in whole.items()})
    told = complaint([path], OWN)
    assert told.startswith(f"{path}: ")
    assert message in told


def test_selection_keeps_its_order_and_refuses_what_is_not_there(tmp_path: Path) -> None:
    path = own_file(tmp_path, ".csv", {"item_id": list("abcd"), "prompt": ["p"] * 4})
    chosen = load_items([path], LISTS._replace(item_ids=("c", "a")), {})
    assert [item.item_id for item in chosen] == ["c", "a"]
    told = complaint([path], LISTS._replace(item_ids=("a", "z")))
    assert told == "mine: no item 'z' (there are a, b, c, …)"


def test_no_items_and_repeated_items_are_refused(tmp_path: Path) -> None:
    assert complaint([], LISTS).startswith("mine: no items in no file; format items wants")
    path = own_file(tmp_path, ".csv", {"item_id": ["a", "a"], "prompt": ["p", "q"]})
    assert complaint([path], LISTS) == "mine: item_id 'a' occurs twice; rename one"
    item = Item("a", "list", "q", "p", [], None, None, "")
    with pytest.raises(StudyError, match=r"^t\.parquet: item_id 'a' occurs twice"):
        require_distinct([item, item], "t.parquet")


def test_candidates(tmp_path: Path) -> None:
    rows = [["item_id", "candidate"], ["a", "x"], ["b", "y"], ["a", "z"]]
    path = csv_file(tmp_path / "c.csv", rows)
    assert read_candidates(str(path)) == {"a": ["x", "z"], "b": ["y"]}
    for bad in ([*rows, ["a", ""]], [*rows, ["", "x"]]):
        with pytest.raises(StudyError, match="every row needs item_id and candidate"):
            read_candidates(str(csv_file(tmp_path / "bad.csv", bad)))
    with pytest.raises(StudyError, match=r"no column 'candidate' \(there are item_id, answer\)"):
        read_candidates(str(csv_file(tmp_path / "bad.csv", [["item_id", "answer"], ["a", "x"]])))


@pytest.mark.parametrize("name", ["items.json", "items.tsv", "items.gz", "items"])
def test_only_csv_and_parquet_are_read(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    with pytest.raises(StudyError, match=r"items are read from \.csv, \.csv\.gz or \.parquet"):
        read_records(tmp_path / name)


def test_shipped_recommendations_have_candidates() -> None:
    folder = HOME / "resources" / "tasks"
    candidates = read_candidates(str(folder / "candidates.csv"))
    items = load_items([folder / "recommendations.csv"], LISTS, candidates)
    assert len(items) == 9
    assert all(len(item.choices) == 40 for item in items)
    assert all(item.subject and item.question != item.prompt for item in items)

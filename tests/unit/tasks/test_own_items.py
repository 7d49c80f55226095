"""Questions that would be asked otherwise than they are meant are refused before anything is paid."""

from pathlib import Path
from typing import Any

import pytest

from fieldwork.errors import StudyError
from fieldwork.records.tasks import Item
from fieldwork.tasks.items import load_items
from fieldwork.tasks.own_items import TaskSource, require_distinct, require_sound
from unit.tasks.task_sources import changed

SOUND: dict[str, Any] = {
    "item_id": "q",
    "kind": "choice",
    "question": "Which?\n\tOne:",
    "prompt": "Which?\r\nA or B",
    "choices": ["AA", "Aa", "aa "],
    "gold": None,
    "subject": None,
    "provenance": "mine: items.csv",
}


def test_a_sound_question_passes() -> None:
    require_sound([Item(**SOUND), Item(**SOUND | {"kind": "list", "choices": ["a", "a"]})])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"choices": ["yes", "no", "yes"]}, "options A and C have the same text 'yes'"),
        ({"choices": ["yes", "y\u200bes\ufeff"]}, "options A and B have the same text 'yes'"),
        ({"choices": ["café", "cafe\u0301"]}, "options A and B have the same text 'café'"),
        ({"choices": ["yes", " yes"]}, "options A and B have the same text 'yes'"),
        ({"choices": ["so  so", "no", "so\nso"]}, "options A and C have the same text 'so so'"),
        ({"question": "Which\x00?"}, "control character U+0000"),
        ({"prompt": "\x1b[31mWhich?"}, "control character U+001B"),
        ({"choices": ["a", "b\x07"]}, "control character U+0007"),
        ({"subject": "s\x7f"}, "control character U+007F"),
        ({"item_id": "q "}, "begins or ends with a space"),
        ({"item_id": "\u00a0q"}, "begins or ends with a space"),
    ],
)
def test_a_question_that_does_not_say_what_is_meant(change: dict[str, Any], words: str) -> None:
    item = Item(**SOUND | change)
    with pytest.raises(StudyError) as caught:
        require_sound([Item(**SOUND), item])
    assert str(caught.value).startswith(f"mine: items.csv: item {item.item_id!r}: ")
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("ids", "words"),
    [
        (["q", "q"], "item_id 'q' occurs twice; rename one"),
        (["q 1", "q  1"], "item_id 'q  1' occurs twice (as 'q 1', with other spaces); rename one"),
        (
            ["q", "q\u200b"],
            "item_id 'q\\u200b' occurs twice (as 'q', with other spaces); rename one",
        ),
        (["q", "q\t"], "item_id 'q\\t' occurs twice (as 'q', with other spaces); rename one"),
    ],
)
def test_ids_that_differ_by_blanks_are_one(ids: list[str], words: str) -> None:
    items = [Item(**SOUND | {"item_id": item_id}) for item_id in ids]
    with pytest.raises(StudyError) as caught:
        require_distinct(items)
    assert str(caught.value) == f"mine: items.csv: {words}"
    require_distinct([Item(**SOUND | {"item_id": item_id}) for item_id in ("q", "Q")])


def test_only_questions_that_are_asked_are_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "items.csv"
    path.write_text("item_id,question,option_a,option_b\nq,?,x,y\nr,?,x,x\n")
    options = TaskSource(format="items", dataset="mine")
    with pytest.raises(StudyError, match="item 'r': options A and B have the same text"):
        load_items([path], options, {})
    (item,) = load_items([path], changed(options, item_ids=["q"]), {})
    assert item.choices == ["x", "y"]


@pytest.mark.parametrize(
    ("options", "names", "words"),
    [
        (
            TaskSource(format="items", dataset="mine"),
            "a",
            r"there are no items in .*/a\.csv; `format: items` expects a header",
        ),
        (
            TaskSource(format="mmlu", dataset="mine"),
            "ab",
            r"there are no items in .*/a\.csv, .*/b\.csv; `format: mmlu` expects",
        ),
        (
            TaskSource(format="ethics", dataset="mine", subjects=["virtue"]),
            "abcde",
            r"there are no items of the subjects virtue in .*/a\.csv, .*/c\.csv and 2 more; "
            "`format: ethics` expects",
        ),
    ],
)
def test_files_without_items_are_named(
    tmp_path: Path, options: TaskSource, names: str, words: str
) -> None:
    files = [tmp_path / f"{name}.csv" for name in names]
    for file in files:
        file.write_text("item_id,question\n")
    with pytest.raises(StudyError, match=f"^mine: {words}"):
        load_items(files, options, {})


def items_with(tmp_path: Path, rows: dict[str, Any]) -> list[Item]:
    path = tmp_path / "q.csv"
    path.write_text("item_id,question,language\n1,Hva?,no\n2,What?,en\n3,Was?,de\n")
    return load_items(
        [path], TaskSource(format="items", dataset="mine", kind="list", rows=rows), {}
    )


def test_a_rule_that_no_row_fits_says_what_the_column_has(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(StudyError) as caught:
        items_with(tmp_path, {"language": "False"})
    assert str(caught.value) == (
        "rows of the task's source mine: none of the 3 rows in q.csv has these values; correct them "
        "(language has 'no', 'en', 'de')"
    )
    assert len(items_with(tmp_path, {"language": ["no", "en"]})) == 2
    assert caplog.text == ""
    assert len(items_with(tmp_path, {"language": ["nb", "en"]})) == 1
    assert "no row of q.csv has nb; the column has 'no', 'en', 'de'" in caplog.text


def test_true_of_json_is_the_word(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text('{"item_id": "1", "question": "What?", "checked": true}\n')
    options = TaskSource(format="items", dataset="mine", kind="list", rows={"checked": "true"})
    assert len(load_items([path], options, {})) == 1

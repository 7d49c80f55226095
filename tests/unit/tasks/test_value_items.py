"""Scales, numbers and texts in files of questions, and what is wrong with them."""

from pathlib import Path
from typing import Any

import pytest

from fieldwork.errors import StudyError
from fieldwork.records.tasks import Item
from fieldwork.sections.tasks import NumberForm, ScaleForm
from fieldwork.tasks.items import load_items
from fieldwork.tasks.own_items import TaskSource

AGREE = ["Disagree", "Neither", "Agree"]


def read(tmp_path: Path, text: str, kind: Any, **settings: Any) -> list[Item]:
    (tmp_path / "mine.csv").write_text(text, encoding="utf-8")
    options = TaskSource(format="items", dataset="mine", kind=kind, **settings)
    return load_items([tmp_path / "mine.csv"], options, {})


def read_scales(tmp_path: Path, text: str, **form: Any) -> list[Item]:
    return read(tmp_path, text, "scale", scale=ScaleForm(**{"labels": AGREE} | form))


def test_labels_of_the_source_are_numbered_and_put_into_the_prompt(tmp_path: Path) -> None:
    (item,) = read_scales(tmp_path, "item_id,question\nq,I plan.\n", missing_options=["Don't know"])
    assert item.choices == [*AGREE, "Don't know"]
    assert item.marks == ["1", "2", "3", "4"]
    assert item.points == [1.0, 2.0, 3.0]
    assert item.prompt == (
        "I plan.\n1. Disagree\n2. Neither\n3. Agree\n4. Don't know\n\nAnswer with only a single number."
    )


@pytest.mark.parametrize(
    ("reversed_cell", "order", "points"),
    [
        ("", "ascending", [0.0, 1.0, 2.0]),
        ("yes", "ascending", [2.0, 1.0, 0.0]),
        ("No", "descending", [2.0, 1.0, 0.0]),
        ("TRUE", "descending", [0.0, 1.0, 2.0]),
    ],
)
def test_reversed_items_and_descending_scales_turn_the_values(
    tmp_path: Path, reversed_cell: str, order: str, points: list[float]
) -> None:
    text = f"item_id,question,reversed\nq,I plan.,{reversed_cell}\n"
    (item,) = read_scales(tmp_path, text, first=0, order=order)
    assert item.points == points
    assert item.marks == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("cells", "marks"),
    [
        ("0,1,2", ["0", "1", "2"]),
        ("1.0,2.0,3.0", ["1", "2", "3"]),
        ("-1,0,1", ["-1", "0", "1"]),
        ("Never,1,Often", ["0", "1", "2"]),
    ],
)
def test_labels_that_are_numbers_say_with_which_a_scale_begins(
    tmp_path: Path, cells: str, marks: list[str]
) -> None:
    text = f"item_id,question,option_a,option_b,option_c\nq,Happy?,{cells}\n"
    (item,) = read(tmp_path, text, "scale")
    assert item.marks == marks
    assert item.points == [float(mark) for mark in marks]


@pytest.mark.parametrize(
    ("cell", "limit"),
    [("1.0", 1), ("1", 1), ('"0,5"', 0.5), ("-2.50", -2.5), ("1 000", 1000), ("1e3", 1000)],
)
def test_limits_are_read_as_sheets_write_them(tmp_path: Path, cell: str, limit: float) -> None:
    (item,) = read(tmp_path, f"item_id,question,lowest\nq,How many?,{cell}\n", "number")
    assert item.lowest == limit


def test_options_are_read_out_of_a_prompt_that_lists_them(tmp_path: Path) -> None:
    text = 'item_id,asked\nq,"Pick one.\n(A). Never\n(B). Often\n(C). Refused\nAnswer:"\n'
    columns = {"prompt": "asked", "question": "asked", "options": "asked"}
    form = ScaleForm(missing_options=["Refused"], marks="letters")
    (item,) = read(tmp_path, text, "scale", columns=columns, scale=form)
    assert item.choices == ["Never", "Often", "Refused"]
    assert item.prompt.endswith("Answer:")


@pytest.mark.parametrize(
    ("text", "form", "words"),
    [
        ("item_id,question\nq,Why?\n", {"labels": ["Yes"]}, "a scale has 2 to 11 points"),
        ("item_id,question\nq,Why?\n", {"labels": ["Agree", "agree"]}, "have the same text"),
        (
            "item_id,question\nq,Why?\n",
            {"labels": ["2", "1"]},
            "stands at the point with the number 1",
        ),
        ("item_id,question,reversed\nq,Why?,maybe\n", {}, "`reversed` is 'maybe'"),
        (
            "item_id,question,option_a,option_b,option_c\nq,Why?,Never,Refused,Often\n",
            {"missing_options": ["Refused"]},
            "move it behind them",
        ),
    ],
)
def test_what_is_wrong_with_a_scale_is_one_sentence(
    tmp_path: Path, text: str, form: dict[str, Any], words: str
) -> None:
    with pytest.raises(StudyError) as caught:
        read_scales(tmp_path, text, **form)
    assert words in str(caught.value)
    assert "'q'" in str(caught.value)


def test_a_number_has_the_unit_and_the_limits_of_its_row_or_its_source(tmp_path: Path) -> None:
    text = "item_id,question,unit,lowest\na,How long?,hours,1\nb,How much?,,\n"
    first, second = read(
        tmp_path, text, "number", number=NumberForm(unit="$", lowest=0.0, highest=24.0)
    )
    assert (first.unit, first.lowest, first.highest) == ("hours", 1.0, 24.0)
    assert (second.unit, second.lowest, second.highest) == ("$", 0.0, 24.0)
    assert first.prompt == "How long?\n\nAnswer with only a single number, in hours."


@pytest.mark.parametrize(
    ("lowest", "highest", "words"),
    [
        ("many", "", "`lowest` is 'many'"),
        ("5", "1", "`lowest` (5) is above `highest` (1)"),
        # a thousand, or one
        ('"1,000"', "", "`lowest` is '1,000'"),
    ],
)
def test_limits_that_are_none(tmp_path: Path, lowest: str, highest: str, words: str) -> None:
    text = f"item_id,question,lowest,highest\nq,How many?,{lowest},{highest}\n"
    with pytest.raises(StudyError) as caught:
        read(tmp_path, text, "number")
    assert words in str(caught.value)

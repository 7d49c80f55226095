"""Scales, numbers and texts in files of questions, and what is wrong with them."""

from pathlib import Path
from typing import Any

import pytest

from fieldwork.errors import StudyError
from fieldwork.records.tasks import Item
from fieldwork.sections.tasks import NumberForm, ScaleForm
from unit.tasks.task_sources import items_of

AGREE = ["Disagree", "Neither", "Agree"]


def read_scales(tmp_path: Path, text: str, **form: Any) -> list[Item]:
    return items_of(tmp_path, text, kind="scale", scale=ScaleForm(**{"labels": AGREE} | form))


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
    (item,) = items_of(tmp_path, text, kind="scale")
    assert item.marks == marks
    assert item.points == [float(mark) for mark in marks]


@pytest.mark.parametrize(
    ("cell", "limit"),
    [("1.0", 1), ("1", 1), ('"0,5"', 0.5), ("-2.50", -2.5), ("1 000", 1000), ("1e3", 1000)],
)
def test_limits_are_read_as_sheets_write_them(tmp_path: Path, cell: str, limit: float) -> None:
    text = f"item_id,question,lowest\nq,How many?,{cell}\n"
    (item,) = items_of(tmp_path, text, kind="number")
    assert item.lowest == limit


def test_options_are_read_out_of_a_prompt_that_lists_them(tmp_path: Path) -> None:
    text = 'item_id,asked\nq,"Pick one.\n(A). Never\n(B). Often\n(C). Refused\nAnswer:"\n'
    columns = {"prompt": "asked", "question": "asked", "options": "asked"}
    form = ScaleForm(missing_options=["Refused"], marks="letters")
    (item,) = items_of(tmp_path, text, kind="scale", columns=columns, scale=form)
    assert item.choices == ["Never", "Often", "Refused"]
    assert item.prompt.endswith("Answer:")


WHY = "item_id,question\nq,Why?\n"
REFUSED = "item_id,question,option_a,option_b,option_c\nq,Why?,Never,Refused,Often\n"


@pytest.mark.parametrize(
    ("text", "form", "words"),
    [
        (WHY, {"labels": ["Yes"]}, "a scale has 2 to 11 points"),
        (WHY, {"labels": ["Agree", "agree"]}, "have the same text"),
        (WHY, {"labels": ["2", "1"]}, "stands at the point with the number 1"),
        ("item_id,question,reversed\nq,Why?,maybe\n", {}, "`reversed` is 'maybe'"),
        (REFUSED, {"missing_options": ["Refused"]}, "move it behind them"),
    ],
)
def test_what_is_wrong_with_a_scale_is_one_sentence(
    tmp_path: Path, text: str, form: dict[str, Any], words: str
) -> None:
    with pytest.raises(StudyError, match=rf"'q'.*{words}"):
        read_scales(tmp_path, text, **form)


def test_a_number_has_the_unit_and_the_limits_of_its_row_or_its_source(tmp_path: Path) -> None:
    text = "item_id,question,unit,lowest\na,How long?,hours,1\nb,How much?,,\n"
    form = NumberForm(unit="$", lowest=0.0, highest=24.0)
    first, second = items_of(tmp_path, text, kind="number", number=form)
    assert (first.unit, first.lowest, first.highest) == ("hours", 1.0, 24.0)
    assert (second.unit, second.lowest, second.highest) == ("$", 0.0, 24.0)
    assert first.prompt == "How long?\n\nAnswer with only a single number, in hours."


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ("many,", "`lowest` is 'many'"),
        ("5,1", r"`lowest` \(5\) is above `highest` \(1\)"),
        # a thousand, or one
        ('"1,000",', "`lowest` is '1,000'"),
    ],
)
def test_limits_that_are_none(tmp_path: Path, cells: str, words: str) -> None:
    text = f"item_id,question,lowest,highest\nq,How many?,{cells}\n"
    with pytest.raises(StudyError, match=words):
        items_of(tmp_path, text, kind="number")

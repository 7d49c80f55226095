"""Questions that come with recorded answers."""

import json
from pathlib import Path
from typing import Any

import pytest

from fieldwork.errors import StudyError
from fieldwork.files.recordings.answers import Recording
from fieldwork.records.tasks import Item
from fieldwork.sections.tasks import ScaleForm
from fieldwork.tasks.items import load_items
from fieldwork.tasks.listed_options import listed_options
from fieldwork.tasks.own_items import TaskSource
from fieldwork.tasks.recording_items import named_letter

COLUMNS = {"item": "q", "answer": "said", "question": "text", "options": "of", "gold": "right"}


def read(tmp_path: Path, rows: list[dict[str, Any]], **options: Any) -> list[Item]:
    path = tmp_path / "answers.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    columns = {role: name for role, name in COLUMNS.items() if any(name in row for row in rows)}
    recording = Recording(name="old", format="table", columns=columns)
    source = TaskSource(format="recording", dataset="old", **{"recording": recording, **options})
    return load_items([path], source, {})


def test_each_question_once(tmp_path: Path) -> None:
    row = {"q": "1", "said": "A", "text": "Round?", "of": ["yes", "no"], "right": "no"}
    (item,) = read(tmp_path, [row, {**row, "said": "B"}])
    assert (item.kind, item.question) == ("choice", "Round?")
    assert (item.choices, item.gold) == (["yes", "no"], "B")
    assert item.provenance == "old: answers.jsonl: line 1"


def test_without_a_wording_the_id_stands_for_it(tmp_path: Path) -> None:
    (item,) = read(tmp_path, [{"q": "cars", "said": "1. Ford"}], kind="list", list_length=5)
    assert (item.kind, item.question, item.prompt, item.list_length) == ("list", "cars", "cars", 5)
    assert item.provenance.endswith("it does not hold the wording")


def test_a_choice_question_needs_options(tmp_path: Path) -> None:
    words = r"1 of 1 choice questions do not have 2 to 10 options: 'cars'"
    with pytest.raises(StudyError, match=words):
        read(tmp_path, [{"q": "cars", "said": "A"}])
    rows = [{"q": "cars", "said": "A"}, {"q": "tea", "said": "A", "of": ["yes", "no"]}]
    assert [item.item_id for item in read(tmp_path, rows)] == ["tea"]
    (mixed,) = read(tmp_path, [{"q": "cars", "said": "Ford"}], kind="mixed")
    assert mixed.kind == "list"


def test_labels_of_a_recorded_scale_stand_once_in_the_task_s_source(tmp_path: Path) -> None:
    rows = [{"q": "calm", "said": "2"}, {"q": "glad", "said": "1"}]
    form = ScaleForm(labels=["No", "Yes"], missing_options=["Refused"])
    for item in read(tmp_path, rows, kind="scale", scale=form):
        assert (item.choices, item.points) == (["No", "Yes", "Refused"], [1.0, 2.0])
    with pytest.raises(StudyError, match=r"of 2 scale questions .* in scale\.labels of the task's"):
        read(tmp_path, rows, kind="scale")


@pytest.mark.parametrize(
    ("wording", "options"),
    [
        ("You are taking a survey.\n\nGood?\n(A). Very\n(B). Not at all\n(C). Refused\nAnswer:",
         ["Very", "Not at all", "Refused"]),
        ("Old?\n(A) x (B) y A:The answer is (A).\nNew?\n(A) p q (B) r A:", ["p q", "r"]),
        ("Which?\nA. one\nB. two\nC. three", ["one", "two", "three"]),
        ("Which?\nA) one\nB) two", ["one", "two"]),
        ("(A) alone", []),
    ],
)  # fmt: skip
def test_options_in_the_wording(wording: str, options: list[str]) -> None:
    assert listed_options(wording) == options


@pytest.mark.parametrize(
    ("options", "gold", "form", "letter"),
    [
        (["yes", "no"], "(B)", "auto", "B"),
        (["yes", "no"], "no", "auto", "B"),
        (["yes", "no"], ["no"], "auto", "B"),
        (["yes", "no"], None, "auto", None),
        (["yes", "no"], ["no", "yes"], "auto", None),
        # a number means what the source says
        (["2", "3", "1"], 1, "from_1", "A"),
        (["2", "3", "1"], 1, "from_0", "B"),
        (["2", "3", "1"], 1, "text", "C"),
    ],
)
def test_the_right_option(
    tmp_path: Path, options: list[str], gold: Any, form: str, letter: str | None
) -> None:
    row = {"q": "1", "said": "A", "of": options, "right": gold}
    (item,) = read(tmp_path, [row], gold=form)
    assert item.gold == letter


def test_a_number_without_its_form_is_refused(tmp_path: Path) -> None:
    row = {"q": "1", "said": "A", "of": ["yes", "no"], "right": 1}
    words = r"neither the letter nor.*say `gold: from_0` or `gold: from_1`"
    with pytest.raises(StudyError, match=words):
        read(tmp_path, [row])
    with pytest.raises(StudyError, match="the right option '3' is neither"):
        read(tmp_path, [row | {"right": 3}], gold="from_1")


def test_what_a_log_says_itself_no_setting_says(tmp_path: Path) -> None:
    recording = Recording(name="old", format="helm", columns=COLUMNS)
    with pytest.raises(StudyError, match="remove `gold: from_1` from the task's source"):
        read(tmp_path, [{"q": "1"}], recording=recording, gold="from_1")


@pytest.mark.parametrize(
    ("gold", "letter"), [("(B)", "B"), ("b", "B"), ("NO", "B"), ("9", None), ("1", None)]
)
def test_what_a_log_names(gold: str, letter: str | None) -> None:
    assert named_letter(gold, ["yes", "no"]) == letter

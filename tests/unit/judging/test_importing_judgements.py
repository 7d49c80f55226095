"""Judgements from files: as the scale says, with nobody named, or one sentence."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from fieldwork.errors import StudyError
from fieldwork.judging.importing import (
    EMPTY,
    JudgementRows,
    StudyUnits,
    import_judgements,
)
from fieldwork.judging.units import side_code
from fieldwork.records.judging import SIDES as SIDES_OF_PAIRS
from fieldwork.records.judging import JudgedUnit, Judgement
from fieldwork.sections.judging import Scale

POINTS: dict[str, Any] = {"level": "interval", "options": ["1", "2", "3"]}
SCALES = {
    scale.name: scale
    for scale in (
        Scale(name="helpful", **POINTS, readings={"low": "1", "high": "3"}),
        Scale(name="right", options=["yes", "no"], accepted=["yes"]),
        Scale(name="better", **POINTS, prefers_a=["1"], prefers_b=["3"]),
    )
}
COLUMNS = {"unit": "unit", "rater": "who", "value": "answer"}
SOURCE: dict[str, Any] = {
    "scale": "helpful", "rater_kind": "person", "kinds": {}, "rows": {}, "columns": COLUMNS,
    "units": "described", "sides": "fixed",
}  # fmt: skip
NOTHING = StudyUnits({}, [])


def read(tmp_path: Path, text: str, study: StudyUnits = NOTHING, **changes: Any) -> JudgementRows:
    return read_files(tmp_path, {"judgements.csv": text}, study, **changes)


def read_files(
    tmp_path: Path, texts: dict[str, str], study: StudyUnits | None = None, **changes: Any
) -> JudgementRows:
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    source = {**SOURCE, **changes, "files": [str(tmp_path / name) for name in texts]}
    return import_judgements({"mine": source}, SCALES, str(tmp_path / "key"), study or OF_STUDY)


def test_a_judgement_is_read_as_its_scale_says(tmp_path: Path) -> None:
    rows = read(tmp_path, "unit,who,answer\na,ann,3\na,bob,low\nb,ann,\n")
    values = [(j.unit_id, j.value, j.number, j.reason) for j in rows.judgements]
    assert values == [("a", "3", 3.0, None), ("a", "1", 1.0, None), ("b", None, None, EMPTY)]
    assert [u.unit_id for u in rows.units] == ["a", "b"]


def test_nobody_is_named_and_notes_are_masked(tmp_path: Path) -> None:
    text = (
        'unit,who,answer,note\na,ann.lee@example.com,3,"ask ann.lee@example.com or 212-555-0143"\n'
    )
    (row,) = read(tmp_path, text, columns={**COLUMNS, "note": "note"}).judgements
    assert re.fullmatch(r"p[0-9a-f]{16}", row.rater)
    assert "[e-mail]" in (row.note or "")
    assert not [part for part in ("ann", "555") if part in (row.note or "")]


def test_who_judges_what_is_said_of_them_is_not_named_by_the_unit(tmp_path: Path) -> None:
    text = (
        "mail,about,n,answer\n"
        "Ann.Lee@example.com,ann.lee@example.com,7,1\n"
        "rater-cem,ann.lee@example.com,7,2\n"
        "rater-cem,rater-cem,1,2\n"
        "rater-cem,bob@example.com,1,2\n"
    )
    columns = {"unit": ["about", "n"], "user": "about", "rater": "mail", "value": "answer"}
    rows = read(tmp_path, text, columns=columns)
    assert not any(name in str(rows).lower() for name in ("ann", "example", "cem", "bob"))
    ann, cem = rows.judgements[0].rater, rows.judgements[1].rater
    assert [unit.unit_id for unit in rows.units[:2]] == [f"{ann}/7", f"{cem}/1"]
    assert [unit.user_id for unit in rows.units[:2]] == [ann, cem]
    assert [j.unit_id for j in rows.judgements[:3]] == [f"{ann}/7", f"{ann}/7", f"{cem}/1"]
    assert len({unit.user_id for unit in rows.units}) == 3


def test_scales_kinds_and_sides_may_stand_in_columns(tmp_path: Path) -> None:
    columns = COLUMNS | {
        "unit": ["task", "turn"], "scale": "scale", "rater_kind": "kind", "user": "user",
        "first_side": "first", "characters_a": "length", "seconds": "time",
    }  # fmt: skip
    text = (
        "task,turn,who,answer,scale,kind,user,first,length,time\n"
        "t,1,ann,yes,right,human,u1,a,120,4.5\n"
        "t,2,judge,2,helpful,llm,u1,,,\n"
    )
    kinds = {"person": ["human"], "model": ["llm"]}
    rows = read(tmp_path, text, columns=columns, scale=None, rater_kind=None, kinds=kinds)
    first, second = rows.judgements
    assert (first.scale, first.unit_id, first.rater_kind) == ("right", "t/1", "person")
    assert (first.first_side, first.seconds) == ("a", 4.5)
    assert (first.number, second.number) == (None, 2.0)
    assert [(u.user_id, u.characters_a) for u in rows.units] == [("u1", 120), ("u1", None)]


@pytest.mark.parametrize(
    ("text", "changes", "sentence"),
    [
        ("a,ann,4,\n", {}, "row 2: the answer is no option of the scale helpful (1, 2, 3)"),
        ("a,ann,1,\n", {"columns": {**COLUMNS, "value": "vote"}},
         "no column 'vote' (judging.sources.mine.columns.value)"),
        (",ann,1,\n", {}, "the cell of columns.unit is empty"),
        ("", {}, "judging.sources.mine.path: it has no rows"),
        ("a,ann,1,\n", {"rows": {"who": "bob"}},
         "judging.sources.mine.rows: it has 1 rows, none with these values"),
        ("a,ann,1,robot\n", {"columns": {**COLUMNS, "rater_kind": "more"}, "rater_kind": None},
         "neither a person's nor a model's; name it in judging.sources.mine.kinds"),
        ("a,ann,1,mood\n", {"columns": {**COLUMNS, "scale": "more"}, "scale": None},
         "its scale is not in judging.scales (helpful, right, better)"),
        ("a,ann,1,u1\na,bob,1,u2\n", {"columns": {**COLUMNS, "user": "more"}},
         "its unit has another user_id than in an earlier row"),
        ("a,ann,1,soon\n", {"columns": {**COLUMNS, "seconds": "more"}},
         "the cell of columns.seconds is no number from 0 to 86400"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_one_sentence_that_quotes_no_cell(
    tmp_path: Path, text: str, changes: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(StudyError) as error:
        read(tmp_path, f"unit,who,answer,more\n{text}", **changes)
    message = str(error.value)
    assert sentence in message
    assert "\n" not in message
    assert not any(cell in message for cell in ("robot", "mood", "soon"))


GIVEN = JudgedUnit("u1/pair", "alice", "q", None, "gpt", "gpt", 9, 12, "pairs")
JUDGED = Judgement(
    "helpful", "u1/pair", "smol", "model", 0, "2", 2.0, "a", None, None, "better", None,
)  # fmt: skip
OF_STUDY = StudyUnits({"c0de": GIVEN}, [JUDGED])


def test_a_unit_of_the_study_is_known_by_its_code_and_sides_are_turned_back(tmp_path: Path) -> None:
    # kits say the side by a code, which for another unit is another one
    codes = [side_code(GIVEN.unit_id, "c0de", side) for side in SIDES_OF_PAIRS]
    assert not {side_code("u2/pair", "c0de", side) for side in SIDES_OF_PAIRS} & {*codes}
    shown = {"units": "given", "sides": "shown", "columns": {**COLUMNS, "first_side": "first"}}
    for a, b in (("a", "b"), codes):
        text = f"unit,who,answer,first\nc0de,ann,1,{a}\nc0de,bob,1,{b}\nc0de,cem,2,{b}\n"
        rows = read(tmp_path, text, OF_STUDY, **shown, scale="better")
        assert rows.units == [GIVEN]
        # the study's own judge goes through the same table
        assert rows.judgements[0] == JUDGED
        people = [(j.unit_id, j.first_side, j.value) for j in rows.judgements[1:]]
        assert people == [("u1/pair", "a", "1"), ("u1/pair", "b", "3"), ("u1/pair", "b", "2")]


PLACES = {**COLUMNS, "position": "position", "kit": "kit"}
PAGE_HEAD = "who,unit,answer,position,kit\n"
OF_KIT: dict[str, Any] = {"units": "given", "columns": PLACES}


def test_a_file_that_a_rater_saved_twice_counts_once(tmp_path: Path) -> None:
    early = f"{PAGE_HEAD}ann,c0de,2,1,k\nann,c0de,,7,k\n"
    late = f"{PAGE_HEAD}ann,c0de,2,1,k\nann,c0de,3,7,k\n"
    for texts in ({"a.csv": early, "a (1).csv": late}, {"a.csv": late, "b.csv": early}):
        rows = read_files(tmp_path, texts, **OF_KIT).judgements[1:]
        # the unit was given twice: that is a repeat, and the second file is none
        assert [(row.value, row.repeat) for row in rows] == [("2", 0), ("3", 1)]
    other_kit = late.replace(",k", ",l")
    rows = read_files(tmp_path, {"a.csv": late, "b.csv": other_kit}, **OF_KIT).judgements[1:]
    assert [row.repeat for row in rows] == [0, 1, 2, 3]


def test_a_key_that_no_entry_has_stops_the_import_unless_the_kit_asked_for_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    text = json.dumps([{"unit": "c0de", "who": 1}])
    with pytest.raises(StudyError, match=r"entry 1: no column 'answer'"):
        read_files(tmp_path, {"a.json": text})
    rows = read_files(tmp_path, {"a.json": text}, units="given").judgements[1:]
    assert [row.reason for row in rows] == [EMPTY]
    assert "no entry has an answer to 'answer'" in caplog.text
    with pytest.raises(StudyError, match=r"entry 1: no column 'who'"):
        read_files(tmp_path, {"a.json": json.dumps([{"unit": "c0de"}])}, units="given")


def test_a_unit_that_nobody_was_given_or_another_answer_stops_the_import(tmp_path: Path) -> None:
    text = "unit,who,answer\nc0de,ann,1\nother,ann,1\n"
    with pytest.raises(StudyError, match=r"row 3: its unit was given to nobody in this study"):
        read(tmp_path, text, OF_STUDY, units="given")
    texts = {name: f"{PAGE_HEAD}ann,c0de,{name[0]},1,k\n" for name in ("2.csv", "3.csv")}
    with pytest.raises(StudyError, match=r"3\.csv: row 2: its rater gave another answer .*2\.csv"):
        read_files(tmp_path, texts, **OF_KIT)


def test_a_skipped_unit_that_is_judged_later_is_no_repeat(tmp_path: Path) -> None:
    rows = read(tmp_path, "unit,who,answer\na,ann,\na,ann,3\n").judgements
    assert [(row.value, row.repeat) for row in rows] == [(None, 1), ("3", 0)]

"""Judgements from files: as the scale says, with nobody named, or one sentence."""

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
from fieldwork.judging.scales import AnswerScale, answer_scales
from fieldwork.records.judging import JudgedUnit, Judgement

SCALES: list[dict[str, Any]] = [
    {
        "name": "helpful",
        "level": "interval",
        "options": ["1", "2", "3"],
        "accepted": [],
        "prefers_a": [],
        "prefers_b": [],
        "penalty": 0.2,
        "readings": {"low": "1", "high": "3"},
        "labels": {},
    },
    {
        "name": "right",
        "level": "nominal",
        "options": ["yes", "no"],
        "accepted": ["yes"],
        "prefers_a": [],
        "prefers_b": [],
        "penalty": 0.2,
        "readings": {},
        "labels": {},
    },
]
COLUMNS = {"unit": "unit", "rater": "who", "value": "answer"}
SOURCE: dict[str, Any] = {
    "scale": "helpful",
    "rater_kind": "person",
    "kinds": {},
    "rows": {},
    "columns": COLUMNS,
    "units": "described",
    "sides": "fixed",
}


def scales() -> dict[str, AnswerScale]:
    return answer_scales(SCALES)


NOTHING = StudyUnits({}, [])


def read(tmp_path: Path, text: str, study: StudyUnits = NOTHING, **changes: Any) -> JudgementRows:
    path = tmp_path / "judgements.csv"
    path.write_text(text, encoding="utf-8")
    source = {**SOURCE, **changes, "files": [str(path)]}
    return import_judgements({"mine": source}, scales(), str(tmp_path / "key"), study)


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
    assert row.note is not None
    assert "ann" not in row.note
    assert "555" not in row.note
    assert "[e-mail]" in row.note


def test_a_model_keeps_its_name(tmp_path: Path) -> None:
    (row,) = read(tmp_path, "unit,who,answer\na,gpt-x,2\n", rater_kind="model").judgements
    assert (row.rater, row.rater_kind) == ("gpt-x", "model")


def test_a_unit_judged_again_is_a_repeat(tmp_path: Path) -> None:
    rows = read(tmp_path, "unit,who,answer\na,ann,3\na,bob,3\na,ann,1\n").judgements
    assert [row.repeat for row in rows] == [0, 0, 1]


def test_scales_kinds_and_sides_may_stand_in_columns(tmp_path: Path) -> None:
    columns = {
        "unit": ["task", "turn"],
        "rater": "who",
        "value": "answer",
        "scale": "scale",
        "rater_kind": "kind",
        "user": "user",
        "first_side": "first",
        "characters_a": "length",
        "seconds": "time",
    }
    text = (
        "task,turn,who,answer,scale,kind,user,first,length,time\n"
        "t,1,ann,yes,right,human,u1,a,120,4.5\n"
        "t,2,judge,2,helpful,llm,u1,,,\n"
    )
    kinds = {"person": ["human"], "model": ["llm"]}
    rows = read(tmp_path, text, columns=columns, scale=None, rater_kind=None, kinds=kinds)
    first, second = rows.judgements
    assert (first.scale, first.unit_id, first.rater_kind, first.first_side, first.seconds) == (
        "right",
        "t/1",
        "person",
        "a",
        4.5,
    )
    assert (first.number, second.number) == (None, 2.0)
    assert [(u.user_id, u.characters_a) for u in rows.units] == [("u1", 120), ("u1", None)]


@pytest.mark.parametrize(
    ("text", "changes", "sentence"),
    [
        (
            "unit,who,answer\na,ann,4\n",
            {},
            "row 2: the answer is no option of the scale helpful (1, 2, 3)",
        ),
        (
            "unit,who,answer\na,ann,It depends on what you mean by helpful.\n",
            {},
            "no option of the scale helpful",
        ),
        ("unit,who\na,ann\n", {}, "no column 'answer' (judging.sources.mine.columns.value)"),
        ("unit,who,answer\n,ann,1\n", {}, "the cell of columns.unit is empty"),
        ("unit,who,answer\na,,1\n", {}, "the cell of columns.rater is empty"),
        ("unit,who,answer\n", {}, "judging.sources.mine.path: it has no rows"),
        (
            "unit,who,answer\na,ann,1\n",
            {"rows": {"who": "bob"}},
            "judging.sources.mine.rows: it has 1 rows, none with these values",
        ),
        (
            "unit,who,answer,kind\na,ann,1,human\na,ann,2,llm\n",
            {
                "columns": {**COLUMNS, "rater_kind": "kind"},
                "rater_kind": None,
                "kinds": {"person": ["human"], "model": ["llm"]},
            },
            "its rater is a model, and a person in",
        ),
        (
            "unit,who,answer,kind\na,ann,1,robot\n",
            {"columns": {**COLUMNS, "rater_kind": "kind"}, "rater_kind": None},
            "neither a person's nor a model's; name it in judging.sources.mine.kinds",
        ),
        (
            "unit,who,answer,scale\na,ann,1,mood\n",
            {"columns": {**COLUMNS, "scale": "scale"}, "scale": None},
            "its scale is not in judging.scales (helpful, right)",
        ),
        (
            "unit,who,answer,user\na,ann,1,u1\na,bob,1,u2\n",
            {"columns": {**COLUMNS, "user": "user"}},
            "its unit has another user_id than in an earlier row",
        ),
        (
            "unit,who,answer,first\na,ann,1,left\n",
            {"columns": {**COLUMNS, "first_side": "first"}},
            "the side that was shown first is not a or b",
        ),
        (
            "unit,who,answer,time\na,ann,1,soon\n",
            {"columns": {**COLUMNS, "seconds": "time"}},
            "the cell of columns.seconds is no number from 0 to 86400",
        ),
    ],
)
def test_what_does_not_fit_is_one_sentence_that_quotes_no_cell(
    tmp_path: Path, text: str, changes: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(StudyError) as error:
        read(tmp_path, text, **changes)
    message = str(error.value)
    assert sentence in message
    assert "\n" not in message
    assert not any(cell in message for cell in ("It depends", "robot", "mood", "soon"))


GIVEN = JudgedUnit("u1/pair", "alice", "q", None, "gpt", "gpt", 9, 12, "pairs")
JUDGED = Judgement(
    "helpful", "u1/pair", "smol", "model", 0, "2", 2.0, "a", None, None, "better", None
)
OF_STUDY = StudyUnits({"c0de": GIVEN}, [JUDGED])
SIDES = {**COLUMNS, "first_side": "first"}


def test_a_unit_of_the_study_is_known_by_its_code_and_sides_are_turned_back(tmp_path: Path) -> None:
    text = "unit,who,answer,first\nc0de,ann,1,a\nc0de,bob,1,b\nc0de,cem,2,b\n"
    rows = read(tmp_path, text, OF_STUDY, units="given", sides="shown", columns=SIDES)
    assert rows.units == [GIVEN]
    people = [
        (j.unit_id, j.first_side, j.value) for j in rows.judgements if j.rater_kind == "person"
    ]
    assert people == [("u1/pair", "a", "1"), ("u1/pair", "b", "3"), ("u1/pair", "b", "2")]
    # the study's own judge goes through the same table
    assert JUDGED in rows.judgements


def test_a_unit_that_nobody_was_given_stops_the_import(tmp_path: Path) -> None:
    text = "unit,who,answer\nc0de,ann,1\nother,ann,1\n"
    with pytest.raises(StudyError, match=r"row 3: its unit was given to nobody in this study"):
        read(tmp_path, text, OF_STUDY, units="given")


def test_a_person_with_the_name_of_a_judge_stops_the_import(tmp_path: Path) -> None:
    with pytest.raises(
        StudyError, match=r"its rater is a person, and a model in the study's judges"
    ):
        read(tmp_path, "unit,who,answer\nc0de,smol,1\n", OF_STUDY, units="given")

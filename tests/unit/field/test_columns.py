"""The column map: wide and long files, models, groups and orders, and every way it does not fit."""

import datetime
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from fieldwork.errors import StudyError
from fieldwork.field.columns import ColumnMap, read_field
from fieldwork.field.raw_answers import FieldPrompt, RawAnswer, RawField
from fieldwork.field.sources import Sheet, SheetRow

MOVIES, CARS = FieldPrompt("recommendations", "movies"), FieldPrompt("recommendations", "cars")
ETHICS = FieldPrompt("probe", "ethics-00")
PROMPTS = (MOVIES, CARS, ETHICS, FieldPrompt("probe", "twice"), FieldPrompt("mmlu", "twice"))
ABSENT = {"platform": None, "model": None, "prompt": None, "answer": None, "position": None}
SECRET = "SECRET-ID-77"
LONG_ID = f"{SECRET}-0123456789"


def column_map(layout: str, *, models: Sequence[str] = ("m",), **changes: Any) -> ColumnMap:
    columns = ABSENT | {"participant": "id", "groups": {}}
    if layout == "long":
        columns |= {"prompt": "prompt", "answer": "answer"}
    field: dict[str, Any] = {
        "layout": layout,
        "columns": columns | changes.pop("columns", {}),
        "prompts": {"movies": "Q1", "recommendations/cars": "Q2"} if layout == "wide" else {},
        "skip_prompts": [],
        "rows": {},
        "models": {},
    }
    return ColumnMap(field | changes, PROMPTS, models, numeric_prompts={ETHICS})


def sheet(*rows: Sequence[Any], name: str = "a.csv") -> Sheet:
    header, *others = rows
    filled_rows = [
        SheetRow(n, tuple(cells)) for n, cells in enumerate(others, start=2) if any(cells)
    ]
    return Sheet(Path(name), tuple(header), filled_rows)


def read(*sheets: Sheet, mapping: ColumnMap) -> RawField:
    return read_field(sheets, mapping)


def refusal(*sheets: Sheet, mapping: ColumnMap) -> str:
    with pytest.raises(StudyError) as caught:
        read_field(sheets, mapping)
    said = str(caught.value)
    assert "\n" not in said
    assert SECRET not in said
    return said


def brief(answer: RawAnswer) -> tuple[Any, ...]:
    return answer.participant, answer.prompt.item_id, answer.replicate, answer.text, answer.row


# ---- what is read ----------------------------------------------------------------------------------


def test_wide_a_row_is_a_participant_and_a_column_a_prompt() -> None:
    found = read(
        sheet(["id", "Q2", "other", "Q1"], ["p1", "Fiat", "!", "Alien"], ["p2", " ", "", "Brazil"]),
        mapping=column_map("wide"),
    )
    assert sorted(map(brief, found.answers)) == [
        ("p1", "cars", 0, "Fiat", 2),
        ("p1", "movies", 0, "Alien", 2),
        ("p2", "cars", 0, None, 3),
        ("p2", "movies", 0, "Brazil", 3),
    ]
    assert {a.model for a in found.answers} == {"m"}
    assert {(a.platform, a.position) for a in found.answers} == {(None, None)}


@pytest.mark.parametrize("value", ["Which films?", "movies", "recommendations/movies"])
def test_long_a_row_is_an_answer_and_item_ids_need_no_entry(value: str) -> None:
    mapping = column_map("long", prompts={"movies": "Which films?"})
    found = read(sheet(["answer", "prompt", "id"], [" Alien\n", value, "p1"]), mapping=mapping)
    assert [brief(a) for a in found.answers] == [("p1", "movies", 0, " Alien\n", 2)]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["a", "", "c"], [0, 2, 1]),
        (["", "b", ""], [1, 0, 2]),
    ],
)
def test_replicates_count_texts_in_the_order_of_rows_and_files(
    texts: list[str], expected: list[int]
) -> None:
    rows = [["id", "prompt", "answer"], *(["p1", "movies", text] for text in texts)]
    other = sheet(*rows, ["p1", "cars", "x"], ["p2", "movies", "y"], ["p1", "movies", "z"])
    again = sheet(rows[0], [" p1 ", "movies", "last"], name="b.csv")
    found = read(other, again, mapping=column_map("long"))
    ours = [a for a in found.answers if (a.participant, a.prompt) == ("p1", MOVIES)]
    assert [a.text for a in ours] == [*(t or None for t in texts), "z", "last"]
    n_texts = sum(map(bool, texts))
    numbers = [n + 2 * (not text) for n, text in zip(expected, texts, strict=True)]
    assert [a.replicate for a in ours] == [*numbers, n_texts, n_texts + 1]


@pytest.mark.parametrize("written", ["12", " 12 ", 12, 12.0])
def test_a_participant_is_the_same_in_every_kind_of_file(written: object) -> None:
    found = read(
        sheet(["id", "Q1", "Q2"], ["12", "x", ""]),
        sheet(["id", "Q1", "Q2"], [written, "y", ""], name="b.xlsx"),
        mapping=column_map("wide"),
    )
    movies = [a for a in found.answers if a.prompt == MOVIES]
    assert [(a.participant, a.replicate) for a in movies] == [("12", 0), ("12", 1)]


@pytest.mark.parametrize(
    ("models", "columns", "mapped", "cells", "expected"),
    [
        (["m"], {}, {}, ["", ""], "m"),
        (["m"], {"platform": "p"}, {"ChatGPT": "m"}, ["ChatGPT", ""], "m"),
        (["m", "n"], {"platform": "p"}, {"ChatGPT": "n"}, [" ChatGPT", ""], "n"),
        (["m", "n"], {"platform": "p", "model": "k"}, {"x": "m"}, ["ChatGPT", "x"], "m"),
        (["m", "n"], {"platform": "p"}, {"ChatGPT": None}, ["ChatGPT", ""], None),
    ],
)
def test_the_model_comes_from_its_column_or_the_platform(
    models: list[str],
    columns: dict[str, str],
    mapped: dict[str, str | None],
    cells: list[str],
    expected: str | None,
) -> None:
    mapping = column_map("long", models=models, columns=columns)
    mapping.field["models"].update(mapped)  # type: ignore[attr-defined]
    other = ["ChatGPT" if expected else "m", "m"]
    rows = [["id", "prompt", "answer", "p", "k"], ["p1", "movies", "x", *cells]]
    found = read(sheet(*rows, ["p2", "movies", "y", *other]), mapping=mapping)
    first = [a for a in found.answers if a.participant == "p1"]
    assert [a.model for a in first] == ([expected] if expected else [])
    assert found.n_left_out == (expected is None)
    if expected and "platform" in columns:
        assert first[0].platform == "ChatGPT"


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("movies, cars", {"movies": 1, "cars": 2}),
        ("intro|Q2|recommendations/movies", {"cars": 2, "movies": 3}),
        ("movies|cars|movies", {"movies": 1, "cars": 2}),
        ("", {"cars": None, "movies": None}),
    ],
)
def test_wide_positions_come_from_the_order_the_prompts_were_shown_in(
    cell: str, expected: dict[str, int | None]
) -> None:
    mapping = column_map("wide", columns={"position": "order"})
    found = read(sheet(["id", "order", "Q1", "Q2"], ["p1", cell, "x", "y"]), mapping=mapping)
    assert {a.prompt.item_id: a.position for a in found.answers} == expected


def test_groups_may_come_from_a_file_of_their_own() -> None:
    mapping = column_map("wide", columns={"groups": {"gender": "Sex", "race": "Race"}})
    found = read(
        sheet(["id", "Q1", "Q2"], ["p1", "x", ""], ["p2", "y", ""]),
        sheet(["id", "Sex", "Race"], ["p2", "f", ""], ["p1", "m", "b"], ["p1", "", "b"], name="g"),
        mapping=mapping,
    )
    assert {(m.participant, m.variable, m.group) for m in found.members} == {
        ("p1", "gender", "m"),
        ("p1", "race", "b"),
        ("p2", "gender", "f"),
    }
    assert len(found.answers) == 4


def test_prompts_that_are_not_asked_are_left_out_where_the_setting_says_so() -> None:
    mapping = column_map("long", skip_prompts=["consent"])
    rows = [["id", "prompt", "answer"], ["p1", "consent", 7], ["p1", "cars", "x"]]
    found = read(sheet(*rows), mapping=mapping)
    assert [brief(a) for a in found.answers] == [("p1", "cars", 0, "x", 3)]
    assert found.n_left_out == 1


# ---- what does not fit -----------------------------------------------------------------------------

WIDE, LONG = column_map("wide"), column_map("long")
GROUPED = column_map("wide", columns={"groups": {"sex": "S"}})


@pytest.mark.parametrize(
    ("mapping", "header", "said"),
    [
        (WIDE, ["ID", "Q1", "Q2"], "no column 'id' (field.columns.participant) (nearest: 'ID')"),
        (WIDE, ["id", "Q1", "q2 "],
         "no column 'Q2' (field.prompts.recommendations/cars) (nearest: 'q2')"),
        (WIDE, ["id", "x"], "no column 'Q1' (field.prompts.movies); there are id, x"),
        (WIDE, ["id", "Q1", "Q2", "Q1"], "row 1 has two columns 'Q1' (field.prompts.movies)"),
        (WIDE, ["id", "Q1", "Recommend five movies, as a list of titles and no more"],
         "there are id, Q1, Recommend five movies, as a list of titl…"),
    ],
)  # fmt: skip
def test_a_column_that_is_not_there_is_named_with_those_that_are(
    mapping: ColumnMap, header: list[str], said: str
) -> None:
    found = refusal(sheet(header, [SECRET] * len(header)), mapping=mapping)
    assert found.startswith("a.csv: ")
    assert said in found


@pytest.mark.parametrize(
    ("cell", "kind"),
    [
        (datetime.datetime(2026, 5, 3), "a date"),
        (1.5, "a number"),
        (True, "a number"),
        (math.nan, "an error value"),
        ([1], "something other than text"),
    ],
)
@pytest.mark.parametrize("layout", ["wide", "long"])
def test_what_excel_made_of_an_answer_is_refused_with_the_way_out(
    layout: str, cell: object, kind: str
) -> None:
    header, row = ["id", "Q1", "Q2"], [SECRET, "x", cell]
    if layout == "long":
        header, row = ["id", "prompt", "answer"], [SECRET, "movies", cell]
    said = refusal(
        sheet(header, ["p1", "movies", "y"], row, name="a.xlsx"), mapping=column_map(layout)
    )
    column = "'Q2' (field.prompts, recommendations/cars)"
    column = column if layout == "wide" else "'answer' (field.columns.answer)"
    assert said.startswith(f"a.xlsx: row 3, column {column} holds {kind} where")
    assert "export the survey as CSV" in said


@pytest.mark.parametrize(
    ("changes", "row", "said"),
    [
        ({}, ["", "movies", "x", "", ""], "column 'id' (field.columns.participant) is empty"),
        ({}, [SECRET, SECRET, "x", "", ""], "holds a prompt that field.prompts does not list"),
        ({"models": ["m", "n"], "columns": {"model": "k"}}, [SECRET, "movies", "x", "", ""],
         "column 'k' (field.columns.model) is empty (it lists m, n); add it there"),
        ({"models": ["m", "n"], "columns": {"platform": "k"}}, [SECRET, "movies", "x", SECRET, ""],
         "column 'k' (field.columns.platform) holds a value that field.models does not list"),
        ({"columns": {"platform": "k"}}, [LONG_ID, "movies", "x", LONG_ID, ""],
         "column 'k' (field.columns.platform) holds the participant's id"),
        ({"columns": {"groups": {"sex": "k"}}}, [LONG_ID, "movies", "x", LONG_ID, ""],
         "column 'k' (field.columns.groups.sex) holds the participant's id"),
        ({"columns": {"position": "n"}}, [SECRET, "movies", "x", "", "0"], "is not a whole number"),
        ({"columns": {"position": "n"}}, [SECRET, "movies", "x", "", "9" * 5000], "is not a whole"),
    ],
)  # fmt: skip
def test_a_cell_that_cannot_be_read_is_named_and_never_quoted(
    changes: dict[str, Any], row: list[str], said: str
) -> None:
    mapping = column_map("long", **changes)
    good = ["p1", "cars", "x", "m", "1"]
    header = ["id", "prompt", "answer", "k", "n"]
    found = refusal(sheet(header, good, row), mapping=mapping)
    assert found.startswith("a.csv: row 3, ")
    assert said in found


def test_an_order_that_names_no_prompt_is_refused() -> None:
    mapping = column_map("wide", columns={"position": "o"})
    found = refusal(
        sheet(["id", "o", "Q1", "Q2"], [SECRET, f"{SECRET}|b", "x", ""]), mapping=mapping
    )
    assert found.startswith("a.csv: row 2, column 'o' (field.columns.position) names no prompt")


@pytest.mark.parametrize(
    ("prompts", "said"),
    [
        ({"moves": "Q1"}, "'moves' is not an item of the study's tasks (nearest: 'movies')"),
        ({"twice": "Q1"}, "field.prompts: 'twice' is in several tasks; write probe/twice or mmlu/twice"),
        ({"movies": "Q1", "recommendations/movies": "Q2"}, "recommendations/movies is listed twice"),
    ],
)  # fmt: skip
def test_a_prompt_that_is_no_item_is_named(prompts: dict[str, str], said: str) -> None:
    mapping = column_map("wide", prompts=prompts)
    assert said in refusal(sheet(["id", "Q1", "Q2"], ["p1", "x", "y"]), mapping=mapping)


@pytest.mark.parametrize("name", ["a.csv", "b.csv"])
def test_a_participant_in_two_groups_is_named_by_rows_only(name: str) -> None:
    header = ["id", "Q1", "Q2", "S"]
    sheets = [
        sheet(header, ["p1", "x", "", "f"], [SECRET, "y", "", "f"]),
        sheet(header, ["p2", "x", "", "m"], [SECRET, "y", "", "m"], name=name),
    ]
    if name == "a.csv":
        rows = [*sheets[0].rows, *(row._replace(number=row.number + 2) for row in sheets[1].rows)]
        sheets = [sheets[0]._replace(rows=rows)]
    found = refusal(*sheets, mapping=GROUPED)
    here, there = ("row 5", "row 3") if name == "a.csv" else ("row 3", "row 3 of a.csv")
    assert found.startswith(f"{name}: {here} puts the participant in another group of ")
    assert f"field.columns.groups.sex than {there} does" in found


@pytest.mark.parametrize(
    "cell",
    [
        "5f3c9b01ab775f3c9b01ab77",
        "jo@example.org",
        "1. Alien\n2. Brazil\n3. Crash",
    ],
)
def test_a_first_row_that_is_no_header_is_not_told(cell: str) -> None:
    found = refusal(sheet([SECRET, cell, "x"], ["p1", "y", "z"]), mapping=WIDE)
    assert "looks like an answer, not a header" in found
    assert cell not in found


LONG_TEXT = "\n".join(f"{n}. A film of some length" for n in range(5))


@pytest.mark.parametrize(
    ("texts", "is_copy"),
    [
        ([LONG_TEXT, "y"], True),
        ([LONG_TEXT, "z"], False),
        (["", ""], False),
    ],
)
def test_a_second_export_of_the_same_survey_is_refused(texts: list[str], is_copy: bool) -> None:
    header = ["id", "Q1", "Q2"]
    first = sheet(header, ["p1", LONG_TEXT, "a"], ["p2", "y", "b"])
    second = sheet(header, ["p1", texts[0], ""], ["p2", texts[1], ""], name="b.xlsx")
    if is_copy:
        found = refusal(first, second, mapping=WIDE)
        assert found.startswith("b.xlsx: holds the same answers as a.csv")
    else:
        assert len(read(first, second, mapping=WIDE).answers) == 8


@pytest.mark.parametrize("is_newest_first", [False, True])
def test_an_export_that_holds_an_earlier_one_adds_its_new_rows(is_newest_first: bool) -> None:
    header = ["id", "Q1", "Q2"]
    rows = [["p1", "x", "a"], ["p2", "y", "b"]]
    files = [sheet(header, *rows), sheet(header, *rows, ["p3", "z", "c"], name="b.csv")]
    raw = read(*(files[::-1] if is_newest_first else files), mapping=WIDE)
    assert sorted((a.participant, a.prompt.item_id, a.replicate) for a in raw.answers) == [
        (participant, item, 0) for participant in ("p1", "p2", "p3") for item in ("cars", "movies")
    ]
    assert raw.n_repeats == 2


def test_a_row_that_stands_twice_in_a_file_counts_once_where_a_column_could_tell() -> None:
    wide = sheet(["id", "Q1", "Q2"], ["p1", "x", ""], ["p1", "x", ""], ["p1", "x", "y"])
    assert len(read(wide, mapping=WIDE).answers) == 4
    rows = [["p1", "cars", "A"], ["p1", "cars", "A"]]
    plain = sheet(["id", "prompt", "answer"], *rows)
    # an answer given again may well be the same letter
    assert [a.replicate for a in read(plain, mapping=LONG).answers] == [0, 1]
    times = sheet(["id", "prompt", "answer", "start"], *([*row, "9:00"] for row in rows))
    assert [a.replicate for a in read(times, mapping=LONG).answers] == [0]
    times = sheet(["id", "prompt", "answer", "start"], [*rows[0], "9:00"], [*rows[1], "9:05"])
    assert [a.replicate for a in read(times, mapping=LONG).answers] == [0, 1]


def test_only_rows_with_the_values_of_the_rule_are_read() -> None:
    mapping = column_map("wide", rows={"consent": ["yes", "Ja"]})
    header = ["id", "Q1", "Q2", "consent"]
    answers = sheet(header, ["p1", "x", "y", "yes"], ["p2", "a", "b", "no"], ["p3", "a", "b", ""])
    raw = read(answers, mapping=mapping)
    assert {answer.participant for answer in raw.answers} == {"p1"}
    assert raw.n_left_out == 2
    found = refusal(sheet(header[:3], ["p1", "x", "y"]), mapping=mapping)
    assert "has no column 'consent' (field.rows.consent)" in found


def test_a_number_is_an_answer_where_the_question_asks_for_one() -> None:
    rows = [["id", "prompt", "answer"], ["p1", "ethics-00", 4], ["p2", "ethics-00", 2.0]]
    assert [a.text for a in read(sheet(*rows), mapping=LONG).answers] == ["4", "2"]
    found = refusal(sheet(rows[0], ["p1", "movies", 4]), mapping=LONG)
    assert "holds a number where an answer should be" in found


def test_a_header_among_the_rows_is_refused() -> None:
    header = ["id", "Q1", "Q2"]
    found = refusal(sheet(header, ["p1", "x", "y"], header, ["p2", "x", "z"]), mapping=WIDE)
    assert found == "a.csv: row 3 repeats the names of the columns; delete the row"


@pytest.mark.parametrize("rows", [[], [[SECRET, "", " "], ["p2", "", ""]]])
def test_no_answers_at_all_are_refused(rows: list[list[str]]) -> None:
    found = refusal(sheet(["id", "Q1", "Q2"], *rows), mapping=WIDE)
    assert found.startswith(f"a.csv: all {2 * len(rows)} answers in 1 file(s) are empty")


def test_a_group_without_answers_is_refused() -> None:
    rows = [["p1", "x", "", "f"], ["p2", "", "", "f"], [SECRET, "", "", "m"], ["p3", "", "", "m"]]
    found = refusal(sheet(["id", "Q1", "Q2", "S"], *rows), mapping=GROUPED)
    assert found.startswith("a.csv: nobody in the group of row 4 gave an answer")
    assert "(field.columns.groups.sex)" in found

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
SECRET = "SECRET-ID-77"
LONG_ID = f"{SECRET}-0123456789"
HEADER, LONG_HEADER = ["id", "Q1", "Q2"], ["id", "prompt", "answer"]


def column_map(layout: str, *, models: Sequence[str] = ("m",), **changes: Any) -> ColumnMap:
    columns = dict.fromkeys(("platform", "model", "prompt", "answer", "position"))
    columns |= {"participant": "id", "groups": {}}
    field: dict[str, Any] = {"layout": layout, "skip_prompts": [], "rows": {}, "models": {}}
    if layout == "long":
        columns |= {"prompt": "prompt", "answer": "answer"}
        field["prompts"] = {}
    else:
        field["prompts"] = {"movies": "Q1", "recommendations/cars": "Q2"}
    field["columns"] = columns | changes.pop("columns", {})
    return ColumnMap(field | changes, PROMPTS, models, numeric_prompts={ETHICS})


WIDE, LONG = column_map("wide"), column_map("long")
GROUPED = column_map("wide", columns={"groups": {"sex": "S"}})


def sheet(header: Sequence[str], *rows: Sequence[Any], name: str = "a.csv") -> Sheet:
    numbered = [SheetRow(n, tuple(row)) for n, row in enumerate(rows, start=2) if any(row)]
    return Sheet(Path(name), tuple(header), numbered)


def read(*sheets: Sheet, mapping: ColumnMap = WIDE) -> RawField:
    return read_field(sheets, mapping)


def refusal(*sheets: Sheet, mapping: ColumnMap = WIDE) -> str:
    with pytest.raises(StudyError) as caught:
        read_field(sheets, mapping)
    said = str(caught.value)
    assert "\n" not in said
    assert SECRET not in said
    return said


def brief(answer: RawAnswer) -> tuple[Any, ...]:
    return answer.participant, answer.prompt.item_id, answer.replicate, answer.text, answer.row


def test_wide_a_row_is_a_participant_and_a_column_a_prompt() -> None:
    rows = ["p1", "Fiat", "!", "Alien"], ["p2", " ", "", "Brazil"]
    answers = read(sheet(["id", "Q2", "other", "Q1"], *rows)).answers
    assert sorted(map(brief, answers)) == [
        ("p1", "cars", 0, "Fiat", 2),
        ("p1", "movies", 0, "Alien", 2),
        ("p2", "cars", 0, None, 3),
        ("p2", "movies", 0, "Brazil", 3),
    ]
    assert {(a.model, a.platform, a.position) for a in answers} == {("m", None, None)}


@pytest.mark.parametrize("value", ["Which films?", "movies", "recommendations/movies"])
def test_long_a_row_is_an_answer_and_item_ids_need_no_entry(value: str) -> None:
    mapping = column_map("long", prompts={"movies": "Which films?"})
    found = read(sheet(["answer", "prompt", "id"], [" Alien\n", value, "p1"]), mapping=mapping)
    assert [brief(a) for a in found.answers] == [("p1", "movies", 0, " Alien\n", 2)]


def test_replicates_count_texts_in_the_order_of_rows_and_files() -> None:
    texts = [["p1", "movies", text] for text in ("", "b", "", "c")]
    further = ["p1", "cars", "x"], ["p2", "movies", "y"], ["p1", "movies", "z"]
    again = sheet(LONG_HEADER, [" p1 ", "movies", "last"], name="b.csv")
    found = read(sheet(LONG_HEADER, *texts, *further), again, mapping=LONG)
    ours = [a for a in found.answers if (a.participant, a.prompt) == ("p1", MOVIES)]
    assert [a.text for a in ours] == [None, "b", None, "c", "z", "last"]
    assert [a.replicate for a in ours] == [4, 0, 5, 1, 2, 3]


@pytest.mark.parametrize("written", ["12", " 12 ", 12, 12.0])
def test_a_participant_is_the_same_in_every_kind_of_file(written: object) -> None:
    found = read(sheet(HEADER, ["12", "x", ""]), sheet(HEADER, [written, "y", ""], name="b.xlsx"))
    movies = [a for a in found.answers if a.prompt == MOVIES]
    assert [(a.participant, a.replicate) for a in movies] == [("12", 0), ("12", 1)]


@pytest.mark.parametrize(
    ("models", "columns", "mapped", "cells", "expected"),
    [
        (["m"], {}, {}, ["", ""], ("m", None)),
        (["m"], {"platform": "p"}, {"ChatGPT": "m"}, ["ChatGPT", ""], ("m", "ChatGPT")),
        (["m", "n"], {"platform": "p"}, {"ChatGPT": "n"}, [" ChatGPT", ""], ("n", "ChatGPT")),
        (
            ["m", "n"],
            {"platform": "p", "model": "k"},
            {"x": "m"},
            ["ChatGPT", "x"],
            ("m", "ChatGPT"),
        ),
        (["m", "n"], {"platform": "p"}, {"ChatGPT": None}, ["ChatGPT", ""], None),
    ],
)
def test_the_model_comes_from_its_column_or_the_platform(
    models: list[str], columns: dict[str, str], mapped: Any, cells: list[str], expected: Any
) -> None:
    mapping = column_map("long", models=models, columns=columns)
    mapping.field["models"].update(mapped)  # type: ignore[attr-defined]
    rows = ["p1", "movies", "x", *cells], ["p2", "movies", "y", "ChatGPT" if expected else "m", "m"]
    found = read(sheet([*LONG_HEADER, "p", "k"], *rows), mapping=mapping)
    first = [(a.model, a.platform) for a in found.answers if a.participant == "p1"]
    assert first == [expected] * (expected is not None)
    assert found.n_left_out == (expected is None)


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
    cell: str, expected: Any
) -> None:
    mapping = column_map("wide", columns={"position": "o"})
    found = read(sheet([*HEADER, "o"], ["p1", "x", "y", cell]), mapping=mapping)
    assert {a.prompt.item_id: a.position for a in found.answers} == expected
    said = refusal(sheet([*HEADER, "o"], [SECRET, "x", "", f"{SECRET}|b"]), mapping=mapping)
    assert said.startswith("a.csv: row 2, column 'o' (field.columns.position) names no prompt")


def test_groups_may_come_from_a_file_of_their_own() -> None:
    mapping = column_map("wide", columns={"groups": {"gender": "Sex", "race": "Race"}})
    groups = ["p2", "f", ""], ["p1", "m", "b"], ["p1", "", "b"]
    answers = sheet(HEADER, ["p1", "x", ""], ["p2", "y", ""])
    found = read(answers, sheet(["id", "Sex", "Race"], *groups, name="g"), mapping=mapping)
    members = {(m.participant, m.variable, m.group) for m in found.members}
    assert members == {("p1", "gender", "m"), ("p1", "race", "b"), ("p2", "gender", "f")}
    assert len(found.answers) == 4


def test_prompts_and_rows_that_settings_leave_out_are_counted() -> None:
    rows = ["p1", "consent", 7], ["p1", "cars", "x"]
    mapping = column_map("long", skip_prompts=["consent"])
    found = read(sheet(LONG_HEADER, *rows), mapping=mapping)
    assert [brief(a) for a in found.answers] == [("p1", "cars", 0, "x", 3)]
    assert found.n_left_out == 1
    mapping = column_map("wide", rows={"consent": ["yes", "Ja"]})
    rows = ["p1", "x", "y", "yes"], ["p2", "a", "b", "no"], ["p3", "a", "b", ""]
    found = read(sheet([*HEADER, "consent"], *rows), mapping=mapping)
    assert {answer.participant for answer in found.answers} == {"p1"}
    assert found.n_left_out == 2
    said = refusal(sheet(HEADER, ["p1", "x", "y"]), mapping=mapping)
    assert "has no column 'consent' (field.rows.consent)" in said


@pytest.mark.parametrize(
    ("header", "said"),
    [
        (["ID", "Q1", "Q2"], "no column 'id' (field.columns.participant) (nearest: 'ID')"),
        (["id", "Q1", "q2 "], "no column 'Q2' (field.prompts.recommendations/cars) (nearest: 'q2')"),
        (["id", "x"], "no column 'Q1' (field.prompts.movies); there are id, x"),
        (["id", "Q1", "Q2", "Q1"], "row 1 has two columns 'Q1' (field.prompts.movies)"),
        (["id", "Q1", "Recommend five movies, as a list of titles and no more"],
         "there are id, Q1, Recommend five movies, as a list of titl…"),
        # a first row that is no header is not told
        ([SECRET, "5f3c9b01ab775f3c9b01ab77", "x"], "looks like an answer, not a header"),
        ([SECRET, "jo@example.org", "x"], "looks like an answer, not a header"),
        ([SECRET, "1. Alien\n2. Brazil\n3. Crash", "x"], "looks like an answer, not a header"),
    ],
)  # fmt: skip
def test_a_column_that_is_not_there_is_named_with_those_that_are(
    header: list[str], said: str
) -> None:
    found = refusal(sheet(header, [SECRET] * len(header)))
    assert found.startswith("a.csv: ")
    assert said in found
    assert "header" not in said or header[1] not in found


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
def test_what_excel_made_of_an_answer_is_refused_with_the_way_out(cell: object, kind: str) -> None:
    for mapping, rows, column in (
        (WIDE, [HEADER, ["p1", "y", ""], [SECRET, "x", cell]], "'Q2' (field.prompts, rec"),
        (
            LONG,
            [LONG_HEADER, ["p1", "movies", "y"], [SECRET, "movies", cell]],
            "'answer' (field.col",
        ),
    ):
        said = refusal(sheet(*rows, name="a.xlsx"), mapping=mapping)
        assert said.startswith(f"a.xlsx: row 3, column {column}")
        assert f" holds {kind} where" in said
        assert "export the survey as CSV" in said


TWO = ["m", "n"]


@pytest.mark.parametrize(
    ("changes", "row", "said"),
    [
        ({}, ["", "movies", "x", "", ""], "column 'id' (field.columns.participant) is empty"),
        ({}, [SECRET, SECRET, "x", "", ""], "holds a prompt that field.prompts does not list"),
        ({"models": TWO, "columns": {"model": "k"}}, [SECRET, "movies", "x", "", ""],
         "column 'k' (field.columns.model) is empty (it lists m, n); add it there"),
        ({"models": TWO, "columns": {"platform": "k"}}, [SECRET, "movies", "x", SECRET, ""],
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
    rows = ["p1", "cars", "x", "m", "1"], row
    found = refusal(sheet([*LONG_HEADER, "k", "n"], *rows), mapping=column_map("long", **changes))
    assert found.startswith("a.csv: row 3, ")
    assert said in found


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
    assert said in refusal(sheet(HEADER, ["p1", "x", "y"]), mapping=mapping)


def test_a_participant_in_two_groups_or_a_group_without_answers_is_named_by_rows_only() -> None:
    header = [*HEADER, "S"]
    women = ["p1", "x", "", "f"], [SECRET, "y", "", "f"]
    men = ["p2", "x", "", "m"], [SECRET, "y", "", "m"]
    sentence = "puts the participant in another group of field.columns.groups.sex than"
    found = refusal(sheet(header, *women, *men), mapping=GROUPED)
    assert found.startswith(f"a.csv: row 5 {sentence} row 3 does")
    found = refusal(sheet(header, *women), sheet(header, *men, name="b.csv"), mapping=GROUPED)
    assert found.startswith(f"b.csv: row 3 {sentence} row 3 of a.csv does")
    empty = ["p2", "", "", "f"], [SECRET, "", "", "m"], ["p3", "", "", "m"]
    found = refusal(sheet(header, women[0], *empty), mapping=GROUPED)
    assert found.startswith("a.csv: nobody in the group of row 4 gave an answer")
    assert "(field.columns.groups.sex)" in found


LONG_TEXT = "\n".join(f"{n}. A film of some length" for n in range(5))


@pytest.mark.parametrize(
    ("texts", "is_copy"), [([LONG_TEXT, "y"], True), ([LONG_TEXT, "z"], False), (["", ""], False)]
)
def test_a_second_export_of_the_same_survey_is_refused(texts: list[str], is_copy: bool) -> None:
    first = sheet(HEADER, ["p1", LONG_TEXT, "a"], ["p2", "y", "b"])
    second = sheet(HEADER, ["p1", texts[0], ""], ["p2", texts[1], ""], name="b.xlsx")
    if is_copy:
        assert refusal(first, second).startswith("b.xlsx: holds the same answers as a.csv")
    else:
        assert len(read(first, second).answers) == 8


@pytest.mark.parametrize("step", [1, -1])
def test_an_export_that_holds_an_earlier_one_adds_its_new_rows(step: int) -> None:
    rows = ["p1", "x", "a"], ["p2", "y", "b"]
    files = [sheet(HEADER, *rows), sheet(HEADER, *rows, ["p3", "z", "c"], name="b.csv")]
    raw = read(*files[::step])
    assert sorted((a.participant, a.prompt.item_id, a.replicate) for a in raw.answers) == [
        (participant, item, 0) for participant in ("p1", "p2", "p3") for item in ("cars", "movies")
    ]
    assert raw.n_repeats == 2


def test_a_row_that_stands_twice_in_a_file_counts_once_where_a_column_could_tell() -> None:
    wide = sheet(HEADER, ["p1", "x", ""], ["p1", "x", ""], ["p1", "x", "y"])
    assert len(read(wide).answers) == 4
    row, times = ["p1", "cars", "A"], [*LONG_HEADER, "start"]
    # an answer given again may well be the same letter
    for header, rows, replicates in (
        (LONG_HEADER, [row, row], [0, 1]),
        (times, [[*row, "9:00"], [*row, "9:00"]], [0]),
        (times, [[*row, "9:00"], [*row, "9:05"]], [0, 1]),
    ):
        answers = read(sheet(header, *rows), mapping=LONG).answers
        assert [a.replicate for a in answers] == replicates


def test_a_number_is_an_answer_where_the_question_asks_for_one() -> None:
    rows = ["p1", "ethics-00", 4], ["p2", "ethics-00", 2.0]
    assert [a.text for a in read(sheet(LONG_HEADER, *rows), mapping=LONG).answers] == ["4", "2"]
    said = refusal(sheet(LONG_HEADER, ["p1", "movies", 4]), mapping=LONG)
    assert "holds a number where an answer should be" in said


def test_a_header_among_the_rows_and_no_answers_at_all_are_refused() -> None:
    said = refusal(sheet(HEADER, ["p1", "x", "y"], HEADER, ["p2", "x", "z"]))
    assert said == "a.csv: row 3 repeats the names of the columns; delete the row"
    for rows in ([], [[SECRET, "", " "], ["p2", "", ""]]):
        said = refusal(sheet(HEADER, *rows))
        assert said.startswith(f"a.csv: all {2 * len(rows)} answers in 1 file(s) are empty")

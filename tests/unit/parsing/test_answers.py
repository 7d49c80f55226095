"""One response becomes one answer, and options written differently get one name within a prompt."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from fieldwork import tables
from fieldwork.errors import StudyError
from fieldwork.parsing.answers import (
    apply_merges,
    count_stated,
    expected_length,
    log_stated,
    merge_items,
    parse_field_answer,
    parse_response,
    share_of_unlisted,
    unread_reason,
)
from fieldwork.records.generation import OUTCOMES, OptionProbability, Outcome, Response
from fieldwork.records.parsing import Answer, MergedItem
from fieldwork.records.tasks import Item
from unit.table_rows import field_answer, response_of

LIST = Item("films", "list", "Which films?", "Name five.", [], None, None, "")
CHOICE = Item("q", "choice", "Which?", "Pick.", ["yes", "no"], "A", "s", "")
FIVE = "1. Alien\n2. Heat\n3. Up\n4. Jaws\n5. Big"


def response(text: str | None, outcome: Outcome = "ok", **columns: Any) -> Response:
    return response_of(text, outcome, **{"puppet_id": "p", "replicate": 3} | columns)


def answer(raw: list[str] | None, item_id: str = "films", task: str = "t", **more: Any) -> Answer:
    read = parse_response(response(None, task=task, item_id=item_id), LIST)
    return dataclasses.replace(read, raw_items=raw, **more)


def merge(answers: list[Answer], **rows: list[dict[str, str]]) -> list[MergedItem]:
    return merge_items(answers, **{"aliases": [], "overrides": []} | rows, threshold=92)


def stated(shares: dict[str, float] | None, **columns: Any) -> Answer:
    """An answer with the probabilities of some letters."""
    listed = None if shares is None else [OptionProbability(*pair) for pair in shares.items()]
    return parse_response(response("B", option_probabilities=listed, **columns), CHOICE)


# ---- one response ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "items", "reason"),
    [
        (FIVE, ["Alien", "Heat", "Up", "Jaws", "Big"], None),
        ("I'm sorry, but I can't help with that.", None, "refused"),
        ("It depends on you.", None, "no list found"),
        ("", None, "empty"),
    ],
)
def test_list_items(text: str | None, items: list[str] | None, reason: str | None) -> None:
    read = parse_response(response(text), LIST)
    assert (read.raw_items, read.reason) == (items, reason)
    assert (read.items, read.letter, read.letter_strict) == (None, None, None)


SCALE = Item("s", "scale", "Agree?", "Agree?", ["no", "yes"], None, None, "", points=[1.0, 2.0])


NUMBER = Item("n", "number", "How many?", "How many?", [], None, None, "")
ONE, MARKED = dataclasses.replace(LIST, list_length=1), dataclasses.replace(SCALE, marks=["1", "2"])


@pytest.mark.parametrize(
    ("item", "readings"),
    [
        (LIST, {FIVE: "numbered list", "- A\n- B\n- C": "bulleted list", '["A", "B"]': "JSON"}),
        (LIST, {"Alien, Heat, Up, Jaws and Big": "commas", "1. A 2. B 3. C": "numbers in a line"}),
        (ONE, {"Oslo.": "one name"}),
        (CHOICE, {"B": "lone letter", "The answer is A": "stated letter", "It is no.": "option text"}),
        (CHOICE, {"B is correct": "verdict", "A. yes": "marked line", "So, B": "aside"}),
        (SCALE, {"B": "lone letter", "I'd say yes.": "stated point"}),
        (MARKED, {"2": "bare number", "2.": "stated point"}),
        (NUMBER, {"7": "opening number"}),
    ],
)  # fmt: skip
def test_the_reader_of_an_answer_is_named(item: Item, readings: dict[str, str]) -> None:
    """Nothing has a reader where nothing was read."""
    answers = {text: parse_response(response(text), item) for text in readings}
    assert {text: read.read_by for text, read in answers.items()} == readings
    assert parse_response(response("It depends on you."), item).read_by is None


@pytest.mark.parametrize(
    ("text", "strict", "letter"),
    [
        ("B", "B", "B"),
        ("B.", None, "B"),
        ("The answer is A", None, "A"),
        # the item has two choices
        ("C", None, None),
        ("", None, None),
    ],
)
def test_choice_items(text: str, strict: str | None, letter: str | None) -> None:
    read = parse_response(response(text), CHOICE)
    assert (read.letter_strict, read.letter) == (strict, letter)
    assert (read.reason is None) == (letter is not None)
    assert (read.raw_items, read.items) == (None, None)


@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("item", [LIST, CHOICE], ids=["list", "choice"])
def test_every_outcome_is_kept_and_only_answers_are_read(outcome: Outcome, item: Item) -> None:
    read = parse_response(response(FIVE if item is LIST else "A", outcome), item)
    assert read.outcome == outcome
    is_read = (read.raw_items or read.letter) is not None
    assert is_read == (outcome in ("ok", "truncated"))
    assert (read.reason is None) == is_read


def test_signs_of_no_width_hide_no_option() -> None:
    item = dataclasses.replace(CHOICE, choices=["round\u200b", "f\u200blat", "a", "b"])
    assert parse_response(response("It is flat."), item).letter == "B"


def test_half_a_last_name_of_a_truncated_reply_is_no_item() -> None:
    text = "1. Alien\n2. Heat\n3. Virtual"
    assert parse_response(response(text), LIST).raw_items == ["Alien", "Heat", "Virtual"]
    assert parse_response(response(text, "truncated"), LIST).raw_items == ["Alien", "Heat"]


@pytest.mark.parametrize(
    ("prompt", "list_length", "length"),
    [
        ("Name five films.", None, 5),
        ("Name three films.", 8, 8),
        ("Which films?", 4, 4),
        ("Which films?", None, None),
    ],
)
def test_the_number_asked_for_is_the_items_own_or_its_prompts(
    prompt: str, list_length: int | None, length: int | None
) -> None:
    item = dataclasses.replace(LIST, prompt=prompt, list_length=list_length)
    assert expected_length(item) == length


# ---- one name ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("item", [LIST, CHOICE], ids=["list", "choice"])
@pytest.mark.parametrize(
    "text", [FIVE, "B.", "It depends.", "I'm sorry, but I can't help.", "", None]
)
def test_an_answer_of_the_field_is_read_as_a_models(text: str | None, item: Item) -> None:
    answer_of_field = field_answer(text=text, replicate=3)
    outcome: Outcome = "empty" if text is None else "ok"
    from_response = parse_response(response(text, outcome, condition="field"), item)
    assert parse_field_answer(answer_of_field, item) == from_response


def test_spellings_are_counted_and_merged_within_a_prompt() -> None:
    answers = [
        answer(["Alien", "Up"]),
        answer(["ALIEN", "Alien"]),
        answer(["alien"], item_id="books"),
        answer(["Alien!"], task="other"),
        answer(None),
    ]
    assert merge(answers) == [
        MergedItem("other", "films", "Alien!", "Alien!", "exact", 1),
        MergedItem("t", "books", "alien", "alien", "exact", 1),
        MergedItem("t", "films", "Alien", "Alien", "exact", 2),
        MergedItem("t", "films", "ALIEN", "Alien", "exact", 1),
        MergedItem("t", "films", "Up", "Up", "exact", 1),
    ]
    assert merge(answers[::-1]) == merge(answers)


@pytest.mark.parametrize(
    ("scope", "applies"),
    [("t films", True), (" ", True), ("t books", False), ("other films", False)],
)
def test_aliases_and_overrides_hold_where_they_say(scope: str, applies: bool) -> None:
    task, item_id = scope.split(" ")
    place = {"task": task, "item_id": item_id}
    alias = [{**place, "written": "SW", "canonical": "Star Wars"}]
    override = [{**place, "raw": "SW", "canonical": "Swan"}]
    unchanged = MergedItem("t", "films", "SW", "SW", "exact", 1)
    for rows, name, rule in (
        ({"aliases": alias}, "Star Wars", "alias"),
        ({"aliases": alias, "overrides": override}, "Swan", "override"),
    ):
        (row,) = merge([answer(["SW"])], **rows)
        changed = dataclasses.replace(unchanged, canonical=name, rule=rule)
        assert row == (changed if applies else unchanged)


@pytest.mark.parametrize(
    ("setting", "row"),
    [
        ("aliases", {"task": "t", "item_id": "", "raw": "a", "canonical": "b"}),
        ("overrides", {"task": "t", "item_id": "", "written": "a", "canonical": "b"}),
        ("overrides", {"raw": "a", "canonical": "b"}),
    ],
)
def test_a_file_without_its_columns_names_the_setting(setting: str, row: dict[str, str]) -> None:
    with pytest.raises(StudyError, match=rf"^parsing\.{setting}: the file has no column"):
        merge([answer(["a"])], **{setting: [row]})


def test_canonical_options_keep_their_order_without_repeats() -> None:
    answers = [
        answer(["Up", "alien", "Alien", "Up"]),
        answer(["Alien"]),
        answer(None),
        parse_response(response("A", item_id="q"), CHOICE),
        # one that comes with items only
        answer(None, items=["ALIEN", "alien"]),
    ]
    merged = apply_merges(answers, merge(answers))
    assert [m.items for m in merged] == [["Up", "Alien"], ["Alien"], None, None, ["Alien"]]
    assert [m.raw_items for m in merged] == [a.raw_items for a in answers]
    assert merged[3] == answers[3]
    again = apply_merges(merged, merge(merged))
    assert [m.items for m in again] == [m.items for m in merged]


def test_a_list_counts_with_as_many_options_as_asked_for() -> None:
    answers = [answer(["a", "b", "A", "c", "d"], n_asked=3), answer(["a", "b"], n_asked=3)]
    merged = apply_merges(answers, merge(answers))
    assert [(a.items, a.n_items, a.raw_items) for a in merged] == [
        (["a", "b", "c"], 4, ["a", "b", "A", "c", "d"]),
        (["a", "b"], 2, ["a", "b"]),
    ]
    whole = apply_merges(answers, merge(answers), is_cut=False)
    assert [a.items for a in whole] == [["a", "b", "c", "d"], ["a", "b"]]


def test_a_refusal_is_no_unread_answer() -> None:
    assert unread_reason(response("A"), CHOICE) is None
    assert unread_reason(response("I'm sorry, but I can't help with that."), CHOICE) is None
    assert unread_reason(response("Perhaps."), CHOICE) is not None


def test_the_probabilities_of_options_come_along_and_survive_a_table(tmp_path: Path) -> None:
    rows = [stated(None), stated({"A": 0.25, "B": 0.75}, replicate=4)]
    shares = [OptionProbability("A", 0.25), OptionProbability("B", 0.75)]
    assert [row.option_probabilities for row in rows] == [None, shares]
    tables.write_rows(tmp_path / "answers.parquet", rows, Answer)
    assert tables.read_rows(tmp_path / "answers.parquet", Answer) == rows


@pytest.mark.parametrize(
    ("listed", "expected"),
    [
        ({"A": 0.25, "B": 0.75}, 0.0),
        ({"A": 0.2, "B": 0.75}, 0.0),
        ({"B": 0.96}, 0.04),
        ({"A": 0.0, "B": 0.96}, 0.0),
        ({"B": 1.004}, 0.0),
        ({"B": 0.8}, None),
        ({"C": 0.02, "B": 0.97}, 0.03),
        (None, None),
    ],
)
def test_what_is_left_for_letters_that_are_not_listed(
    listed: dict[str, float] | None, expected: float | None
) -> None:
    read = stated(listed)
    assert read.unlisted_share == pytest.approx(expected)
    assert (read.option_probabilities is None) == (read.letter_share is None) == (expected is None)


def test_a_letter_that_is_not_listed_has_no_more_than_the_least_that_is() -> None:
    listed = [OptionProbability("A", 0.93), OptionProbability("B", 0.01)]
    shares = [share_of_unlisted(listed, letters) for letters in ("ABC", "ABCD", "AB")]
    assert shares == pytest.approx([0.01, 0.02, 0])


@pytest.mark.parametrize(
    ("arms", "words"),
    [
        ({"offline": 0.999}, ""),
        ({"offline": 0.95}, "do not list all letters"),
        ({"offline": 1.0, "history": None}, "history: of 1 answers 1 state no probabilities"),
        ({"history": None}, ""),
    ],
)
def test_the_log_says_where_much_is_not_listed_or_one_condition_states_none(
    caplog: pytest.LogCaptureFixture, arms: dict[str, float | None], words: str
) -> None:
    answers = [
        stated(None if share is None else {"B": share}, condition=name)
        for name, share in arms.items()
    ]
    log_stated(count_stated(answers))
    assert bool(caplog.text) == bool(words)
    assert words in caplog.text
    assert "offline: of" not in caplog.text

"""A person's reading of a reply wins over the parser's, and a file that cannot be meant is refused."""

import csv
import dataclasses
import logging
from collections.abc import Sequence
from pathlib import Path

import pytest

from fieldwork.errors import StudyError
from fieldwork.files.cells import guard_cell
from fieldwork.parsing.answers import parse_response
from fieldwork.parsing.corrections import (
    PersonReading,
    correct_answers,
    log_unused,
    read_corrections,
    text_hash,
)
from fieldwork.records.generation import OUTCOMES, Outcome
from fieldwork.records.parsing import NO_ANSWER, Answer
from fieldwork.records.shared import ItemKey
from fieldwork.records.tasks import Item
from unit.table_rows import response_of

COLUMNS = ("task", "item_id", "raw", "canonical", "text_sha256", "reading")
LIST = Item("films", "list", "Which films?", "Name two.", [], None, None, "")
CHOICE = Item("q", "choice", "Which?", "Pick.", ["yes", "no"], "A", "s", "")
ITEMS = {ItemKey("t", "films"): LIST, ItemKey("t", "q"): CHOICE}
TEXT = "Alien, or perhaps Heat – who knows ☕"
HASH = text_hash(TEXT)


def write(
    path: Path, *rows: dict[str, str], encoding: str = "utf-8", columns: Sequence[str] = COLUMNS
) -> str:
    with path.open("w", newline="", encoding=encoding) as handle:
        writer = csv.DictWriter(handle, columns, restval="")
        writer.writeheader()
        writer.writerows(rows)
    return str(path)


def row(reading: str, item_id: str = "films", **changes: str) -> dict[str, str]:
    cells = {"task": "t", "item_id": item_id, "text_sha256": HASH, "reading": guard_cell(reading)}
    return cells | changes


def answer(text: str | None, item: Item, outcome: Outcome = "ok") -> Answer:
    return parse_response(response_of(text, outcome, item_id=item.item_id), item)


def corrected(
    tmp_path: Path, reading: str, text: str, item: Item, outcome: Outcome = "ok"
) -> Answer:
    path = write(tmp_path / "c.csv", row(reading, item.item_id, text_sha256=text_hash(text)))
    readings = read_corrections([path]).readings
    (changed,) = correct_answers([answer(text, item, outcome)], [text], ITEMS, readings)
    return changed


# ---- application -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reading", "options"),
    [
        ("Alien\nHeat", ["Alien", "Heat"]),
        ("Alien\rHeat", ["Alien", "Heat"]),
        ("\n  Alien \n\n", ["Alien"]),
        # Python's splitlines would cut these names
        ("A\u2028B\x0bC\nD\x85E", ["A\u2028B\x0bC", "D\x85E"]),
        # a number or comma is part of a name
        ("1. Alien, Heat", ["1. Alien, Heat"]),
        ("=SUM(A1)\n-ism", ["=SUM(A1)", "-ism"]),
    ],
)
def test_a_list_is_read_line_by_line(tmp_path: Path, reading: str, options: list[str]) -> None:
    read = corrected(tmp_path, reading, TEXT, LIST)
    assert (read.raw_items, read.reason, read.n_asked) == (options, None, 2)
    assert (read.correction, read.letter, read.letter_strict) == (HASH, None, None)
    assert read.read_by == "correction"


@pytest.mark.parametrize(
    ("text", "reading", "letter", "strict"),
    [
        # only a reply that is a letter keeps to the form
        ("A", "B", "B", "B"),
        ("A.", "B", "B", None),
        ("Perhaps.", "B", "B", None),
        ("A", "", None, None),
    ],
)
def test_a_letter_is_read_and_the_form_stays_as_it_was(
    tmp_path: Path, text: str, reading: str, letter: str | None, strict: str | None
) -> None:
    read = corrected(tmp_path, reading, text, CHOICE)
    assert (read.letter, read.letter_strict) == (letter, strict)
    assert read.reason == (None if letter else NO_ANSWER)


def test_no_answer_replaces_what_the_parser_read_but_not_a_refusal(tmp_path: Path) -> None:
    read = corrected(tmp_path, " \n", "1. Alien\n2. Heat", LIST)
    assert (read.raw_items, read.reason, read.read_by) == (None, NO_ANSWER, None)
    refusal = corrected(tmp_path, "", "I'm sorry, but I can't help with that.", LIST)
    assert (refusal.raw_items, refusal.reason) == (None, "refused")
    assert refusal.correction is not None
    assert corrected(tmp_path, "", "It depends on you.", LIST).reason == NO_ANSWER


@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("item", [LIST, CHOICE], ids=["list", "choice"])
def test_whatever_became_of_a_call_only_one_that_failed_stays_unread(
    tmp_path: Path, outcome: Outcome, item: Item
) -> None:
    reading = "Alien\nHeat\nUp" if item is LIST else "A"
    read = corrected(tmp_path, reading, "It is … hmm", item, outcome)
    if outcome == "failed":
        assert read == answer("It is … hmm", item, outcome)
        return
    assert (read.outcome, read.reason) == (outcome, None)
    assert read.raw_items == (["Alien", "Heat", "Up"] if item is LIST else None)
    assert read.letter == ("A" if item is CHOICE else None)
    # else a list would not be cut to the number asked for
    assert read.n_asked == (2 if item is LIST else None)


def test_a_reading_holds_for_every_reply_of_its_text_to_its_item_alone(tmp_path: Path) -> None:
    items = {**ITEMS, ItemKey("t", "books"): dataclasses.replace(LIST, item_id="books")}
    path = write(tmp_path / "c.csv", row("Up"), row("A", task="other", item_id="nowhere"))
    rows = [
        answer(TEXT, LIST),
        answer(TEXT + " ", LIST),
        dataclasses.replace(answer(TEXT, LIST), condition="d"),
        dataclasses.replace(answer(TEXT, LIST), item_id="books"),
        answer(None, LIST, "empty"),
    ]
    replies = [TEXT, TEXT + " ", TEXT, TEXT, None]
    read = correct_answers(rows, replies, items, read_corrections([path]).readings)
    assert [a.raw_items == ["Up"] for a in read] == [True, False, True, False, False]
    assert [a for a in read if a.correction is None] == [rows[k] for k in (1, 3, 4)]


def test_readings_of_replies_that_are_gone_are_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    gone = [row("Up", text_sha256=text_hash(str(k))) for k in range(2)]
    path = write(tmp_path / "c.csv", row("Up"), *gone, row("Up", task="other"))
    readings = read_corrections([path]).readings
    read = correct_answers([answer(TEXT, LIST)], [TEXT], ITEMS, readings)
    with caplog.at_level(logging.INFO, "fieldwork"):
        log_unused(read, readings)
        assert "2 of 3 readings by a person are of replies" in caplog.text
        caplog.clear()
        log_unused(read, [reading for reading in readings if reading.text_sha256 == HASH])
        assert not caplog.text


# ---- files -------------------------------------------------------------------------------------------

NAME = {"task": "t", "item_id": "films", "raw": "=SW", "canonical": "Star Wars"}


def test_one_file_holds_both_kinds_of_rows(tmp_path: Path) -> None:
    path = write(tmp_path / "c.csv", NAME | {"raw": "'=SW"}, row("Up"), encoding="utf-8-sig")
    corrections = read_corrections([path])
    (name,) = corrections.names
    assert NAME.items() <= name.items()
    assert corrections.readings == [
        PersonReading("t", "films", HASH, ("Up",), f"parsing.overrides: {path}: row 3")
    ]


@pytest.mark.parametrize("missing", COLUMNS)
def test_a_file_without_a_column_is_refused(tmp_path: Path, missing: str) -> None:
    columns = [name for name in COLUMNS if name != missing]
    path = write(tmp_path / "c.csv", columns=columns)
    with pytest.raises(StudyError, match=rf"^parsing\.overrides: .*c\.csv: no column '{missing}'"):
        read_corrections([path])


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"raw": "SW", "canonical": "Star Wars"}, "both names an option .* two rows"),
        ({"text_sha256": "", "reading": ""}, "has neither a text_sha256 nor raw"),
        ({"text_sha256": "", "reading": "", "raw": "SW"}, "only one of raw and canonical"),
        ({"text_sha256": HASH[:-1]}, "is not the SHA-256 of a text"),
        ({"text_sha256": "1.2E+63"}, "is not the SHA-256"),
        ({"task": ""}, "without task and item_id"),
    ],
)
def test_a_row_that_cannot_be_meant_is_refused_with_its_place(
    tmp_path: Path, change: dict[str, str], problem: str
) -> None:
    path = write(tmp_path / "c.csv", NAME, row("Up") | change)
    # after the semicolon it says what to do
    sentence = rf"^parsing\.overrides: .*c\.csv: row 3.*{problem}[^\n]*$"
    with pytest.raises(StudyError, match=sentence) as error:
        read_corrections([path])
    assert ";" in str(error.value)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (row("Up"), row("Heat")),
        (row("Up\nHeat"), row("Heat\nUp")),
        (row("Up"), row("")),
        (NAME, NAME | {"canonical": "Swan"}),
    ],
)
@pytest.mark.parametrize("is_one_file", [True, False])
def test_rows_that_contradict_each_other_are_both_named(
    tmp_path: Path, one: dict[str, str], other: dict[str, str], is_one_file: bool
) -> None:
    first, place = tmp_path / "c.csv", r"c\.csv: row 3"
    paths = [write(first, one, other)]
    if not is_one_file:
        paths, place = [write(first, one), write(tmp_path / "d.csv", other)], r"d\.csv: row 2"
    with pytest.raises(StudyError, match=rf"{place} contradicts .*c\.csv: row 2: .*delete one"):
        read_corrections(paths)


def test_rows_that_say_the_same_are_no_contradiction(tmp_path: Path) -> None:
    rows = [row("Up"), row(" Up\r\n", text_sha256=HASH.upper()), row("Up", item_id="books")]
    assert len(read_corrections([write(tmp_path / "c.csv", *rows, NAME, NAME)]).readings) == 3


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "mac_roman", "shift_jis"])
def test_readings_in_another_encoding_are_refused(tmp_path: Path, encoding: str) -> None:
    reading = "映画" if encoding == "shift_jis" else "Amélie"
    path = write(tmp_path / "c.csv", row(reading), encoding=encoding)
    with pytest.raises(StudyError, match=r"^parsing\.overrides: .*c\.csv: .*UTF-8[^\n]*$"):
        read_corrections([path])


@pytest.mark.parametrize(
    ("reading", "item_id", "problem"),
    [
        ("C", "q", "none of the letters A to B of item q"),
        ("AB", "q", "none of the letters A to B"),
        ("Up", "film", "task t has no item film"),
    ],
)
def test_a_reading_that_its_item_cannot_have_is_refused(
    tmp_path: Path, reading: str, item_id: str, problem: str
) -> None:
    path = write(tmp_path / "c.csv", row(reading, item_id=item_id))
    readings = read_corrections([path]).readings
    # whether or not there is such a reply
    sentence = rf"^parsing\.overrides: .*c\.csv: row 2: .*{problem}.*; .*(cell|delete)"
    with pytest.raises(StudyError, match=sentence):
        correct_answers([], [], ITEMS, readings)
    elsewhere = {ItemKey("other", "q"): CHOICE}
    assert correct_answers([], [], elsewhere, readings) == []

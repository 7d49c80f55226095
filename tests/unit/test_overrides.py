"""What a person corrects in answers goes out and comes back: merged options, and readings of replies."""

import csv
import dataclasses
from pathlib import Path
from typing import Any

import pytest

from field import parse_field
from fieldwork import tables
from fieldwork.files.cells import guard_cell
from fieldwork.parsing.corrections import text_hash
from fieldwork.records.field import FieldAnswer
from fieldwork.records.generation import Response
from fieldwork.records.parsing import NO_ANSWER, Answer
from fieldwork.records.tasks import Item
from fieldwork.sections.asking import NameRules, ValueRules
from parsing import canonicalise_answers, parse_answers

WRITTEN = ["=HYPERLINK(A1)", "-ism", "'+1", "plain"]


@pytest.fixture
def parsed(tmp_path: Path) -> str:
    blank: dict[str, Any] = {field.name: None for field in dataclasses.fields(Answer)}
    named = {"model": "m", "task": "t", "condition": "c", "item_id": "i", "replicate": 0}
    answer = Answer(**blank | named | {"kind": "list", "outcome": "ok", "raw_items": WRITTEN})
    tables.write_rows(tmp_path / "parsed.parquet", [answer], Answer)
    return str(tmp_path / "parsed.parquet")


def merged(parsed: str, folder: Path, overrides: str = "") -> list[str]:
    canonicalise_answers.main(
        parsed_answers=[parsed],
        field=[],
        aliases=[],
        overrides=[overrides] if overrides else [],
        answers=str(folder / "answers.parquet"),
        merges=str(folder / "items.csv"),
        questions=[],
        naming=NameRules(near_duplicates=100),
        smallest_cell=1,
    )
    (answer,) = tables.read_rows(folder / "answers.parquet", Answer)
    return answer.items or []


def test_a_persons_corrections_reach_the_options_they_are_of(parsed: str, tmp_path: Path) -> None:
    assert set(merged(parsed, tmp_path)) == set(WRITTEN)
    with (tmp_path / "items.csv").open(newline="", encoding="utf-8") as handle:
        rows = list(csv.DictReader(handle))
    assert {row["raw"] for row in rows} == {"'=HYPERLINK(A1)", "'-ism", "''+1", "plain"}
    edited = tmp_path / "mine.csv"
    with edited.open("w", newline="", encoding="utf-8") as handle:
        writer = csv.DictWriter(handle, rows[0])
        writer.writeheader()
        # as a spreadsheet saves what it shows
        writer.writerows(row | {"canonical": f"{row['canonical']} corrected"} for row in rows)
    corrections = merged(parsed, tmp_path, str(edited))
    assert set(corrections) == {f"{written} corrected" for written in WRITTEN}


# ---- readings of replies -----------------------------------------------------------------------------

QUESTIONS = [
    Item("films", "list", "Which films?", "Name two films.", [], None, None, ""),
    Item("q", "choice", "Which?", "Pick.", ["yes", "no"], "A", "s", ""),
]
WANDERING = "Well – films. Some say star wars, I say -ism; and Heat, Up."
CORRECTED = {
    # the first two of three count, under their canonical names
    ("films", WANDERING): "star wars\n-ism\nUp",
    ("films", "1. Oh\n2. Well"): "",
    ("q", "B, or so they say. No: A."): "A",
    ("q", "B"): "a",
}
UNTOUCHED = {("films", "1. Star Wars\n2. Heat"), ("q", "A")}


@pytest.fixture
def study(tmp_path: Path) -> dict[str, str]:
    """Responses and the field's answers to the same texts, and a file of both kinds of corrections."""
    texts = [*CORRECTED, *sorted(UNTOUCHED)]
    blank: dict[str, Any] = {field.name: None for field in dataclasses.fields(Response)}
    named = {"model": "m", "task": "t", "condition": "c", "outcome": "ok", "dispatch": "live"}
    responses = [
        Response(**blank | named | {"defects": [], "item_id": item, "replicate": n, "text": text})
        for n, (item, text) in enumerate(texts)
    ]
    tables.write_table(tmp_path / "responses.parquet", responses, Response)
    field_answers = [
        FieldAnswer(f"p{n}", None, "m", "t", item, 0, None, text, 0, "f.csv", n, [], None)
        for n, (item, text) in enumerate(texts)
    ]
    tables.write_table(tmp_path / "field.parquet", field_answers, FieldAnswer)
    tables.write_table(tmp_path / "t.parquet", QUESTIONS, Item)
    path = tmp_path / "corrections.csv"
    with path.open("w", newline="", encoding="utf-8") as handle:
        writer = csv.writer(handle)
        writer.writerow(["task", "item_id", "raw", "canonical", "text_sha256", "reading"])
        writer.writerow(["t", "films", guard_cell("-ism"), "Ism", "", ""])
        for (item, text), reading in CORRECTED.items():
            writer.writerow(["t", item, "", "", text_hash(text), guard_cell(reading)])
        writer.writerow(["t", "q", "", "", text_hash("a reply that is gone"), "A"])
        writer.writerow(["a task of another study", "x", "", "", text_hash("x"), "Z"])
    return {name: str(tmp_path / name) for name in ("responses.parquet", "corrections.csv")}


@pytest.mark.parametrize("source", ["responses", "field"])
def test_a_persons_readings_reach_answers_and_nobody_elses_change(
    study: dict[str, str], tmp_path: Path, source: str, caplog: pytest.LogCaptureFixture
) -> None:
    questions, parsed = str(tmp_path / "t.parquet"), str(tmp_path / "parsed.parquet")

    def read(*overrides: str) -> dict[str, Answer]:
        """Answers by the text they are of."""
        rules: Any = {"overrides": list(overrides), "value_rules": ValueRules()}
        if source == "field":
            parse_field.main(str(tmp_path / "field.parquet"), [questions], **rules, answers=parsed)
        else:
            forms = [str(tmp_path / "forms.parquet")]
            parse_answers.main(
                [study["responses.parquet"]], questions, **rules, answers=[parsed], forms=forms
            )
        canonicalise_answers.main(
            parsed_answers=[parsed],
            field=[],
            aliases=[],
            overrides=list(overrides),
            answers=str(tmp_path / "answers.parquet"),
            merges=str(tmp_path / "items.csv"),
            questions=[],
            naming=NameRules(near_duplicates=100),
            smallest_cell=1,
        )
        texts = [*CORRECTED, *sorted(UNTOUCHED)]
        rows = tables.read_rows(tmp_path / "answers.parquet", Answer)
        assert len(rows) == len(texts)
        numbers = [int((row.puppet_id or f"p{row.replicate}")[1:]) for row in rows]
        return {texts[n][1]: row for n, row in zip(numbers, rows, strict=True)}

    before = read()
    with caplog.at_level("INFO", "fieldwork"):
        after = read(study["corrections.csv"])
    assert "1 of 5 readings by a person are of replies" in caplog.text
    assert all(row.correction is None for row in before.values())
    assert {text for text, row in after.items() if row.correction} == {t for _, t in CORRECTED}
    for _, text in UNTOUCHED:
        assert after[text] == before[text]
    # "star wars" joins the "Star Wars" of another answer, and the person's own name holds
    names = after[WANDERING]
    assert (names.items, names.n_items, names.reason) == (["Star Wars", "Ism"], 3, None)
    assert names.raw_items == ["star wars", "-ism", "Up"]
    empty = after["1. Oh\n2. Well"]
    assert before["1. Oh\n2. Well"].items is not None
    assert (empty.items, empty.reason) == (None, NO_ANSWER)
    free, bare = after["B, or so they say. No: A."], after["B"]
    assert (free.letter, free.letter_strict) == ("A", None)
    assert (bare.letter, bare.letter_strict, before["B"].letter) == ("A", "A", "B")

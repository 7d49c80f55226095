"""What a person corrects in answers goes out and comes back: merged options, and readings of replies."""

import csv
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
from unit.table_rows import answer_of, field_answer, response_of

WRITTEN = ["=HYPERLINK(A1)", "-ism", "'+1", "plain"]


@pytest.fixture
def parsed(tmp_path: Path) -> str:
    answer = answer_of(kind="list", raw_items=WRITTEN)
    tables.write_rows(tmp_path / "parsed.parquet", [answer], Answer)
    return str(tmp_path / "parsed.parquet")


def merged(parsed: str, folder: Path, *overrides: str) -> list[Answer]:
    canonicalise_answers.main(
        parsed_answers=[parsed],
        field=[],
        aliases=[],
        overrides=list(overrides),
        answers=str(folder / "answers.parquet"),
        merges=str(folder / "items.csv"),
        questions=[],
        naming=NameRules(near_duplicates=100),
        smallest_cell=1,
    )
    return tables.read_rows(folder / "answers.parquet", Answer)


def test_a_persons_corrections_reach_the_options_they_are_of(parsed: str, tmp_path: Path) -> None:
    (answer,) = merged(parsed, tmp_path)
    assert set(answer.items or []) == set(WRITTEN)
    with (tmp_path / "items.csv").open(newline="", encoding="utf-8") as handle:
        rows = list(csv.DictReader(handle))
    assert {row["raw"] for row in rows} == {"'=HYPERLINK(A1)", "'-ism", "''+1", "plain"}
    edited = tmp_path / "mine.csv"
    with edited.open("w", newline="", encoding="utf-8") as handle:
        writer = csv.DictWriter(handle, rows[0])
        writer.writeheader()
        # as a spreadsheet saves what it shows
        writer.writerows(row | {"canonical": f"{row['canonical']} corrected"} for row in rows)
    (answer,) = merged(parsed, tmp_path, str(edited))
    assert set(answer.items or []) == {f"{written} corrected" for written in WRITTEN}


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
    responses = [
        response_of(text, item_id=item, replicate=n) for n, (item, text) in enumerate(texts)
    ]
    tables.write_table(tmp_path / "responses.parquet", responses, Response)
    field_answers = [
        field_answer(f"p{n}", item_id=item, text=text, row=n)
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
        texts = [*CORRECTED, *sorted(UNTOUCHED)]
        rows = merged(parsed, tmp_path, *overrides)
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

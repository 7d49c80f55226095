"""Files of questions as people have them: what their columns hold is guessed, and doubts are said."""

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from fieldwork.errors import StudyError
from fieldwork.records.tasks import ItemKind
from fieldwork.tasks.question_files import AGREEMENT, QuestionGuess, guess_questions


def guess_file(folder: Path, text: str, encoding: str = "utf-8") -> QuestionGuess:
    """The guess about a file with questions of one kind."""
    (folder / "my.csv").write_bytes(text.encode(encoding))
    return only_kind(folder / "my.csv")


def only_kind(path: Path, kind: ItemKind | None = None) -> QuestionGuess:
    (guess,) = guess_questions(path, kind)
    return guess


def mapping(item_id: str, question: str, options: list[str], gold: str, subject: str) -> Any:
    names = ("item_id", "question", "options", "gold", "subject")
    return dict(zip(names, (item_id, question, options, gold, subject), strict=True))


@pytest.mark.parametrize(
    ("header", "row", "columns"),
    [
        ("item_id,question,option_a,option_b,gold,subject", "q,Capital?,Lyon,Paris,B,geo", {}),
        (
            "ID;Frage;A;B;C;D;richtige Antwort;Thema",
            "q;Capital?;Lyon;Paris;Nice;Lille;Paris;geo",
            mapping("ID", "Frage", ["A", "B", "C", "D"], "richtige Antwort", "Thema"),
        ),
        (
            "Numéro;Énoncé;Réponse A;Réponse B;Bonne réponse;Matière",
            "q;Capital?;Lyon;Paris;b;geo",
            mapping("Numéro", "Énoncé", ["Réponse A", "Réponse B"], "Bonne réponse", "Matière"),
        ),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8-sig", "cp1252", "utf-16"])
def test_headers_of_many_kinds(
    tmp_path: Path, header: str, row: str, columns: dict[str, Any], encoding: str
) -> None:
    guess = guess_file(tmp_path, f"{header}\n{row}\n", encoding=encoding)
    assert guess.columns_setting() == columns
    (item,) = guess.items
    assert (item.item_id, item.question, item.gold, item.kind) == ("q", "Capital?", "B", "choice")
    assert item.choices[:2] == ["Lyon", "Paris"]
    assert guess.unused_columns == []


@pytest.mark.parametrize(
    ("golds", "form", "letters", "n_doubts"),
    [
        (["A", "d"], "auto", ["A", "D"], 0),
        (["Lyon", "x2"], "auto", ["A", "D"], 0),
        (["0", "3"], "from_0", ["A", "D"], 0),
        (["1", "4"], "from_1", ["A", "D"], 0),
        (["2", "3"], "from_1", ["B", "C"], 1),
        (["", ""], "auto", [None, None], 0),
    ],
)
def test_the_right_option_may_be_a_letter_a_text_or_a_number(
    tmp_path: Path, golds: list[str], form: str, letters: list[str | None], n_doubts: int
) -> None:
    rows = [f"Capital?,Lyon,Paris,Nice,x2,{golds[0]}", f"More?,a,b,c,x2,{golds[1]}"]
    guess = guess_file(tmp_path, "\n".join(["question,A,B,C,D,correct", *rows]))
    assert guess.gold == form
    assert [item.gold for item in guess.items] == letters
    assert len(guess.doubts) == n_doubts
    assert all("correct holds numbers from 2 to 3" in doubt for doubt in guess.doubts)


@pytest.mark.parametrize("end", ["jsonl", "parquet", "csv"])
def test_a_list_of_options_in_a_column(tmp_path: Path, end: str) -> None:
    row, path = {"question": "?", "choices": ["x", "y", "z"], "answer": 2}, tmp_path / f"a.{end}"
    if end == "parquet":
        pd.DataFrame([row]).to_parquet(path)
    else:
        text = 'question,choices,answer\n?,"[""x"", ""y"", ""z""]",2\n'
        path.write_text(text if end == "csv" else json.dumps(row))
    guess = only_kind(path)
    assert guess.columns_setting() == {"gold": "answer"}
    assert (guess.gold, guess.items[0].gold, len(guess.doubts)) == ("from_1", "B", 1)


def test_options_by_their_letters(tmp_path: Path) -> None:
    row = {"question": "?", "options": {"B": "y", "A": "x"}, "answer_idx": "B", "answer": "y"}
    (tmp_path / "a.jsonl").write_text(json.dumps(row))
    guess = only_kind(tmp_path / "a.jsonl")
    assert guess.columns_setting() == {"options": "options", "gold": "answer"}
    assert (guess.items[0].choices, guess.items[0].gold) == (["x", "y"], "B")
    (tmp_path / "b.jsonl").write_text(json.dumps(row | {"options": {"A": "x", "C": "y"}}))
    with pytest.raises(StudyError, match="the column `options` does not hold a list"):
        guess_questions(tmp_path / "b.jsonl")


def test_without_options_questions_are_list_questions(tmp_path: Path) -> None:
    guess = guess_file(tmp_path, "Frage;Antwort\nWelche Filme?;egal\n")
    assert (guess.kind, guess.columns_setting()) == ("list", {"question": "Frage"})
    assert guess.unused_columns == ["Antwort"]
    assert guess.items[0].item_id == "my-000"
    assert only_kind(tmp_path / "my.csv", "list").kind == "list"


MIXED = """id,question,kind,option_a,option_b,option_c,unit,gold
car,Which car?,choice,Fiat,Ford,,,B
films,Name three films.,list,,,,,
new,New things are good.,likert,Strongly disagree,Neither,Strongly agree,,
age,How old is the sun?,number,,,,years,
why,Why?,open,,,,,
old,Old things are good.,Likert scale,Strongly disagree,Neither,Strongly agree,,
"""


IDS = {"choice": ["car"], "list": ["films"], "scale": ["new", "old"], "number": ["age"]}


def test_a_file_of_many_kinds_is_read_kind_by_kind(tmp_path: Path) -> None:
    (tmp_path / "my.csv").write_text(MIXED)
    guesses = guess_questions(tmp_path / "my.csv")
    ids = {guess.kind: [item.item_id for item in guess.items] for guess in guesses}
    assert ids == IDS | {"text": ["why"]}
    by_kind = {guess.kind: guess for guess in guesses}
    assert by_kind["scale"].rows == {"kind": ["likert", "Likert scale"]}
    assert by_kind["scale"].items[0].points == [1.0, 2.0, 3.0]
    assert by_kind["number"].items[0].unit == "years"
    assert by_kind["choice"].items[0].gold == "B"


def test_without_a_column_of_kinds_a_row_is_what_it_offers(tmp_path: Path) -> None:
    kinds = re.sub(r",(kind|choice|list|likert|number|open|Likert scale),", ",", MIXED)
    (tmp_path / "my.csv").write_text(kinds.replace("why,Why?,,,,,\n", ""))
    guesses = {guess.kind: guess for guess in guess_questions(tmp_path / "my.csv")}
    assert {kind: guess.item_ids for kind, guess in guesses.items()} == IDS
    assert all(len(guess.items) == len(guess.item_ids) for guess in guesses.values())


@pytest.mark.parametrize(
    ("options", "setting"),
    [
        ("Strongly agree,Agree,Neither,Disagree,Strongly disagree", {"order": "descending"}),
        ("Never,Sometimes,Always,Don't know", {"missing_options": ["Don't know"]}),
        ("1,2,3,4,5", {}),
    ],
)
def test_labels_in_order_are_a_scale(tmp_path: Path, options: str, setting: dict[str, Any]) -> None:
    names = ",".join(f"option_{letter}" for letter in "abcde"[: options.count(",") + 1])
    guess = guess_file(tmp_path, f"question,{names}\nGood?,{options}\n")
    assert (guess.kind, guess.scale, guess.doubts) == ("scale", setting, [])


def test_a_scale_without_labels_has_those_of_agreement_and_a_doubt(tmp_path: Path) -> None:
    guess = guess_file(tmp_path, "question,kind\nGood?,likert\n")
    assert guess.scale == {"labels": list(AGREEMENT)}
    assert "five points" in guess.doubts[0]
    assert guess.items[0].choices == list(AGREEMENT)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x,y\n1,2\n", r"no column has a usual name of the question \(its columns are x, y\)"),
        ("question,A,B\n", "has a header but no rows"),
        ("question,A,B\n?,x,y\n?,x,\n", "row 3: item 'my-001': a choice question needs 2 to 10"),
        ("question,A,B,answer\n?,x,y,Z\n", "row 2: item 'my-000': the right option 'Z' is neither"),
    ],
)
def test_what_is_no_file_of_questions_is_refused(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(StudyError, match=words):
        guess_file(tmp_path, text)


@pytest.mark.parametrize(
    "header", ["question,A,C", "question,B,C", "question,option_a", "question,e,f"]
)
def test_columns_that_do_not_follow_one_another_are_no_options(tmp_path: Path, header: str) -> None:
    guess = guess_file(tmp_path, f"{header}\n?{',x' * header.count(',')}\n")
    assert guess.kind == "list"

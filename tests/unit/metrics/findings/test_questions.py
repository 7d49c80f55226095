"""The questions one by one: in their own words, with links to the answers, those that differ first."""

import dataclasses
from typing import Any

from fieldwork.metrics.findings.question_answers import question_answers
from fieldwork.metrics.findings.questions import FEWEST_QUESTIONS, MOST_QUESTIONS, question_lines
from fieldwork.records.shared import ItemKey
from fieldwork.records.tasks import Item
from unit.metrics.findings.finding_rows import (
    OUTLINE,
    PHRASES,
    evidence,
    row_maker,
    shift_row,
    without_links,
)
from unit.metrics.findings.test_question_answers import AGAIN, value_rows

WORDS = OUTLINE._replace(phrases=PHRASES | {"rag": "with a user"})


def lines_of(rows: dict[str, list[Any]], **outline: Any) -> list[str]:
    words = WORDS._replace(**outline)
    lines = question_lines(question_answers(evidence(outline=words, **rows)), words)
    return [without_links(line) for line in lines]


item = row_maker(Item, "kind", item_id="cars", kind="choice", choices=[])


def test_a_question_stands_in_its_own_words_with_what_letters_stand_for() -> None:
    questions = {
        ItemKey("rec", "cars"): item(question="Which *car*?", choices=["Tesla", "Fiat | Panda"])
    }
    shares = {"kind": "choice", "answer": "B", "baseline_share": 0.1}
    rows = [
        shift_row(0.01, 0.4, share=0.5, **shares),
        shift_row(0.9, 0.0, share=0.1, **shares, **AGAIN),
        shift_row(0.9, -0.2, share=0.1, **shares | {"answer": "unknown", "baseline_share": 0.3}),
    ]
    lines = lines_of({"shifts": rows}, questions=questions)
    assert lines[4] == r"### Which \*car\*?"
    assert r"|Fiat \| Panda|no readable letter|other answers|Answers|" in lines[6]
    again, user = ([cell.strip() for cell in line.split("|")[1:-1]] for line in lines[9:11])
    assert again == ["repeated without a user", "not detected", "10 %", "0 %", "90 %", "40"]
    assert user == ["with a user", "**yes**", "50 %", "10 %", "40 %", "40"]


def test_a_number_has_its_unit_and_a_scale_names_its_ends() -> None:
    number = item("number", question="How dear?", unit="dollars")
    lines = lines_of(value_rows(0.01, 0.2), questions={ItemKey("rec", "price"): number})
    assert "Median, dollars" in lines[6]
    assert [cell.strip() for cell in lines[8].split("|")[3:5]] == ["607", "40"]
    assert "|490            |39 + 1 without|" in lines[9]
    scale = item("scale", question="Like it?", choices=["no", "so", "very"], points=[3.0, 2.0, 1.0])
    rows = value_rows(0.01, 0.2, kind="scale")
    rows["values"] = [dataclasses.replace(row, mean=2.25) for row in rows["values"]]
    lines = lines_of(rows, questions={ItemKey("rec", "price"): scale})
    assert "Mean (1 very to 3 no)" in lines[6]
    assert "2.25" in lines[8]


def test_many_questions_are_cut_and_none_that_differs_is_left_out_unsaid() -> None:
    few = [shift_row(0.9, item_id=f"q{n:03}") for n in range(20)]
    lines = lines_of({"shifts": few})
    assert sum(line.startswith("### ") for line in lines) == FEWEST_QUESTIONS
    assert lines[-2] == "17 more questions, on which no difference is detected: all questions."
    many = [shift_row(0.01, item_id=f"q{n:03}") for n in range(300)]
    lines = lines_of({"shifts": many})
    assert sum(line.startswith("### ") for line in lines) == MOST_QUESTIONS
    assert lines[-2] == "288 more questions, of which 288 differ: all questions."


def test_several_models_have_a_table_each() -> None:
    rows = [shift_row(0.01), shift_row(0.9, model="n")]
    lines = lines_of({"shifts": rows}, models={"m": "Model", "n": "Next"})
    assert sum(line.startswith("### ") for line in lines) == 1
    assert [line.split("|")[1].strip() for line in lines if "Asked" in line and "|" in line] == [
        "Model: Asked",
        "Next: Asked",
    ]

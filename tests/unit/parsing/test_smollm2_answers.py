"""The reading of a small chat model's own answers, against labels of a reader (benchmarks/parsing).

200 answers of SmolLM2-135M-Instruct, drawn at random, to questions of this project. They are not shared
data: the model's words may be repeated, and stand beside their labels.
"""

import json
from typing import Any

import pytest

from fieldwork.parsing.choices import parse_choice
from fieldwork.parsing.lists import parse_list
from unit.parsing.real_texts import LABELS, Tally, tally

LETTERS = "ABCD"


def labelled(form: str) -> list[dict[str, Any]]:
    lines = (LABELS / "smollm2.jsonl").read_text(encoding="utf-8").splitlines()
    return [row for row in map(json.loads, lines) if row["form"] == form]


def read_names(row: dict[str, Any]) -> list[str]:
    is_truncated = row["outcome"] == "truncated"
    return list(parse_list(row["text"], expected_length=5, is_truncated=is_truncated).items or ())


@pytest.mark.parametrize(
    ("form", "n", "expected"), [("free", 55, (126, 11, 23)), ("five_lines", 55, (255, 18, 16))]
)
def test_items_of_lists(form: str, n: int, expected: tuple[int, int, int]) -> None:
    rows = labelled(form)
    assert len(rows) == n
    right = wrong = missing = 0
    for row in rows:
        names, truth = read_names(row), row["truth"]
        right += sum(name in truth for name in names)
        wrong += sum(name not in truth for name in names)
        missing += sum(name not in names for name in truth)
    result = Tally(n, right, wrong, missing)
    print(f"\n{form:42} {result} P {result.precision:.3f} R {result.recall:.3f}")
    # what benchmarks/parsing says: whoever betters it corrects the page
    assert (right, wrong, missing) == expected


def test_letters() -> None:
    rows = labelled("letter")
    letters = [
        parse_choice(row["text"], letters=LETTERS[: len(row["options"])], choices=row["options"])
        for row in rows
    ]
    pairs = [(one.letter, row["truth"]) for one, row in zip(letters, rows, strict=True)]
    assert tally("letters of SmolLM2", pairs) == Tally(90, 51, 6, 4)

"""Real answers with numbers that are worked out, and with points of a scale, where the data is here."""

import pandas as pd
import pytest
from tests.unit.parsing.real_texts import DATA, needs_real_texts

from fieldwork.parsing.numbers import parse_number
from fieldwork.parsing.refusals import is_refusal
from fieldwork.parsing.scales import parse_scale

READINGS = DATA / "readings"
POINTS = ["Strongly disagree", "Disagree", "Agree", "Strongly agree"]
pytestmark = needs_real_texts


def share_right(texts: pd.Series, truth: pd.Series) -> float:
    """Of numbers, those read within a millionth."""
    readings = [parse_number(text).value for text in texts]
    right = [
        value is not None and value == pytest.approx(number)
        for value, number in zip(readings, truth, strict=True)
    ]
    return sum(right) / len(right)


def test_worked_numbers_are_read_with_and_without_their_last_line() -> None:
    answers = pd.read_parquet(READINGS / "worked_numbers_2models.parquet")
    numbers = pd.to_numeric(answers.stated.str.replace("[,$]", "", regex=True), errors="coerce")
    answers, numbers = answers[numbers.notna()], numbers[numbers.notna()]
    assert share_right(answers.solution, numbers) == 1
    # as benchmarks/parsing says: whoever betters it corrects the page
    assert round(share_right(answers.body, numbers) * len(answers)) == 1284


def letters_read(texts: pd.Series) -> list[str]:
    marks = [str(n) for n in range(1, len(POINTS) + 1)]
    readings = [parse_scale(text, marks=marks, choices=POINTS).letters for text in texts]
    return [letters[0] for letters in readings if len(letters) == 1]


def test_stances_are_read_and_replies_to_other_requests_give_no_point() -> None:
    answers = pd.read_parquet(READINGS / "four_point_scale_10models.parquet")
    counts = pd.Series(letters_read(answers.response)).value_counts()
    # as one reader found them; a new rule that moves these numbers needs a look at what it reads
    assert counts.to_dict() == {"C": 1077, "B": 641, "A": 476, "D": 172}
    others = pd.read_parquet(READINGS / "refusals_5models_human_labels.parquet")
    assert letters_read(others.response) == []


def test_refusals_are_those_that_people_labelled() -> None:
    """Full refusals against full compliance; of the partial ones, benchmarks/parsing says how many."""
    replies = pd.read_parquet(READINGS / "refusals_5models_human_labels.parquet")
    replies["refuses"] = replies.response.map(is_refusal)
    counts = replies.groupby("label").refuses.agg(["sum", "size"])
    # as benchmarks/parsing says: whoever betters it corrects the page
    assert counts["sum"].to_dict() == {
        "1_full_compliance": 10,
        "2_full_refusal": 460,
        "3_partial_refusal": 59,
    }

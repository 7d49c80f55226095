"""Answer shares against hand counts, with every way of giving no letter."""

import dataclasses
import math

import pandas as pd
import pytest

from fieldwork.errors import StudyError
from fieldwork.metrics.distributions import measure_distributions
from fieldwork.records.parsing import Answer
from unit.metrics.metric_frames import answer_frame, chosen, item_frame, question


def shares(answers: list[Answer], **item: object) -> dict[str, tuple[int, bool]]:
    rows = measure_distributions(answer_frame(answers), item_frame(question(**item)))
    assert {row.n_responses for row in rows} <= {len(answers)}
    return {row.answer: (row.n_answers, row.is_correct) for row in rows}


@pytest.mark.parametrize(
    ("letters", "item", "expected"),
    [
        ("ABBB", {}, {"A": (1, True), "B": (3, False), "C": (0, False), "D": (0, False)}),
        ("BB", {"n_choices": 2, "gold": "B"}, {"A": (0, False), "B": (2, True)}),
        ("A", {"n_choices": 2, "gold": None}, {"A": (1, False), "B": (0, False)}),
    ],
)
def test_every_letter_has_a_row(letters: str, item: dict[str, object], expected: object) -> None:
    found = shares(chosen(letters), **item)
    assert found.pop("unknown") == (0, False)
    assert found == expected


def test_unreadable_and_refused_are_unknown_and_stay_in_the_denominator() -> None:
    rows = measure_distributions(
        answer_frame(chosen(["A", None, "A", None])), item_frame(question())
    )
    found = {row.answer: row.share for row in rows}
    assert found == {"A": 0.5, "B": 0.0, "C": 0.0, "D": 0.0, "unknown": 0.5}
    assert math.fsum(found.values()) == 1.0


def test_a_letter_the_item_lacks_is_unknown() -> None:
    assert shares(chosen("AE"), n_choices=2)["unknown"] == (1, False)


def test_failed_responses_are_no_data() -> None:
    answers = chosen("AB")
    answers[1] = dataclasses.replace(answers[1], outcome="failed", letter=None)
    rows = measure_distributions(answer_frame(answers), item_frame(question()))
    assert {row.n_responses for row in rows} == {1}


def test_items_carry_their_task_where_ids_repeat() -> None:
    other = dataclasses.replace(chosen("A")[0], task="u")
    items = item_frame(question(gold="A"), question(gold="B"))
    frame = answer_frame([*chosen("A"), other])
    with pytest.raises(StudyError, match="twice with different gold"):
        measure_distributions(frame, items)
    rows = measure_distributions(frame, items.assign(task=["t", "u"]))
    assert {row.task: row.answer for row in rows if row.is_correct} == {"t": "A", "u": "B"}


@pytest.mark.parametrize("items", [item_frame(), item_frame(question("other"))])
def test_an_answer_without_item_is_refused(items: pd.DataFrame) -> None:
    with pytest.raises(StudyError, match=r"item i is not in the study's tasks/t\.parquet"):
        measure_distributions(answer_frame(chosen("A")), items)

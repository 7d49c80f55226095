"""Distances against closed forms, what chance makes of them, and who is permuted."""

import dataclasses
import math
import random

import numpy as np
import pytest

from fieldwork.metrics.comparisons import measure_comparisons
from fieldwork.records.metrics import Comparison
from fieldwork.records.parsing import Answer
from fieldwork.statistics.families import holm
from unit.metrics.metric_frames import answer_frame, chosen


def measure(answers: list[Answer]) -> list[Comparison]:
    settings = {"baseline": "offline", "n_permutations": 199, "seed": 1}
    return measure_comparisons(answer_frame(answers), **settings)


def compared(here: str, there: str, **changes: str) -> list[Answer]:
    return chosen(here, condition="c", **changes) + chosen(there, condition="offline", **changes)


def of(rows: list[Comparison], metric: str = "total_variation") -> Comparison:
    (row,) = (r for r in rows if r.metric == metric)
    return row


def test_letters_at_full_n() -> None:
    row = of(measure(compared("AAAB", "ABBB")))
    assert row.distance == pytest.approx(0.5)
    # dealt out anew, 4 of 4 A and 4 B: 0 to 4 A with weights 1 16 36 16 1
    mean = (2 * 1 * 1.0 + 2 * 16 * 0.5) / 70
    assert row.expected_same == pytest.approx(mean, abs=0.06)
    assert row.excess == row.distance - row.expected_same
    assert row.p_value == pytest.approx(34 / 70)
    assert (row.n_permutations, row.n_units, row.n_units_baseline, row.n_equal) == (0, 4, 4, 4)
    # all conditions of an item have one n
    answers = compared("AAAABBBB", "ABABABAB") + chosen("ABA", condition="third")
    assert {row.n_equal for row in measure(answers)} == {3}


FAILED = [dataclasses.replace(answer, outcome="failed") for answer in chosen("A")]


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        (chosen("AB"), "no answer to i can be read under the baseline condition offline"),
        (FAILED + chosen("A", condition="offline"), "no answer to i can be read"),
    ],
)
def test_nothing_to_compare_is_null_with_a_reason(answers: list[Answer], reason: str) -> None:
    for row in measure(answers):
        assert (row.distance, row.excess, row.p_value) == (None,) * 3
        assert row.reason == reason


def test_refusing_is_an_answer_to_a_choice_item() -> None:
    answers = chosen([None, None, "A", "A"]) + chosen("AAAA", condition="offline")
    row = of(measure(answers))
    assert (row.distance, row.n_unread, row.reason) == (0.5, 2, None)


def test_chance_alone_leaves_no_excess() -> None:
    """Both sides of one source: the mean excess of 150 comparisons is within 4 errors of 0."""
    source = random.Random(7)
    answers = [
        a
        for item in range(150)
        for a in compared(
            *("".join(source.choices("ABCD", [8, 4, 2, 1], k=10)) for _ in "12"), item_id=f"{item}"
        )
    ]
    for metric in ("js_bits", "total_variation"):
        rows = [row for row in measure(answers) if row.metric == metric]
        excess = np.array([row.excess for row in rows])
        assert abs(excess.mean()) < 4 * excess.std() / math.sqrt(150)
        assert sum((row.p_value or 0) <= 0.05 for row in rows) <= 16
        assert min(holm([row.p_value or 0 for row in rows])) > 0.05

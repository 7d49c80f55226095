"""Rarefaction curves against counting out all subsets, their ends, means and empty cells."""

import itertools
from statistics import mean

import pytest

from fieldwork.metrics.rarefaction import measure_rarefaction
from fieldwork.records.metrics import Rarefaction
from unit.metrics.metric_frames import answer_frame, listed

RESPONSES = [("a", "b"), ("a",), ("b", "c", "d"), ("e",), ("a", "e")]


def curve(rows: list[Rarefaction], item: str | None, condition: str = "c") -> list[float | None]:
    own = [r for r in rows if (r.item_id, r.condition) == (item, condition)]
    assert [r.n_answers for r in own] == list(range(1, len(own) + 1)) or own[0].n_answers == 0
    return [r.unique_items for r in own]


def test_a_curve_is_the_mean_over_all_subsets() -> None:
    expected = [
        mean(len({o for r in some for o in r}) for some in itertools.combinations(RESPONSES, m))
        for m in range(1, 6)
    ]
    rows = measure_rarefaction(answer_frame(listed(*RESPONSES)))
    assert curve(rows, "i") == pytest.approx(expected)


def test_an_empty_cell_is_one_row_with_a_reason_and_takes_the_mean_with_it() -> None:
    answers = (
        listed(["a"])
        + listed(["a"], item_id="j")
        + listed(["a"], condition="d")
        + listed(None, None, condition="d", item_id="j")
    )
    rows = measure_rarefaction(answer_frame(answers))
    empty = [r for r in rows if r.reason]
    assert [(r.condition, r.item_id, r.n_answers, r.unique_items) for r in empty] == [
        ("d", None, 0, None),
        ("d", "j", 0, None),
    ]
    assert empty[1].reason == "none of 2 answers gives an option"
    assert curve(rows, None) == [1.0]

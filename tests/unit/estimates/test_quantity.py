"""Quantities in other units, and rows that say what they have."""

import pytest

from fieldwork.estimates.quantity import Quantity
from fieldwork.records.columns import row_of
from fieldwork.records.robustness import GroupGap
from fieldwork.statistics.intervals import BoundedValue, Interval

SCORE = Quantity(0.5, Interval(0.25, 0.75), 0.03, "a reason")


def test_other_units_and_origins_take_the_interval_along() -> None:
    assert SCORE.times(100) == Quantity(50.0, Interval(25.0, 75.0), 0.03, "a reason")
    assert SCORE.plus(-0.25) == Quantity(0.25, Interval(0.0, 0.5), 0.03, "a reason")
    assert SCORE.clip(low=0.4).interval == Interval(0.4, 0.75)
    assert Quantity(reason="none").times(2).plus(1).clip(0.0, 1.0) == Quantity(reason="none")


def test_only_a_value_with_an_interval_is_bounded() -> None:
    assert SCORE.bounded_value == BoundedValue(0.5, Interval(0.25, 0.75))
    assert Quantity(0.5).bounded_value is None
    assert Quantity(interval=Interval(0.0, 1.0)).bounded_value is None


def test_columns_are_null_where_a_part_is_missing() -> None:
    assert SCORE.columns("x", "low", "high") == {"x": 0.5, "low": 0.25, "high": 0.75}
    assert Quantity(0.5).columns() == {"estimate": 0.5, "ci_low": None, "ci_high": None}


def test_reasons_are_joined_once() -> None:
    assert SCORE.because("a reason", None, "another").reason == "a reason; another"


def test_a_row_lacks_no_column_that_may_not_be_null() -> None:
    names = {"model": "m", "origin": "o", "condition": "c", "kind": "list", "metric": "overlap"}
    numbers = {"n_items": 1, "n_left_out": 0, "n_answers": 2, "n_groups": 2}
    row = row_of(GroupGap, **names, **numbers, estimate=0.5)
    assert (row.estimate, row.p_value, row.reason) == (0.5, None, None)
    with pytest.raises(TypeError, match="n_groups"):
        row_of(GroupGap, **names, n_items=1, n_left_out=0, n_answers=2)
    with pytest.raises(TypeError, match="n_people"):
        row_of(GroupGap, **names, **numbers, n_people=3)

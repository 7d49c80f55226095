"""Quantities in other units, and rows that say what they have."""

from fieldwork.estimates.quantity import Quantity
from fieldwork.statistics.intervals import BoundedValue, Interval

SCORE = Quantity(0.5, Interval(0.25, 0.75), 0.03, "a reason")


def test_other_units_and_origins_take_the_interval_along() -> None:
    assert SCORE.times(100) == Quantity(50.0, Interval(25.0, 75.0), 0.03, "a reason")
    assert SCORE.plus(-0.25) == Quantity(0.25, Interval(0.0, 0.5), 0.03, "a reason")
    assert SCORE.clip(low=0.4).interval == Interval(0.4, 0.75)
    assert Quantity(reason="none").times(2).plus(1).clip(0.0, 1.0) == Quantity(reason="none")


def test_only_a_value_with_an_interval_is_bounded_and_reasons_are_joined_once() -> None:
    assert SCORE.bounded_value == BoundedValue(0.5, Interval(0.25, 0.75))
    assert Quantity(0.5).bounded_value is None
    assert Quantity(0.5).columns() == {"estimate": 0.5, "ci_low": None, "ci_high": None}
    assert SCORE.because("a reason", None, "another").reason == "a reason; another"

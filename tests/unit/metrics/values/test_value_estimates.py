"""Means, spread and reliability of scales and numbers."""

import math
import statistics

import numpy as np
import pytest
from tests.unit.metrics.values.value_frames import NUMBER_ITEMS, answer, frame, scale_items

from fieldwork.metrics.values.estimates import cronbach_alpha, measure_values


def test_the_first_answer_of_a_user_counts() -> None:
    rows = [answer("history", f"u{n}", value) for n, value in enumerate([1, 2, 5])]
    rows += [answer("history", f"u{n}", 1.0, replicate=1) for n in range(3)]
    (row,) = measure_values(frame(rows), scale_items("q"))
    assert (row.mean, row.median, row.n_units) == (pytest.approx(8 / 3), 2.0, 3)
    assert row.sd == pytest.approx(statistics.stdev([1, 2, 5]))
    assert (row.lower_quartile, row.upper_quartile) == (1.5, 3.5)
    assert (row.unit, row.ci_low) == ("puppet", None)
    assert "3 users answer" in (row.reason or "")


def test_without_users_every_answer_counts_and_the_interval_is_students() -> None:
    values = [2.0, 3.0, 3.0, 4.0]
    rows = [answer("offline", None, value, replicate=n) for n, value in enumerate(values)]
    (row,) = measure_values(frame(rows), scale_items("q"))
    half = 3.182446 * statistics.stdev(values) / math.sqrt(4)
    assert (row.ci_low, row.ci_high) == (pytest.approx(3 - half), pytest.approx(3 + half))
    assert (row.unit, row.reason, row.alpha) == ("response", None, None)


def test_a_number_has_an_interval_of_its_median_alone() -> None:
    """Of 40 values the 14th and the 27th: between them a median lies in 96 % of samples."""
    values = [10.0**k for k in range(40)]
    rows = [
        answer("history", f"u{n:02}", value, kind="number", letter=None)
        for n, value in enumerate(values)
    ]
    (row,) = measure_values(frame(rows), NUMBER_ITEMS)
    assert (row.median_low, row.median_high) == (10.0**13, 10.0**26)
    assert (row.ci_low, row.ci_high) == (None, None)
    assert "a number has no bounds" in (row.reason or "")
    (row,) = measure_values(frame(rows[:5]), NUMBER_ITEMS)
    assert (row.median, row.median_low) == (100.0, None)


def test_answers_without_a_value_are_counted_and_failed_ones_are_no_data() -> None:
    rows = [
        answer("offline", None, 3.0),
        answer("offline", None, None, replicate=1),
        answer("offline", None, None, replicate=2, outcome="failed"),
    ]
    (row,) = measure_values(frame(rows), scale_items("q"))
    assert (row.n_units, row.n_without, row.reason) == (1, 1, "no interval: one answer has a value")
    (row,) = measure_values(frame([answer("offline", None, None)]), scale_items("q"))
    assert (row.mean, row.median, row.reason) == (None, None, "no answer has a value")


def test_scales_together_are_means_of_users_who_answer_all() -> None:
    rows = [answer("history", f"u{n}", n + 1.0) for n in range(4)]
    rows += [answer("history", f"u{n}", 5.0, item_id="r") for n in range(3)]
    whole, *_ = measure_values(frame(rows), scale_items("q", "r"))
    assert whole.item_id is None
    assert (whole.n_units, whole.n_items) == (3, 2)
    assert whole.mean == pytest.approx(statistics.mean([(n / 4 + 1) / 2 for n in range(3)]))


def test_alpha_is_cronbachs() -> None:
    assert cronbach_alpha(np.array([[1.0, 1.0], [2.0, 2.0], [4.0, 4.0]])) == pytest.approx(1.0)
    table = np.array([[1.0, 1.0], [2.0, 5.0], [4.0, 5.0], [4.0, 5.0]])
    of_items = sum(statistics.variance(column) for column in table.T.tolist())
    of_sums = statistics.variance(table.sum(axis=1).tolist())
    assert cronbach_alpha(table) == pytest.approx(2 * (1 - of_items / of_sums))

"""Differences of scales and numbers between conditions, and what chance alone makes of them."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import mannwhitneyu, wasserstein_distance
from tests.unit.metrics.values.value_frames import NUMBER_ITEMS, answer, frame, scale_items

from fieldwork.metrics.values.comparisons import (
    earth_movers,
    measure_value_comparisons,
    superiority,
    value_tables,
)
from fieldwork.records.values import ValueComparison

NUMBER: dict[str, Any] = {"kind": "number", "letter": None}


def compare(
    rows: list[dict[str, Any]], items: pd.DataFrame | None = None, **settings: Any
) -> list[ValueComparison]:
    options: dict[str, Any] = {"n_permutations": 199, "seed": 1, "rarest_users": 0.125}
    return measure_value_comparisons(
        frame(rows),
        scale_items("q") if items is None else items,
        baseline="offline",
        **options | settings,
    )


def sides(values: list[float], offline: list[float], **changes: Any) -> list[dict[str, Any]]:
    """Answers of users, and answers without a user."""
    rows = [answer("history", f"u{n:03d}", v, **changes) for n, v in enumerate(values)]
    return rows + [
        answer("offline", None, v, replicate=n, **changes) for n, v in enumerate(offline)
    ]


def test_distances_and_superiority_are_scipys() -> None:
    random = np.random.default_rng(3)
    first, second = random.integers(1, 6, 30).tolist(), random.integers(2, 6, 20).tolist()
    tables = value_tables(first, second)
    u = mannwhitneyu(first, second).statistic
    assert superiority(*tables.rows())[0] == pytest.approx(u / 600)
    distance = earth_movers(tables.values, *tables.rows())[0]
    assert distance == pytest.approx(wasserstein_distance(first, second))


def test_a_distance_of_a_scale_is_a_share_of_it() -> None:
    (row,) = compare(sides([5.0] * 4, [1.0] * 4))
    assert (row.distance, row.superiority, row.difference) == (1.0, 1.0, 4.0)
    # of 70 ways to deal four of eight answers, two are as far apart
    assert (row.p_value, row.p_least) == pytest.approx((2 / 70, 2 / 70))
    assert row.n_permutations == 0
    # numbers keep their unit
    (row,) = compare(sides([20.0] * 3, [10.0] * 3, **NUMBER), NUMBER_ITEMS)
    assert (row.kind, row.distance, row.difference) == ("number", 10.0, 10.0)


def test_numbers_are_compared_by_their_medians_and_ranks() -> None:
    """Most users are a little below the baseline; a few in thousands carry the mean alone."""
    random = np.random.default_rng(2)
    values = [9.0 + 0.1 * random.random() for _ in range(36)] + [19_000.0] * 4
    rows = sides(values, [10 + 0.1 * random.random() for _ in range(40)], **NUMBER)
    (row,) = compare(rows, NUMBER_ITEMS)
    assert row.difference == pytest.approx(-1.0, abs=0.1)
    assert (row.ci_high or 0) < 0
    assert row.superiority == pytest.approx(0.1)
    assert (row.superiority_high or 1) < 0.3
    assert (row.p_value or 1) < 0.01


def test_unequal_spread_makes_no_number_higher() -> None:
    """Neither side is the higher one; ranks alone reject too often. 60 studies, few of the wide side."""
    random = np.random.default_rng(4)
    rows: list[ValueComparison] = []
    for seed in range(60):
        wide, narrow = random.normal(0, 9, 12).tolist(), random.normal(0, 1, 40).tolist()
        rows += compare(sides(wide, narrow, **NUMBER), NUMBER_ITEMS, seed=seed)
    # more than 8 of 60 at a level of 0.05 have a chance of 0.5 %
    assert sum((row.p_value or 0) < 0.05 for row in rows) <= 8
    held = [(r.superiority_low or 0) <= 0.5 <= (r.superiority_high or 1) for r in rows]
    assert held.count(False) <= 8


def missing(n: int, condition: str = "history", **changes: Any) -> list[dict[str, Any]]:
    """Answers without a value, of users who have no other."""
    return [answer(condition, f"v{k}", None, **changes) for k in range(n)]


@pytest.mark.parametrize(("changes", "items"), [({}, None), (NUMBER, NUMBER_ITEMS)])
def test_the_worst_case_has_the_test_of_answers_at_the_far_end(changes, items) -> None:
    """Five refuse: as if they had all answered 1, the lowest point, and of numbers less than anyone."""
    values, offline = [4.0, 5.0] * 20, [2.0, 3.0] * 20
    (row,) = compare(sides(values, offline, **changes) + missing(5, **changes), items)
    # a second answer of a user who has one is not missing
    again = answer("history", "u000", None, **changes | {"replicate": 1})
    (same,) = compare([*sides(values, offline, **changes), *missing(5, **changes), again], items)
    assert row.p_worst == same.p_worst
    assert (row.n_units, row.n_missing, row.n_missing_versus) == (40, 5, 0)
    (filled,) = compare(sides([*values, *[1.0] * 5], offline, **changes), items)
    assert row.p_worst == pytest.approx(filled.p_value, abs=0.002)
    assert filled.p_worst is None


def test_the_worst_case_may_turn_a_difference_round() -> None:
    (row,) = compare(sides([4.0, 5.0] * 20, [3.0, 4.0] * 20) + missing(30))
    assert (row.p_value or 1) < 0.01
    assert row.p_worst == 1.0


def test_scales_together_are_compared_as_users_means() -> None:
    rows = [
        answer(condition, user, value + (item == "r"), item_id=item, replicate=replicate)
        for condition, user, replicate, value in [
            *(("history", f"u{n}", 0, 2.0 + n % 3) for n in range(5)),
            *(("offline", None, n, 1.0 + n % 2) for n in range(5)),
        ]
        for item in ("q", "r")
    ]
    whole = next(row for row in compare(rows, scale_items("q", "r")) if row.item_id is None)
    assert whole.difference == pytest.approx((2.8 - 1.4) / 4)
    assert (whole.n_units, whole.n_units_versus) == (5, 5)
    assert None not in (whole.p_value, whole.p_least)


def test_conditions_stand_beside_the_field_too_and_the_field_beside_none() -> None:
    rows = sides([3.0, 4.0], [2.0, 3.0])
    rows += [answer("field", f"p{n}", 3.0) for n in range(3)]
    pairs = {(row.condition, row.versus) for row in compare(rows)}
    assert pairs == {("history", "offline"), ("history", "field"), ("offline", "field")}


def test_a_side_without_values_has_a_reason() -> None:
    (row,) = compare([*sides([3.0], []), answer("offline", None, None)])
    assert (row.difference, row.p_value) == (None, None)
    assert row.reason == "no answer has a value under offline"


def test_nothing_is_claimed_where_nothing_happens() -> None:
    """40 studies of a scale without an effect, with fewer answers without a user."""
    random = np.random.default_rng(11)
    rows: list[ValueComparison] = []
    for seed in range(40):
        values, offline = (np.clip(np.rint(random.normal(3, 1, n)), 1, 5) for n in (40, 12))
        rows += compare(sides(values.tolist(), offline.tolist()), seed=seed)
    # more than 6 of 40 at a level of 0.05 have a chance of 0.3 %
    assert sum((row.p_value or 0) < 0.05 for row in rows) <= 6
    assert sum((row.ci_low or 0) > 0 or (row.ci_high or 0) < 0 for row in rows) <= 6

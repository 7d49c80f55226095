"""The form of answers by condition: means, intervals and differences on data with a known truth."""

import dataclasses
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fieldwork.metrics.answer_form import FormArm, measure_answer_form, split_groups
from fieldwork.records.answer_form import AnswerForm, FormReading

OFFLINE, USERS = FormArm("m", "t", "offline"), FormArm("m", "t", "rag")
N_STUDIES = 40


def frame(
    arm: FormArm, rows: list[tuple[str, str | None, int, float]], **more: Any
) -> pd.DataFrame:
    """Rows of item, puppet, replicate and words; everything else is a plain short answer."""
    blank = dict.fromkeys((f.name for f in dataclasses.fields(FormReading)), 0)
    readings: dict[str, Any] = {"reading_ease": None, "grade": None, "reason": "short"}
    names = {"model": arm.model, "task": arm.task, "condition": arm.condition}
    table = pd.DataFrame(
        [
            blank
            | readings
            | names
            | more
            | {"item_id": i, "puppet_id": p, "replicate": r, "words": w}
            for i, p, r, w in rows
        ]
    )
    return table.astype({"puppet_id": "string", "reading_ease": float, "grade": float})


def offline(values: dict[str, list[float]]) -> pd.DataFrame:
    return frame(OFFLINE, [(i, None, r, w) for i, ws in values.items() for r, w in enumerate(ws)])


def users(values: dict[str, list[float]]) -> pd.DataFrame:
    return frame(USERS, [(i, f"p{n}", 0, w) for i, ws in values.items() for n, w in enumerate(ws)])


def words_row(
    rows: list[AnswerForm], condition: str = "rag", group: str | None = None
) -> AnswerForm:
    (row,) = [r for r in rows if (r.condition, r.group, r.measure) == (condition, group, "words")]
    return row


def simulated(seed: int, shift: float, n_users: int = 40) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Three items of unlike length; users differ, and their answers are longer by `shift`."""
    rng = np.random.default_rng(seed)
    base = {"a": 50.0, "b": 100.0, "c": 300.0}
    habit = rng.exponential(20, n_users) - 20
    return (
        offline({i: [*(length + rng.normal(0, 15, 30))] for i, length in base.items()}),
        users({i: [*(n + shift + habit + rng.normal(0, 15, n_users))] for i, n in base.items()}),
    )


def measure(seed: int, shift: float) -> AnswerForm:
    baseline, condition = simulated(seed, shift)
    rows = measure_answer_form(
        {OFFLINE: baseline, USERS: condition}, baseline="offline", rarest_users=0.15
    )
    return words_row(rows)


@pytest.mark.parametrize("shift", [0.0, 12.0])
def test_intervals_hold_the_truth(shift: float) -> None:
    rows = [measure(seed, shift) for seed in range(N_STUDIES)]
    n_mean = n_difference = 0
    for row in rows:
        assert row.ci_low is not None
        assert row.ci_high is not None
        assert row.difference_low is not None
        assert row.difference_high is not None
        n_mean += row.ci_low <= 150 + shift <= row.ci_high
        n_difference += row.difference_low <= shift <= row.difference_high
    # 95 % of 40 are 38; fewer than 33 are 1 in 300
    assert n_mean >= 33
    assert n_difference >= 33


def test_nothing_is_found_where_nothing_happens() -> None:
    p_values = [measure(seed, 0.0).p_value or 0.0 for seed in range(100, 100 + N_STUDIES)]
    assert sum(p < 0.05 for p in p_values) <= 7


def test_the_interval_and_the_test_say_the_same() -> None:
    for seed in range(12):
        row = measure(seed, 10.0)
        assert row.difference_low is not None
        assert row.p_value is not None
        if row.p_value < 0.05:
            assert row.difference_low > 0


def test_each_item_counts_alike_and_the_difference_is_of_common_items() -> None:
    rows = measure_answer_form(
        {
            OFFLINE: offline({"a": [10, 12, 14], "b": [100, 104]}),
            USERS: users({"a": [20, 22], "c": [500, 501]}),
        },
        baseline="offline",
    )
    assert words_row(rows, "offline").mean == pytest.approx((12 + 102) / 2)
    assert words_row(rows).mean == pytest.approx((21 + 500.5) / 2)
    assert words_row(rows).difference == pytest.approx(21 - 12)
    assert words_row(rows, "offline").difference is None
    assert "users" in (words_row(rows).reason or "")


def test_the_first_answer_of_a_user_counts() -> None:
    again = frame(USERS, [("a", "p", 1, 99.0), ("a", "p", 0, 1.0), ("a", "q", 0, 3.0)])
    row = words_row(measure_answer_form({USERS: again}, baseline="offline"))
    assert (row.mean, row.n_answers, row.n_units, row.unit) == (2.0, 2, 2, "puppet")


def test_reruns_without_users_are_compared_by_welch() -> None:
    again = FormArm("m", "t", "again")
    table = frame(again, [("a", None, r, w) for r, w in enumerate([20.0, 22, 24])])
    row = words_row(
        measure_answer_form(
            {OFFLINE: offline({"a": [10, 12, 14]}), again: table}, baseline="offline"
        ),
        "again",
    )
    # t = 10 / sqrt(4 / 3 + 4 / 3) on 4 degrees of freedom
    assert row.difference == 10
    assert row.p_value == pytest.approx(0.003603, abs=2e-6)
    assert row.p_holm == row.p_value
    assert row.unit == "response"


def test_ties_single_answers_and_gaps_have_reasons() -> None:
    tables = {OFFLINE: offline({"a": [5, 5, 5]}), USERS: users({"a": [7]})}
    rows = measure_answer_form(tables, baseline="offline")
    for row in rows:
        is_complete = row.ci_low is not None and row.difference_low is not None
        assert is_complete or row.reason
    assert words_row(rows).difference == 2
    assert words_row(rows).difference_low is None
    (ease,) = [r for r in rows if r.measure == "reading_ease" and r.condition == "rag"]
    assert (ease.mean, ease.n_answers, ease.n_without) == (None, 0, 1)
    assert ease.reason
    assert "prose" in ease.reason


def test_no_answers_give_no_rows() -> None:
    assert measure_answer_form({}, baseline="offline") == []
    empty = users({"a": [1]}).iloc[:0]
    assert measure_answer_form({USERS: empty}, baseline="offline") == []


def test_groups_are_compared_with_the_other_groups_and_small_ones_hidden() -> None:
    arm = FormArm("m", "t", "field")
    table = frame(
        arm, [("a", f"p{n}", 0, float(n + 10 * (n < 6))) for n in range(15)], list_items=None
    )
    members = pd.DataFrame(
        [
            {
                "participant_id": f"p{n}",
                "variable": "v",
                "group": "x" if n < 6 else "y" if n < 12 else "z",
            }
            for n in range(15)
        ]
    )
    arms = {arm: table, **dict(split_groups({arm: table}, members))}
    rows = measure_answer_form(arms, baseline="offline", rarest_users=0.9)
    x, z = words_row(rows, "field", "x"), words_row(rows, "field", "z")
    assert x.versus == "other groups"
    assert x.mean == pytest.approx(12.5)
    assert x.difference == pytest.approx(12.5 - sum(range(6, 15)) / 9)
    assert (z.mean, z.ci_low, z.difference) == (None, None, None)
    assert z.reason == "fewer than 5 answers"
    (items,) = [r for r in rows if r.measure == "list_items" and r.group is None]
    assert items.mean is None
    assert items.reason
    assert "markup" in items.reason


def test_holm_corrects_over_the_table() -> None:
    arms = {OFFLINE: offline({"a": [10, 12, 14]})}
    for number, name in enumerate(("b", "c")):
        arm = FormArm("m", "t", name)
        values = [20.0 + number, 22, 24]
        arms[arm] = frame(arm, [("a", None, r, w) for r, w in enumerate(values)])
    rows = measure_answer_form(arms, baseline="offline")
    first, second = words_row(rows, "b"), words_row(rows, "c")
    assert first.p_holm == pytest.approx(2 * min(first.p_value or 1, second.p_value or 1)) or (
        second.p_holm == pytest.approx(2 * min(first.p_value or 1, second.p_value or 1))
    )

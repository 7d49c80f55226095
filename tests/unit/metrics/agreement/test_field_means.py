"""Heterogeneity of conditions less the field's: by hand, by other tables, and what cannot be tested."""

import dataclasses

import numpy as np

from fieldwork.metrics.agreement.means import measure_field_heterogeneity
from fieldwork.metrics.prompt_means import measure_prompt_means
from fieldwork.records.field import FieldHeterogeneity
from fieldwork.records.parsing import Answer
from unit.metrics.metric_frames import answer_frame, listed


def drawn(condition: str, n: int, *, n_options: int = 8, n_items: int = 3) -> list[Answer]:
    """Lists of three of the first options; users are named, offline nobody asks."""
    random = np.random.default_rng([n, n_options, *condition.encode()])
    rows = [
        row
        for item in range(n_items)
        for row in listed(
            *[random.choice([*"abcdefgh"][:n_options], 3, replace=False) for _ in range(n)],
            condition=condition,
            item_id=f"i{item}",
        )
    ]
    if condition == "offline":
        return rows
    return [dataclasses.replace(r, puppet_id=f"p{r.replicate}", replicate=0) for r in rows]


def measure(answers: list[Answer]) -> list[FieldHeterogeneity]:
    return measure_field_heterogeneity(answer_frame(answers), seed=1)


def of(rows: list[FieldHeterogeneity], condition: str) -> FieldHeterogeneity:
    (row,) = (r for r in rows if (r.condition, r.metric) == (condition, "entropy_bits"))
    return row


def test_without_a_field_there_are_no_rows() -> None:
    assert measure([]) == []
    assert measure(drawn("rag", 5) + drawn("offline", 5)) == []
    assert measure(drawn("field", 5)) == []


def test_means_and_differences_are_those_of_prompt_means() -> None:
    answers = drawn("rag", 12) + drawn("offline", 20, n_options=5) + drawn("field", 30, n_options=6)
    rows = measure(answers)
    assert [r.condition for r in rows] == ["offline", "offline", "rag", "rag"]
    by_baseline = measure_prompt_means(answer_frame(answers), baseline="field", seed=1)
    for row in rows:
        (other,) = (
            r for r in by_baseline if (r.condition, r.metric) == (row.condition, row.metric)
        )
        values = (row.mean, row.difference, row.p_value)
        assert values == (other.mean, other.difference, other.p_value)
        assert row.p_holm == other.p_holm
        assert (row.n_items, row.n_equal, row.n_field) == (3, 12, 30)
    assert of(rows, "rag").n_units == 12


def test_what_has_no_test_says_why() -> None:
    alike = [
        row
        for k in range(3)
        for row in listed(*[["a", "b", "c"]] * 6, condition="offline", item_id=f"i{k}")
    ]
    elsewhere = [dataclasses.replace(r, item_id=f"other {r.item_id}") for r in drawn("profile", 6)]
    silent = listed(None, None, condition="rag")
    rows = measure([*alike, *elsewhere, *silent, *drawn("field", 8)])
    reasons = {r.condition: (r.reason or "", r.p_value, r.difference_low, r.mean) for r in rows}
    assert reasons["offline"][0].startswith("no interval and no test: leaving out an answer")
    assert reasons["offline"][1:3] == (None, None)
    assert reasons["offline"][3] is not None
    assert reasons["profile"] == (
        "no prompt is answered both here and in the field", None, None, None
    )  # fmt: skip
    assert reasons["rag"] == ("no answer gives an option", None, None, None)


def test_too_few_users_on_a_side_have_a_test_but_no_interval() -> None:
    answers = drawn("rag", 12) + drawn("field", 80)
    row = of(measure(answers), "rag")
    assert row.p_value is not None
    assert (row.difference_low, row.difference_high) == (None, None)
    assert (row.reason or "").startswith("no interval: 12 users answer on a side, and 39 are")
    (few, _) = measure_field_heterogeneity(answer_frame(answers), seed=1, rarest_users=0.4)
    assert few.reason is None
    assert few.difference_low < few.difference < few.difference_high  # type: ignore[operator]

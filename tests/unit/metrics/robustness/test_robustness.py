"""Scores, worst cases and majorities of tasks put otherwise, against counts by hand."""

import random

import numpy as np
import pytest

from fieldwork.estimates.quantity import ChanceSettings
from fieldwork.records.parsing import Answer
from unit.metrics.robustness.wordings import letters, measured, questions

ITEMS = [f"i{k}" for k in range(10)]
ONE = {"v": "o"}


def by_item(text: str) -> dict[str, str]:
    """One letter an item."""
    return dict(zip(ITEMS, text, strict=False))


def test_the_change_is_paired_by_item() -> None:
    answers = letters("o", by_item("AAAAAAABBB")) + letters("v", by_item("AAAABBBABC"))
    rows = measured(answers, questions("ov", ITEMS), ONE)
    change = rows["v", "accuracy_change"]
    assert rows["v", "accuracy"].estimate == pytest.approx(0.5)
    assert rows["v", "accuracy_origin"].estimate == pytest.approx(0.7)
    assert change.estimate == pytest.approx(-0.2)
    assert (change.n_lost, change.n_won, change.n_items, change.n_units) == (3, 1, 10, 10)
    assert (change.p_value, change.p_least) == (pytest.approx(10 / 16), pytest.approx(2 / 16))
    assert (change.ci_low or 0) < -0.2 < 0 < (change.ci_high or 0)
    assert rows["v", "performance_drop_rate"].estimate == pytest.approx(2 / 7)
    assert (change.unit, change.origin, change.reason) == ("item", "o", None)


def test_items_that_could_not_be_changed_are_left_out_and_counted() -> None:
    answers = letters("o", by_item("AAAA")) + letters("v", by_item("BBBA"))
    items = questions("ov", ITEMS, left_out={"v": ["i3", "i9"]})
    rows = measured(answers, items, ONE)
    assert rows["v", "accuracy_change"].estimate == -1.0
    assert {row.n_left_out for (task, _), row in rows.items() if task == "v"} == {2}
    assert rows["o", "worst_case"].n_left_out == 2


def test_what_has_no_value_says_why() -> None:
    answers = letters("o", by_item("BC")) + letters("v", by_item("AB"))
    row = measured(answers, questions("ov", ITEMS), ONE)["v", "performance_drop_rate"]
    assert row.estimate is None
    assert "nothing can be lost" in (row.reason or "")
    # no item has a right letter
    rows = measured(answers, questions("ov", ITEMS, gold=None), ONE)
    assert {metric for _, metric in rows} == {"flips", "flips_rerun", "excess_flips"}
    # the variant has no answers
    rows = measured(letters("o", by_item("AB")), questions("ov", ITEMS), ONE)
    for metric in ("accuracy", "accuracy_change", "performance_drop_rate", "flips"):
        assert rows["v", metric].estimate is None
        assert "answered both in o and in v" in (rows["v", metric].reason or "")
    assert rows["o", "worst_case"].estimate is None
    assert measured([], questions("ov", ITEMS), ONE) == {}
    assert measured(answers, questions("ov", ITEMS), {}) == {}


def test_the_worst_of_all_wordings() -> None:
    """i0 right throughout, i1 wrong in one variant, i2 wrong in the origin."""
    answers = letters("o", by_item("AAB")) + letters("v", by_item("ABA"))
    answers += letters("w", by_item("AAA"))
    rows = measured(answers, questions("ovw", ITEMS), dict.fromkeys("vw", "o"))
    worst = rows["o", "worst_case"]
    assert (worst.estimate, worst.n_items) == (pytest.approx(1 / 3), 3)
    assert rows["o", "worst_case_origin"].estimate == pytest.approx(2 / 3)
    assert "is not answered 3 times" in (rows["o", "worst_case_rerun"].reason or "")

    # reruns are a worst case of as many answers
    answers = letters("o", {"i0": "AAB", "i1": "ABA", "i2": "AAA"})
    answers += letters("v", by_item("AAA")) + letters("w", by_item("AAA"))
    rows = measured(answers, questions("ovw", ITEMS), dict.fromkeys("vw", "o"))
    assert rows["o", "worst_case"].estimate == 1.0
    assert rows["o", "worst_case_rerun"].estimate == pytest.approx(1 / 3)
    # i0 lacks an answer to w; w could not change i1, so that v alone counts there
    answers = letters("o", by_item("AAA")) + letters("v", by_item("ABA"))
    answers += letters("w", {"i1": "B", "i2": "A"})
    items = questions("ovw", ITEMS[:3], left_out={"w": ["i1"]})
    worst = measured(answers, items, dict.fromkeys("vw", "o"))["o", "worst_case"]
    assert (worst.n_items, worst.estimate, worst.n_left_out) == (2, 0.5, 0)


@pytest.mark.parametrize(
    ("text", "first", "three"),
    [("AAB", 1.0, 1.0), ("BAA", 0.0, 1.0), ("ABC", 1.0, 1 / 3), ("???", 0.0, 0.0), ("B?A", 0.0, 0.5)],
)  # fmt: skip
def test_the_majority_of_reruns(text: str, first: float, three: float) -> None:
    answers = letters("o", {"i0": text}) + letters("v", {"i0": "AAAA"})
    rows = measured(answers, questions("ov", ITEMS), ONE)
    assert rows["o", "majority_of_1"].estimate == first
    assert rows["o", "majority_of_3"].estimate == pytest.approx(three)
    assert rows["v", "majority_of_3"].estimate == 1.0
    assert ("o", "majority_of_5") not in rows


FEW = ChanceSettings(199, 1, 0.125, 0.45)
"""Enough users from 39 on, and prompts from 9 on."""


def answers_of_users(n_users: int, n_items: int, p_lost: float) -> list[Answer]:
    """Answers of users with abilities of their own, who lose items now and then."""
    draw = random.Random(5)
    answers: list[Answer] = []
    for user in range(n_users):
        ability = draw.uniform(0.4, 0.9)
        before = "".join("AB"[draw.random() > ability] for _ in range(n_items))
        now = "".join("B" if draw.random() < p_lost else letter for letter in before)
        answers += letters("o", by_item(before), puppet=f"p{user:02}")
        answers += letters("v", by_item(now), puppet=f"p{user:02}")
    return answers


@pytest.mark.parametrize(("n_users", "n_items", "word"), [(20, 9, "users"), (40, 4, "prompts")])
def test_few_users_or_items_have_a_test_and_no_interval(
    n_users: int, n_items: int, word: str
) -> None:
    answers = answers_of_users(n_users, n_items, 0.3)
    row = measured(answers, questions("ov", ITEMS[:n_items]), ONE, FEW)["v", "accuracy_change"]
    assert (row.ci_low, row.ci_high) == (None, None)
    assert (row.p_value or 1) < 0.05
    assert word in (row.reason or "")


def test_the_test_is_over_users() -> None:
    """Three users whose every answer changes: signs of three users, not of thirty answers."""
    answers = []
    for puppet in ("p", "q", "r"):
        answers += letters("o", by_item("A" * 10), puppet=puppet)
        answers += letters("v", by_item("B" * 10), puppet=puppet)
    row = measured(answers, questions("ov", ITEMS), ONE)["v", "accuracy_change"]
    assert (row.p_value, row.n_lost, row.n_units) == (pytest.approx(2 / 8), 30, 3)


def test_the_test_keeps_its_level_where_a_variant_is_a_rerun() -> None:
    draw = np.random.default_rng(3)
    variants = {f"v{k:03}": f"o{k:03}" for k in range(50)}
    answers = [
        answer
        for pair in variants.items()
        for task in pair
        for answer in letters(task, {i: "".join(draw.choice([*"AAB"], size=3)) for i in ITEMS})
    ]
    rows = measured(answers, questions([*variants.values(), *variants], ITEMS), variants)
    for metric in ("accuracy_change", "excess_flips"):
        p_values = [row.p_value or 0.0 for (_, name), row in rows.items() if name == metric]
        assert len(p_values) == 50
        # 50 tests at 5 %: 7 is past the 99 % point
        assert sum(p <= 0.05 for p in p_values) <= 7, metric

"""Answer shares and novelty against hand counts, with every way of giving no letter."""

import dataclasses
import math
import random

import pandas as pd
import pytest
from metric_frames import answer_frame, chosen, item_frame, question

from fieldwork.errors import StudyError
from fieldwork.metrics.distributions import measure_distributions, measure_novelty
from fieldwork.records import Answer, Novelty


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


def test_the_flexible_reading_counts() -> None:
    answers = [dataclasses.replace(row, letter_strict=None) for row in chosen("C")]
    assert shares(answers)["C"] == (1, False)


def test_failed_responses_are_no_data() -> None:
    answers = chosen("AB")
    answers[1] = dataclasses.replace(answers[1], outcome="failed", letter=None)
    rows = measure_distributions(answer_frame(answers), item_frame(question()))
    assert {row.n_responses for row in rows} == {1}


def test_a_cell_of_refusals_is_all_unknown() -> None:
    assert shares(chosen([None, None, None]))["unknown"] == (3, False)


def test_row_order_moves_nothing() -> None:
    answers = chosen("AABD") + chosen(["B", None], condition="d")
    expected = measure_distributions(answer_frame(answers), item_frame(question()))
    random.Random(1).shuffle(answers)
    assert measure_distributions(answer_frame(answers), item_frame(question())) == expected
    assert [row.condition for row in expected] == ["c"] * 5 + ["d"] * 5


def test_items_carry_their_task_where_ids_repeat() -> None:
    other = dataclasses.replace(chosen("A")[0], task="u")
    items = item_frame(question(gold="A"), question(gold="B"))
    frame = answer_frame([*chosen("A"), other])
    with pytest.raises(StudyError, match="twice with different gold"):
        measure_distributions(frame, items)
    rows = measure_distributions(frame, items.assign(task=["t", "u"]))
    assert {row.task: row.answer for row in rows if row.is_correct} == {"t": "A", "u": "B"}


def test_equal_items_of_two_tasks_are_one_item() -> None:
    items = item_frame(question(), question())
    assert len(measure_distributions(answer_frame(chosen("A")), items)) == 5


@pytest.mark.parametrize("items", [item_frame(), item_frame(question("other"))])
def test_an_answer_without_item_is_refused(items: pd.DataFrame) -> None:
    with pytest.raises(StudyError, match=r"item i is not in results/tasks/t\.parquet"):
        measure_distributions(answer_frame(chosen("A")), items)


def test_empty_input_gives_no_rows() -> None:
    assert measure_distributions(answer_frame([]), item_frame()) == []
    assert measure_distributions(pd.DataFrame(), pd.DataFrame()) == []
    assert measure_novelty(pd.DataFrame(), baseline="offline") == []


def novelty(arms: dict[str, dict[str, list[str | None]]]) -> dict[str, Novelty]:
    answers = [
        answer
        for condition, items in arms.items()
        for item_id, letters in items.items()
        for answer in chosen(letters, condition=condition, item_id=item_id)
    ]
    rows = measure_novelty(answer_frame(answers), baseline="offline")
    return {row.condition: row for row in rows}


def test_novelty_by_hand() -> None:
    found = novelty(
        {
            "offline": {"i": ["A", "B"], "j": ["C", None], "k": [None], "l": ["A"]},
            "history": {"i": ["C", "A"], "j": ["C"], "k": ["D"], "l": [None], "n": ["A"]},
            "offline_t0": {"i": ["A"], "j": ["D"], "l": ["A"]},
        }
    )
    # history: i is new, j is not; k has no readable baseline, l nothing readable, n no baseline
    assert (found["history"].n_items, found["history"].n_novel, found["history"].share) == (
        2,
        1,
        0.5,
    )
    assert (found["offline_t0"].n_items, found["offline_t0"].n_novel) == (3, 1)
    assert set(found) == {"history", "offline_t0"}
    assert found["history"].ci_low is not None
    assert found["history"].ci_low < 0.5


@pytest.mark.parametrize(
    ("arms", "reason"),
    [
        ({"history": {"i": ["A"]}}, "there are no answers under the baseline"),
        ({"offline": {"i": [None]}, "history": {"i": ["A"]}}, "no item has a readable letter both"),
        ({"offline": {"i": ["A"]}, "history": {"i": [None]}}, "no item has a readable letter both"),
        ({"offline": {"i": ["A"]}, "history": {"j": ["A"]}}, "no item has a readable letter both"),
    ],
)
def test_novelty_without_shared_items_is_null(
    arms: dict[str, dict[str, list[str | None]]], reason: str
) -> None:
    row = novelty(arms)["history"]
    assert (row.share, row.ci_low, row.ci_high, row.n_items, row.n_novel) == (
        None,
        None,
        None,
        0,
        0,
    )
    assert row.reason is not None
    assert reason in row.reason


def test_novelty_keeps_models_apart() -> None:
    answers = (
        chosen("A", condition="offline", model="m")
        + chosen("B", condition="offline", model="n")
        + chosen("B", condition="history", model="m")
        + chosen("B", condition="history", model="n")
    )
    rows = measure_novelty(answer_frame(answers), baseline="offline")
    assert {row.model: row.n_novel for row in rows} == {"m": 1, "n": 0}


def novel_arm(letters: dict[str, str]) -> Novelty:
    """What each puppet answers to items 0, 1, ...; the baseline always says A."""
    answers = [
        answer
        for puppet, given in letters.items()
        for item, letter in enumerate(given)
        for answer in chosen(letter, puppet_id=puppet, item_id=f"{item}")
    ]
    items = len(next(iter(letters.values())))
    answers += [a for k in range(items) for a in chosen("A", condition="offline", item_id=f"{k}")]
    (row,) = measure_novelty(answer_frame(answers), baseline="offline")
    return row


def test_one_odd_puppet_widens_the_interval_of_novelty() -> None:
    """Twenty new letters of one puppet are one draw; of ten puppets, two each, they are many."""
    alone = {f"p{k}": ("B" if k == 0 else "A") * 20 + "A" * 20 for k in range(10)}
    spread = {f"p{k}": "A" * (2 * k) + "BB" + "A" * (38 - 2 * k) for k in range(10)}
    odd, many = novel_arm(alone), novel_arm(spread)
    assert (odd.share, many.share) == (0.5, 0.5)
    # losing the odd puppet loses all: error sqrt(9/10 * (0.5^2 - 10 * 0.05^2)) = 0.45
    assert (odd.ci_low, odd.ci_high) == (0.0, 1.0)
    # all puppets alike: Wilson over the items is what is left
    assert (many.ci_low, many.ci_high) == pytest.approx((0.352, 0.648), abs=1e-3)


def test_a_letter_two_puppets_give_stays_new_without_either() -> None:
    """Nothing depends on one puppet, so that Wilson's interval over items stands."""
    row = novel_arm({"p": "BBAA", "q": "BBAA", "r": "AAAA"})
    assert (row.share, row.ci_low, row.ci_high) == pytest.approx((0.5, 0.15, 0.85), abs=1e-2)


def test_answers_of_one_puppet_narrow_no_interval() -> None:
    once = [a for p in "pqrs" for a in chosen("A" if p == "p" else "B", puppet_id=p)]
    often = [a for p in "pqrs" for a in chosen(("A" if p == "p" else "B") * 5, puppet_id=p)]
    one, many = (
        measure_distributions(answer_frame(answers), item_frame(question()))
        for answers in (once, often)
    )
    assert [row.n_responses for row in many] == [20] * 5
    for few, all_of_them in zip(one, many, strict=True):
        assert (all_of_them.share, all_of_them.ci_low, all_of_them.ci_high) == pytest.approx(
            (few.share, few.ci_low, few.ci_high)
        )

"""New letters against hand counts, beside a control arm, and the test's level."""

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

from fieldwork.metrics.novelty import (
    NewLetters,
    excess_interval,
    excess_of_splits,
    measure_novelty,
)
from fieldwork.records.metrics import Novelty
from fieldwork.records.parsing import Answer
from fieldwork.statistics.permutation import p_value_of_first, unit_splits
from unit.metrics.metric_frames import COVERED_BY_72, answer_frame, chosen


def novelty(arms: dict[str, dict[str, list[str | None]]]) -> dict[str, Novelty]:
    answers = [
        answer
        for condition, items in arms.items()
        for item_id, letters in items.items()
        for answer in chosen(letters, condition=condition, item_id=item_id)
    ]
    rows = measure_novelty(answer_frame(answers), baseline="offline", rarest_users=COVERED_BY_72)
    return {row.condition: row for row in rows}


def test_novelty_by_hand() -> None:
    rows = novelty(
        {
            "offline": {"i": ["A", "B"], "j": ["C", None], "k": [None], "l": ["A"]},
            "history": {"i": ["C", "A"], "j": ["C"], "k": ["D"], "l": [None], "n": ["A"]},
            "offline_t0": {"i": ["A"], "j": ["D"], "l": ["A"]},
        }
    )
    # history: i is new, j is not; k has no readable baseline, l nothing readable, n no baseline
    history, offline_t0 = rows["history"], rows["offline_t0"]
    assert (history.n_items, history.n_equal, history.n_baseline) == (2, 2, 2)
    assert (history.share, history.share_all) == (0.5, 0.5)
    assert history.ci_low is not None
    assert history.ci_low < 0.5
    assert (offline_t0.n_items, offline_t0.n_equal) == (3, 1)
    assert offline_t0.share == pytest.approx(1 / 3)
    assert set(rows) == {"history", "offline_t0"}


@pytest.mark.parametrize(
    ("offline", "history", "reason"),
    [
        ({}, {"i": ["A"]}, "there are no answers under the baseline"),
        ({"i": [None]}, {"i": ["A"]}, "no item has a readable letter both here"),
        ({"i": ["A"]}, {"j": ["A"]}, "no item has a readable letter both here"),
    ],
)
def test_novelty_without_shared_items_is_null(offline: Any, history: Any, reason: str) -> None:
    row = novelty({"offline": offline, "history": history})["history"]
    assert (row.share, row.ci_low, row.share_all, row.n_items) == (None, None, None, 0)
    assert reason in (row.reason or "")


def novel_arm(letters: dict[str, str]) -> Novelty:
    """What each puppet answers to items 0, 1, ...; as many reruns of the baseline always say A."""
    answers = [
        answer
        for puppet, given in letters.items()
        for item, letter in enumerate(given)
        for answer in chosen(letter, puppet_id=puppet, item_id=f"{item}")
    ]
    items = len(next(iter(letters.values())))
    answers += arm("offline", ["A" * items] * len(letters), puppets=False)
    (row,) = measure_novelty(answer_frame(answers), baseline="offline", rarest_users=COVERED_BY_72)
    return row


def test_one_odd_puppet_widens_the_interval_of_novelty() -> None:
    """Forty new letters of one puppet are one draw; of eighty puppets, one each, they are many."""
    alone = {f"p{k}": ("B" if k == 0 else "A") * 40 + "A" * 40 for k in range(80)}
    spread = {f"p{k}": "A" * k + "B" + "A" * (79 - k) for k in range(80)}
    spread = {puppet: letters[:40] + "A" * 40 for puppet, letters in spread.items()}
    odd, many = novel_arm(alone), novel_arm(spread)
    assert (odd.share, many.share) == (0.5, 0.5)
    # losing the odd puppet loses all: as if there were one item
    assert (odd.ci_low or 0, odd.ci_high or 0) == pytest.approx((0.055, 0.945), abs=5e-3)
    # every new letter is of another puppet: Wilson over the items is what is left
    assert (many.ci_low, many.ci_high) == pytest.approx((0.391, 0.609), abs=3e-3)


def arm(condition: str, units: list[str | list[str | None]], *, puppets: bool) -> list[Answer]:
    """A unit's letters for items 0, 1, ...; None is unreadable."""
    return [
        dataclasses.replace(
            chosen([letter], condition=condition, item_id=f"{item}")[0],
            puppet_id=f"p{unit}" if puppets else None,
            replicate=0 if puppets else unit,
        )
        for unit, letters in enumerate(units)
        for item, letter in enumerate(letters)
    ]


def controlled(
    here: list[Any], control: list[Any], *, offline: tuple[str, ...] = ("AA",) * 3, **more: Any
) -> Novelty:
    answers = (
        arm("c", here, puppets=True)
        + arm("offline_again", control, puppets=False)
        + arm("offline", list(offline), puppets=False)
    )
    rows = measure_novelty(
        answer_frame(answers), baseline="offline", control="offline_again", **more
    )
    return {row.condition: row for row in rows}["c"]


def test_the_excess_by_hand() -> None:
    row = controlled(["BA", "BA", "AB"], ["AB", "AA", "AA"])
    # here both items have a new letter; of the control's, one
    assert (row.share, row.control_share, row.excess, row.n_equal) == (1.0, 0.5, 0.5, 3)
    # C(6, 3) = 20 splits, counted out; three units give a new letter on item 1, one on 0's... by hand:
    # two B on item 0, two on item 1
    assert row.n_permutations == 0
    pooled = np.array([[1, 0], [1, 0], [0, 1], [0, 1], [0, 0], [0, 0]])
    splits = unit_splits(3, 3, n_permutations=1, random=np.random.default_rng(1)).first
    excess = [(pooled[s].any(0).mean() - pooled[~s].any(0).mean()) for s in splits]
    assert row.p_value == pytest.approx(np.mean(np.array(excess) >= 0.5 - 1e-9))


def test_more_units_give_no_more_novelty() -> None:
    """Twelve users beside three reruns: the chance that three of the twelve give a new letter."""
    row = controlled(["BA"] * 4 + ["AA"] * 8, ["AA"] * 3)
    assert (row.n_equal, row.share_all) == (3, 0.5)
    assert row.share == pytest.approx((1 - math.comb(8, 3) / math.comb(12, 3)) / 2)


@pytest.mark.parametrize(
    ("control", "condition", "why"),
    [
        (None, "c", "no selected condition has `after: offline`"),
        ("gone", "c", "the control gone shares no readable item"),
        ("again", "again", "this is the control"),
        ("again", "same", "no interval: 2 users answer, and 72"),
        ("again", "warm", "there are no two units a side, or none makes a difference"),
    ],
)
def test_what_has_no_excess_says_why(control: str | None, condition: str, why: str) -> None:
    answers = (
        arm("c", ["AB", "AA"], puppets=True)
        + arm("same", ["AA", "AA"], puppets=True)
        + arm("warm", ["AA", "AA"], puppets=False)
        + arm("offline", ["AA", "AA"], puppets=False)
        + arm("again", ["AA", "AA"], puppets=False)
    )
    rows = measure_novelty(
        answer_frame(answers), baseline="offline", control=control, rarest_users=COVERED_BY_72
    )
    row = {r.condition: r for r in rows}[condition]
    assert row.excess_low is None
    assert why in (row.reason or "")


def test_interval_and_test_keep_their_promise() -> None:
    """Users who answer as reruns do, 60 items with a new letter in 8 % of answers."""
    random = np.random.default_rng(4)
    held, hits, sets = 0, 0, 200
    for _ in range(sets):
        letters = (random.random((82, 60)) < 0.08).astype(float)
        users = NewLetters(letters[:72], letters[72:], n_equal=10)
        interval = excess_interval(users, rarest_users=COVERED_BY_72)
        held += interval is not None and interval.low <= 0 <= interval.high
        sides = NewLetters(letters[:10], letters[72:], n_equal=10)
        assert excess_interval(sides, rarest_users=COVERED_BY_72) is None
        splits = unit_splits(10, 10, n_permutations=99, random=random)
        hits += p_value_of_first(excess_of_splits(sides, splits.first)) <= 0.05
    assert held / sets > 0.92
    assert hits / sets < 0.09

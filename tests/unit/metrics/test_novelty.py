"""New letters against hand counts, beside a control arm, and the test's level."""

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

from fieldwork.metrics.novelty import NewLetters, excess_interval, excess_of_splits, measure_novelty
from fieldwork.records.metrics import Novelty
from fieldwork.records.parsing import Answer
from fieldwork.statistics.permutation import p_value_of_first, unit_splits
from unit.metrics.metric_frames import COVERED_BY_72, answer_frame, chosen


def arm(condition: str, *units: str, puppets: bool = False) -> list[Answer]:
    """A unit's letters for items 0, 1, ...; `?` is unreadable, and a space was not asked."""
    return [
        dataclasses.replace(
            chosen([None if letter == "?" else letter], condition=condition, item_id=f"{item}")[0],
            puppet_id=f"p{unit}" if puppets else None,
            replicate=0 if puppets else unit,
        )
        for unit, letters in enumerate(units)
        for item, letter in enumerate(letters)
        if letter != " "
    ]


def novelty(*arms: list[Answer], **settings: Any) -> dict[str, Novelty]:
    answers = [answer for answers in arms for answer in answers]
    settings = {"baseline": "offline", "rarest_users": COVERED_BY_72, **settings}
    return {row.condition: row for row in measure_novelty(answer_frame(answers), **settings)}


def test_novelty_by_hand() -> None:
    # history: 0 is new, 1 is not; 2 has no readable baseline, 3 nothing readable, 4 no baseline
    rows = novelty(
        arm("offline", "AC?A", "B?"), arm("history", "CCD?A", "A"), arm("offline_t0", "AD A")
    )
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
        ("", "A", "there are no answers under the baseline"),
        ("?", "A", "no item has a readable letter both here"),
        ("A", " A", "no item has a readable letter both here"),
    ],
)
def test_novelty_without_shared_items_is_null(offline: str, history: str, reason: str) -> None:
    row = novelty(arm("offline", offline), arm("history", history))["history"]
    assert (row.share, row.ci_low, row.share_all, row.n_items) == (None, None, None, 0)
    assert reason in (row.reason or "")


def test_one_odd_puppet_widens_the_interval_of_novelty() -> None:
    """Forty new letters of one puppet are one draw; of eighty puppets, one each, they are many."""
    alone = ["B" * 40 + "A" * 40, *["A" * 80] * 79]
    spread = [("A" * k + "B" + "A" * 79)[:40] + "A" * 40 for k in range(80)]
    offline = arm("offline", *["A" * 80] * 80)
    odd, many = (novelty(arm("c", *x, puppets=True), offline)["c"] for x in (alone, spread))
    assert (odd.share, many.share) == (0.5, 0.5)
    # losing the odd puppet loses all: as if there were one item
    assert (odd.ci_low or 0, odd.ci_high or 0) == pytest.approx((0.055, 0.945), abs=5e-3)
    # every new letter is of another puppet: Wilson over the items is what is left
    assert (many.ci_low, many.ci_high) == pytest.approx((0.391, 0.609), abs=3e-3)


def controlled(here: list[str], control: list[str]) -> Novelty:
    arms = [arm("c", *here, puppets=True), arm("again", *control), arm("offline", *["AA"] * 3)]
    return novelty(*arms, control="again")["c"]


def test_the_excess_by_hand() -> None:
    row = controlled(["BA", "BA", "AB"], ["AB", "AA", "AA"])
    # here both items have a new letter; of the control's, one
    assert (row.share, row.control_share, row.excess, row.n_equal) == (1.0, 0.5, 0.5, 3)
    # C(6, 3) = 20 splits, counted out: two B on item 0, two on item 1
    assert row.n_permutations == 0
    pooled = np.array([[1, 0], [1, 0], [0, 1], [0, 1], [0, 0], [0, 0]])
    splits = unit_splits(3, 3, n_permutations=1, random=np.random.default_rng(1)).first
    excess = [(pooled[s].any(0).mean() - pooled[~s].any(0).mean()) for s in splits]
    assert row.p_value == pytest.approx(np.mean(np.array(excess) >= 0.5 - 1e-9))
    # more units give no more novelty: the chance that three of twelve users give a new letter
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
    arms = [arm("c", "AB", "AA", puppets=True), arm("same", "AA", "AA", puppets=True)]
    arms += [arm(name, "AA", "AA") for name in ("warm", "offline", "again")]
    row = novelty(*arms, control=control)[condition]
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

"""Participants who answer a prompt again: each counts once where answers must be independent."""

import dataclasses
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fieldwork.errors import StudyError
from fieldwork.estimates.quantity import ChanceSettings
from fieldwork.metrics.accuracy import measure_runs
from fieldwork.metrics.categories import measure_categories, measure_subjects
from fieldwork.metrics.comparisons import measure_comparisons
from fieldwork.metrics.distributions import measure_distributions
from fieldwork.metrics.groups.tests import measure_group_differences
from fieldwork.metrics.item_shares import measure_item_shares
from fieldwork.metrics.nests import measure_nests
from fieldwork.metrics.novelty import measure_novelty
from fieldwork.metrics.rarefaction import measure_rarefaction
from fieldwork.metrics.robustness.groups import measure_group_gaps
from fieldwork.metrics.robustness.table import measure_robustness
from fieldwork.metrics.scores import measure_score_spreads
from fieldwork.metrics.shifts import measure_shifts
from fieldwork.metrics.values.comparisons import measure_value_comparisons
from fieldwork.metrics.variance import measure_variance
from fieldwork.records.metrics import VarianceShare
from fieldwork.records.parsing import Answer
from fieldwork.statistics.intervals import wilson_interval
from unit.metrics.metric_frames import (
    COVERED_BY_72,
    answer_frame,
    chosen,
    item_frame,
    list_estimates,
    listed,
    question,
    score_estimates,
)

OPTIONS = [f"o{k:02}" for k in range(12)]
QUESTIONS = item_frame(*(question(item) for item in "xyz"))


def field() -> list[Answer]:
    """Lists and letters of twelve participants who answer everything once."""
    source = random.Random(6)
    rows: list[Answer] = []
    for who in (f"p{k:02}" for k in range(12)):
        for item in "abc":
            rows += listed(
                source.sample(OPTIONS, 5), item_id=item, condition="field", puppet_id=who
            )
        for item in "xyz":
            rows += chosen([source.choice("ABCD")], item_id=item, condition="field", puppet_id=who)
    return rows


def offline() -> list[Answer]:
    source = random.Random(7)
    rows: list[Answer] = []
    for item in "abc":
        lists = [source.sample(OPTIONS, 5) for _ in range(15)]
        rows += listed(*lists, condition="offline", item_id=item)
    for item in "xyz":
        letters = source.choices("AAB", k=15)
        rows += chosen(letters, condition="offline", item_id=item)
        rows += chosen(letters[::-1], condition="again", item_id=item)
    return rows


def again(rows: Sequence[Answer]) -> list[Answer]:
    """Second and third answers of some participants to some prompts, unlike their first."""
    other = {"list": {"items": OPTIONS[:5]}, "choice": {"letter": "D"}}
    return [
        dataclasses.replace(row, replicate=r, **other[row.kind])
        for row in rows
        if row.item_id in "axy"
        for r in range(1, {"p01": 2, "p04": 3, "p07": 2}.get(row.puppet_id or "", 1))
    ]


Measure = Callable[[pd.DataFrame], Sequence[Any]]
WITH_FIRST_ANSWERS: dict[str, Measure] = {
    "estimates": list_estimates,
    "item_shares": measure_item_shares,
    "rarefaction": measure_rarefaction,
    "comparisons": lambda a: measure_comparisons(a, baseline="offline", n_permutations=99, seed=1),
    "shifts": lambda a: measure_shifts(a, baseline="offline"),
    "accuracy": lambda a: [
        dataclasses.replace(row, n_without=0) for row in score_estimates(measure_runs(a, QUESTIONS))
    ],
    "new letters": lambda a: [
        (r.condition, r.n_equal, r.share, r.excess, r.excess_low, r.excess_high, r.p_value)
        for r in measure_novelty(a, baseline="offline", control="again", n_permutations=99)
    ],
    "spreads": lambda a: [
        (r.condition, r.metric, r.sd, r.sd_ratio, r.p_value)
        for r in measure_score_spreads(
            measure_runs(a, QUESTIONS), baseline="offline", n_permutations=99, seed=1
        )
    ],
}


@pytest.mark.parametrize("name", WITH_FIRST_ANSWERS)
def test_repeats_move_nothing_where_answers_must_be_independent(name: str) -> None:
    measure = WITH_FIRST_ANSWERS[name]
    once = measure(answer_frame(field() + offline()))
    repeated = measure(answer_frame(again(field()) + field() + offline()))
    assert any(
        getattr(r, "condition", r[0] if isinstance(r, tuple) else "") == "field" for r in once
    )
    assert repeated == once


NONE: dict[str, Any] = {"n_permutations": 0, "seed": 1}
NO_CHANCE = ChanceSettings(0, 1)
PEOPLE = pd.DataFrame(
    [(f"p{k:02}", "gender", "xy"[k % 2]) for k in range(12)],
    columns=["participant_id", "variable", "group"],
)
TESTS: dict[str, Measure] = {
    "comparisons": lambda a: measure_comparisons(a, baseline="offline", **NONE),
    "variance": lambda a: measure_variance(a, baseline="offline", **NONE),
    "nests": lambda a: measure_nests(a, nests={}, rarest_users=0.05, **NONE),
    "new letters": lambda a: measure_novelty(a, baseline="offline", **NONE),
    "spreads": lambda a: measure_score_spreads(
        measure_runs(a, QUESTIONS), baseline="offline", **NONE
    ),
    "categories": lambda a: measure_categories(measure_subjects(a, QUESTIONS, {"s": "c"}), **NONE),
    "groups": lambda a: measure_group_differences(a, QUESTIONS, PEOPLE, **NONE),
    "values": lambda a: measure_value_comparisons(a, QUESTIONS, baseline="offline", **NONE),
    "variants": lambda a: measure_robustness(a, QUESTIONS, variants={}, settings=NO_CHANCE),
    "gaps": lambda a: measure_group_gaps(a, QUESTIONS, variants={}, groups={}, settings=NO_CHANCE),
}


@pytest.mark.parametrize("measure", TESTS.values(), ids=TESTS)
def test_no_permutations_are_refused(measure: Measure) -> None:
    with pytest.raises(StudyError, match=r"metrics\.permutations is 0"):
        measure(answer_frame(field()))


def test_participants_who_answer_unequally_often_have_equal_weight() -> None:
    given = {"p0": "AAA", "p1": "B", "p2": "B", "p3": "AB"}
    rows = [
        a for who, letters in given.items() for a in chosen(letters, puppet_id=who, item_id="x")
    ]
    found = {r.answer: r for r in measure_distributions(answer_frame(rows), QUESTIONS)}
    assert found["A"].share == pytest.approx((1 + 0 + 0 + 0.5) / 4)
    assert sum(r.share for r in found.values()) == pytest.approx(1)
    assert (found["A"].n_answers, found["A"].n_responses) == (4, 7)
    expected = wilson_interval(1.5, 4)
    assert (found["A"].ci_low, found["A"].ci_high) == pytest.approx(expected)


def repeats_of(share: float, *, again_from: int, seed: int, n: int = 60) -> list[Answer]:
    """Letters of users with an intra-class correlation of `share`; users from a number on repeat."""
    source = np.random.default_rng(seed)
    rows: list[Answer] = []
    for k in range(n):
        for item in "xyz":
            own = source.dirichlet(np.full(4, 0.25) * (1 / share - 1))
            letters = source.choice(list("ABCD"), size=1 if k < again_from else 2 + k % 2, p=own)
            rows += chosen(letters.tolist(), puppet_id=f"p{k:02}", item_id=item)
    return rows


def only(rows: list[Answer], condition: str = "c") -> VarianceShare:
    frame = answer_frame([dataclasses.replace(r, condition=condition) for r in rows])
    (row,) = measure_variance(
        frame, baseline="offline", n_permutations=19, seed=1, rarest_users=COVERED_BY_72
    )
    return row


@pytest.mark.parametrize("share", [0.2, 0.6])
def test_the_share_between_users_is_right_when_few_repeat(share: float) -> None:
    found = [only(repeats_of(share, again_from=48, seed=s)).share_who for s in range(40)]
    values = np.array(found, dtype=np.float64)
    assert abs(values.mean() - share) < 3 * values.std() / np.sqrt(len(values))
    assert values.std() / np.sqrt(len(values)) < 0.02


@pytest.mark.parametrize(
    ("again_from", "reason"),
    [
        (80, "no participant answers a prompt twice"),
        (9, "no interval: 71 users answer an item twice, and 72 are"),
        (8, None),
    ],
)
def test_what_the_field_says_without_enough_repeats(again_from: int, reason: str | None) -> None:
    row = only(repeats_of(0.4, again_from=again_from, seed=3, n=80), condition="field")
    assert (row.share_who is None) == (again_from == 80)
    assert (row.ci_low is None) == (reason is not None)
    assert (row.reason or "").startswith(reason or "")
    assert bool(row.reason) == bool(reason)

"""What every declared measure keeps, whatever it takes of an answer: values, order, equal n, reasons, and
how often its interval and its test are right.
"""

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fieldwork.estimates.declaration import EqualSize, Measure, ReaderQuestion, share_bounds
from fieldwork.estimates.reasons import NOT_RELIABLE
from fieldwork.estimates.table import EstimateSettings, estimate_question
from fieldwork.measures import questions
from fieldwork.records.estimates import Estimate
from fieldwork.records.tasks import LETTER_KINDS
from fieldwork.statistics.arrays import Counts, Floats
from fieldwork.statistics.user_intervals import sample_needed
from unit.measures.numbered_replies import (
    Reply,
    by_reruns,
    by_users,
    kind_of,
    options_of,
    plain_mean,
    plain_value,
    table,
)


def alike_share(counts: Counts) -> Floats:
    shares: Floats = ((counts / counts.sum(axis=1, keepdims=True)) ** 2).sum(axis=1)
    return shares


def share_of_mentions(size: EqualSize) -> float:
    return float(size.counts.max() / size.n_answers)


FAKES = {
    "letters": ReaderQuestion(
        title="Letters",
        sentence="",
        kinds=("choice", "scale"),
        references=("baseline", "controls", "field"),
        measures=[
            Measure(
                name="alike_share", title="", meaning="", statistic=alike_share,
                bounds=share_bounds, is_by_item=True, is_tested=True, is_for_other_prompts=True,
            ),
            Measure(name="commonest", title="", meaning="", exact=share_of_mentions),
        ],
    ),
    "values": ReaderQuestion(
        title="Numbers",
        sentence="",
        kinds=("number",),
        references=("baseline", "field"),
        measures=[
            Measure(
                name="mean_value", title="", meaning="", of="value",
                is_tested=True, is_for_other_prompts=True,
            ),
        ],
    ),
}  # fmt: skip
"""Letters, a formula over prompts, and numbers of answers."""

DECLARED = [
    pytest.param(question, measure, id=f"{name}-{measure.name}")
    for name, question in {**questions(), **FAKES}.items()
    for measure in question.measures
]
every_measure = pytest.mark.parametrize(("question", "measure"), DECLARED)

N_USERS = 12
SETTINGS = EstimateSettings(
    baseline="offline",
    seed=1,
    users=("rag", "field"),
    controls=("again",),
    rarest_users=0.4,
    rarest_prompts=0.9,
)
"""Eleven users and three prompts are enough for intervals."""


def rows_of(
    question: ReaderQuestion,
    measure: Measure,
    replies: Sequence[Reply],
    settings: EstimateSettings = SETTINGS,
    groups: Mapping[str, str] | None = None,
) -> list[Estimate]:
    """The rows of one measure."""
    participants = pd.DataFrame(
        [(user, "variable", group) for user, group in (groups or {}).items()],
        columns=["participant_id", "variable", "group"],
    )
    alone = dataclasses.replace(question, measures=[measure])
    frame = table(question, replies)
    return estimate_question(alone, frame, settings, participants if groups else None)


def numbers_drawn(seed: int, n: int = N_USERS) -> dict[str, list[int]]:
    """To three prompts."""
    random = np.random.default_rng(seed)
    return {item: random.integers(0, 9, n).tolist() for item in "abc"}


PROMPTS = {name: numbers_drawn(k) for k, name in enumerate(("offline", "again", "rag", "field"))}
"""Numbers by condition and prompt, equally many."""
GROUPS = {f"p{k:02}": "x" if k < 6 else "y" if k < 11 else "z" for k in range(N_USERS)}


def replies_of(prompts: Mapping[str, Mapping[str, Sequence[int]]]) -> list[Reply]:
    """Users under `rag` and in the field, reruns elsewhere."""
    return [
        reply
        for condition, items in prompts.items()
        for item, numbers in items.items()
        for reply in (by_users if condition in SETTINGS.users else by_reruns)(
            numbers, condition, item=item
        )
    ]


@every_measure
def test_values_are_those_of_plain_enumeration(question: ReaderQuestion, measure: Measure) -> None:
    rows = rows_of(question, measure, replies_of(PROMPTS), groups=GROUPS)
    items = {row.item_id for row in rows}
    assert items == {*("abc" if measure.is_by_item else ""), *([None] * measure.is_over_items)}
    for row in rows:
        prompts = PROMPTS[row.condition]
        if row.item_id is not None:
            expected = plain_value(measure, question, prompts[row.item_id])
            assert row.value == pytest.approx(expected, abs=1e-12)
        elif row.group is None:
            value = plain_mean(measure, question, prompts)
            assert row.value == pytest.approx(value, abs=1e-12)
            if row.condition != row.versus:
                other = plain_mean(measure, question, PROMPTS[row.versus])
                assert row.difference == pytest.approx(value - other, abs=1e-12)
                assert row.n_items == 3
        if row.group is None:
            assert row.n_units == row.n_answers / row.n_items == N_USERS


@every_measure
def test_conditions_are_compared_as_the_question_declares(
    question: ReaderQuestion, measure: Measure
) -> None:
    rows = rows_of(question, measure, replies_of(PROMPTS), groups=GROUPS)
    compared = {(r.condition, r.reference, r.versus) for r in rows if r.item_id is r.group is None}
    assert compared == (
        {
            *((condition, "baseline", "offline") for condition in PROMPTS),
            *((c, "control", "again") for c in SETTINGS.users if "controls" in question.references),
            *((c, "field", "field") for c in PROMPTS if "field" in question.references and c != "field"),
        }
        if measure.is_over_items
        else set()
    )  # fmt: skip
    groups = {r.group: r.value for r in rows if r.group is not None}
    assert [*groups] == (["x", "y", "z"] if question.has_groups else [])
    if groups:
        firsts = {item: numbers[:6] for item, numbers in PROMPTS["field"].items()}
        assert groups["x"] == pytest.approx(plain_mean(measure, question, firsts))
        assert groups["z"] is None


@every_measure
def test_neither_order_nor_other_arms_nor_other_measures_change_a_row(
    question: ReaderQuestion, measure: Measure
) -> None:
    replies = replies_of(PROMPTS)
    rows = rows_of(question, measure, replies, groups=GROUPS)
    shuffled = [replies[k] for k in np.random.default_rng(2).permutation(len(replies))]
    assert rows_of(question, measure, shuffled, groups=dict([*GROUPS.items()][::-1])) == rows
    others = [
        *(reply._replace(model="n") for reply in replies[:40]),
        *(reply._replace(task="u") for reply in replies[::3]),
        *by_users(numbers_drawn(7)["a"], "profile"),
        *by_users(numbers_drawn(7, 3)["a"], "profile", item="d"),
    ]
    more = rows_of(question, measure, [*others, *replies], groups=GROUPS)
    assert [r for r in more if r.model == "m" and r.task == "t" and r.condition in PROMPTS] == rows
    if not question.has_groups:
        together = estimate_question(question, table(question, replies), SETTINGS)
        assert [row for row in together if row.measure == measure.name] == rows


@every_measure
def test_the_first_reply_of_a_user_with_something_to_take_counts(
    question: ReaderQuestion, measure: Measure
) -> None:
    replies = replies_of(PROMPTS)
    later = [reply._replace(number=8, replicate=3) for reply in replies if reply.user]
    lost = [reply._replace(number=8, replicate=-1, outcome="failed") for reply in replies]
    blank = [reply._replace(number=None, replicate=-1) for reply in later[:5]]
    # who gives no readable letter has answered
    blank = [] if kind_of(question) in LETTER_KINDS else blank
    rows = rows_of(question, measure, [*blank, *later, *lost, *replies])
    expected = rows_of(question, measure, replies)
    assert [dataclasses.replace(row, n_without=0) for row in rows] == expected


@every_measure
def test_at_equal_n_a_value_is_the_mean_over_all_subsets(
    question: ReaderQuestion, measure: Measure
) -> None:
    numbers, n_equal = [0, 1, 1, 2, 5, 7, 8], 3
    replies = [
        *by_users(numbers, "rag"),
        *by_reruns(numbers, "offline"),
        *by_users([4] * n_equal, "few"),
    ]
    rows = [row for row in rows_of(question, measure, replies) if row.condition == "rag"]
    sizes = {row.n_equal for row in rows}
    if measure.of != "options":
        assert sizes == {None}
        assert {row.value for row in rows} == {plain_value(measure, question, numbers)}
        return
    assert sizes == {n_equal}
    expected, error = plain_value(measure, question, numbers, n_equal), 0.0
    if measure.statistic:
        subsets = itertools.combinations(numbers, n_equal)
        values = np.array([plain_value(measure, question, subset) for subset in subsets])
        # 200 random subsamples: four standard errors
        expected, error = values.mean(), 4 * values.std() / np.sqrt(200)
    for row in rows:
        assert row.value == pytest.approx(expected, abs=error + 1e-12)


@every_measure
def test_of_too_few_users_a_row_says_how_many_are_needed(
    question: ReaderQuestion, measure: Measure
) -> None:
    needed = sample_needed(SETTINGS.rarest_users)
    for n_users in (needed - 1, needed):
        prompts = {"offline": numbers_drawn(1, 20), "rag": numbers_drawn(2, n_users)}
        settings = SETTINGS._replace(controls=())
        for row in rows_of(question, measure, replies_of(prompts), settings):
            if row.condition == "rag" and measure.exact:
                assert (row.ci_low, row.reason) == (None, NOT_RELIABLE)
            elif row.condition == "rag" and n_users < needed:
                assert (row.ci_low, row.ci_high, row.difference_low) == (None, None, None)
                assert f"{n_users} users answer, and {needed} are needed" in (row.reason or "")
            elif row.condition == "rag":
                assert row.ci_low is not None
                assert row.reason is None
            has_test = measure.is_tested and row.item_id is None and row.reference == "baseline"
            assert (row.p_value is not None) == (has_test and row.condition == "rag")


def odd_study() -> list[Reply]:
    """Conditions that lack something, beside a baseline that varies and one that never does."""
    replies = replies_of(PROMPTS)
    replies += [*by_users([None] * 3, "silent"), *by_users([None] * 2, "rag", item="c")]
    replies += [*by_users([3, 4], "elsewhere", item="d"), *by_users([3], "lost", outcome="failed")]
    replies += [*by_users([2] * 12, "alike"), *by_users([1], "single"), *by_reruns([1], "once")]
    replies += [*by_users([1, 2, 5], "few"), *by_reruns([3] * 120, "always")]
    replies += by_reruns([3] * 120, "offline", task="settled")
    for condition, numbers in (
        ("three", [3] * 27 + [5, 6, 8]),
        ("many", [*range(8)] * 4),
        ("alike", [3] * 30),
    ):
        replies += by_users(numbers, condition, task="settled")
    replies += by_users([1, 2] * 10, "rag", task="without_baseline")
    return replies


@every_measure
def test_a_reason_stands_where_something_is_missing_and_nowhere_else(
    question: ReaderQuestion, measure: Measure
) -> None:
    rows = rows_of(question, measure, odd_study(), groups=GROUPS)
    assert measure.exact or len({row.reason for row in rows}) > 5
    for row in rows:
        parts: list[Any] = [row.value, row.ci_low, row.ci_high]
        if row.item_id is None and row.condition != row.versus:
            parts += [row.difference, row.difference_low, row.difference_high]
            parts += [row.p_value] if measure.is_tested else []
            assert (row.n_units_versus > 0) == (row.difference is not None)
        assert bool(row.reason) == (None in parts), row
        has_prompts = measure.is_for_other_prompts and row.item_id is None
        assert bool(row.prompts_reason) == (has_prompts and row.prompts_low is None), row
        if row.difference_low is None or not has_prompts or row.prompts_reason:
            assert row.prompts_difference_low is None
        if row.ci_low is not None and row.ci_high is not None:
            assert row.ci_low <= (row.value or 0.0) <= row.ci_high


@every_measure
def test_without_answers_there_are_no_rows(question: ReaderQuestion, measure: Measure) -> None:
    assert rows_of(question, measure, []) == []
    assert estimate_question(question, pd.DataFrame(), SETTINGS) == []
    if question.kinds:
        others = table(question, replies_of(PROMPTS)).assign(kind="text")
        assert estimate_question(question, others, SETTINGS) == []


# ---- how often intervals and tests are right -----------------------------------------------------------

N_SETS = 200
N_MANY = 40
ODD_SHARE = 0.125
COMMON, ODD = np.arange(8), np.arange(20, 26)
SHARES = np.array(
    [*[(1 - ODD_SHARE) / len(COMMON)] * len(COMMON), *[ODD_SHARE / len(ODD)] * len(ODD)]
)
SIMULATED = [
    pytest.param(question, measure, id=f"{name}-{measure.name}")
    for name, question in {**questions(), **FAKES}.items()
    for measure in question.measures
    # measures of numbers take the same road, so that the first of a question speaks for all
    if measure.statistic or measure is next((m for m in question.measures if m.of != "options"), None)
]  # fmt: skip


@cache
def simulated_replies() -> list[Reply]:
    """Studies of forty users to a task, an eighth of whom answer as no other does, and reruns of their
    mixture.
    """
    random = np.random.default_rng(11)
    replies: list[Reply] = []
    for task in map(str, range(N_SETS)):
        is_odd = random.random(N_MANY) < ODD_SHARE
        for item in "ab":
            numbers = np.where(is_odd, random.choice(ODD, N_MANY), random.choice(COMMON, N_MANY))
            reruns = random.choice([*COMMON, *ODD], N_MANY, p=SHARES)
            replies += by_users(numbers.tolist(), "rag", item=item, task=task)
            replies += by_reruns(reruns.tolist(), "offline", item=item, task=task)
    return replies


def expected_value(question: ReaderQuestion, measure: Measure) -> float:
    """Of forty answers of the mixture."""
    numbers = [*COMMON.tolist(), *ODD.tolist()]
    if measure.of != "options":
        return float(SHARES @ np.array(numbers)) / 7
    assert measure.statistic
    names = sorted({option for number in numbers for option in options_of(question, number)})
    indicator = np.array(
        [[name in options_of(question, number) for name in names] for number in numbers]
    )
    draws = np.random.default_rng(3).multinomial(N_MANY, SHARES, size=4000)
    return float(measure.statistic(draws @ indicator.astype(np.int64)).mean())


@pytest.mark.parametrize(("question", "measure"), SIMULATED)
def test_with_few_odd_users_intervals_hold_the_truth_and_tests_find_nothing(
    question: ReaderQuestion, measure: Measure
) -> None:
    rows = rows_of(question, measure, simulated_replies(), EstimateSettings("offline", 1))
    own = [
        row for row in rows if row.condition == "rag" and (not row.item_id or row.item_id == "a")
    ]
    if measure.is_over_items:
        own = [row for row in own if row.item_id is None]
    truth = expected_value(question, measure)
    held = [(row.ci_low or 0.0) <= truth <= (row.ci_high or 0.0) for row in own]
    assert len(held) == N_SETS
    assert np.mean(held) >= 0.85
    if measure.is_tested:
        assert np.mean([(row.p_value or 0.0) < 0.05 for row in own]) <= 0.1

"""What every declared measure keeps, whatever it takes of an answer: values, order, equal n, reasons, and
how often its interval and its test are right.
"""

import dataclasses
import itertools
import math
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_1samp

from fieldwork.estimates.reasons import FEW_ANSWERS, NOT_RELIABLE
from fieldwork.estimates.table import EstimateSettings, estimate_question
from fieldwork.measures import form, lists, questions
from fieldwork.records.tasks import LETTER_KINDS
from fieldwork.statistics.user_intervals import sample_needed
from unit.measures.numbered_replies import (
    SETTINGS,
    Case,
    Numbers,
    Reply,
    by_reruns,
    by_users,
)

MEANS = [dataclasses.replace(measure, is_over_items=True) for measure in lists.QUESTION.measures]
VALUE = dataclasses.replace(form.QUESTION.names["words"], of="value", is_for_other_prompts=True)
FAKES = {
    "letters": dataclasses.replace(lists.QUESTION, kinds=("choice", "scale"), measures=MEANS),
    "values": dataclasses.replace(lists.QUESTION, kinds=("number",), measures=[VALUE]),
}
"""Letters, with all means over prompts, and a number of answers."""

CASES = {
    f"{name}-{measure.name}": Case(question, measure)
    for name, question in {**questions(), **FAKES}.items()
    for measure in question.measures
}
every_measure = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


def road(name: str) -> tuple[object, ...]:
    """What decides how a measure is estimated; the rest are its words, units and column."""
    names = ("statistic", "exact", "bounds", "noun", "is_by_item", "is_over_items", "is_tested")
    measure = CASES[name].measure
    of_options = measure.of == "options", measure.is_for_other_prompts, measure.is_stated
    return name.partition("-")[0], *of_options, *(getattr(measure, one) for one in names)


FIRSTS = {road(name): name for name in reversed(CASES)}
KINDS = {name: CASES[name] for name in FIRSTS.values()}
"""The first measure of each road, which speaks for those that take the same."""
every_kind = pytest.mark.parametrize("case", KINDS.values(), ids=KINDS)
OF_PROMPTS = {name: case for name, case in KINDS.items() if not case.is_of_runs}
"""Runs answer all prompts, so that two sides always have the same."""

N_USERS = 12
NO_PROMPTS = "no interval for prompts like these: "


def drawn_numbers(seed: int, n: int = N_USERS) -> dict[str, Numbers]:
    """To three prompts."""
    random = np.random.default_rng(seed)
    return {item: random.integers(0, 9, n).tolist() for item in "abc"}


PROMPTS = {name: drawn_numbers(k) for k, name in enumerate(("offline", "again", "rag", "field"))}
"""Numbers by condition and prompt, equally many."""
GROUPS = {f"p{k:02}": "xxxxxxyyyyz"[k] for k in range(11)}
"""The last user is in none, and one alone has too few answers."""


def replies_of(prompts: Mapping[str, Mapping[str, Numbers]]) -> list[Reply]:
    """Users under `rag` and in the field, reruns elsewhere."""
    replies: list[Reply] = []
    for condition, items in prompts.items():
        give = by_users if condition in SETTINGS.users else by_reruns
        for item, numbers in items.items():
            replies += give(numbers, condition, item=item)
    return replies


@every_measure
def test_values_and_what_they_are_beside_are_those_of_plain_enumeration(case: Case) -> None:
    rows, measure = case.rows(replies_of(PROMPTS), groups=GROUPS), case.measure
    items = {row.item_id for row in rows}
    assert items == {*("abc" if measure.is_by_item else ""), *([None] * measure.is_over_items)}
    for row in rows:
        prompts, versus = PROMPTS[row.condition], PROMPTS.get(row.versus, {})
        if row.item_id is not None:
            prompts = {row.item_id: prompts[row.item_id]}
        elif row.group is not None:
            # everyone else in a group is p06 to p10
            versus = {item: numbers[6:11] for item, numbers in prompts.items()}
            prompts = {item: numbers[:6] for item, numbers in prompts.items()}
        if row.group in (None, "x"):
            value = case.mean(prompts)
            assert row.value == pytest.approx(value, abs=1e-12)
            assert row.n_answers / row.n_items == row.n_units == (6 if row.group else N_USERS)
            if row.item_id is None and row.condition != row.versus:
                assert row.difference == pytest.approx(value - case.mean(versus), abs=1e-12)
    pairs = {(r.condition, r.reference, r.versus) for r in rows if r.item_id is r.group is None}
    expected = {(condition, "baseline", "offline") for condition in PROMPTS}
    if "controls" in case.question.references:
        expected |= {(condition, "control", "again") for condition in SETTINGS.users}
    if "field" in case.question.references:
        expected |= {(condition, "field", "field") for condition in PROMPTS if condition != "field"}
    assert pairs == (expected if measure.is_over_items else set())
    groups = {row.group: row.reason for row in rows if row.group is not None}
    assert [*groups] == (["x", "y", "z"] if case.question.has_groups else [])
    assert groups.get("z") == (FEW_ANSWERS if groups else None)


@every_kind
def test_neither_order_nor_other_arms_nor_other_measures_change_a_row(case: Case) -> None:
    replies = replies_of(PROMPTS)
    rows = case.rows(replies, groups=GROUPS)
    shuffled = [replies[k] for k in np.random.default_rng(2).permutation(len(replies))]
    assert case.rows(shuffled, groups=dict([*GROUPS.items()][::-1])) == rows
    others = [
        *(reply._replace(model="n") for reply in replies[:40]),
        *(reply._replace(task="u") for reply in replies[::3]),
        *by_users(drawn_numbers(7)["a"], "profile"),
        *by_users(drawn_numbers(7, 3)["a"], "profile", item="d"),
    ]
    more = case.rows([*others, *replies], groups=GROUPS)
    assert [r for r in more if r.model == "m" and r.task == "t" and r.condition in PROMPTS] == rows
    together = estimate_question(case.question, case.table(replies), SETTINGS)
    own = [row for row in together if row.measure == case.measure.name]
    assert own == [row for row in rows if row.group is None]


@pytest.mark.parametrize("case", OF_PROMPTS.values(), ids=OF_PROMPTS)
def test_a_difference_is_of_the_prompts_that_both_sides_answer(case: Case) -> None:
    prompts = {**PROMPTS, "offline": {"b": [0] * N_USERS, "c": PROMPTS["offline"]["c"][:5]}}
    prompts["field"] = {item: PROMPTS["field"][item] for item in "ab"}
    rows = case.rows(replies_of(prompts), SETTINGS._replace(controls=()))
    for row in rows:
        if row.item_id is None and row.reference == "baseline" and row.condition == "rag":
            assert (row.n_items, row.n_answers) == (2, 2 * N_USERS)
            assert row.n_equal in (5, None)
        if row.item_id is None and row.reference == "baseline" and row.condition == "field":
            value, baseline = (case.value(prompts[name]["b"]) for name in ("field", "offline"))
            assert row.value == pytest.approx(value)
            assert row.difference == pytest.approx(value - baseline)
            assert (row.n_items, row.n_higher) == (1, int(value > baseline))


@every_kind
def test_the_first_reply_of_a_user_with_something_to_take_counts(case: Case) -> None:
    replies = replies_of(PROMPTS)
    later = [reply._replace(number=8, replicate=3) for reply in replies if reply.user]
    lost = [reply._replace(number=8, replicate=-1, outcome="failed") for reply in replies]
    # who gives no readable letter has answered
    n_blank = 0 if case.kind in LETTER_KINDS else 5
    blank = [reply._replace(number=None, replicate=-1) for reply in later[:n_blank]]
    rows = case.rows([*blank, *later, *lost, *replies])
    assert [dataclasses.replace(row, n_without=0) for row in rows] == case.rows(replies)


@every_kind
def test_at_equal_n_a_value_is_the_mean_over_all_subsets(case: Case) -> None:
    numbers, n_equal = [0, 1, 1, 2, 5, 7, 8], 3
    few = by_reruns([4] * n_equal, "few")
    expected, error = case.value(numbers, n_equal), 0.0
    if case.measure.statistic:
        subsets = itertools.combinations(numbers, n_equal)
        values = np.array([case.value(subset) for subset in subsets])
        # 200 random subsamples: four standard errors
        expected, error = values.mean(), 4 * values.std() / math.sqrt(200)
    # whoever says it
    orders = [case.rows([*by_users(own, "rag"), *few]) for own in (numbers, numbers[::-1])]
    for row, other in zip(*orders, strict=True):
        if row.condition == "rag":
            assert row.value == pytest.approx(expected, abs=error + 1e-12)
            assert row.value == pytest.approx(other.value, abs=1e-12)
            assert row.n_equal == (n_equal if case.measure.of == "options" else None)


@every_kind
def test_of_too_few_users_a_row_says_how_many_are_needed(case: Case) -> None:
    needed = sample_needed(SETTINGS.rarest_users)
    for n_users in (needed - 1, needed):
        prompts = {"offline": drawn_numbers(1, 20), "rag": drawn_numbers(2, n_users)}
        rows = case.rows(replies_of(prompts), SETTINGS._replace(controls=()))
        for row in (row for row in rows if row.condition == "rag"):
            if case.measure.exact:
                assert (row.ci_low, row.reason) == (None, NOT_RELIABLE)
            elif n_users < needed:
                assert (row.ci_low, row.ci_high, row.difference_low) == (None, None, None)
                assert f"{n_users} users answer, and {needed} are needed" in (row.reason or "")
            else:
                assert (row.ci_low is None, row.reason) == (False, None)
            has_test = case.measure.is_tested and row.item_id is None
            assert (row.p_value is not None) == has_test


def odd_study() -> list[Reply]:
    """Conditions that lack something, beside a baseline that varies and one that never does."""
    replies = replies_of(PROMPTS)
    replies += [*by_users([None] * 3, "silent"), *by_users([None] * 2, "rag", item="c")]
    replies += [*by_users([3, 4], "elsewhere", item="d"), *by_users([3], "lost", outcome="failed")]
    replies += [*by_users([2] * 12, "alike"), *by_users([1], "single"), *by_reruns([1], "once")]
    replies += [*by_users([1, 2, 5], "few"), *by_reruns([3] * 120, "always")]
    replies += by_users([1, 2] * 10, "rag", task="without_baseline")
    settled = {"three": [3] * 27 + [5, 6, 8], "many": [*range(8)] * 4, "alike": [3] * 30}
    for condition, numbers in settled.items():
        replies += by_users(numbers, condition, task="settled")
    return [*replies, *by_reruns([3] * 120, "offline", task="settled")]


@every_kind
def test_a_reason_stands_where_something_is_missing_and_nowhere_else(case: Case) -> None:
    rows = case.rows(odd_study(), groups=GROUPS)
    assert case.measure.exact or len({row.reason for row in rows}) > 5
    places = [(r.task, r.condition, r.item_id or "", r.group or "", r.versus) for r in rows]
    assert places == sorted(places)
    for row in rows:
        parts: list[Any] = [row.value, row.ci_low, row.ci_high]
        if row.item_id is None and row.condition != row.versus:
            parts += [row.difference, row.difference_low, row.difference_high]
            parts += [row.p_value] if case.measure.is_tested else []
            assert (row.n_units_versus > 0) == (row.difference is not None)
        assert bool(row.reason) == (None in parts), row
        has_prompts = case.measure.is_for_other_prompts and row.item_id is None
        assert bool(row.prompts_reason) == (has_prompts and row.prompts_low is None), row
        assert (row.prompts_reason or NO_PROMPTS).startswith(NO_PROMPTS)
        if row.difference_low is None or not has_prompts or row.prompts_reason:
            assert row.prompts_difference_low is None
        if row.ci_low is not None and row.ci_high is not None:
            assert row.ci_low <= (row.value or 0.0) <= row.ci_high


@every_kind
def test_prompts_like_these_are_a_sample_where_they_differ(case: Case) -> None:
    prompts = {f"i{k}": [n for n in range(2 + k) for _ in range(20 * n + 20)] for k in range(8)}
    low, high = ttest_1samp([*map(case.value, prompts.values())], 0.0).confidence_interval(0.95)
    is_given = case.measure.is_for_other_prompts and not case.measure.exact
    for row in case.rows(replies_of({"offline": prompts})):
        if is_given and row.item_id is None:
            width = (row.prompts_high or 0.0) - (row.prompts_low or 0.0)
            assert width == pytest.approx(high - low, rel=0.1)


@every_kind
def test_without_answers_there_are_no_rows(case: Case) -> None:
    assert case.rows([]) == []
    assert estimate_question(case.question, pd.DataFrame(), SETTINGS) == []
    if case.question.kinds:
        others = case.table(replies_of(PROMPTS)).assign(kind="text")
        assert estimate_question(case.question, others, SETTINGS) == []


# ---- how often intervals and tests are right -----------------------------------------------------------

N_SETS, N_MANY, ODD_SHARE = 100, 40, 0.125
COMMON, ODD = [*range(8)], [*range(20, 26)]
SHARES = [*[(1 - ODD_SHARE) / len(COMMON)] * len(COMMON), *[ODD_SHARE / len(ODD)] * len(ODD)]


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


def expected_value(case: Case) -> float:
    """Of forty answers of the mixture."""
    numbers = [*COMMON, *ODD]
    if case.measure.statistic is None:
        return sum(share * case.number(n) for share, n in zip(SHARES, numbers, strict=True))
    names = sorted({option for number in numbers for option in case.options(number)})
    indicator = np.array([[int(name in case.options(n)) for name in names] for n in numbers])
    draws = np.random.default_rng(3).multinomial(N_MANY, SHARES, size=4000)
    return float(case.measure.statistic(draws @ indicator).mean())


def is_simulated(name: str, case: Case) -> bool:
    """Measures of numbers take the same road, so that the first of a question speaks for all."""
    numbers = [measure for measure in case.question.measures if measure.of != "options"]
    has_interval = case.measure.statistic or case.measure in numbers[:1]
    return bool(has_interval) and name.partition("-")[0] in questions()


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if is_simulated(name, case)])
def test_with_few_odd_users_intervals_hold_the_truth_and_tests_find_nothing(name: str) -> None:
    case = CASES[name]
    rows = case.rows(simulated_replies(), EstimateSettings("offline", 1))
    item = None if case.measure.is_over_items else "a"
    own = [row for row in rows if (row.condition, row.item_id) == ("rag", item)]
    truth = expected_value(case)
    assert len(own) == N_SETS
    assert np.mean([(r.ci_low or 0.0) <= truth <= (r.ci_high or 0.0) for r in own]) >= 0.85
    if case.measure.is_tested:
        assert np.mean([(row.p_value or 0.0) < 0.05 for row in own]) <= 0.1

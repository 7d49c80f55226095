"""Groups as arms, their differences, and shuffles of whole participants against plain enumeration."""

import dataclasses
import itertools
import random
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import pytest
from scipy.stats import entropy

from fieldwork.errors import StudyError
from fieldwork.metrics.groups.contrasts import contrast_shares
from fieldwork.metrics.groups.table import MIN_ANSWERS, measure_groups
from fieldwork.metrics.groups.tests import measure_group_differences
from fieldwork.metrics.item_shares import measure_item_shares
from fieldwork.records.field import GroupDifference, GroupEstimate
from fieldwork.records.parsing import Answer
from fieldwork.statistics.intervals import ShareCount, newcombe_interval
from unit.metrics.metric_frames import (
    answer_frame,
    asked,
    item_frame,
    list_means,
    list_prompts,
    listed,
    question,
)

OPTIONS = [f"o{k:02}" for k in range(30)]
ITEMS = item_frame(question("q", gold="A"), question("u", gold=None))


def members(groups: Mapping[str, int]) -> pd.DataFrame:
    """Participants p00 and on, so many a group."""
    names = [group for group, n in groups.items() for _ in range(n)]
    rows = [(f"p{k:02}", "gender", group) for k, group in enumerate(names)]
    return pd.DataFrame(rows, columns=["participant_id", "variable", "group"])


def lists(widths: Sequence[int], *, items: str = "ab", seed: int = 1) -> list[Answer]:
    """A list of five of the first `width` options from each participant, for each item."""
    source = random.Random(seed)
    return [
        row
        for item in items
        for k, width in enumerate(widths)
        for row in listed(
            source.sample(OPTIONS[:width], 5), condition="field", puppet_id=f"p{k:02}", item_id=item
        )
    ]


def letters(text: str) -> list[Answer]:
    """A letter a participant, `-` for none."""
    by_user = {f"p{k:02}": [None if x == "-" else x] for k, x in enumerate(text)}
    return asked(by_user, item_id="q", condition="field")


def group_rows(answers: list[Answer], participants: pd.DataFrame) -> list[GroupEstimate]:
    return measure_groups(answer_frame(answers), ITEMS, participants, seed=1, rarest_users=0.6)


def differences(
    answers: list[Answer], participants: pd.DataFrame, n: int = 199, rarest_users: float = 0.6
) -> list[GroupDifference]:
    settings = {"n_permutations": n, "seed": 1, "rarest_users": rarest_users}
    return measure_group_differences(answer_frame(answers), ITEMS, participants, **settings)


def test_a_groups_numbers_are_those_of_a_condition() -> None:
    answers = lists([12] * 10 + [30] * 14)
    rows = group_rows(answers, members({"man": 10, "woman": 14}))
    as_arms = answer_frame(answers)
    as_arms["condition"] = np.where(as_arms["puppet_id"] < "p10", "man", "woman")
    estimates = {
        (r.item_id, r.group, r.metric): (r.estimate, r.ci_low, r.ci_high, r.n_equal)
        for r in rows
        if r.answer is None and r.item_id
    }
    for row in list_prompts(as_arms, rarest_users=0.6):
        estimate = estimates[row.item_id, row.condition, row.measure]
        assert estimate == (row.value, row.ci_low, row.ci_high, 10)
    option_shares = {
        (r.item_id, r.group, r.answer): r.estimate for r in rows if r.metric == "answer_share"
    }
    assert option_shares == {
        (r.item_id, r.condition, r.answer): r.share for r in measure_item_shares(as_arms)
    }
    means = {(r.group, r.metric): r.estimate for r in rows if r.item_id is None}
    for mean in list_means(as_arms, baseline="man"):
        assert means[mean.condition, mean.measure] == mean.value


def test_letters_of_groups_by_hand() -> None:
    rows = group_rows(letters("AAAB-" + "BBBBBB"), members({"x": 5, "y": 6}))
    estimates = {
        (r.group, r.metric, r.answer): r.estimate for r in rows if r.item_id == "q" and r.estimate
    }
    assert estimates["x", "share_correct", None] == 0.6
    assert estimates["x", "share_unread", None] == 0.2
    assert estimates["x", "answer_share", "unknown"] == 0.2
    assert estimates["y", "answer_share", "B"] == 1.0
    assert estimates["x", "entropy_bits", None] == pytest.approx(entropy([0.6, 0.2, 0.2], base=2))


def test_a_small_group_has_no_numbers_and_lowers_nobodys_n() -> None:
    answers = lists([12] * 10 + [30] * 4)
    rows = group_rows(answers, members({"many": 10, "few": 4}))
    small_group = [r for r in rows if r.group == "few"]
    assert {r.reason for r in small_group if r.item_id} == {
        f"4 readable answers of the group; {MIN_ANSWERS} are needed"
    }
    assert all(r.estimate is None for r in small_group)
    assert {r.n_equal for r in rows if r.group == "many" and r.metric == "entropy_bits"} == {10}
    (only,) = differences(answers, members({"many": 10, "few": 4}))
    assert (only.reason or "").startswith("1 of 2 groups of gender have 5 answers")


def test_two_groups_have_one_difference_and_three_one_each() -> None:
    answers = lists([12] * 18)
    two = differences(answers, members({"x": 9, "y": 9}))
    three = differences(answers, members({"x": 6, "y": 6, "z": 6}))
    assert {(r.group, r.versus) for r in two} == {("x", "y"), (None, None)}
    assert {(r.group, r.versus) for r in three} == {
        ("x", None), ("y", None), ("z", None), (None, None),
    }  # fmt: skip
    assert {r.n_family for r in two if r.metric == "entropy_bits" and r.item_id} == {2}
    assert {r.n_family for r in three if r.metric == "entropy_bits" and r.item_id} == {6}
    assert {r.n_family for r in three if r.metric == "entropy_bits" and not r.item_id} == {3}


def test_a_planted_difference_is_found_and_none_where_there_is_none() -> None:
    participants = members({"x": 15, "y": 15})
    answers = lists([10] * 15 + [30] * 15)
    mean, few = (
        next(r for r in rows if r.item_id is None and r.metric == "entropy_bits")
        for rows in (
            differences(answers, participants),
            differences(answers, participants, rarest_users=0.05),
        )
    )
    assert (mean.difference or 0) < -0.5
    assert (mean.p_value, mean.n_items, mean.n_group, mean.n_versus) == (1 / 200, 2, 15, 15)
    assert (mean.ci_high or 0) < 0
    assert (few.p_value, few.ci_high) == (1 / 200, None)
    assert (few.reason or "").startswith("no interval: 15 users answer in a group, and 100 are")
    same = differences(lists([20] * 30), participants)
    assert min(r.p_holm or 1 for r in same if r.item_id is None) > 0.05


def test_groups_that_prefer_other_options_are_not_told_to_vary_less() -> None:
    # three groups of ten that choose among nine options each, none of which another has
    answers = []
    for row in lists([9] * 30, seed=4):
        first = int((row.puppet_id or "")[1:]) // 10 * 10
        answers.append(
            dataclasses.replace(row, items=[f"o{first}{name}" for name in row.items or ()])
        )
    rows = differences(answers, members({"x": 10, "y": 10, "z": 10}))
    varied = [r for r in rows if r.metric == "entropy_bits" and r.item_id is None]
    assert len(varied) == 3
    assert all(abs(r.difference or 9.0) < 0.15 for r in varied)
    assert min(r.p_value or 0.0 for r in varied) > 0.05
    (all_at_once,) = (r for r in rows if r.metric == "js_bits" and r.item_id is None)
    assert all_at_once.p_value == 1 / 200


@pytest.mark.parametrize("groups", [{"x": 9, "y": 15}, {"x": 6, "y": 8, "z": 10}])
def test_differences_are_those_of_the_groups_own_values(groups: dict[str, int]) -> None:
    answers, participants = lists([9] * 12 + [25] * 12), members(groups)
    values = {(r.item_id, r.group, r.metric): r.estimate for r in group_rows(answers, participants)}
    rows = [r for r in differences(answers, participants) if r.group and r.difference is not None]
    assert {r.metric for r in rows} > {"entropy_bits", "one_minus_top5_share"}
    for row in rows:
        others = [values[row.item_id, g, row.metric] or 0.0 for g in groups if g != row.group]
        assert row.value == pytest.approx(values[row.item_id, row.group or "", row.metric])
        assert row.value_versus == pytest.approx(np.mean(others))


def test_a_small_group_is_not_among_the_others() -> None:
    answers = lists([9] * 6 + [25] * 6 + [12] * 6)
    subset = [a for a in answers if a.item_id == "a" or (a.puppet_id or "") < "p15"]
    rows = differences(subset, members({"x": 6, "y": 6, "z": 6}))
    by_key = {(r.item_id, r.group): r for r in rows if r.metric == "entropy_bits"}
    assert by_key["b", "z"].reason == f"3 readable answers of the group; {MIN_ANSWERS} are needed"
    assert (by_key["b", "x"].n_group, by_key["b", "x"].n_versus) == (6, 6)
    assert (by_key["a", "x"].n_group, by_key["a", "x"].n_versus) == (6, 12)
    # means are over the prompts that all answer
    assert by_key[None, "x"].difference == by_key["a", "x"].difference
    assert by_key[None, "x"].n_items == 1


def test_of_two_shares_the_interval_is_newcombes() -> None:
    two = contrast_shares({"x": (7, 9), "y": (3, 12)}, "x")
    assert two.interval == newcombe_interval(ShareCount(7, 9), [ShareCount(3, 12)])
    three = contrast_shares({"x": (7, 9), "y": (3, 12), "z": (3, 12)}, "x")
    assert (three.value, three.others_mean) == (two.value, two.others_mean)
    assert three.interval
    assert two.interval
    # two others are known better than one
    assert two.interval.low < three.interval.low < three.interval.high < two.interval.high


def test_the_test_of_a_share_is_that_of_all_splits() -> None:
    answers = letters("AAAAB" + "ABBBB")
    rows = differences(answers, members({"x": 5, "y": 5}), n=1999)
    (row,) = (r for r in rows if r.item_id == "q" and r.metric == "share_correct")
    marks = np.array([1, 1, 1, 1, 0, 1, 0, 0, 0, 0])
    exact = np.mean(
        [
            abs(marks[list(first)].mean() - np.delete(marks, first).mean()) >= 0.6 - 1e-9
            for first in itertools.combinations(range(10), 5)
        ]
    )
    assert row.difference == pytest.approx(0.6)
    assert row.p_value == pytest.approx(exact, abs=0.03)


def test_missing_answers_keep_a_participant_whole() -> None:
    answers = [
        a for a in lists([12] * 24) if a.item_id == "a" or int((a.puppet_id or "p0")[1:]) % 3
    ]
    rows = differences(answers, members({"x": 12, "y": 12}))
    (mean,) = (r for r in rows if r.item_id is None and r.metric == "entropy_bits")
    assert (mean.n_group, mean.n_versus, mean.n_items) == (12, 12, 2)
    assert mean.p_value is not None


@pytest.mark.parametrize(("n", "is_short"), [(199, False), (99, True)])
def test_more_tests_than_the_shuffles_can_tell_apart_say_so(n: int, is_short: bool) -> None:
    rows = differences(lists([12] * 18), members({"x": 6, "y": 6, "z": 6}), n=n)
    varied = [r for r in rows if r.metric == "entropy_bits" and r.item_id]
    assert {r.n_family for r in varied} == {6}
    needed = "p_holm cannot fall to 0.05: 6 tests need metrics.permutations of 119 or more"
    assert {r.reason for r in varied} == {needed if is_short else None}


def test_a_participant_in_two_groups_is_refused_and_nothing_gives_nothing() -> None:
    twice = pd.concat([members({"x": 6}), members({"y": 6})])
    with pytest.raises(StudyError, match="a participant is in two groups of gender"):
        group_rows(lists([12] * 6), twice)
    for participants in (members({}), members({"x": 3})):
        assert group_rows([], participants) == differences([], participants) == []


def test_an_option_that_few_of_a_group_name_is_pooled_for_all_groups() -> None:
    people = members({"x": 8, "y": 8})
    chess = [f"p{k:02}" for k in (*range(6), *range(8, 15))]
    choir = [f"p{k:02}" for k in (*range(7), 8, 9)]
    answers = []
    for k, person in enumerate(f"p{n:02}" for n in range(16)):
        names = ["Reading", *(["Chess"] if person in chess else [])]
        names += [*(["Choir"] if person in choir else []), *(["Stamps"] if k == 3 else [])]
        (row,) = listed(names, condition="field")
        answers.append(dataclasses.replace(row, puppet_id=person))
    rows = measure_groups(answer_frame(answers), ITEMS, people, seed=1, smallest_cell=5)
    shares = {(r.group, r.answer): r.estimate for r in rows if r.metric == "answer_share"}
    # of y two people name the choir: its total less that of x would say so
    assert shares == {
        ("x", "Reading"): 1.0, ("y", "Reading"): 1.0,
        ("x", "Chess"): 0.75, ("y", "Chess"): 0.875,
        ("x", "others"): 0.875, ("y", "others"): 0.25,
    }  # fmt: skip

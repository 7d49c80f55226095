"""How far the answers of a group are from those of the other participants, with tests.

Owns the differences between groups and their permutation tests. A test shuffles the groups of
participants, each with all their answers, and brings every shuffle to equal n, as the observed groups
are. Two groups have one difference; of several groups each has one, from the mean of the other groups'
values.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from fieldwork.metrics.groups.contrasts import (
    GroupContrast,
    GroupValue,
    contrast_shares,
    contrast_values,
    heterogeneity_values,
)
from fieldwork.metrics.groups.shuffles import (
    PromptAnswers,
    Shuffles,
    answer_influences,
    difference_from_others,
    group_divergence,
    group_shares,
    read_prompt_answers,
    shuffle_groups,
    studentize,
    values_at_equal_n,
)
from fieldwork.metrics.groups.table import (
    MARK_COLUMNS,
    MIN_ANSWERS,
    GroupAnswers,
    clustered_mean,
    complete_items,
    large_groups,
    no_interval_reason,
    read_group_answers,
    too_few_reason,
)
from fieldwork.records.field import GroupDifference
from fieldwork.statistics.arrays import Floats, Indices
from fieldwork.statistics.families import LEVEL, correct_rows
from fieldwork.statistics.intervals import Interval
from fieldwork.statistics.permutation import p_value_of_first, require_permutations
from fieldwork.statistics.seeds import generator
from fieldwork.statistics.user_intervals import RAREST_USERS

HETEROGENEITY_METRICS = ("entropy_bits", "one_minus_top5_share")
DIVERGENCE = "js_bits"
NO_DIVERGENCE_INTERVAL = (
    "no interval: a divergence is never below 0, and intervals fail near that bound"
)


class _GroupPair(NamedTuple):
    """A group and what it is compared with: the other of two groups, or (None) the mean of several."""

    group: str
    versus: str | None
    number: int


class _GroupTest(NamedTuple):
    """What is tested.

    Attributes:
        groups: those with enough answers; a group's number is its place here.
        shared_items: items with enough answers of every group.
    """

    answers: GroupAnswers
    groups: list[str]
    pairs: list[_GroupPair]
    shared_items: list[str]
    shuffles: Shuffles
    prompts: list[PromptAnswers]
    seed: int
    rarest_users: float


class _Sizes(NamedTuple):
    """Participants of a group, and of the others."""

    group: int
    versus: int


def measure_group_differences(
    answers: pd.DataFrame,
    items: pd.DataFrame,
    participants: pd.DataFrame,
    *,
    n_permutations: int,
    seed: int,
    rarest_users: float = RAREST_USERS,
) -> list[GroupDifference]:
    """Differences by model, task, kind, variable, item (means last), group and metric.

    Rows without a group compare the distributions of all groups at once. P-values of items are
    corrected over the groups and items of a model, task, kind, variable and metric; those of means
    over the groups alone.

    Args:
        rarest_users: share of users of the rarest kind that intervals cover.

    Raises:
        StudyError: no permutations; a participant in two groups; an item that is not in `items`.
    """
    require_permutations(n_permutations)
    rows: list[GroupDifference] = []
    for group_answers in read_group_answers(answers, items, participants):
        tests = _test_variable(group_answers, n_permutations, seed, rarest_users)
        differences = _correct_families([*tests])
        rows += sorted(differences, key=_sort_key)
    return rows


def _sort_key(row: GroupDifference) -> tuple[bool, str, bool, str, str]:
    return row.item_id is None, row.item_id or "", row.group is None, row.group or "", row.metric


def _test_variable(
    answers: GroupAnswers, n_permutations: int, seed: int, rarest_users: float
) -> Iterator[GroupDifference]:
    groups = large_groups(answers)
    if len(groups) < 2:
        reason = (
            f"{len(groups)} of {len(answers.groups)} groups of {answers.variable} have {MIN_ANSWERS} "
            "answers to an item; two are needed"
        )
        yield _row(answers, None, None, DIVERGENCE, reason=reason)
        return
    rows = answers.answers
    rows = rows[rows["group"].isin(groups)].reset_index(drop=True)
    names = (answers.model, answers.task, answers.kind, answers.variable)
    random = generator(seed, "groups", *names)
    shuffles = shuffle_groups(rows, groups, n_permutations=n_permutations, random=random)
    large = answers._replace(answers=rows)
    test = _GroupTest(
        answers=large,
        groups=groups,
        pairs=_pair_groups(groups),
        shared_items=complete_items(large, groups),
        shuffles=shuffles,
        prompts=read_prompt_answers(large, shuffles.participants),
        seed=seed,
        rarest_users=rarest_users,
    )
    yield from _divergence_rows(test)
    yield from _heterogeneity_rows(test)
    for metric in MARK_COLUMNS:
        yield from _mark_rows(test, metric)


def _pair_groups(groups: Sequence[str]) -> list[_GroupPair]:
    if len(groups) == 2:
        return [_GroupPair(groups[0], groups[1], 0)]
    return [_GroupPair(group, None, number) for number, group in enumerate(groups)]


# ---- all groups at once --------------------------------------------------------------------------------


def _divergence_rows(test: _GroupTest) -> Iterator[GroupDifference]:
    labels = test.shuffles.labels
    divergences = {
        prompt.item: group_divergence(prompt, labels, len(test.groups))
        for prompt in test.prompts
        if prompt.item in test.shared_items
    }
    for prompt in test.prompts:
        values, n = divergences.get(prompt.item), len(prompt.places)
        yield _divergence_row(test.answers, prompt.item, values, n, n_items=1)
    mean = np.mean(list(divergences.values()), axis=0) if divergences else None
    n = len(test.shuffles.participants)
    yield _divergence_row(test.answers, None, mean, n, n_items=len(divergences))


def _divergence_row(
    answers: GroupAnswers, item: str | None, values: Floats | None, n: int, *, n_items: int
) -> GroupDifference:
    if values is None:
        reason = (
            f"not every group has {MIN_ANSWERS} answers to the item"
            if item
            else f"no item has {MIN_ANSWERS} answers of every group"
        )
        return _row(answers, item, None, DIVERGENCE, n_group=n, reason=reason)
    value, expectation = float(values[0]), float(values[1:].mean())
    return _row(
        answers, item, None, DIVERGENCE, value=value, value_versus=expectation,
        difference=value - expectation, p_value=p_value_of_first(values),
        n_permutations=len(values) - 1, n_items=n_items, n_group=n, reason=NO_DIVERGENCE_INTERVAL,
    )  # fmt: skip


# ---- a group and the others -------------------------------------------------------------------------


def _heterogeneity_rows(test: _GroupTest) -> Iterator[GroupDifference]:
    answers, labels = test.answers, test.shuffles.labels
    metrics = [metric for metric in HETEROGENEITY_METRICS if answers.has_metric(metric)]
    group_values = heterogeneity_values(
        answers, test.shared_items, seed=test.seed, rarest_users=test.rarest_users
    )
    mean_values = {metric: np.zeros((len(labels), len(test.groups))) for metric in metrics}
    mean_influences = {metric: np.zeros(labels.shape) for metric in metrics}
    for prompt in test.prompts:
        answer_groups = labels[:, prompt.places]
        numbers = _large_numbers(answer_groups[0], test)
        random = generator(test.seed, "orders", answers.model, answers.task, prompt.item)
        values: dict[str, Floats] = {}
        if len(numbers) > 1:
            values = values_at_equal_n(prompt, labels, numbers, metrics, random)
        for metric in metrics:
            influences = np.zeros(answer_groups.shape)
            if values:
                influences = answer_influences(prompt, labels, numbers, metric)
            for pair in test.pairs:
                statistics, contrast = None, None
                if values and pair.number in numbers:
                    difference = difference_from_others(values[metric], numbers.index(pair.number))
                    member = answer_groups == pair.number
                    statistics = studentize(difference, influences, member, len(numbers))
                    contrast = contrast_values(group_values[prompt.item, metric], pair.group)
                sizes = _pair_sizes(answer_groups[0], numbers, pair)
                yield _pair_row(
                    test, prompt.item, pair, metric, contrast, statistics, sizes, n_items=1
                )
            if prompt.item in test.shared_items:
                mean_values[metric] += values[metric] / len(test.shared_items)
                mean_influences[metric][:, prompt.places] += influences / len(test.shared_items)
    for metric in metrics:
        yield from _mean_heterogeneity_rows(
            test,
            metric,
            mean_values[metric],
            mean_influences[metric],
            group_values.get((None, metric), {}),
        )


def _mean_heterogeneity_rows(
    test: _GroupTest,
    metric: str,
    values: Floats,
    influences: Floats,
    group_values: Mapping[str, GroupValue],
) -> Iterator[GroupDifference]:
    """The mean difference over items in standard errors; a participant's influences add up over items."""
    labels, n_groups, n_items = test.shuffles.labels, len(test.groups), len(test.shared_items)
    for pair in test.pairs:
        statistics, contrast = None, None
        if test.shared_items:
            difference = difference_from_others(values, pair.number)
            statistics = studentize(difference, influences, labels == pair.number, n_groups)
            contrast = contrast_values(group_values, pair.group)
        sizes = _pair_sizes(labels[0], range(n_groups), pair)
        yield _pair_row(test, None, pair, metric, contrast, statistics, sizes, n_items=n_items)


def _large_numbers(answer_groups: Indices, test: _GroupTest) -> list[int]:
    """Numbers of the groups with enough answers among those to an item."""
    sizes = np.bincount(answer_groups, minlength=len(test.groups))
    return [number for number, n in enumerate(sizes) if n >= MIN_ANSWERS]


def _pair_sizes(answer_groups: Indices, numbers: Sequence[int], pair: _GroupPair) -> _Sizes:
    rest = [number for number in numbers if number != pair.number]
    return _Sizes(
        int((answer_groups == pair.number).sum()), int(np.isin(answer_groups, rest).sum())
    )


def _pair_row(
    test: _GroupTest,
    item: str | None,
    pair: _GroupPair,
    metric: str,
    contrast: GroupContrast | None,
    statistics: Floats | None,
    sizes: _Sizes,
    *,
    n_items: int,
) -> GroupDifference:
    """A row with the p-value of the first of the statistics, one a shuffle."""
    answers, (n_group, n_versus) = test.answers, sizes
    if statistics is None or contrast is None:
        reason = _no_test_reason(n_group) if item else _NO_SHARED_ITEM
        return _row(answers, item, pair, metric, n_group=n_group, n_versus=n_versus, reason=reason)
    statistics, interval = statistics[~np.isnan(statistics)], contrast.interval
    return _row(
        answers, item, pair, metric, value=contrast.value, value_versus=contrast.others_mean,
        difference=contrast.value - contrast.others_mean, ci_low=interval.low if interval else None,
        ci_high=interval.high if interval else None,
        p_value=p_value_of_first(np.abs(statistics)),
        n_permutations=len(statistics) - 1, n_items=n_items, n_group=n_group, n_versus=n_versus,
        reason=None if interval else no_interval_reason(min(sizes), test.rarest_users),
    )  # fmt: skip


_NO_SHARED_ITEM = f"no item has {MIN_ANSWERS} answers of every group"


def _no_test_reason(n_group: int) -> str:
    if n_group < MIN_ANSWERS:
        return too_few_reason(n_group)
    return f"no other group has {MIN_ANSWERS} answers to the item"


# ---- shares of answers that are correct, or cannot be read -------------------------------------------


def _mark_rows(test: _GroupTest, metric: str) -> Iterator[GroupDifference]:
    column = MARK_COLUMNS[metric]
    place = {participant: number for number, participant in enumerate(test.shuffles.participants)}
    rows = test.answers.answers.dropna(subset=column)
    shares_by_item: list[Floats] = []
    for item, part in rows.groupby("item_id", sort=True):
        places = np.array([place[p] for p in part["puppet_id"]], dtype=np.int64)
        labels, marks = test.shuffles.labels[:, places], part[column].to_numpy(dtype=np.float64)
        numbers = _large_numbers(labels[0], test)
        shares = group_shares(labels, numbers, marks) if len(numbers) > 1 else None
        if item in test.shared_items:
            shares_by_item.append(group_shares(labels, range(len(test.groups)), marks))
        members = {number: labels[0] == number for number in numbers}
        counts = {
            test.groups[number]: (int(marks[member].sum()), int(member.sum()))
            for number, member in members.items()
        }
        for pair in test.pairs:
            difference, contrast = None, None
            if shares is not None and pair.number in numbers:
                difference = difference_from_others(shares, numbers.index(pair.number))
                contrast = contrast_shares(counts, pair.group)
            sizes = _pair_sizes(labels[0], numbers, pair)
            yield _pair_row(test, str(item), pair, metric, contrast, difference, sizes, n_items=1)
    if shares_by_item:
        shared_rows = rows[rows["item_id"].isin(test.shared_items)]
        mean = np.mean(shares_by_item, axis=0)
        yield from _mean_mark_rows(test, metric, mean, shared_rows, len(shares_by_item))


def _mean_mark_rows(
    test: _GroupTest, metric: str, shares: Floats, rows: pd.DataFrame, n_items: int
) -> Iterator[GroupDifference]:
    values: dict[str, GroupValue] = {}
    for group in test.groups:
        mean = clustered_mean(rows[rows["group"] == group], MARK_COLUMNS[metric])
        values[group] = GroupValue(mean.value, mean.interval(test.rarest_users))
    for pair in test.pairs:
        contrast = contrast_values(values, pair.group)
        if contrast.interval:
            low, high = contrast.interval
            contrast = contrast._replace(interval=Interval(max(-1.0, low), min(1.0, high)))
        sizes = _pair_sizes(test.shuffles.labels[0], range(len(test.groups)), pair)
        difference = difference_from_others(shares, pair.number)
        yield _pair_row(test, None, pair, metric, contrast, difference, sizes, n_items=n_items)


def _correct_families(rows: Sequence[GroupDifference]) -> list[GroupDifference]:
    """Holm's correction: of items over groups and items, of means over groups."""
    n_tests = Counter(_family(row) for row in rows if row.p_value is not None)
    return [_add_family(row, n_tests[_family(row)]) for row in correct_rows(rows, _family)]


def _family(row: GroupDifference) -> tuple[str, bool]:
    return row.metric, row.item_id is None


def _add_family(row: GroupDifference, n_tests: int) -> GroupDifference:
    reasons = [row.reason]
    if row.p_value is not None:
        reasons.append(_too_many_tests_reason(row, n_tests))
    return replace(row, n_family=n_tests, reason="; ".join(filter(None, reasons)) or None)


def _too_many_tests_reason(row: GroupDifference, n_tests: int) -> str | None:
    """Why no test can be significant after correction, where the shuffles are too few for the tests."""
    n_shuffles = (row.n_permutations or 0) + 1
    if n_tests <= LEVEL * n_shuffles:
        return None
    return (
        f"p_holm cannot fall to {LEVEL:g}: {n_tests} tests need metrics.permutations of "
        f"{math.ceil(n_tests / LEVEL) - 1:,} or more"
    )


_DEFAULTS: dict[str, Any] = {
    "value": None, "value_versus": None, "difference": None, "ci_low": None, "ci_high": None,
    "p_value": None, "p_holm": None, "n_family": 0, "n_permutations": None, "n_items": 0,
    "n_group": 0, "n_versus": 0, "reason": None,
}  # fmt: skip


def _row(
    answers: GroupAnswers, item: str | None, pair: _GroupPair | None, metric: str, **values: Any
) -> GroupDifference:
    return GroupDifference(
        model=answers.model,
        task=answers.task,
        item_id=item,
        kind=answers.kind,
        variable=answers.variable,
        group=pair.group if pair else None,
        versus=pair.versus if pair else None,
        metric=metric,
        **(_DEFAULTS | values),
    )

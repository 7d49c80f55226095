"""How far the answers of a group are from those of the other participants, with tests.

Owns the differences between groups and their permutation tests. A test shuffles the groups of
participants, each with all their answers, and brings every shuffle to equal n, as the observed groups
are. Two groups have one difference; of several groups each has one, from the mean of the other groups'
values.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from fieldwork.estimates.quantity import Quantity
from fieldwork.metrics.groups.contrasts import (
    GroupContrast,
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
    complete_items,
    large_groups,
    no_interval_reason,
    read_group_answers,
    share_of_marks,
    too_few_reason,
)
from fieldwork.records.columns import row_of
from fieldwork.records.field import GroupDifference
from fieldwork.statistics.arrays import Floats, Indices
from fieldwork.statistics.families import LEVEL, correct_rows
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


class _GroupValues(NamedTuple):
    """A metric of groups in every shuffle.

    Attributes:
        item: None over items.
        labels: groups of the answers, or participants, shape (shuffles, answers).
        numbers: of the groups with enough answers.
        of_groups: shape (shuffles, groups); None with fewer than two.
        influences: how far each answer, or participant, moves its group; None where differences are
            tested as they are.
    """

    item: str | None
    metric: str
    labels: Indices
    numbers: Sequence[int]
    of_groups: Floats | None
    influences: Floats | None = None


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
        yield _row(answers, None, DIVERGENCE, reason=reason)
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
        return _row(answers, item, DIVERGENCE, n_group=n, reason=reason)
    value, expectation = float(values[0]), float(values[1:].mean())
    return _row(
        answers, item, DIVERGENCE, value=value, value_versus=expectation,
        difference=value - expectation, p_value=p_value_of_first(values),
        n_permutations=len(values) - 1, n_items=n_items, n_group=n, reason=NO_DIVERGENCE_INTERVAL,
    )  # fmt: skip


# ---- a group and the others -------------------------------------------------------------------------


def _heterogeneity_rows(test: _GroupTest) -> Iterator[GroupDifference]:
    """By item; and over the shared items, where a participant's influences add up."""
    answers, labels, n_shared = test.answers, test.shuffles.labels, len(test.shared_items)
    metrics = [metric for metric in HETEROGENEITY_METRICS if answers.has_metric(metric)]
    group_values = heterogeneity_values(
        answers, test.shared_items, seed=test.seed, rarest_users=test.rarest_users
    )
    means = {metric: np.zeros((len(labels), len(test.groups))) for metric in metrics}
    mean_influences = {metric: np.zeros(labels.shape) for metric in metrics}
    for prompt in test.prompts:
        prompt_labels = labels[:, prompt.places]
        numbers = _large_numbers(prompt_labels[0], test)
        random = generator(test.seed, "orders", answers.model, answers.task, prompt.item)
        values: dict[str, Floats] = {}
        if len(numbers) > 1:
            values = values_at_equal_n(prompt, labels, numbers, metrics, random)
        for metric in metrics:
            influences = answer_influences(prompt, labels, numbers, metric) if values else None
            of_item = _GroupValues(
                prompt.item, metric, prompt_labels, numbers, values.get(metric), influences
            )
            contrast = partial(contrast_values, group_values.get((prompt.item, metric), {}))
            yield from _pair_rows(test, of_item, contrast)
            if influences is not None and prompt.item in test.shared_items:
                means[metric] += values[metric] / n_shared
                mean_influences[metric][:, prompt.places] += influences / n_shared
    for metric in metrics:
        over_items = _GroupValues(
            None,
            metric,
            labels,
            range(len(test.groups)),
            means[metric] if n_shared else None,
            mean_influences[metric],
        )
        contrast = partial(contrast_values, group_values.get((None, metric), {}))
        yield from _pair_rows(test, over_items, contrast, n_items=n_shared)


def _large_numbers(answer_groups: Indices, test: _GroupTest) -> list[int]:
    """Numbers of the groups with enough answers among those to an item."""
    sizes = np.bincount(answer_groups, minlength=len(test.groups))
    return [number for number, n in enumerate(sizes) if n >= MIN_ANSWERS]


def _mark_rows(test: _GroupTest, metric: str) -> Iterator[GroupDifference]:
    """Shares of answers that are correct, or cannot be read."""
    column, labels = MARK_COLUMNS[metric], test.shuffles.labels
    place = {participant: number for number, participant in enumerate(test.shuffles.participants)}
    rows = test.answers.answers.dropna(subset=column)
    shared_shares: list[Floats] = []
    for item, part in rows.groupby("item_id", sort=True):
        marks = part[column].to_numpy(dtype=np.float64)
        item_labels = labels[:, [place[participant] for participant in part["puppet_id"]]]
        numbers = _large_numbers(item_labels[0], test)
        counts = {
            test.groups[number]: (int(marks[is_in].sum()), int(is_in.sum()))
            for number in numbers
            for is_in in [item_labels[0] == number]
        }
        shares = group_shares(item_labels, numbers, marks) if len(numbers) > 1 else None
        of_item = _GroupValues(str(item), metric, item_labels, numbers, shares)
        yield from _pair_rows(test, of_item, partial(contrast_shares, counts))
        if item in test.shared_items:
            shared_shares.append(group_shares(item_labels, range(len(test.groups)), marks))
    if shared_shares:
        shared_rows = rows[rows["item_id"].isin(test.shared_items)]
        values = {
            group: share_of_marks(
                shared_rows[shared_rows["group"] == group], column, test.rarest_users
            )
            for group in test.groups
        }
        mean = np.mean(shared_shares, axis=0)
        over_items = _GroupValues(None, metric, labels, range(len(test.groups)), mean)
        contrast = partial(contrast_values, values)
        yield from _pair_rows(test, over_items, contrast, n_items=len(shared_shares))


def _pair_rows(
    test: _GroupTest,
    values: _GroupValues,
    contrast_of: Callable[[str], GroupContrast],
    *,
    n_items: int = 1,
) -> Iterator[GroupDifference]:
    """Each pair with the p-value of the first of its statistics, one a shuffle."""
    labels, numbers = values.labels, values.numbers
    for pair in test.pairs:
        n_group = int((labels[0] == pair.number).sum())
        n_versus = int(np.isin(labels[0], [n for n in numbers if n != pair.number]).sum())
        row = partial(
            _row,
            test.answers,
            values.item,
            values.metric,
            group=pair.group,
            versus=pair.versus,
            n_group=n_group,
            n_versus=n_versus,
        )
        if values.of_groups is None or pair.number not in numbers:
            yield row(reason=_no_test_reason(n_group) if values.item else _NO_SHARED_ITEM)
            continue
        statistics = difference_from_others(values.of_groups, numbers.index(pair.number))
        if values.influences is not None:
            is_group = labels == pair.number
            statistics = studentize(statistics, values.influences, is_group, len(numbers))
        statistics, contrast = statistics[~np.isnan(statistics)], contrast_of(pair.group)
        difference = Quantity(contrast.value - contrast.others_mean, contrast.interval)
        if values.metric in MARK_COLUMNS:
            difference = difference.clip(-1.0, 1.0)
        shortage = no_interval_reason(min(n_group, n_versus), test.rarest_users)
        yield row(
            value=contrast.value,
            value_versus=contrast.others_mean,
            **difference.columns("difference"),
            p_value=p_value_of_first(np.abs(statistics)),
            n_permutations=len(statistics) - 1,
            n_items=n_items,
            reason=None if contrast.interval else shortage,
        )


_NO_SHARED_ITEM = f"no item has {MIN_ANSWERS} answers of every group"


def _no_test_reason(n_group: int) -> str:
    if n_group < MIN_ANSWERS:
        return too_few_reason(n_group)
    return f"no other group has {MIN_ANSWERS} answers to the item"


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


def _row(answers: GroupAnswers, item: str | None, metric: str, **values: Any) -> GroupDifference:
    return row_of(
        GroupDifference,
        model=answers.model,
        task=answers.task,
        item_id=item,
        kind=answers.kind,
        variable=answers.variable,
        metric=metric,
        **(dict.fromkeys(("n_family", "n_items", "n_group", "n_versus"), 0) | values),
    )

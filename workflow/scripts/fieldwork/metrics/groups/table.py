"""Every metric of field answers for groups of participants.

Owns the groups of a study as arms: a group stands where other metrics have a condition, so that its
numbers are those of `estimates` and `distributions`. A participant counts once.
Promises no number of a group with fewer than `MIN_ANSWERS` answers: it would say too little of the
group, and too much of single people.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from fieldwork.errors import StudyError
from fieldwork.estimates.answer_sets import answer_options
from fieldwork.estimates.means import mean_of_numbers
from fieldwork.estimates.quantity import Quantity
from fieldwork.estimates.samples import number_samples
from fieldwork.estimates.table import EstimateSettings, estimate_question
from fieldwork.measures import lists as list_measures
from fieldwork.metrics.distributions import (
    QuestionKey,
    find_question,
    measure_distributions,
    read_questions,
)
from fieldwork.metrics.item_shares import measure_item_shares
from fieldwork.records.columns import row_of
from fieldwork.records.field import FIELD, GroupEstimate
from fieldwork.records.parsing import UNKNOWN
from fieldwork.records.tasks import LETTER_KINDS, ItemKind
from fieldwork.statistics.first_answers import first_answers
from fieldwork.statistics.intervals import wilson_interval
from fieldwork.statistics.user_intervals import RAREST_USERS, too_few_users

LISTS = replace(list_measures.QUESTION, references=("baseline",))
"""The measures of lists, where a group stands in the place of a condition."""

MIN_ANSWERS = 5
OTHER_OPTIONS = "others"
"""What stands for options of a list that few people of a group name."""

MARK_COLUMNS: Mapping[str, str] = {"share_correct": "is_correct", "share_unread": "is_unread"}
"""Metrics that are shares of marked answers, and the column of the mark."""
NO_INTERVAL = "no interval: leaving out a participant never changes the value"


class GroupAnswers(NamedTuple):
    """The answers to one kind of items of a task by participants who have a group of a variable.

    `answers` has a participant's first answers, with columns `group`, `options` (empty where nothing
    can be read), `is_unread` and `is_correct` (NULL without gold). `groups` are those of the variable.
    """

    model: str
    task: str
    kind: ItemKind
    variable: str
    groups: list[str]
    answers: pd.DataFrame

    def countable(self) -> pd.DataFrame:
        """The answers that count: readable lists, letters of any kind."""
        return (
            self.answers if self.kind in LETTER_KINDS else self.answers[~self.answers["is_unread"]]
        )

    def sizes(self) -> dict[tuple[str, str], int]:
        """Number of answers that count, by item and group."""
        countable = self.countable()
        return dict(Counter(zip(countable["item_id"], countable["group"], strict=True)))

    def has_metric(self, metric: str) -> bool:
        """Whether a metric of heterogeneity suits the kind of items: letters have the entropy alone."""
        return self.kind == "list" or metric == "entropy_bits"


def read_group_answers(
    answers: pd.DataFrame, items: pd.DataFrame, participants: pd.DataFrame
) -> list[GroupAnswers]:
    """Field answers by model, task, kind of item and group variable, in this order.

    Raises:
        StudyError: a participant is in two groups of one variable, or an item is not in `items`.
    """
    field = answers[(answers["condition"] == FIELD) & (answers["outcome"] != "failed")]
    if field.empty or participants.empty:
        return []
    firsts = _first_answers(field, items)
    _check_groups(participants)
    by_variable: list[GroupAnswers] = []
    keys = ["model", "task", "kind"]
    for model, task, kind in sorted(set(firsts[keys].itertuples(index=False, name=None))):
        kind_answers = firsts[(firsts[keys] == [model, task, kind]).all(axis=1)]
        for variable, members in participants.groupby("variable", sort=True):
            group_of = dict(zip(members["participant_id"], members["group"], strict=True))
            rows = kind_answers.assign(group=kind_answers["puppet_id"].map(group_of))
            rows = rows[rows["group"].notna()].reset_index(drop=True)
            groups = sorted(set(members["group"]))
            by_variable.append(GroupAnswers(model, task, kind, str(variable), groups, rows))
    return by_variable


def _check_groups(participants: pd.DataFrame) -> None:
    duplicates = participants[participants.duplicated(["participant_id", "variable"])]
    if len(duplicates):
        row = duplicates.iloc[0]
        raise StudyError(
            f"field/participants.parquet: a participant is in two groups of {row['variable']}, one of "
            f"them {row['group']}; correct the files of field.path"
        )


def _first_answers(field: pd.DataFrame, items: pd.DataFrame) -> pd.DataFrame:
    """One row a participant and item: the first answer, of lists the first that can be read."""
    texts = zip(field["kind"], field["items"], field["letter"], strict=True)
    options = pd.Series([answer_options(*text) for text in texts], index=field.index, dtype=object)
    rows = field.assign(options=options, is_unread=[not names for names in options])
    order = ["model", "task", "kind", "item_id", "puppet_id"]
    rows = rows.assign(is_last_choice=rows["is_unread"] & (rows["kind"] == "list"))
    rows = rows.sort_values([*order, "is_last_choice", "replicate"], kind="stable")
    keys = list(zip(*(rows[column] for column in order), strict=True))
    firsts = first_answers(range(len(rows)), keys.__getitem__)
    rows = rows.iloc[firsts].reset_index(drop=True)
    questions = read_questions(items, sorted(set(rows["task"])))
    marks: list[float | None] = []
    columns = (rows["task"], rows["item_id"], rows["kind"], rows["options"])
    for task, item, kind, names in zip(*columns, strict=True):
        gold = find_question(questions, QuestionKey(task, item)).gold if kind == "choice" else None
        marks.append(float(names == (gold,)) if gold else None)
    return rows.assign(is_correct=pd.Series(marks, dtype="float64"))


def as_lists(answers: GroupAnswers, group: pd.Series) -> pd.DataFrame:
    """The answers as list answers of the conditions in `group`, letters lists of one.

    An unreadable letter is the option `unknown`, as in `answer_sets`.
    """
    rows = answers.answers
    default = (UNKNOWN,) if answers.kind in LETTER_KINDS else None
    items = [list(options or default or ()) or None for options in rows["options"]]
    return rows.assign(kind="list", condition=group, items=pd.Series(items, dtype=object))


def measure_groups(
    answers: pd.DataFrame,
    items: pd.DataFrame,
    participants: pd.DataFrame,
    *,
    seed: int,
    rarest_users: float = RAREST_USERS,
    smallest_cell: int = 1,
) -> list[GroupEstimate]:
    """Metrics of every group of every variable, by item and as means over items.

    Uses the field's answers alone. A group with fewer than `MIN_ANSWERS` answers to an item has rows
    without an estimate there, and does not lower the equal n of the others. In order of model, task,
    kind, variable, item (means last), group, metric and answer.

    Args:
        rarest_users: share of users of the rarest kind that intervals cover.
        smallest_cell: people of a group from whom it has a row for an option of a list.

    Raises:
        StudyError: a participant is in two groups of one variable, or an item is not in `items`.
    """
    rows: list[GroupEstimate] = []
    for group_answers in read_group_answers(answers, items, participants):
        estimates = [
            *_heterogeneity_rows(group_answers, seed, rarest_users),
            *_answer_share_rows(group_answers, items, smallest_cell),
            *_mark_rows(group_answers),
            *_mean_rows(group_answers, seed, rarest_users),
        ]
        rows += sorted(estimates, key=_sort_key)
    return rows


def _sort_key(row: GroupEstimate) -> tuple[bool, str, str, str, str]:
    return row.item_id is None, row.item_id or "", row.group, row.metric, row.answer or ""


def drop_small_groups(answers: GroupAnswers) -> GroupAnswers:
    """The answers without those of groups that give too few of them to an item."""
    sizes, rows = answers.sizes(), answers.answers
    keys = zip(rows["item_id"], rows["group"], strict=True)
    is_large = np.array([sizes.get(key, 0) >= MIN_ANSWERS for key in keys], dtype=bool)
    return answers._replace(answers=rows[is_large].reset_index(drop=True))


def _row(
    answers: GroupAnswers, item: str | None, group: str, metric: str, **values: Any
) -> GroupEstimate:
    return row_of(
        GroupEstimate,
        model=answers.model,
        task=answers.task,
        item_id=item,
        kind=answers.kind,
        variable=answers.variable,
        group=group,
        metric=metric,
        **values,
    )


def _heterogeneity_rows(
    answers: GroupAnswers, seed: int, rarest_users: float
) -> Iterator[GroupEstimate]:
    """Heterogeneity at equal n, and a row with a reason for each group with too few answers."""
    large = drop_small_groups(answers)
    lists = as_lists(large, large.answers["group"])
    settings = EstimateSettings("", seed, rarest_users=rarest_users)
    for row in estimate_question(LISTS, lists, settings):
        if row.item_id is not None and answers.has_metric(row.measure):
            yield _row(
                answers, row.item_id, row.condition, row.measure,
                estimate=row.value, ci_low=row.ci_low, ci_high=row.ci_high,
                n_participants=row.n_answers, n_equal=row.n_equal, reason=row.reason,
            )  # fmt: skip
    sizes = answers.sizes()
    for item in sorted(set(answers.answers["item_id"])):
        for group in answers.groups:
            n = sizes.get((item, group), 0)
            if n < MIN_ANSWERS:
                yield _row(
                    answers, item, group, "entropy_bits",
                    n_participants=n, reason=too_few_reason(n),
                )  # fmt: skip


def too_few_reason(n: int) -> str:
    """Why a group has no numbers."""
    noun = "answer" if n == 1 else "answers"
    return f"{n} readable {noun} of the group; {MIN_ANSWERS} are needed"


def _answer_share_rows(
    answers: GroupAnswers, items: pd.DataFrame, smallest_cell: int
) -> Iterator[GroupEstimate]:
    """Share of each option of a list, or of each letter."""
    large = drop_small_groups(answers)
    group = large.answers["group"]
    rows = (
        measure_item_shares(_pool_small_cells(as_lists(large, group), smallest_cell))
        if answers.kind == "list"
        else measure_distributions(large.answers.assign(condition=group), items)
    )
    for row in rows:
        yield _row(
            answers, row.item_id, row.condition, "answer_share", answer=row.answer,
            estimate=row.share, ci_low=row.ci_low, ci_high=row.ci_high,
            n_participants=row.n_responses,
        )  # fmt: skip


def _pool_small_cells(lists: pd.DataFrame, smallest_cell: int) -> pd.DataFrame:
    """The lists with `OTHER_OPTIONS`, once each, for options that too few people of some group name.

    For all groups alike: else what one group lacks would follow from the total and the other groups.
    """
    mentions = lists[["item_id", "condition", "items"]].explode("items").dropna(subset="items")
    counts = mentions.groupby(["item_id", "items", "condition"]).size()
    small = counts[counts < smallest_cell].reset_index()
    names = set(zip(small["item_id"], small["items"], strict=True))
    options_by_row = [
        options
        and [*dict.fromkeys(OTHER_OPTIONS if (item, name) in names else name for name in options)]
        for item, options in zip(lists["item_id"], lists["items"], strict=True)
    ]
    return lists.assign(items=pd.Series(options_by_row, index=lists.index, dtype=object))


def _mark_rows(answers: GroupAnswers) -> Iterator[GroupEstimate]:
    """Share correct and share unread, of all participants asked."""
    for metric, column in MARK_COLUMNS.items():
        marked_rows = answers.answers.dropna(subset=column)
        for (item, group), marks in marked_rows.groupby(["item_id", "group"], sort=True)[column]:
            if len(marks) >= MIN_ANSWERS:
                interval = wilson_interval(int(marks.sum()), len(marks))
                yield _row(
                    answers, str(item), str(group), metric, estimate=float(marks.mean()),
                    ci_low=interval.low, ci_high=interval.high, n_participants=len(marks),
                )  # fmt: skip


def large_groups(answers: GroupAnswers) -> list[str]:
    """Groups with enough answers to some item."""
    return sorted({group for (_, group), n in answers.sizes().items() if n >= MIN_ANSWERS})


def complete_items(answers: GroupAnswers, groups: Sequence[str]) -> list[str]:
    """Items with enough answers of each of the groups."""
    sizes = answers.sizes()
    return [
        item
        for item in sorted(set(answers.answers["item_id"]))
        if all(sizes.get((item, group), 0) >= MIN_ANSWERS for group in groups)
    ]


def _mean_rows(answers: GroupAnswers, seed: int, rarest_users: float) -> Iterator[GroupEstimate]:
    """Means over the items that all groups answer, each group's by whole participants."""
    groups = large_groups(answers)
    items = complete_items(answers, groups) if groups else []
    for group in answers.groups:
        if group not in groups or not items:
            scope = "every" if group in groups else "the"
            reason = f"no item has {MIN_ANSWERS} answers of {scope} group"
            yield _row(answers, None, group, "entropy_bits", n_participants=0, reason=reason)
    if not items:
        return
    rows = answers.answers
    rows = rows[rows["item_id"].isin(items) & rows["group"].isin(groups)].reset_index(drop=True)
    complete = answers._replace(answers=rows)
    lists = as_lists(complete, rows["group"])
    settings = EstimateSettings(groups[0], seed, rarest_users=rarest_users)
    for row in estimate_question(LISTS, lists, settings):
        if row.item_id is None and answers.has_metric(row.measure):
            yield _row(
                answers, None, row.condition, row.measure, estimate=row.value, ci_low=row.ci_low,
                ci_high=row.ci_high, n_participants=row.n_units, n_equal=row.n_equal,
                reason=no_interval_reason(row.n_units, rarest_users) if row.ci_low is None else None,
            )  # fmt: skip
    yield from _mean_mark_rows(complete, groups, rarest_users)


def _mean_mark_rows(
    answers: GroupAnswers, groups: Sequence[str], rarest_users: float
) -> Iterator[GroupEstimate]:
    for metric, column in MARK_COLUMNS.items():
        rows = answers.answers.dropna(subset=column)
        for group in groups:
            marks = rows[rows["group"] == group]
            if marks.empty or marks["item_id"].nunique() < rows["item_id"].nunique():
                continue
            share = share_of_marks(marks, column, rarest_users)
            n = marks["puppet_id"].nunique()
            yield _row(
                answers, None, group, metric, **share.columns(), n_participants=n,
                reason=share.reason,
            )  # fmt: skip


def no_interval_reason(n_participants: int, rarest_users: float) -> str:
    """Why a group's value, or its difference from the others, has no interval."""
    return too_few_users(n_participants, rarest_users, "answer in a group") or NO_INTERVAL


def share_of_marks(marks: pd.DataFrame, column: str, rarest_users: float) -> Quantity:
    """Mean over items of the share of marked answers, with the interval over participants."""
    mean = mean_of_numbers(number_samples(marks, [column])[column])
    assert mean
    interval = mean.interval(rarest_users)
    reason = None if interval else no_interval_reason(mean.n_units, rarest_users)
    return Quantity(mean.value, interval, reason=reason).clip(0.0, 1.0)

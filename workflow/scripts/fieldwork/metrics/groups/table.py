"""Every metric of field answers for groups of participants.

Owns the groups of a study as arms: a group stands where other metrics have a condition, so that its
numbers are those of `heterogeneity`, `distributions` and `prompt_means`. A participant counts once.
Promises nothing of a group with fewer than `MIN_ANSWERS` answers: it says too little, and too much
about single people.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from fieldwork.errors import StudyError
from fieldwork.metrics.answer_sets import answer_options
from fieldwork.metrics.distributions import (
    QuestionKey,
    find_question,
    measure_distributions,
    read_questions,
)
from fieldwork.metrics.heterogeneity import measure_heterogeneity, measure_item_shares
from fieldwork.metrics.prompt_means import measure_prompt_means
from fieldwork.records.field import FIELD, GroupEstimate
from fieldwork.records.parsing import UNKNOWN
from fieldwork.records.tasks import ItemKind
from fieldwork.statistics.intervals import Interval, student_quantile, wilson_interval

MIN_ANSWERS = 5
MEAN_METRICS = ("entropy_bits", "one_minus_top5_share")
NO_MEAN_INTERVAL = "no interval: leaving out a participant never changes the value"


class Block(NamedTuple):
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


def read_blocks(
    answers: pd.DataFrame, items: pd.DataFrame, participants: pd.DataFrame
) -> list[Block]:
    """Field answers by model, task, kind of item and group variable, in this order.

    Raises:
        StudyError: a participant is in two groups of one variable, or an item is not in `items`.
    """
    asked = answers[(answers["condition"] == FIELD) & (answers["outcome"] != "failed")]
    if asked.empty or participants.empty:
        return []
    first = _first_answers(asked, items)
    _check_groups(participants)
    blocks: list[Block] = []
    keys = ["model", "task", "kind"]
    for model, task, kind in sorted(set(first[keys].itertuples(index=False, name=None))):
        own = first[(first[keys] == [model, task, kind]).all(axis=1)]
        for variable, members in participants.groupby("variable", sort=True):
            group_of = dict(zip(members["participant_id"], members["group"], strict=True))
            placed = own.assign(group=own["puppet_id"].map(group_of))
            placed = placed[placed["group"].notna()].reset_index(drop=True)
            groups = sorted(set(members["group"]))
            blocks.append(Block(model, task, kind, str(variable), groups, placed))
    return blocks


def _check_groups(participants: pd.DataFrame) -> None:
    twice = participants[participants.duplicated(["participant_id", "variable"])]
    if len(twice):
        row = twice.iloc[0]
        raise StudyError(
            f"field/participants.parquet: a participant is in two groups of "
            f"{row['variable']}, {row['group']} among them; correct the files of field.path"
        )


def _first_answers(asked: pd.DataFrame, items: pd.DataFrame) -> pd.DataFrame:
    """One row a participant and item: the first answer, of lists the first that can be read."""
    given = zip(asked["kind"], asked["items"], asked["letter"], strict=True)
    options = pd.Series([answer_options(*one) for one in given], index=asked.index, dtype=object)
    told = asked.assign(options=options, is_unread=[not one for one in options])
    order = ["model", "task", "kind", "item_id", "puppet_id"]
    told = told.assign(later=told["is_unread"] & (told["kind"] == "list"))
    told = told.sort_values([*order, "later", "replicate"], kind="stable")
    told = told.drop_duplicates(order).reset_index(drop=True)
    questions = read_questions(items, sorted(set(told["task"])))
    correct: list[float | None] = []
    for task, item, kind, given_options in told[["task", "item_id", "kind", "options"]].itertuples(
        index=False, name=None
    ):
        gold = find_question(questions, QuestionKey(task, item)).gold if kind == "choice" else None
        correct.append(float(given_options == (gold,)) if gold else None)
    return told.assign(is_correct=pd.Series(correct, dtype="float64"))


def as_lists(block: Block, group: pd.Series) -> pd.DataFrame:
    """The block's answers as list answers of the conditions in `group`, letters lists of one.

    An unreadable letter is the option `unknown`, as in `answer_sets`.
    """
    own = block.answers
    unread = (UNKNOWN,) if block.kind == "choice" else None
    named = [list(options or unread or ()) or None for options in own["options"]]
    return own.assign(kind="list", condition=group, items=pd.Series(named, dtype=object))


def sizes(block: Block) -> dict[tuple[str, str], int]:
    """Answers that count, by item and group: readable lists, letters of any kind."""
    own = block.answers
    counted = own if block.kind == "choice" else own[~own["is_unread"]]
    return dict(Counter(zip(counted["item_id"], counted["group"], strict=True)))


def measure_groups(
    answers: pd.DataFrame,
    items: pd.DataFrame,
    participants: pd.DataFrame,
    *,
    seed: int,
) -> list[GroupEstimate]:
    """Metrics of every group of every variable, by item and as means over items.

    Answers other than the field's are passed over. A group with fewer than `MIN_ANSWERS` answers to
    an item has rows without an estimate there, and does not lower the equal n of the others. In order
    of model, task, kind, variable, item (means last), group, metric and answer.

    Raises:
        StudyError: a participant is in two groups of one variable, or an item is not in `items`.
    """
    rows: list[GroupEstimate] = []
    for block in read_blocks(answers, items, participants):
        found = [*_varied(block, seed), *_options_named(block), *_letters(block, items)]
        found += [*_marked(block), *_means(block, seed)]
        rows += sorted(found, key=_place)
    return rows


def _place(row: GroupEstimate) -> tuple[bool, str, str, str, str]:
    return row.item_id is None, row.item_id or "", row.group, row.metric, row.answer or ""


def enough(block: Block) -> Block:
    """The block without the answers of groups that have too few of them to an item."""
    size = sizes(block)
    keys = zip(block.answers["item_id"], block.answers["group"], strict=True)
    kept = np.array([size.get(key, 0) >= MIN_ANSWERS for key in keys], dtype=bool)
    return block._replace(answers=block.answers[kept].reset_index(drop=True))


def _row(block: Block, item: str | None, group: str, metric: str, **values: Any) -> GroupEstimate:
    told: dict[str, Any] = {
        "answer": None, "estimate": None, "ci_low": None, "ci_high": None, "n_equal": None,
        "reason": None,
    }  # fmt: skip
    return GroupEstimate(
        model=block.model,
        task=block.task,
        item_id=item,
        kind=block.kind,
        variable=block.variable,
        group=group,
        metric=metric,
        **(told | values),
    )


def _varied(block: Block, seed: int) -> Iterator[GroupEstimate]:
    """Heterogeneity at equal n; of letters the entropy alone. Groups with too few answers are told."""
    kept = enough(block)
    measured = measure_heterogeneity(as_lists(kept, kept.answers["group"]), seed=seed)
    for row in measured:
        if block.kind == "list" or row.metric == "entropy_bits":
            yield _row(
                block, row.item_id, row.condition, row.metric,
                estimate=row.estimate, ci_low=row.ci_low, ci_high=row.ci_high,
                n_participants=row.n_responses, n_equal=row.n_equal, reason=row.reason,
            )  # fmt: skip
    size = sizes(block)
    for item in sorted(set(block.answers["item_id"])):
        for group in block.groups:
            n = size.get((item, group), 0)
            if n < MIN_ANSWERS:
                yield _row(block, item, group, "entropy_bits", n_participants=n, reason=too_few(n))


def too_few(n: int) -> str:
    """Why a group has no numbers."""
    return f"{n} answers of the group can be read, {MIN_ANSWERS} are needed"


def _options_named(block: Block) -> Iterator[GroupEstimate]:
    if block.kind == "choice":
        return
    kept = enough(block)
    for row in measure_item_shares(as_lists(kept, kept.answers["group"])):
        yield _row(
            block, row.item_id, row.condition, "answer_share", answer=row.answer,
            estimate=row.share, ci_low=row.ci_low, ci_high=row.ci_high,
            n_participants=row.n_responses,
        )  # fmt: skip


def _letters(block: Block, items: pd.DataFrame) -> Iterator[GroupEstimate]:
    if block.kind == "list":
        return
    kept = enough(block).answers
    for row in measure_distributions(kept.assign(condition=kept["group"]), items):
        yield _row(
            block, row.item_id, row.condition, "answer_share", answer=row.answer,
            estimate=row.share, ci_low=row.ci_low, ci_high=row.ci_high,
            n_participants=row.n_responses,
        )  # fmt: skip


def _marked(block: Block) -> Iterator[GroupEstimate]:
    """Share correct and share unread, of all participants asked."""
    own = block.answers
    for metric, column in (("share_correct", "is_correct"), ("share_unread", "is_unread")):
        told = own[own[column].notna()]
        for item, group in sorted(set(zip(told["item_id"], told["group"], strict=True))):
            marks = told[(told["item_id"] == item) & (told["group"] == group)][column]
            if len(marks) >= MIN_ANSWERS:
                held = wilson_interval(int(marks.sum()), len(marks))
                yield _row(
                    block, item, group, metric, estimate=float(marks.mean()),
                    ci_low=held.low, ci_high=held.high, n_participants=len(marks),
                )  # fmt: skip


def large_groups(block: Block) -> list[str]:
    """Groups that give answers enough to some item."""
    size = sizes(block)
    return sorted({group for (_, group), n in size.items() if n >= MIN_ANSWERS})


def complete_items(block: Block, groups: Sequence[str]) -> list[str]:
    """Items to which each of the groups gives answers enough."""
    size = sizes(block)
    return [
        item
        for item in sorted(set(block.answers["item_id"]))
        if all(size.get((item, group), 0) >= MIN_ANSWERS for group in groups)
    ]


def _means(block: Block, seed: int) -> Iterator[GroupEstimate]:
    """Means over the items that all groups answer, each group's by whole participants."""
    groups = large_groups(block)
    shared = complete_items(block, groups) if groups else []
    own = block.answers
    own = own[own["item_id"].isin(shared) & own["group"].isin(groups)].reset_index(drop=True)
    kept = block._replace(answers=own)
    for group in block.groups:
        if group not in groups or not shared:
            which = "every" if group in groups else "the"
            reason = f"no item has {MIN_ANSWERS} answers of {which} group"
            yield _row(block, None, group, "entropy_bits", n_participants=0, reason=reason)
    if not shared:
        return
    frame = as_lists(kept, own["group"])
    for row in measure_prompt_means(frame, baseline=groups[0], seed=seed):
        if block.kind == "list" or row.metric == "entropy_bits":
            yield _row(
                block, None, row.condition, row.metric, estimate=row.mean, ci_low=row.ci_low,
                ci_high=row.ci_high, n_participants=row.n_units, n_equal=row.n_equal,
                reason=NO_MEAN_INTERVAL if row.ci_low is None else None,
            )  # fmt: skip
    for metric, column in (("share_correct", "is_correct"), ("share_unread", "is_unread")):
        told = own[own[column].notna()]
        for group in groups:
            marks = told[told["group"] == group]
            if marks.empty or len(set(marks["item_id"])) < len(set(told["item_id"])):
                continue
            mean = mean_of_marks(marks, column)
            half = student_quantile(mean.n - 1) * mean.variance**0.5
            held = Interval(max(0.0, mean.value - half), min(1.0, mean.value + half))
            yield _row(
                block, None, group, metric, estimate=mean.value, n_participants=mean.n,
                ci_low=held.low if half > 0 else None, ci_high=held.high if half > 0 else None,
                reason=None if half > 0 else NO_MEAN_INTERVAL,
            )  # fmt: skip


class Mean(NamedTuple):
    """A mean over items of shares, its variance over whole participants, and their number."""

    value: float
    variance: float
    n: int


def mean_of_marks(marks: pd.DataFrame, column: str) -> Mean:
    """Mean over items of the share of marked answers; a participant is a cluster over all items.

    Linearised: the moves of the mean by each participant's answers, added up over items (Taylor
    linearisation of a ratio, Woodruff 1971).
    """
    values = marks[column].astype("float64")
    by_item = values.groupby(marks["item_id"])
    share, size = by_item.transform("mean"), by_item.transform("size")
    n_items = marks["item_id"].nunique()
    moved = ((values - share) / size / n_items).groupby(marks["puppet_id"]).sum()
    n = len(moved)
    variance = float((moved**2).sum()) * n / (n - 1) if n > 1 else 0.0
    return Mean(float(by_item.mean().mean()), variance, n)

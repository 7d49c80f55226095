"""Answers to a task and to its variants, side by side.

Owns which answers are a pair: of one item, one user and one number of rerun. A reply is the set of
options of an answer. Items of a variant that could not be changed are left out of it.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import pandas as pd

from fieldwork.estimates.answer_sets import Arm, ItemAnswers, Options, read_answer_sets
from fieldwork.metrics.distributions import text_or_none
from fieldwork.records.parsing import UNKNOWN

CELL = ["item_id", "puppet"]
"""An item as one user answers it; `puppet` is empty where the model is asked without a user."""


class TaskReplies(NamedTuple):
    """The replies to one kind of item of a task, and what its questions say.

    Attributes:
        replies: columns `options` and `is_right`, which is 1, 0 or NaN for an item without a right
            letter; by item, puppet and number of the rerun, in order.
        golds: the right letter of the items that have one.
        left_out: items that could not be changed; they have no replies here.
    """

    task: str
    replies: pd.DataFrame
    golds: Mapping[str, str]
    left_out: frozenset[str]

    def independent(self) -> dict[str, list[Options]]:
        """The replies to each item; of a user the first."""
        has_user = self.replies.index.get_level_values("puppet") != ""
        is_later = self.replies.groupby(level=CELL).cumcount() > 0
        options = self.replies.loc[~(has_user & is_later), "options"]
        return {str(item): list(of_item) for item, of_item in options.groupby(level="item_id")}


class Derivation(NamedTuple):
    """A task and its variants, answered by one model under one condition; the arm is the origin's."""

    arm: Arm
    origin: TaskReplies
    variants: tuple[TaskReplies, ...]

    @property
    def has_users(self) -> bool:
        """Whether users gave the answers."""
        sides = (self.origin, *self.variants)
        return any((side.replies.index.get_level_values("puppet") != "").any() for side in sides)

    def names(self, *purpose: str) -> tuple[str, ...]:
        """What tells its random numbers from others."""
        arm = self.arm
        return ("robustness", *purpose, arm.model, arm.condition, arm.kind, arm.task)


def read_derivations(
    answers: pd.DataFrame, items: pd.DataFrame, variants: Mapping[str, str]
) -> Iterator[Derivation]:
    """Every task with variants, for each model, kind of item and condition with answers to any of them.

    Args:
        items: of the tasks, with a column `task`.
        variants: by a variant, the task that it is put otherwise.
    """
    arms = read_answer_sets(answers)
    questions = dict(list(items.groupby(["task", "kind"])))
    for arm in sorted({a._replace(task=variants.get(a.task, a.task)) for a in arms}):
        tasks = sorted(task for task, origin in variants.items() if origin == arm.task)
        if tasks:
            origin, *other_sides = (
                _task_replies(
                    task, arms.get(arm._replace(task=task), {}), questions.get((task, arm.kind))
                )
                for task in (arm.task, *tasks)
            )
            yield Derivation(arm, origin, tuple(other_sides))


def _task_replies(
    task: str, answers: Mapping[str, ItemAnswers], questions: pd.DataFrame | None
) -> TaskReplies:
    golds, left_out = {}, frozenset[str]()
    if questions is not None:
        letters = questions.set_index("item_id")["gold"].map(text_or_none)
        golds = {str(item): letter for item, letter in letters.items() if letter is not None}
        is_unchanged = questions["applied"].notna() & (questions["applied"] == False)  # noqa: E712
        left_out = frozenset(questions.loc[is_unchanged, "item_id"])
    rows = [
        (item, puppet, rerun, options, float(options == (golds[item],)) if item in golds else None)
        for item, item_answers in answers.items()
        if item not in left_out
        for puppet, rerun, options, *_ in item_answers.answers
    ]
    columns = [*CELL, "rerun", "options", "is_right"]
    replies = pd.DataFrame(rows, columns=columns).astype({"is_right": "float64"})
    return TaskReplies(task, replies.set_index(columns[:3]).sort_index(), golds, left_out)


def side_by_side(sides: Iterable[TaskReplies], column: str) -> pd.DataFrame:
    """A column of the replies that all sides have, one column a side."""
    parts = [side.replies[column] for side in sides]
    return pd.concat(parts, axis=1, join="inner", keys=range(len(parts))).sort_index()


def cells_of_rows(replies: pd.DataFrame) -> pd.MultiIndex:
    """The item and puppet of each row."""
    return pd.MultiIndex.from_frame(replies.index.to_frame()[CELL])


def by_cell(replies: pd.DataFrame) -> dict[tuple[str, str], list[tuple[Any, ...]]]:
    """Rows of replies in their order, as tuples, by item and puppet."""
    cells: dict[tuple[str, str], list[tuple[Any, ...]]] = {}
    for (item, puppet, _), row in zip(
        replies.index, replies.itertuples(index=False, name=None), strict=True
    ):
        cells.setdefault((item, puppet), []).append(row)
    return cells


def is_letter(reply: Options) -> bool:
    """Whether a reply to a choice item can be read."""
    return reply != (UNKNOWN,)


def no_letter(sides: Iterable[TaskReplies], cells: pd.Index) -> str | None:
    """Why some cells say nothing of the scores of tasks, where no answer to one of them has a letter."""
    for side in sides:
        is_in = cells_of_rows(side.replies).isin(cells)
        if not side.replies.loc[is_in, "options"].map(is_letter).any():
            return f"no answer to {side.task} gives a letter"
    return None

"""Answers to a task and to its variants, side by side.

Owns which answers are a pair: of one item, one user and one number of rerun. A reply is the set of
options of an answer. Items of a variant that could not be changed are left out of it.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import pandas as pd

from fieldwork.estimates.answer_sets import Arm, ItemAnswers, Options, read_answer_sets
from fieldwork.metrics.distributions import text_or_none
from fieldwork.records.parsing import UNKNOWN
from fieldwork.records.tasks import ItemKind
from fieldwork.statistics.user_intervals import RAREST_PROMPTS, RAREST_USERS


class RobustnessSettings(NamedTuple):
    """What the estimates need to know of the study.

    Attributes:
        rarest_users, rarest_prompts: shares of the rarest kinds that intervals cover.
    """

    n_permutations: int
    seed: int
    rarest_users: float = RAREST_USERS
    rarest_prompts: float = RAREST_PROMPTS


class Cell(NamedTuple):
    """An item as one user answers it; `puppet` is empty where the model is asked without a user."""

    item_id: str
    puppet: str


Replies = Mapping[Cell, Mapping[int, Options]]
"""The replies to a task by cell, and there by the number of the rerun, in ascending order."""


class TaskReplies(NamedTuple):
    """The replies to one kind of item of a task, and what its questions say.

    Attributes:
        golds: the right letter of the items that have one.
        left_out: items that could not be changed; they have no replies here.
    """

    task: str
    replies: Replies
    golds: Mapping[str, str]
    left_out: frozenset[str]

    def is_correct(self, item_id: str, reply: Options) -> bool:
        """Whether a reply is the right letter; an unreadable one is wrong."""
        return reply == (self.golds[item_id],)


class Derivation(NamedTuple):
    """A task and its variants, answered by one model under one condition."""

    model: str
    condition: str
    kind: ItemKind
    origin: TaskReplies
    variants: tuple[TaskReplies, ...]

    @property
    def has_users(self) -> bool:
        """Whether users gave the answers."""
        return any(cell.puppet for side in (self.origin, *self.variants) for cell in side.replies)

    def names(self, *purpose: str) -> tuple[str, ...]:
        """What tells its random numbers from others."""
        return ("robustness", *purpose, self.model, self.condition, self.kind, self.origin.task)


def read_derivations(
    answers: pd.DataFrame, items: pd.DataFrame, variants: Mapping[str, str]
) -> Iterator[Derivation]:
    """Every task with variants, for each model, kind of item and condition with answers to any of them.

    Args:
        items: of the tasks, with a column `task`.
        variants: by a variant, the task that it is put otherwise.
    """
    arms = read_answer_sets(answers)
    questions = _Questions(items)
    for arm in sorted({a._replace(task=variants.get(a.task, a.task)) for a in arms}):
        tasks = [task for task, origin in variants.items() if origin == arm.task]
        if tasks:
            origin, *task_variants = (
                questions.replies(task, arm, arms.get(arm._replace(task=task), {}))
                for task in (arm.task, *sorted(tasks))
            )
            yield Derivation(arm.model, arm.condition, arm.kind, origin, tuple(task_variants))


class _Questions:
    """What the tables of questions say of each item."""

    def __init__(self, items: pd.DataFrame) -> None:
        self._golds: dict[tuple[str, str], dict[str, str]] = {}
        self._left_out: dict[tuple[str, str], set[str]] = {}
        columns = ["task", "kind", "item_id", "gold", "applied"]
        for task, kind, item_id, gold, is_applied in items[columns].itertuples(
            index=False, name=None
        ):
            letter = text_or_none(gold)
            if letter is not None:
                self._golds.setdefault((task, kind), {})[item_id] = letter
            # NULL comes out of pandas as None or NaN
            if not pd.isna(is_applied) and not is_applied:
                self._left_out.setdefault((task, kind), set()).add(item_id)

    def replies(self, task: str, arm: Arm, items: Mapping[str, ItemAnswers]) -> TaskReplies:
        left_out = frozenset(self._left_out.get((task, arm.kind), ()))
        left_items = {item: answers for item, answers in items.items() if item not in left_out}
        return TaskReplies(
            task, _replies(left_items), self._golds.get((task, arm.kind), {}), left_out
        )


def _replies(items: Mapping[str, ItemAnswers]) -> Replies:
    cells: dict[Cell, dict[int, Options]] = {}
    for item, item_answers in items.items():
        for puppet, replicate, options in item_answers.answers:
            cells.setdefault(Cell(item, puppet), {})[replicate] = options
    return cells


def shared_cells(sides: Iterable[Replies]) -> list[Cell]:
    """Cells with a reply on all sides, in order."""
    first, *other_sides = sides
    return sorted(cell for cell in first if all(cell in side for side in other_sides))


def shared_reruns(sides: Iterable[Mapping[int, Options]]) -> list[int]:
    """Numbers of reruns that all sides of one cell have, in order."""
    first, *other_sides = sides
    return [rerun for rerun in first if all(rerun in side for side in other_sides)]


def independent_replies(replies: Replies) -> dict[str, list[Options]]:
    """The replies to each item; of a user the first."""
    answers: dict[str, list[Options]] = {}
    for cell in sorted(replies):
        reruns = in_order(replies[cell])
        answers.setdefault(cell.item_id, []).extend(reruns[:1] if cell.puppet else reruns)
    return answers


def in_order(reruns: Mapping[int, Options]) -> list[Options]:
    """The replies of one cell in the order of its reruns."""
    return [reruns[rerun] for rerun in sorted(reruns)]


def letter_of(reply: Options) -> str | None:
    """The letter of a reply to a choice item; None where it cannot be read."""
    return None if reply == (UNKNOWN,) else reply[0]


def no_letter(tasks: Iterable[TaskReplies], cells: Iterable[Cell]) -> str | None:
    """Why some cells say nothing of the scores of tasks, where no answer to one of them has a letter."""
    places = [*cells]
    for task in tasks:
        replies = (reply for cell in places for reply in task.replies[cell].values())
        if not any(map(letter_of, replies)):
            return f"no answer to {task.task} gives a letter"
    return None

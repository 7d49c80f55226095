"""The variants of one task by the group of people that each is about, and rows of `group_gaps`."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from fieldwork.estimates.answer_sets import Options
from fieldwork.metrics.robustness.pairs import (
    Cell,
    Derivation,
    TaskReplies,
    shared_cells,
    shared_reruns,
)
from fieldwork.records.robustness import GroupGap
from fieldwork.statistics.arrays import Floats, Indices


class GroupedTasks(NamedTuple):
    """Variants of one task, and the groups that they are about, in alphabetical order.

    Attributes:
        places: the place in `groups` of each task, shape (tasks,).
        left_out: items that could not be put for every group.
    """

    derivation: Derivation
    tasks: tuple[TaskReplies, ...]
    groups: tuple[str, ...]
    places: Indices
    left_out: frozenset[str]

    def random_name(self, purpose: str) -> tuple[str, ...]:
        """What tells its random numbers from others."""
        return self.derivation.names("groups", purpose)

    def group_means(self, of_tasks: Floats) -> Floats:
        """Means over the tasks of each group: shape (..., tasks) to (..., groups)."""
        members = np.equal.outer(self.places, np.arange(len(self.groups))).astype(np.float64)
        means: Floats = of_tasks @ (members / members.sum(axis=0))
        return means


def grouped_tasks(derivation: Derivation, groups: Mapping[str, str]) -> GroupedTasks:
    """The variants of a derivation that are about a group."""
    tasks = tuple(task for task in derivation.variants if task.task in groups)
    names = sorted({groups[task.task] for task in tasks})
    places = np.array([names.index(groups[task.task]) for task in tasks], dtype=np.int64)
    left_out = frozenset[str]().union(*(task.left_out for task in tasks))
    return GroupedTasks(derivation, tasks, tuple(names), places, left_out)


class Block(NamedTuple):
    """The replies of one cell in all tasks: shape (reruns, tasks)."""

    cell: Cell
    replies: Sequence[Sequence[Options]]


def blocks_of(tasks: GroupedTasks) -> list[Block]:
    """The cells that are answered in all tasks, with the reruns that all have."""
    sides = [task.replies for task in tasks.tasks]
    blocks = []
    for cell in shared_cells(sides):
        reruns = shared_reruns([side[cell] for side in sides])
        if reruns and cell.item_id not in tasks.left_out:
            replies = [[side[cell][rerun] for side in sides] for rerun in reruns]
            blocks.append(Block(cell, replies))
    return blocks


def block_weights(blocks: Sequence[Block]) -> Floats:
    """Items count alike, and the users of an item do: shape (blocks,), in all 1."""
    n_users: dict[str, int] = {}
    for block in blocks:
        n_users[block.cell.item_id] = n_users.get(block.cell.item_id, 0) + 1
    return np.array([1 / n_users[block.cell.item_id] / len(n_users) for block in blocks])


def count_items(blocks: Sequence[Block]) -> int:
    """Items of the blocks."""
    return len({block.cell.item_id for block in blocks})


def group_row(
    tasks: GroupedTasks, metric: str, estimate: float | None, *, n_items: int, n_answers: int
) -> GroupGap:
    """A row that says neither which groups nor what a test found."""
    derivation = tasks.derivation
    return GroupGap(
        model=derivation.model,
        origin=derivation.origin.task,
        condition=derivation.condition,
        kind=derivation.kind,
        metric=metric,
        item_id=None,
        option=None,
        group=None,
        other_group=None,
        estimate=estimate,
        expected_same=None,
        p_value=None,
        p_holm=None,
        p_least=None,
        n_permutations=None,
        n_items=n_items,
        n_left_out=len(tasks.left_out),
        n_answers=n_answers,
        n_groups=len(tasks.groups),
        reason=None,
    )

"""Groups dealt anew within blocks: what scores and flips are where the group makes no difference.

The answers of one block and rerun are dealt to the tasks at random. The first value of every result is
that of the tasks as they are.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fieldwork.metrics.robustness.agreement import jaccard_distances
from fieldwork.metrics.robustness.group_tasks import Block, GroupedTasks, block_weights
from fieldwork.statistics.arrays import Floats, Indices
from fieldwork.statistics.permutation import TIE, random_p_value


class ShuffledValue(NamedTuple):
    """A statistic, its mean where groups are dealt anew, and the test that it is no larger."""

    value: float
    expected_same: float
    p_value: float


def shuffled_value(values: Floats) -> ShuffledValue:
    """Of the values of all shuffles, the observed one first."""
    shuffles = values[1:]
    n_hits = int((shuffles >= values[0] - TIE).sum())
    p_value = random_p_value(n_hits, len(shuffles))
    return ShuffledValue(float(values[0]), float(shuffles.mean()), p_value)


def shuffled_accuracies(
    tasks: GroupedTasks,
    blocks: Sequence[Block],
    *,
    n_permutations: int,
    random: np.random.Generator,
) -> Floats:
    """Accuracies of the groups: shape (1 + shuffles, groups)."""
    grades, weights = [], []
    for block, weight in zip(blocks, block_weights(blocks).tolist(), strict=True):
        for replies in block.replies:
            sides = zip(tasks.tasks, replies, strict=True)
            grades.append([float(t.is_correct(block.cell.item_id, reply)) for t, reply in sides])
            weights.append(weight / len(block.replies))
    table, shares = np.array(grades), np.array(weights)
    deals = [table, *(random.permuted(table, axis=1) for _ in range(n_permutations))]
    return tasks.group_means(np.stack([shares @ deal for deal in deals]))


class FlipValues(NamedTuple):
    """Mean distances of answers: of two groups, and of two reruns of one task.

    Both have shape (1 + shuffles,); where nothing is repeated there is no shuffle and no rerun.
    """

    of_groups: Floats
    of_reruns: Floats


def shuffled_flips(
    tasks: GroupedTasks,
    blocks: Sequence[Block],
    *,
    n_permutations: int,
    random: np.random.Generator,
) -> FlipValues:
    """Of blocks with two reruns or more, which are compared with one another."""
    of_groups, of_reruns = np.zeros(n_permutations + 1), np.zeros(n_permutations + 1)
    for block, weight in zip(blocks, block_weights(blocks).tolist(), strict=True):
        orders = _orders(len(block.replies), len(tasks.tasks), n_permutations, random)
        values = _flips(block, tasks.places, orders)
        of_groups += weight * values.of_groups
        of_reruns += weight * values.of_reruns
    return FlipValues(of_groups, of_reruns)


def _orders(
    n_reruns: int, n_tasks: int, n_permutations: int, random: np.random.Generator
) -> Indices:
    """Which task's answer each task gets, shape (1 + shuffles, reruns, tasks); at first its own."""
    orders = np.broadcast_to(np.arange(n_tasks), (n_permutations + 1, n_reruns, n_tasks)).copy()
    orders[1:] = random.permuted(orders[1:], axis=2)
    return orders


def _flips(block: Block, places: Indices, orders: Indices) -> FlipValues:
    n_reruns, n_tasks = orders.shape[1:]
    replies = [reply for rerun in block.replies for reply in rerun]
    distances = jaccard_distances(replies).reshape(n_reruns, n_tasks, n_reruns, n_tasks)
    alike, alike_other = np.nonzero(np.equal.outer(places, places))
    of_groups, of_reruns = np.zeros(len(orders)), np.zeros(len(orders))
    for rerun in range(n_reruns):
        for other in range(rerun):
            of_tasks = distances[rerun, :, other, :]
            first, second = orders[:, rerun], orders[:, other]
            of_reruns += of_tasks[first, second].mean(axis=1)
            # what is not of one group is of two
            of_one_group = of_tasks[first[:, alike], second[:, alike_other]].sum(axis=1)
            of_groups += (of_tasks.sum() - of_one_group) / (n_tasks**2 - len(alike))
    n_pairs = n_reruns * (n_reruns - 1) / 2
    return FlipValues(of_groups / n_pairs, of_reruns / n_pairs)


def flips_of_groups(tasks: GroupedTasks, blocks: Sequence[Block]) -> float:
    """Mean distance of the answers of two groups within one rerun."""
    is_of_two = ~np.equal.outer(tasks.places, tasks.places)
    means = [
        np.mean([jaccard_distances(rerun)[is_of_two].mean() for rerun in block.replies])
        for block in blocks
    ]
    return float(block_weights(blocks) @ np.array(means))

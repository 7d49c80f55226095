"""Groups dealt anew within blocks: what scores and flips are where the group makes no difference.

The answers to one item of one user and rerun are dealt to the tasks at random. The first value of every
result is that of the tasks as they are. Items count alike, the users of an item do, and their reruns.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from fieldwork.estimates.answer_sets import Options
from fieldwork.metrics.robustness.agreement import jaccard_distances
from fieldwork.metrics.robustness.replies import CELL, by_cell, cells_of_rows
from fieldwork.statistics.arrays import Floats, Indices


class Flips(NamedTuple):
    """Mean distances of answers: of two groups, and of two reruns of one task.

    Both have shape (1 + shuffles,).
    """

    of_groups: Floats
    of_reruns: Floats


def cell_weights(cells: pd.Index) -> Floats:
    """The weight of each cell of a mean over items; in all 1."""
    items = cells.get_level_values("item_id")
    n_users = items.value_counts()
    weights: Floats = 1 / n_users[items].to_numpy() / len(n_users)
    return weights


def shuffled_accuracies(
    grades: pd.DataFrame, *, n_permutations: int, random: np.random.Generator
) -> Floats:
    """Accuracies of the tasks: shape (1 + shuffles, tasks), from a row a rerun and a column a task."""
    table, n_reruns = grades.to_numpy(), grades.groupby(level=CELL).size()
    weights = np.repeat(cell_weights(n_reruns.index) / n_reruns.to_numpy(), n_reruns)
    deals = [table, *(random.permuted(table, axis=1) for _ in range(n_permutations))]
    return np.stack([weights @ deal for deal in deals])


def shuffled_flips(
    replies: pd.DataFrame, places: Indices, *, n_permutations: int, random: np.random.Generator
) -> Flips:
    """Of cells with two reruns or more, which are compared with one another.

    Args:
        places: of the group of each task, shape (tasks,).
    """
    cells = by_cell(replies)
    total = Flips(np.zeros(n_permutations + 1), np.zeros(n_permutations + 1))
    weights = cell_weights(pd.MultiIndex.from_tuples(cells, names=CELL)).tolist()
    for reruns, weight in zip(cells.values(), weights, strict=True):
        orders = _orders(len(reruns), len(places), n_permutations, random)
        for values, of_cell in zip(total, _flips(reruns, places, orders), strict=True):
            values += weight * of_cell
    return total


def _orders(
    n_reruns: int, n_tasks: int, n_permutations: int, random: np.random.Generator
) -> Indices:
    """Which task's answer each task gets, shape (1 + shuffles, reruns, tasks); at first its own."""
    orders = np.broadcast_to(np.arange(n_tasks), (n_permutations + 1, n_reruns, n_tasks)).copy()
    orders[1:] = random.permuted(orders[1:], axis=2)
    return orders


def _flips(reruns: Sequence[Sequence[Options]], places: Indices, orders: Indices) -> Flips:
    n_reruns, n_tasks = len(reruns), len(places)
    replies = [reply for rerun in reruns for reply in rerun]
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
    return Flips(of_groups / n_pairs, of_reruns / n_pairs)


def flips_of_groups(replies: pd.DataFrame, places: Indices) -> float:
    """Mean distance of the answers of two groups within one rerun, of which each cell has one."""
    is_of_two = ~np.equal.outer(places, places)
    means = [jaccard_distances([*row])[is_of_two].mean() for row in replies.to_numpy()]
    return float(cell_weights(cells_of_rows(replies)) @ np.array(means))

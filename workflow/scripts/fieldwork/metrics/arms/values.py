"""Measures of arms, and of arms that some puppets are left out of: the arrays behind the tests.

A cell is one puppet's answers under one condition. Owns share_who, the variance of answers, the distance
from the baseline and the score of an arm, so that leaving out each puppet is a few matrix
products.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from fieldwork.estimates.answer_sets import ItemAnswers, Options
from fieldwork.metrics.components import (
    ItemCells,
    cell_distances,
    item_cells,
    item_distances,
    item_means,
    mean_distances,
    ratio,
)
from fieldwork.statistics.arrays import Counts, Floats

MEASURES = ("share_who", "var_answers", "from_baseline", "em_strict")


class BaselineCell(NamedTuple):
    """The baseline's answers to an item, and how far the cells of the arms are from them.

    Attributes:
        answers: which options each names, shape (answers, options).
        rerun: mean distance of two of them, NaN with fewer than two.
        distances: of the cells' answers from these, mean over pairs; shape (cells,).
    """

    answers: Counts
    rerun: float
    distances: Floats


class ArmCells(NamedTuple):
    """All cells of some arms: the puppets of the first arm, then those of the next.

    Attributes:
        n_puppets: of each arm.
        items: those with an answer under every condition.
        baseline: beside each item, None where it has no answer there.
        em_strict: score, NaN without; (cells,).
    """

    n_puppets: list[int]
    items: list[ItemCells]
    baseline: list[BaselineCell | None]
    em_strict: Floats

    def n_carriers(self, measure: str) -> list[int]:
        """Puppets of each arm behind a measure: those with a repeat, those with a score, or all."""
        is_carrier = np.ones(len(self.em_strict), dtype=np.bool_)
        if measure == "share_who":
            is_carrier[:] = False
            for item in self.items:
                is_carrier[item.units[item.n_answers > 1]] = True
        elif measure == "em_strict":
            is_carrier = np.isfinite(self.em_strict)
        return [int(n) for n in all_cells(self.n_puppets) @ is_carrier]


def build_cells(
    arms: Sequence[Mapping[str, ItemAnswers]],
    puppets: Sequence[Sequence[str]],
    baseline: Mapping[str, ItemAnswers],
    scores: Sequence[Mapping[str, float]],
) -> ArmCells:
    """Put the answers of some arms into arrays.

    Args:
        arms: answers by item, of each arm.
        puppets: of each arm, in the order of its cells.
        baseline: answers of the baseline, by item.
        scores: of each arm, by puppet.
    """
    names = [name for name in arms[0] if all(name in arm and arm[name].answers for arm in arms)]
    parts = []
    for name in names:
        cells = [*_puppet_cells([arm[name] for arm in arms], puppets)]
        reruns = [answer.options for answer in baseline[name].answers] if name in baseline else []
        parts.append(_split_baseline(item_cells([*cells, (-1, reruns)] if reruns else cells)))
    em_strict = [
        arm_scores.get(puppet, np.nan)
        for arm_scores, arm_puppets in zip(scores, puppets, strict=True)
        for puppet in arm_puppets
    ]
    return ArmCells(
        n_puppets=[len(arm_puppets) for arm_puppets in puppets],
        items=[item for item, _ in parts],
        baseline=[cell for _, cell in parts],
        em_strict=np.array(em_strict, dtype=np.float64),
    )


def _puppet_cells(
    arms: Sequence[ItemAnswers], puppets: Sequence[Sequence[str]]
) -> Iterator[tuple[int, list[Options]]]:
    """The answers of each cell that has some, with its number."""
    number = 0
    for arm, arm_puppets in zip(arms, puppets, strict=True):
        replies: dict[str, list[Options]] = {}
        for answer in arm.answers:
            replies.setdefault(answer.puppet, []).append(answer.options)
        for puppet in arm_puppets:
            if puppet in replies:
                yield number, replies[puppet]
            number += 1


def _split_baseline(item: ItemCells) -> tuple[ItemCells, BaselineCell | None]:
    """The cells of puppets, and the last one, which is the baseline's where its number is -1."""
    if item.units[-1] >= 0:
        return item, None
    distances = (item.length + item.length[-1]) / 2 - item.means @ item.means[-1]
    n = item.n_answers[-1]
    cells = item._replace(
        units=item.units[:-1],
        n_answers=item.n_answers[:-1],
        length=item.length[:-1],
        rerun=item.rerun[:-1],
        means=item.means[:-1],
        indicator=item.indicator[:-n],
    )
    return cells, BaselineCell(item.indicator[-n:], float(item.rerun[-1]), distances[:-1])


def all_cells(n_puppets: Sequence[int]) -> Floats:
    """Each cell in its own arm: 1 where it is, shape (arms, cells)."""
    arm_of = np.repeat(np.arange(len(n_puppets)), n_puppets)
    members: Floats = np.equal.outer(np.arange(len(n_puppets)), arm_of).astype(np.float64)
    return members


def leave_out_cells(n_puppets: Sequence[int]) -> Floats:
    """All cells but one, for each cell: shape (cells, arms, cells)."""
    members: Floats = all_cells(n_puppets) * (1 - np.eye(sum(n_puppets)))[:, None, :]
    return members


def leave_out_puppets(n_puppets: Sequence[int]) -> Floats:
    """All cells but those of one puppet, who has one in each arm: shape (puppets, arms, cells)."""
    is_other = 1 - np.eye(n_puppets[0])
    members: Floats = all_cells(n_puppets) * np.tile(is_other, len(n_puppets))[:, None, :]
    return members


def arm_values(cells: ArmCells, members: Floats) -> dict[str, Floats]:
    """The measures of each arm, shape (samples, arms); NaN where there is none.

    Means are over the items that the first sample has a value for. A sample without one of them has NaN.

    Args:
        members: 1 where a cell belongs to an arm, shape (samples, arms, cells).
    """
    distances = mean_distances(item_distances(cells.items, members))
    has_score = np.isfinite(cells.em_strict)
    scores = np.where(has_score, cells.em_strict, 0.0)
    return {
        "share_who": 1 - ratio(distances.rerun, distances.two_cells),
        "var_answers": distances.two_cells,
        "from_baseline": _distance_from_baseline(cells, members),
        "em_strict": ratio(members @ scores, members @ has_score.astype(np.float64)),
    }


def _distance_from_baseline(cells: ArmCells, members: Floats) -> Floats:
    """Half the squared distance of an arm's mean answer from the baseline's, mean over the items.

    The mean difference of an arm's and a baseline's answers, less half the mean difference within each
    side. This is unbiased, because the variance of the answers themselves is taken off.
    """
    values = np.full((len(cells.items), *members.shape[:-1]), np.nan)
    for place, (item, baseline) in enumerate(zip(cells.items, cells.baseline, strict=True)):
        if baseline is not None:
            samples = members[..., item.units]
            difference = ratio(samples @ baseline.distances, samples.sum(axis=-1))
            inner_distance = cell_distances(item, samples.__matmul__).two_cells + baseline.rerun
            values[place] = difference - inner_distance / 2
    return item_means(values, np.isfinite(values[:, :1]))


class BaselineVariance(NamedTuple):
    """Variance that the baseline's answers put into a contrast of distances, and its freedom."""

    value: float
    freedom: int


def baseline_variance(cells: ArmCells, weights: Floats) -> BaselineVariance:
    """Of a sum of the arms' `from_baseline` with weights that add up to 0.

    The distances of all arms are from the same answers. What is common to the arms cancels; left is the
    product of each answer with the weighted sum of the arms' mean vectors.
    """
    arms = all_cells(cells.n_puppets)
    variance, freedom, n_items = 0.0, 0, 0
    for item, baseline in zip(cells.items, cells.baseline, strict=True):
        members = arms[:, item.units]
        n = members.sum(axis=1)
        if baseline is not None and len(baseline.answers) > 1 and (n > 1).all():
            products = baseline.answers @ (weights @ (members @ item.means / n[:, None]))
            variance += float(products.var(ddof=1)) / len(products)
            freedom += len(products) - 1
            n_items += 1
    return BaselineVariance(variance / max(n_items, 1) ** 2, freedom)

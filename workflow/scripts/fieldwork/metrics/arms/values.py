"""Measures of arms, and of arms that some puppets are left out of: the arrays behind the tests.

A cell is one puppet's answers under one condition. Owns the sums over cells that give share_who, the
variance of answers, the distance from the baseline and the score of an arm, so that leaving out each
puppet in turn is a few matrix products.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from fieldwork.estimates.answer_sets import AnswerSet, ItemAnswers
from fieldwork.statistics.arrays import Floats

MEASURES = ("share_who", "var_answers", "from_baseline", "em_strict")


class ItemCells(NamedTuple):
    """An item's answers by cell; zero where a cell has none.

    Attributes:
        has_answer, has_repeat: 1 for cells with an answer, with two or more; shape (cells,).
        length: mean number of options of the cell's answers.
        rerun: mean difference of two of its answers.
        means: mean indicator vector, shape (cells, options).
        square: squared length of it.
        from_baseline: mean difference of the cell's answers from the baseline's.
        baseline_rerun: mean difference of two answers of the baseline, NaN with fewer than two.
        baseline: the baseline's answers as indicator vectors, shape (answers, options).
    """

    has_answer: Floats
    has_repeat: Floats
    length: Floats
    rerun: Floats
    means: Floats
    square: Floats
    from_baseline: Floats
    baseline_rerun: float
    baseline: Floats


class ArmCells(NamedTuple):
    """All cells of some arms: the puppets of the first arm, then those of the next.

    Attributes:
        n_puppets: of each arm.
        items: those with an answer under every condition.
        em_strict: score, NaN without; (cells,).
    """

    n_puppets: list[int]
    items: list[ItemCells]
    em_strict: Floats

    def n_carriers(self, measure: str) -> list[int]:
        """Puppets of each arm behind a measure: those with a repeat, those with a score, or all."""
        is_carrier = np.ones(len(self.em_strict), dtype=np.bool_)
        if measure == "share_who":
            is_carrier = sum((item.has_repeat for item in self.items), np.zeros(())) > 0
        elif measure == "em_strict":
            is_carrier = np.isfinite(self.em_strict)
        return [int(n) for n in all_cells(self.n_puppets) @ is_carrier]


class _PuppetCell(NamedTuple):
    """A puppet's answers to one item."""

    n: int
    length: float
    rerun: float
    means: Floats


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
    item_ids = [name for name in arms[0] if all(name in arm and arm[name].answers for arm in arms)]
    items = []
    for name in item_ids:
        options = _option_columns([*(arm[name] for arm in arms), baseline.get(name)])
        cells = [
            cell
            for arm, arm_puppets in zip(arms, puppets, strict=True)
            for cell in _puppet_cells(arm[name], arm_puppets, options)
        ]
        reruns = baseline[name].answers if name in baseline else []
        items.append(_item_cells(cells, reruns, options))
    em_strict = [
        arm_scores.get(puppet, math.nan)
        for arm_scores, arm_puppets in zip(scores, puppets, strict=True)
        for puppet in arm_puppets
    ]
    return ArmCells(
        n_puppets=[len(arm_puppets) for arm_puppets in puppets],
        items=items,
        em_strict=np.array(em_strict, dtype=np.float64),
    )


def _option_columns(arms: Iterable[ItemAnswers | None]) -> dict[str, int]:
    options = {option for arm in arms if arm for answer in arm.answers for option in answer.options}
    return {option: column for column, option in enumerate(sorted(options))}


def _puppet_cells(
    answers: ItemAnswers, puppets: Sequence[str], columns: Mapping[str, int]
) -> list[_PuppetCell]:
    by_puppet = {
        puppet: list(group) for puppet, group in groupby(answers.answers, key=lambda a: a.puppet)
    }
    return [_summarise(by_puppet.get(puppet, []), columns) for puppet in puppets]


def _summarise(answers: Sequence[AnswerSet], columns: Mapping[str, int]) -> _PuppetCell:
    n = len(answers)
    means = np.zeros(len(columns))
    for answer in answers:
        for option in answer.options:
            means[columns[option]] += 1 / n
    length = sum(len(answer.options) for answer in answers) / n if n else 0.0
    # half the squared distance of two answers, over all pairs of the cell
    rerun = n / (n - 1) * (length - float(means @ means)) if n > 1 else 0.0
    return _PuppetCell(n, length, rerun, means)


def _item_cells(
    cells: Sequence[_PuppetCell], reruns: Sequence[AnswerSet], columns: Mapping[str, int]
) -> ItemCells:
    baseline = _summarise(reruns, columns)
    indicator = [[option in answer.options for option in columns] for answer in reruns]
    means = np.array([cell.means for cell in cells]).reshape(len(cells), len(baseline.means))
    n = np.array([cell.n for cell in cells])
    length = np.array([cell.length for cell in cells])
    differences = (length + baseline.length) / 2 - means @ baseline.means
    return ItemCells(
        has_answer=(n > 0).astype(np.float64),
        has_repeat=(n > 1).astype(np.float64),
        length=length,
        rerun=np.array([cell.rerun for cell in cells]),
        means=means,
        square=(means * means).sum(axis=1),
        from_baseline=np.where(n > 0, differences, 0.0),
        baseline_rerun=baseline.rerun if baseline.n > 1 else math.nan,
        baseline=np.array(indicator, dtype=np.float64).reshape(len(reruns), len(columns)),
    )


def all_cells(n_puppets: Sequence[int]) -> Floats:
    """Each cell in its own arm: 1 where it is, shape (arms, cells)."""
    arm_of = np.repeat(np.arange(len(n_puppets)), n_puppets)
    members: Floats = (arm_of == np.arange(len(n_puppets))[:, None]).astype(np.float64)
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
    rerun, puppets = _answer_differences(cells, members)
    return {
        "share_who": 1 - _ratio(rerun, puppets),
        "var_answers": puppets,
        "from_baseline": _distance_from_baseline(cells, members),
        "em_strict": _mean_scores(cells.em_strict, members),
    }


class _AnswerDifferences(NamedTuple):
    """Mean difference of two answers of one puppet, and of two puppets; means over the items."""

    rerun: Floats
    puppets: Floats


def _answer_differences(cells: ArmCells, members: Floats) -> _AnswerDifferences:
    """Where a puppet of the arm answers twice, items with both differences count, as in `variance`."""
    reruns, puppets = [], []
    n_repeated = sum((members[:1] @ item.has_repeat for item in cells.items), np.zeros(()))
    for item in cells.items:
        rerun = _ratio(members @ item.rerun, members @ item.has_repeat)
        difference = _puppet_difference(item, members)
        has_both = np.isfinite(difference) & (np.isfinite(rerun) | (n_repeated == 0))
        reruns.append(np.where(has_both, rerun, np.nan))
        puppets.append(np.where(has_both, difference, np.nan))
    shape = members.shape[:2]
    return _AnswerDifferences(_item_mean(reruns, shape), _item_mean(puppets, shape))


def _distance_from_baseline(cells: ArmCells, members: Floats) -> Floats:
    """Half the squared distance of an arm's mean answer from the baseline's, mean over the items.

    The mean difference of an arm's and a baseline's answers, less half the mean difference within each
    side. This is unbiased, because the variance of the answers themselves is taken off.
    """
    distances = []
    for item in cells.items:
        difference = _ratio(members @ item.from_baseline, members @ item.has_answer)
        own_differences = _puppet_difference(item, members) + item.baseline_rerun
        distances.append(difference - own_differences / 2)
    return _item_mean(distances, members.shape[:2])


def _item_mean(values: Sequence[Floats], shape: tuple[int, ...]) -> Floats:
    """Mean over the items that the first sample has; `shape` is (samples, arms)."""
    by_item = np.array(values, dtype=np.float64).reshape(-1, *shape)
    counts = np.isfinite(by_item[:, :1])
    totals = np.where(counts, by_item, 0.0).sum(axis=0)
    return _ratio(totals, np.broadcast_to(counts.sum(axis=0), shape))


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
    for item in cells.items:
        n = arms @ item.has_answer
        if len(item.baseline) > 1 and (n > 1).all():
            products = item.baseline @ (weights @ (arms @ item.means / n[:, None]))
            variance += float(products.var(ddof=1)) / len(products)
            freedom += len(products) - 1
            n_items += 1
    return BaselineVariance(variance / max(n_items, 1) ** 2, freedom)


def _puppet_difference(item: ItemCells, members: Floats) -> Floats:
    """Mean difference of two puppets' answers."""
    n = members @ item.has_answer
    pairs = ((members @ item.means) ** 2).sum(axis=-1) - members @ item.square
    return _ratio(members @ item.length, n) - _ratio(pairs, n * (n - 1))


def _mean_scores(scores: Floats, members: Floats) -> Floats:
    has_score = np.isfinite(scores)
    return _ratio(
        members @ np.where(has_score, scores, 0.0), members @ has_score.astype(np.float64)
    )


def _ratio(numerator: Floats, denominator: Floats) -> Floats:
    quotient = np.full(denominator.shape, np.nan)
    np.divide(numerator, denominator, out=quotient, where=denominator > 0)
    return quotient

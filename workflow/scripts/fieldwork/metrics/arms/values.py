"""Measures of arms under any assignment of puppets to them: the arrays behind the tests between arms.

A cell is one puppet's answers under one condition. Owns the sums over cells that give share_who, the
variance of answers, the distance from the baseline and the score of an arm, so that thousands of
assignments are a few matrix products.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from fieldwork.metrics.answer_sets import AnswerSet, ItemAnswers
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
    """

    has_answer: Floats
    has_repeat: Floats
    length: Floats
    rerun: Floats
    means: Floats
    square: Floats
    from_baseline: Floats
    baseline_rerun: float


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

    @property
    def n_repeated(self) -> int:
        """Cells and items with two answers or more."""
        return int(sum(item.has_repeat.sum() for item in self.items))


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
        reruns = baseline.get(name)
        items.append(_item_cells(cells, _summarise(reruns.answers if reruns else [], options)))
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


def _item_cells(cells: Sequence[_PuppetCell], baseline: _PuppetCell) -> ItemCells:
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
    )


def arm_values(cells: ArmCells, assignments: Floats) -> dict[str, Floats]:
    """The measures of each arm, shape (assignments, arms); NaN where there is none.

    Args:
        assignments: 1 where a cell belongs to an arm, shape (assignments, arms, cells).
    """
    members = assignments.reshape(-1, assignments.shape[2])
    differences = _answer_differences(cells, members)
    values = {
        "share_who": 1 - _ratio(differences.rerun, differences.puppets),
        "var_answers": differences.puppets,
        "from_baseline": _distance_from_baseline(cells, members),
        "em_strict": _mean_scores(cells.em_strict, members),
    }
    return {name: arms.reshape(assignments.shape[:2]) for name, arms in values.items()}


class _AnswerDifferences(NamedTuple):
    """Mean difference of two answers of one puppet, and of two puppets; means over the items."""

    rerun: Floats
    puppets: Floats


def _answer_differences(cells: ArmCells, members: Floats) -> _AnswerDifferences:
    """Where some puppet answers twice, only items with both differences count, as in `variance`."""
    rerun_total, puppet_total, count = (np.zeros(len(members)) for _ in range(3))
    for item in cells.items:
        puppets = _puppet_difference(item, members)
        rerun = _ratio(members @ item.rerun, members @ item.has_repeat)
        counts = np.isfinite(puppets) & (np.isfinite(rerun) | (cells.n_repeated == 0))
        rerun_total += np.where(counts, rerun, 0.0)
        puppet_total += np.where(counts, puppets, 0.0)
        count += counts
    return _AnswerDifferences(_ratio(rerun_total, count), _ratio(puppet_total, count))


def _distance_from_baseline(cells: ArmCells, members: Floats) -> Floats:
    """Half the squared distance of an arm's mean answer from the baseline's, mean over the items.

    The mean difference of an arm's and a baseline's answers, less half the mean difference within each
    side. This is unbiased, because the variance of the answers themselves is taken off.
    """
    total, count = np.zeros(len(members)), np.zeros(len(members))
    for item in cells.items:
        difference = _ratio(members @ item.from_baseline, members @ item.has_answer)
        distance = difference - (_puppet_difference(item, members) + item.baseline_rerun) / 2
        is_finite = np.isfinite(distance)
        total += np.where(is_finite, distance, 0.0)
        count += is_finite
    return _ratio(total, count)


def _puppet_difference(item: ItemCells, members: Floats) -> Floats:
    """Mean difference of two puppets' answers."""
    n = members @ item.has_answer
    pairs = ((members @ item.means) ** 2).sum(axis=1) - members @ item.square
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

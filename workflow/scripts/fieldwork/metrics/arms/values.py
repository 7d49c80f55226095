"""Measures of arms under any dealing of puppets to them: the arrays behind `arm_tests`.

A cell is one puppet's answers under one condition. Owns the sums over cells from which share_who,
the variance of answers, the distance from the baseline and the score of an arm follow, so that thousands
of dealings are a few matrix products.
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
        here, repeated: 1 for cells with an answer, with two or more; shape (cells,).
        length: mean number of options of the cell's answers.
        rerun: mean difference of two of its answers.
        means: mean indicator vector, shape (cells, options).
        square: squared length of it.
        from_baseline: mean difference of the cell's answers from the baseline's.
        baseline_rerun: mean difference of two answers of the baseline, NaN with fewer than two.
    """

    here: Floats
    repeated: Floats
    length: Floats
    rerun: Floats
    means: Floats
    square: Floats
    from_baseline: Floats
    baseline_rerun: float


class Cells(NamedTuple):
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
        return int(sum(item.repeated.sum() for item in self.items))


class _Cell(NamedTuple):
    """A puppet's answers to one item."""

    n: int
    length: float
    rerun: float
    means: Floats


def cells_of(
    arms: Sequence[Mapping[str, ItemAnswers]],
    puppets: Sequence[Sequence[str]],
    offline: Mapping[str, ItemAnswers],
    scores: Sequence[Mapping[str, float]],
) -> Cells:
    """Put the answers of some arms into arrays.

    Args:
        puppets: of each arm, in the order of its cells.
        offline: answers of the baseline.
        scores: of each arm, by puppet.
    """
    shared = [name for name in arms[0] if all(name in arm and arm[name].answers for arm in arms)]
    items = []
    for name in shared:
        options = _options([*(arm[name] for arm in arms), offline.get(name)])
        cells = [
            cell
            for arm, asked in zip(arms, puppets, strict=True)
            for cell in _item_cells(arm[name], asked, options)
        ]
        base = offline.get(name)
        items.append(_stacked(cells, _cell(base.answers if base else [], options)))
    known = [of.get(p, math.nan) for of, asked in zip(scores, puppets, strict=True) for p in asked]
    return Cells(
        n_puppets=[len(asked) for asked in puppets],
        items=items,
        em_strict=np.array(known, dtype=np.float64),
    )


def _options(answers: Iterable[ItemAnswers | None]) -> dict[str, int]:
    named = {o for of in answers if of is not None for a in of.answers for o in a.options}
    return {option: place for place, option in enumerate(sorted(named))}


def _item_cells(
    answers: ItemAnswers, puppets: Sequence[str], options: Mapping[str, int]
) -> list[_Cell]:
    by_puppet = {p: list(of) for p, of in groupby(answers.answers, key=lambda a: a.puppet)}
    return [_cell(by_puppet.get(puppet, []), options) for puppet in puppets]


def _cell(given: Sequence[AnswerSet], options: Mapping[str, int]) -> _Cell:
    n = len(given)
    means = np.zeros(len(options))
    for answer in given:
        for option in answer.options:
            means[options[option]] += 1 / n
    length = sum(len(answer.options) for answer in given) / n if n else 0.0
    # half the squared distance of two answers, over all pairs of the cell
    rerun = n / (n - 1) * (length - float(means @ means)) if n > 1 else 0.0
    return _Cell(n, length, rerun, means)


def _stacked(cells: Sequence[_Cell], base: _Cell) -> ItemCells:
    means = np.array([cell.means for cell in cells]).reshape(len(cells), len(base.means))
    n = np.array([cell.n for cell in cells])
    length = np.array([cell.length for cell in cells])
    return ItemCells(
        here=(n > 0).astype(np.float64),
        repeated=(n > 1).astype(np.float64),
        length=length,
        rerun=np.array([cell.rerun for cell in cells]),
        means=means,
        square=(means * means).sum(axis=1),
        from_baseline=np.where(n > 0, (length + base.length) / 2 - means @ base.means, 0.0),
        baseline_rerun=base.rerun if base.n > 1 else math.nan,
    )


def arm_values(cells: Cells, dealt: Floats) -> dict[str, Floats]:
    """The measures of each arm, shape (dealings, arms); NaN where there is none.

    Args:
        dealt: 1 where a cell belongs to an arm, shape (dealings, arms, cells).
    """
    flat = dealt.reshape(-1, dealt.shape[2])
    spread = _spread(cells, flat)
    found = {
        "share_who": 1 - _ratio(spread.rerun, spread.between),
        "var_answers": spread.between,
        "from_baseline": _from_baseline(cells, flat),
        "em_strict": _arm_means(cells.em_strict, flat),
    }
    return {name: values.reshape(dealt.shape[:2]) for name, values in found.items()}


class _Spread(NamedTuple):
    rerun: Floats
    between: Floats


def _spread(cells: Cells, flat: Floats) -> _Spread:
    """Mean difference of two answers of one puppet, and of two puppets; means over the items.

    Where some puppet answers twice, only items with both count, as in `variance`.
    """
    rerun, between, count = (np.zeros(len(flat)) for _ in range(3))
    for item in cells.items:
        apart = _apart(item, flat)
        again = _ratio(flat @ item.rerun, flat @ item.repeated)
        known = np.isfinite(apart) & (np.isfinite(again) | (cells.n_repeated == 0))
        rerun += np.where(known, again, 0.0)
        between += np.where(known, apart, 0.0)
        count += known
    return _Spread(_ratio(rerun, count), _ratio(between, count))


def _from_baseline(cells: Cells, flat: Floats) -> Floats:
    """Half the squared distance of an arm's mean answer from the baseline's, mean over the items.

    The mean difference of an arm's and a baseline's answers, less half of each side's own: without
    bias, as the variance of the answers themselves is taken off.
    """
    total, count = np.zeros(len(flat)), np.zeros(len(flat))
    for item in cells.items:
        away = _ratio(flat @ item.from_baseline, flat @ item.here)
        distance = away - (_apart(item, flat) + item.baseline_rerun) / 2
        known = np.isfinite(distance)
        total += np.where(known, distance, 0.0)
        count += known
    return _ratio(total, count)


def _apart(item: ItemCells, flat: Floats) -> Floats:
    """Mean difference of two puppets' answers."""
    n = flat @ item.here
    pairs = ((flat @ item.means) ** 2).sum(axis=1) - flat @ item.square
    return _ratio(flat @ item.length, n) - _ratio(pairs, n * (n - 1))


def _arm_means(values: Floats, flat: Floats) -> Floats:
    known = np.isfinite(values)
    return _ratio(flat @ np.where(known, values, 0.0), flat @ known.astype(np.float64))


def _ratio(above: Floats, below: Floats) -> Floats:
    quotient = np.full(below.shape, np.nan)
    np.divide(above, below, out=quotient, where=below > 0)
    return quotient

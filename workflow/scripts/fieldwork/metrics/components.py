"""Components of the variance of answers: within a puppet, between puppets, between prompts.

Owns the arrays behind `variance`. A cell is one puppet's answers to one item, m its mean indicator
vector. Over pairs of answers, half the squared distance has the mean `var_rerun` within a cell
and `var_answers` over two puppets' cells of an item. Both are unbiased for any numbers of answers, since
each puppet counts alike within an item, and each item alike. Offline answers are one cell an item.
"""

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import NamedTuple

import numpy as np

from fieldwork.estimates.answer_sets import ItemAnswers
from fieldwork.statistics.arrays import Floats, Indices


class Components(NamedTuple):
    """Mean half squared distance of two answers; NaN where no pair exists."""

    var_rerun: float
    var_answers: float


class ComponentArrays(NamedTuple):
    """The same, of several samples or of several items."""

    var_rerun: Floats
    var_answers: Floats


class AnswerLayout(NamedTuple):
    """Answers as flat arrays, ordered by item and puppet.

    A slot is a place for the count of one option in one cell; a cell's slots are adjacent.
    """

    items: list[str]
    puppets: list[str]
    cell_item: Indices
    cell_puppet: Indices
    cell_n: Indices
    cell_slot: Indices
    slot_cell: Indices
    slot_option: Indices
    answer_cell: Indices
    answer_length: Indices
    entry_answer: Indices
    entry_place: Indices
    n_options: int

    @property
    def n_puppets(self) -> int:
        """Puppets with an answer."""
        return len(self.puppets)

    @property
    def n_repeated(self) -> int:
        """Cells with two answers or more."""
        return int((self.cell_n > 1).sum())

    @property
    def has_puppets(self) -> bool:
        """Whether the answers have users."""
        return self.puppets != [""]


def lay_out(items: Mapping[str, ItemAnswers]) -> AnswerLayout:
    """Put answers into arrays; items without an answer are left out."""
    names = [name for name, answers in items.items() if answers.answers]
    places = [_places(items[name]) for name in names]
    options = _numbers(option for place in places for option in place)
    puppets = _numbers(a.puppet for name in names for a in items[name].answers)
    cells: list[tuple[int, int, int]] = []
    entries: list[tuple[int, int]] = []
    lengths: list[int] = []
    for number, name in enumerate(names):
        for puppet, group in groupby(items[name].answers, key=lambda answer: answer.puppet):
            answers = list(group)
            cells.append((number, puppets[puppet], len(answers)))
            for answer in answers:
                entries += [(len(lengths), places[number][o]) for o in answer.options]
                lengths.append(len(answer.options))
    table = np.array(cells, dtype=np.int64).reshape(-1, 3)
    widths = np.array([len(places[item]) for item in table[:, 0]], dtype=np.int64)
    slots = [options[option] for item in table[:, 0] for option in places[item]]
    entry = np.array(entries, dtype=np.int64).reshape(-1, 2)
    return AnswerLayout(
        items=names,
        puppets=list(puppets),
        cell_item=table[:, 0],
        cell_puppet=table[:, 1],
        cell_n=table[:, 2],
        cell_slot=np.cumsum(widths) - widths,
        slot_cell=np.repeat(np.arange(len(table)), widths),
        slot_option=np.array(slots, dtype=np.int64),
        answer_cell=np.repeat(np.arange(len(table)), table[:, 2]),
        answer_length=np.array(lengths, dtype=np.int64),
        entry_answer=entry[:, 0],
        entry_place=entry[:, 1],
        n_options=len(options),
    )


def _places(answers: ItemAnswers) -> dict[str, int]:
    return _numbers(option for answer in answers.answers for option in answer.options)


def _numbers(names: Iterable[str]) -> dict[str, int]:
    return {name: number for number, name in enumerate(sorted(set(names)))}


class _CellValues(NamedTuple):
    """Of each cell: mean length, squared length of its mean vector, and its product with the item's.

    `means` are the entries of the mean vectors, one a slot.
    """

    length: Floats
    square: Floats
    cross: Floats
    means: Floats


def _cells(layout: AnswerLayout) -> _CellValues:
    counts = _slot_counts(layout, layout.answer_cell)
    means = counts / layout.cell_n[layout.slot_cell]
    # one number for each item and option
    place = layout.cell_item[layout.slot_cell] * layout.n_options + layout.slot_option
    totals = np.bincount(place, weights=means)
    length = np.bincount(layout.answer_cell, weights=layout.answer_length) / layout.cell_n
    square = np.add.reduceat(means * means, layout.cell_slot)
    cross = np.add.reduceat(means * totals[place], layout.cell_slot)
    return _CellValues(length, square, cross, means)


def _slot_counts(layout: AnswerLayout, answer_cell: Indices) -> Floats:
    slots = layout.cell_slot[answer_cell[layout.entry_answer]] + layout.entry_place
    return np.bincount(slots, minlength=len(layout.slot_cell)).astype(np.float64)


def _rerun_distance(layout: AnswerLayout, cells: _CellValues) -> Floats:
    """Mean over the pairs of answers of a cell; NaN for a cell of one."""
    n = np.where(layout.cell_n > 1, layout.cell_n, np.nan)
    distance: Floats = n / (n - 1) * (cells.length - cells.square)
    return distance


class _ItemSums(NamedTuple):
    """Sums over the cells of each item."""

    n: Floats
    n_repeated: Floats
    length: Floats
    square: Floats
    cross: Floats
    rerun: Floats


def _items(layout: AnswerLayout, cells: _CellValues) -> _ItemSums:
    is_repeated = layout.cell_n > 1

    def add(values: Floats) -> Floats:
        return _sum_by(layout.cell_item, values, len(layout.items))

    return _ItemSums(
        n=add(np.ones(len(layout.cell_n))),
        n_repeated=add(is_repeated.astype(np.float64)),
        length=add(cells.length),
        square=add(cells.square),
        cross=add(cells.cross),
        rerun=add(np.where(is_repeated, _rerun_distance(layout, cells), 0.0)),
    )


def _distance_of_cells(n: Floats, length: Floats, pairs: Floats) -> Floats:
    """Mean half squared distance over pairs of cells; `pairs` sums products over ordered pairs."""
    distance: Floats = _ratio(length, n) - _ratio(pairs, n * (n - 1))
    return distance


def _ratio(above: Floats, below: Floats) -> Floats:
    quotient = np.full(len(below), np.nan)
    np.divide(above, below, out=quotient, where=below > 0)
    return quotient


def split_items(layout: AnswerLayout) -> ComponentArrays:
    """Components of each item."""
    if not layout.items:
        return ComponentArrays(np.empty(0), np.empty(0))
    sums = _items(layout, _cells(layout))
    var_answers = _distance_of_cells(sums.n, sums.length, sums.cross - sums.square)
    return ComponentArrays(_ratio(sums.rerun, sums.n_repeated), var_answers)


def split(layout: AnswerLayout) -> Components:
    """Means over the items that have both components.

    Without such an item, `var_answers` alone where there are two puppets, else `var_rerun` alone.
    """
    var_rerun, var_answers = split_items(layout)
    has_both = np.isfinite(var_rerun) & np.isfinite(var_answers)
    if has_both.any():
        return Components(float(var_rerun[has_both].mean()), float(var_answers[has_both].mean()))
    if np.isfinite(var_answers).any():
        return Components(float("nan"), _mean(var_answers))
    return Components(_mean(var_rerun), float("nan"))


def _mean(values: Floats) -> float:
    finite = values[np.isfinite(values)]
    return float(finite.mean()) if len(finite) else float("nan")


def leave_one_out(layout: AnswerLayout) -> ComponentArrays:
    """`split` without each puppet in turn, over the items that have both components.

    NaN where an item is left without one.
    """
    cells = _cells(layout)
    sums = _items(layout, cells)
    arrays = split_items(layout)
    has_both = np.isfinite(arrays.var_rerun) & np.isfinite(arrays.var_answers)
    item = layout.cell_item
    is_repeated = layout.cell_n > 1
    rerun = np.where(is_repeated, _rerun_distance(layout, cells), 0.0)
    var_rerun = _ratio(sums.rerun[item] - rerun, sums.n_repeated[item] - is_repeated)
    pairs = sums.cross[item] - 2 * cells.cross + cells.square - (sums.square[item] - cells.square)
    var_answers = _distance_of_cells(sums.n[item] - 1, sums.length[item] - cells.length, pairs)
    parts = zip(split(layout), (var_rerun, var_answers), arrays, strict=True)
    return ComponentArrays(
        *(
            mean
            + _sum_by_puppet(layout, np.where(has_both[item], rest - full[item], 0.0))
            / has_both.sum()
            for mean, rest, full in parts
        )
    )


def _sum_by_puppet(layout: AnswerLayout, values: Floats) -> Floats:
    return _sum_by(layout.cell_puppet, values, layout.n_puppets)


def _sum_by(groups: Indices, values: Floats, n_groups: int) -> Floats:
    return np.bincount(groups, weights=values, minlength=n_groups).astype(np.float64)


def prompt_variance(layout: AnswerLayout) -> float:
    """Half the mean squared distance of two items' mean answers, unbiased; NaN for one item.

    Products of mean vectors are taken over pairs of different puppets, as one puppet's answers to
    two items may be correlated; offline over all pairs.
    """
    var_rerun, var_answers = split_items(layout)
    item_variance = var_answers if layout.has_puppets else var_rerun
    is_finite = np.isfinite(item_variance)
    n_items = float(is_finite.sum())
    if n_items < 2:
        return float("nan")
    cells = _cells(layout)
    sums = _items(layout, cells)
    same_item = float((_ratio(sums.length, sums.n) - item_variance)[is_finite].mean())
    weight = np.where(is_finite, _ratio(np.ones(len(is_finite)), sums.n), 0.0)[layout.cell_item]
    spread = cells.means * weight[layout.slot_cell]
    products = _off_diagonal(layout, spread, layout.cell_item * 0, layout.cell_item)
    chances = n_items * (n_items - 1)
    if layout.has_puppets:
        products -= _off_diagonal(layout, spread, layout.cell_puppet, np.arange(len(weight)))
        chances -= float((_sum_by_puppet(layout, weight) ** 2).sum() - (weight**2).sum())
    return same_item - products / chances if chances > 0 else float("nan")


def _off_diagonal(layout: AnswerLayout, spread: Floats, outer: Indices, inner: Indices) -> float:
    """Sum of products of vectors over pairs with equal `outer` and different `inner` group."""

    def squares(groups: Indices) -> float:
        place = groups[layout.slot_cell] * layout.n_options + layout.slot_option
        return float((np.bincount(place, weights=spread) ** 2).sum())

    return squares(outer) - squares(inner)


def permuted_rerun(
    layout: AnswerLayout, *, n_permutations: int, random: np.random.Generator
) -> Floats:
    """The rerun component with the answers to each item dealt to its puppets at random.

    If who asks makes no difference, all deals are equally likely.
    """
    var_rerun, var_answers = split_items(layout)
    has_both = np.isfinite(var_rerun) & np.isfinite(var_answers)
    is_repeated = layout.cell_n > 1
    share = _ratio(np.ones(len(has_both)), _items(layout, _cells(layout)).n_repeated)
    n = np.where(is_repeated, layout.cell_n, 2).astype(np.float64)
    weight = np.where(is_repeated & has_both[layout.cell_item], n / (n - 1), 0.0)
    weight = weight * np.nan_to_num(share)[layout.cell_item] / has_both.sum()
    item = layout.cell_item[layout.answer_cell].astype(np.float64)
    components = np.empty(n_permutations)
    cell_of = np.empty_like(layout.answer_cell)
    for k in range(n_permutations):
        # answers lie in order of items, so that adding less than 1 shuffles within an item
        cell_of[np.argsort(item + random.random(len(item)))] = layout.answer_cell
        counts = _slot_counts(layout, cell_of)
        squares = np.add.reduceat(counts * counts, layout.cell_slot)
        lengths = np.bincount(cell_of, weights=layout.answer_length, minlength=len(weight))
        components[k] = float((weight * (lengths / n - squares / (n * n))).sum())
    return components

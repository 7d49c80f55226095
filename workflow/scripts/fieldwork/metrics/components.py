"""Components of the variance of answers: within a puppet, between puppets, between prompts.

Owns the arrays behind `variance`. A cell is one puppet's answers to one item, m its mean indicator
vector. Over pairs of answers, half the squared distance has the mean `rerun` within a cell and
`between` over two puppets' cells of an item; both are unbiased for any numbers of answers, since
each puppet counts alike within an item, and each item alike. Offline answers are one cell an item.
"""

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import NamedTuple

import numpy as np

from fieldwork.metrics.answer_sets import ItemAnswers
from fieldwork.statistics.arrays import Floats, Indices


class Components(NamedTuple):
    """Mean half squared distance of two answers; NaN where no pair exists."""

    rerun: float
    between: float


class ComponentArrays(NamedTuple):
    """The same, of several samples or of several items."""

    rerun: Floats
    between: Floats


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
        """Whether anybody asks."""
        return self.puppets != [""]


def lay_out(items: Mapping[str, ItemAnswers]) -> AnswerLayout:
    """Put answers into arrays; items without an answer are left out."""
    names = [name for name, answers in items.items() if answers.answers]
    places = [_places(items[name]) for name in names]
    options = _numbered(option for place in places for option in place)
    puppets = _numbered(a.puppet for name in names for a in items[name].answers)
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
    return _numbered(option for answer in answers.answers for option in answer.options)


def _numbered(names: Iterable[str]) -> dict[str, int]:
    return {name: number for number, name in enumerate(sorted(set(names)))}


class _Cells(NamedTuple):
    """Of each cell: mean length, squared length of its mean vector, and its product with the item's.

    `means` are the entries of the mean vectors, one a slot.
    """

    length: Floats
    square: Floats
    cross: Floats
    means: Floats


def _cells(layout: AnswerLayout) -> _Cells:
    counts = _slot_counts(layout, layout.answer_cell)
    means = counts / layout.cell_n[layout.slot_cell]
    # one number for each item and option
    place = layout.cell_item[layout.slot_cell] * layout.n_options + layout.slot_option
    totals = np.bincount(place, weights=means)
    length = np.bincount(layout.answer_cell, weights=layout.answer_length) / layout.cell_n
    square = np.add.reduceat(means * means, layout.cell_slot)
    cross = np.add.reduceat(means * totals[place], layout.cell_slot)
    return _Cells(length, square, cross, means)


def _slot_counts(layout: AnswerLayout, answer_cell: Indices) -> Floats:
    slots = layout.cell_slot[answer_cell[layout.entry_answer]] + layout.entry_place
    return np.bincount(slots, minlength=len(layout.slot_cell)).astype(np.float64)


def _within(layout: AnswerLayout, cells: _Cells) -> Floats:
    """Mean over the pairs of answers of a cell; NaN for a cell of one."""
    n = np.where(layout.cell_n > 1, layout.cell_n, np.nan)
    within: Floats = n / (n - 1) * (cells.length - cells.square)
    return within


class _Items(NamedTuple):
    """Sums over the cells of each item."""

    n: Floats
    n_repeated: Floats
    length: Floats
    square: Floats
    cross: Floats
    within: Floats


def _items(layout: AnswerLayout, cells: _Cells) -> _Items:
    within = _within(layout, cells)
    repeated = layout.cell_n > 1

    def add(values: Floats) -> Floats:
        return _sum_by(layout.cell_item, values, len(layout.items))

    return _Items(
        n=add(np.ones(len(layout.cell_n))),
        n_repeated=add(repeated.astype(np.float64)),
        length=add(cells.length),
        square=add(cells.square),
        cross=add(cells.cross),
        within=add(np.where(repeated, within, 0.0)),
    )


def _between(n: Floats, length: Floats, pairs: Floats) -> Floats:
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
    between = _between(sums.n, sums.length, sums.cross - sums.square)
    return ComponentArrays(_ratio(sums.within, sums.n_repeated), between)


def split(layout: AnswerLayout) -> Components:
    """Means over the items that have both components.

    Without such an item, `between` alone where there are two puppets, else `rerun` alone.
    """
    found = split_items(layout)
    both = np.isfinite(found.rerun) & np.isfinite(found.between)
    if both.any():
        return Components(float(found.rerun[both].mean()), float(found.between[both].mean()))
    if np.isfinite(found.between).any():
        return Components(float("nan"), _mean(found.between))
    return Components(_mean(found.rerun), float("nan"))


def _mean(values: Floats) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else float("nan")


def leave_one_out(layout: AnswerLayout) -> ComponentArrays:
    """`split` without each puppet in turn, over the items that have both components.

    NaN where an item is left without one.
    """
    cells = _cells(layout)
    sums = _items(layout, cells)
    found = split_items(layout)
    both = np.isfinite(found.rerun) & np.isfinite(found.between)
    at = layout.cell_item
    repeated = layout.cell_n > 1
    within = np.where(repeated, _within(layout, cells), 0.0)
    rerun = _ratio(sums.within[at] - within, sums.n_repeated[at] - repeated)
    pairs = sums.cross[at] - 2 * cells.cross + cells.square - (sums.square[at] - cells.square)
    between = _between(sums.n[at] - 1, sums.length[at] - cells.length, pairs)
    used = both[at]
    return ComponentArrays(
        *(
            mean + _by_puppet(layout, np.where(used, moved - whole[at], 0.0)) / both.sum()
            for mean, moved, whole in zip(split(layout), (rerun, between), found, strict=True)
        )
    )


def _by_puppet(layout: AnswerLayout, values: Floats) -> Floats:
    return _sum_by(layout.cell_puppet, values, layout.n_puppets)


def _sum_by(groups: Indices, values: Floats, n_groups: int) -> Floats:
    return np.bincount(groups, weights=values, minlength=n_groups).astype(np.float64)


def prompt_variance(layout: AnswerLayout) -> float:
    """Half the mean squared distance of two items' mean answers, unbiased; NaN for one item.

    Products of mean vectors are taken over pairs of different puppets, as one puppet's answers to
    two items may hang together; offline over all pairs.
    """
    found = split_items(layout)
    inner = found.between if layout.has_puppets else found.rerun
    known = np.isfinite(inner)
    if known.sum() < 2:
        return float("nan")
    cells = _cells(layout)
    sums = _items(layout, cells)
    same_item = float((_ratio(sums.length, sums.n) - inner)[known].mean())
    weight = np.where(known, _ratio(np.ones(len(known)), sums.n), 0.0)[layout.cell_item]
    spread = cells.means * weight[layout.slot_cell]
    products = _off_diagonal(layout, spread, layout.cell_item * 0, layout.cell_item)
    chances = float(known.sum()) * (float(known.sum()) - 1)
    if layout.has_puppets:
        products -= _off_diagonal(layout, spread, layout.cell_puppet, np.arange(len(weight)))
        chances -= float((_by_puppet(layout, weight) ** 2).sum() - (weight**2).sum())
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

    If nobody's answers differ from anybody's, all deals are equally likely.
    """
    found = split_items(layout)
    both = np.isfinite(found.rerun) & np.isfinite(found.between)
    repeated = layout.cell_n > 1
    share = _ratio(np.ones(len(both)), _items(layout, _cells(layout)).n_repeated)
    n = np.where(repeated, layout.cell_n, 2).astype(np.float64)
    weight = np.where(repeated & both[layout.cell_item], n / (n - 1), 0.0)
    weight = weight * np.nan_to_num(share)[layout.cell_item] / both.sum()
    item = layout.cell_item[layout.answer_cell].astype(np.float64)
    drawn = np.empty(n_permutations)
    dealt = np.empty_like(layout.answer_cell)
    for k in range(n_permutations):
        # answers lie in order of items, so that adding less than 1 shuffles within an item
        dealt[np.argsort(item + random.random(len(item)))] = layout.answer_cell
        counts = _slot_counts(layout, dealt)
        squares = np.add.reduceat(counts * counts, layout.cell_slot)
        lengths = np.bincount(dealt, weights=layout.answer_length, minlength=len(weight))
        drawn[k] = float((weight * (lengths / n - squares / (n * n))).sum())
    return drawn

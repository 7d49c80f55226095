"""Mean distances of answers: within a cell, between cells, and without each unit.

Owns the arrays behind `variance`, `users_and_contexts` and `arm_tests`. A cell is what one unit answers
to an item: a puppet, in one context or under one condition; without users all answers to an item are one
cell. The distance of two answers is half the squared distance of their indicator vectors, half the number
of options in which they differ. Its mean over pairs of answers within a cell (`rerun`) and over two cells
(`two_cells`) is unbiased for any numbers of answers, since each cell counts alike within an item, and
each item alike.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from string import ascii_uppercase
from typing import NamedTuple

import numpy as np

from fieldwork.estimates.answer_sets import ItemAnswers, Options, StatedShares
from fieldwork.estimates.samples import indicator_of
from fieldwork.statistics.arrays import Counts, Flags, Floats, Indices


class ItemCells(NamedTuple):
    """The cells of an item.

    Attributes:
        units: number of each cell's unit; shape (cells,), as the next three.
        n_answers: answers of the cell.
        length: mean number of options of its answers.
        rerun: mean distance of two of its answers, NaN with fewer than two.
        means: mean indicator vectors, shape (cells, options).
        indicator: which options each answer names, cell by cell, shape (answers, options).
        options: names of the columns, in alphabetical order.
        is_stated: whether means are probabilities that answers state, of letters; then `indicator` still
            has the letters drawn.
    """

    units: Indices
    n_answers: Indices
    length: Floats
    rerun: Floats
    means: Floats
    indicator: Counts
    options: Sequence[str]
    is_stated: bool = False

    def with_probabilities(self, letter_shares: StatedShares) -> "ItemCells":
        """The cells with the probabilities of their letters in the place of letters drawn.

        Two answers of one cell then differ with the chance that two draws do; without users there is one
        cell, whose probabilities are the mean of all calls.
        """
        means = (
            letter_shares.shares
            if letter_shares.has_users
            else letter_shares.shares.mean(axis=0, keepdims=True)
        )
        return self._replace(
            length=np.ones(len(means)),
            rerun=1 - (means**2).sum(axis=1),
            means=means,
            options=ascii_uppercase[: means.shape[1]],
            is_stated=True,
        )


class Cells(NamedTuple):
    """The cells of several items; units are numbered in alphabetical order."""

    items: Mapping[str, ItemCells]
    units: list[str]

    @property
    def has_puppets(self) -> bool:
        """Whether the answers have users."""
        return self.units != [""]

    @property
    def is_stated(self) -> bool:
        """Whether all of them are probabilities that answers state."""
        return bool(self.items) and all(item.is_stated for item in self.items.values())

    @property
    def n_repeated(self) -> int:
        """Cells with two answers or more."""
        return sum(int((item.n_answers > 1).sum()) for item in self.items.values())

    @property
    def n_answers(self) -> int:
        """Answers of all cells."""
        return sum(int(item.n_answers.sum()) for item in self.items.values())

    def distances(self) -> "Distances":
        """Means over items of all units, then without each: shape (1 + units,)."""
        return mean_distances(distances_without_each(self.items.values(), len(self.units)))


class Distances(NamedTuple):
    """Mean distances of two answers of one cell, and of two cells; NaN where there is no pair."""

    rerun: Floats
    two_cells: Floats


def item_cells(cells: Sequence[tuple[int, Sequence[Options]]]) -> ItemCells:
    """The cells of an item, from the unit and the answers of each."""
    replies = [options for _, of_cell in cells for options in of_cell]
    n = np.array([len(of_cell) for _, of_cell in cells], dtype=np.int64)
    indicator = indicator_of(replies)
    counts = np.add.reduceat(indicator, np.cumsum(n) - n)
    length, means = counts.sum(axis=1) / n, counts / n[:, None]
    pairs = np.where(n > 1, n, np.nan)
    return ItemCells(
        units=np.array([unit for unit, _ in cells], dtype=np.int64),
        n_answers=n,
        length=length,
        rerun=pairs / (pairs - 1) * (length - (means**2).sum(axis=1)),
        means=means,
        indicator=indicator.astype(np.int8),
        options=sorted({option for options in replies for option in options}),
    )


def cells_of(items: Mapping[str, ItemAnswers]) -> Cells:
    """Answers by item and puppet; items without an answer are left out.

    Where every item's answers state the probabilities of letters, these are the cells' means.
    """
    answers_by_item = {name: item.answers for name, item in items.items() if item.answers}
    units = sorted({answer.puppet for answers in answers_by_item.values() for answer in answers})
    places = {unit: place for place, unit in enumerate(units)}
    cells = {
        name: item_cells(
            [
                (places[puppet], [answer.options for answer in group])
                for puppet, group in groupby(answers, key=lambda answer: answer.puppet)
            ]
        )
        for name, answers in answers_by_item.items()
    }
    letter_shares = {name: items[name].stated_shares() for name in cells}
    if all(letter_shares.values()):
        cells = {
            name: cell.with_probabilities(shares)
            for name, cell in cells.items()
            if (shares := letter_shares[name])
        }
    return Cells(cells, units)


Sums = Callable[[Floats], Floats]
"""Sums over the cells of samples, from shape (cells, ...) to (samples, ...)."""


def item_distances(items: Iterable[ItemCells], members: Floats) -> Distances:
    """The mean distances of each item in each sample: shape (items, ...).

    Args:
        members: 1 where a unit is in a sample, shape (..., units).
    """
    return _stack(
        [cell_distances(item, members[..., item.units].__matmul__) for item in items],
        members.shape[:-1],
    )


def distances_without_each(items: Iterable[ItemCells], n_units: int) -> Distances:
    """The mean distances of each item, then without each unit: shape (items, 1 + units)."""
    return _stack([_without_each(item, n_units) for item in items], (1 + n_units,))


def _without_each(item: ItemCells, n_units: int) -> Distances:
    places = np.zeros(1 + n_units, dtype=np.int64)
    places[1 + item.units] = 1 + np.arange(len(item.units))
    rerun, two_cells = cell_distances(item, _all_and_rests)
    return Distances(rerun[places], two_cells[places])


def _all_and_rests(values: Floats) -> Floats:
    total = values.sum(axis=0, keepdims=True)
    return np.concatenate([total, total - values])


def _stack(parts: Sequence[Distances], shape: tuple[int, ...]) -> Distances:
    sides = ([part.rerun for part in parts], [part.two_cells for part in parts])
    return Distances(*(np.array(side, dtype=np.float64).reshape(-1, *shape) for side in sides))


def cell_distances(item: ItemCells, add: Sums) -> Distances:
    """The mean distances of an item in samples of its cells."""
    is_repeated = np.isfinite(item.rerun).astype(np.float64)
    n = add(np.ones(len(item.units)))
    products = (add(item.means) ** 2).sum(axis=-1) - add((item.means**2).sum(axis=1))
    return Distances(
        ratio(add(np.where(is_repeated, item.rerun, 0.0)), add(is_repeated)),
        ratio(add(item.length), n) - ratio(products, n * (n - 1)),
    )


def mean_distances(of_items: Distances) -> Distances:
    """Means over the items of which the first sample has both distances; NaN without one of them.

    Where no item has both, `two_cells` is over the items that have it, and `rerun` is known only where no
    item has two cells.

    Args:
        of_items: of shape (items, samples, ...).
    """
    has_rerun, has_two_cells = (np.isfinite(part[:, :1]) for part in of_items)
    has_both = has_rerun & has_two_cells
    return Distances(
        item_means(of_items.rerun, has_both | (has_rerun & ~has_two_cells.any(axis=0))),
        item_means(of_items.two_cells, has_both | (has_two_cells & ~has_both.any(axis=0))),
    )


def item_means(values: Floats, is_counted: Flags) -> Floats:
    """Means over the items that count, the first axis; NaN where there is none, or one is NaN."""
    counts = np.broadcast_to(is_counted, values.shape)
    return ratio(np.where(counts, values, 0.0).sum(axis=0), counts.sum(axis=0))


def ratio(above: Floats, below: Floats) -> Floats:
    """The quotient, NaN where the denominator is not above 0."""
    quotient = np.full(np.shape(below), np.nan)
    np.divide(above, below, out=quotient, where=below > 0)
    return quotient


def prompt_variance(cells: Cells) -> float:
    """Half the mean squared distance of two items' mean answers, unbiased; NaN for one item.

    Products of mean vectors are taken over pairs of different puppets, as one puppet's answers to
    two items may be correlated; offline over all pairs.
    """
    of_items = item_distances(cells.items.values(), np.ones(len(cells.units)))
    variances = of_items.two_cells if cells.has_puppets else of_items.rerun
    items = [
        item
        for item, variance in zip(cells.items.values(), variances, strict=True)
        if math.isfinite(variance)
    ]
    n_pairs = float(len(items) * (len(items) - 1))
    if not n_pairs:
        return math.nan
    columns = {
        name: k for k, name in enumerate(sorted({o for item in items for o in item.options}))
    }
    totals, weights = np.zeros((len(cells.units), len(columns))), np.zeros(len(cells.units))
    products = 0.0
    for item in items:
        spread = item.means / len(item.units)
        places = np.array([columns[option] for option in item.options])
        totals[np.ix_(item.units, places)] += spread
        weights[item.units] += 1 / len(item.units)
        products -= float((spread.sum(axis=0) ** 2).sum())
        if cells.has_puppets:
            products += float((spread**2).sum())
            n_pairs += 1 / len(item.units)
    products += float((totals.sum(axis=0) ** 2).sum())
    if cells.has_puppets:
        products -= float((totals**2).sum())
        n_pairs -= float((weights**2).sum())
    lengths = [float(item.length.mean()) for item in items]
    same_item = float(np.mean(np.array(lengths) - variances[np.isfinite(variances)]))
    return same_item - products / n_pairs if n_pairs > 0 else math.nan


def has_reruns_and_pairs(item: ItemCells) -> bool:
    """Whether an item has two cells, and one of them two answers."""
    return len(item.units) > 1 and bool((item.n_answers > 1).any())


def permuted_rerun(
    items: Sequence[ItemCells], *, n_permutations: int, random: np.random.Generator
) -> Floats:
    """The mean distance of reruns with the answers to each item dealt to its cells at random.

    Over the items with `has_reruns_and_pairs`, at least one. If who asks makes no difference, all deals
    are equally likely. The first is that of the true cells: shape (1 + permutations,).
    """
    n_cells = [len(item.units) for item in items]
    item_of, n = (
        np.repeat(np.arange(len(items)), n_cells),
        np.concatenate([i.n_answers for i in items]),
    )
    has_pair = np.array([has_reruns_and_pairs(item) for item in items])
    is_counted = (n > 1) & has_pair[item_of]
    weights = is_counted / np.maximum(np.bincount(item_of, n > 1), 1)[item_of] / has_pair.sum()
    pair_weights = weights * n / np.maximum(n - 1, 1)
    # a slot is a place for the count of one option in one cell; a cell's slots are adjacent
    widths = np.repeat([len(item.options) for item in items], n_cells)
    slots, n_slots = np.cumsum(widths) - widths, int(widths.sum())
    entries = [np.nonzero(item.indicator) for item in items]
    ends = np.cumsum([int(item.n_answers.sum()) for item in items])
    answer = np.concatenate(
        [rows + end for (rows, _), end in zip(entries, [0, *ends[:-1]], strict=True)]
    )
    option = np.concatenate([columns for _, columns in entries])
    true_cells = np.repeat(np.arange(len(n)), n)
    lengths, item = (
        np.bincount(answer, minlength=len(true_cells)),
        item_of[true_cells].astype(float),
    )
    components, cell = np.empty(n_permutations + 1), true_cells.copy()
    for k in range(n_permutations + 1):
        if k:
            # answers lie in order of items, so that adding less than 1 shuffles within an item
            cell[np.argsort(item + random.random(len(item)))] = true_cells
        counts = np.bincount(slots[cell[answer]] + option, minlength=n_slots)
        squares = np.add.reduceat(counts * counts, slots)
        length = np.bincount(cell, weights=lengths, minlength=len(n))
        components[k] = float((pair_weights * (length / n - squares / (n * n))).sum())
    return components

"""Distances of answers in one context, in two contexts of one user, and of two users.

Owns the arrays behind `nests`. A cell is one user's answers to one item in one context. A distance is
half the squared distance of two answers' indicator vectors, as in `components`; its mean is taken over
pairs, then contexts, users and items, each alike, so that unequal numbers of answers move none.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from fieldwork.estimates.answer_sets import ItemAnswers, Options
from fieldwork.statistics.arrays import Flags, Floats, Indices


class NestedCell(NamedTuple):
    """The answers of a user to an item in one context."""

    item: str
    user: str
    context: str
    answers: list[Options]


class NestedDistances(NamedTuple):
    """Mean distances without each user in turn, at the end without none: shape (users + 1,).

    NaN where an item is left without a pair. `same` is NaN throughout where no answer is repeated.
    """

    same: Floats
    context: Floats
    other: Floats


class _NestItem(NamedTuple):
    """The cells of an item: mean lengths, mean indicator vectors (cells, options), distance of reruns."""

    user: Indices
    context: Indices
    length: Floats
    means: Floats
    rerun: Floats


class NestedLayout(NamedTuple):
    """Cells by item; contexts are numbered over all users."""

    users: list[str]
    context_user: Indices
    items: list[_NestItem]

    @property
    def context_pairs(self) -> Indices:
        """Pairs of contexts of one user: shape (pairs, 2)."""
        first, second = np.triu_indices(len(self.context_user), k=1)
        is_pair = self.context_user[first] == self.context_user[second]
        return np.stack([first[is_pair], second[is_pair]], axis=1)

    @property
    def n_nested(self) -> int:
        """Users with two contexts or more."""
        return int((np.bincount(self.context_user) > 1).sum())


def nest_cells(nest: Mapping[str, Mapping[str, ItemAnswers]]) -> Iterator[NestedCell]:
    """The cells of answers by condition and item; each condition has one context of each user."""
    for condition, items in nest.items():
        for item, answers in items.items():
            options: dict[str, list[Options]] = {}
            for answer in answers.answers:
                if answer.puppet:
                    options.setdefault(answer.puppet, []).append(answer.options)
            for user, user_answers in options.items():
                yield NestedCell(item, user, condition, user_answers)


def lay_out_nest(cells: Sequence[NestedCell]) -> NestedLayout:
    """Put cells into arrays."""
    users = sorted({cell.user for cell in cells})
    places = {user: place for place, user in enumerate(users)}
    names = sorted({(cell.user, cell.context) for cell in cells})
    contexts = {name: number for number, name in enumerate(names)}
    cells_by_item: dict[str, list[NestedCell]] = {}
    for cell in cells:
        cells_by_item.setdefault(cell.item, []).append(cell)
    return NestedLayout(
        users,
        np.array([places[user] for user, _ in names], dtype=np.int64),
        [_item_cells(group, places, contexts) for _, group in sorted(cells_by_item.items())],
    )


def _item_cells(
    cells: Sequence[NestedCell],
    places: Mapping[str, int],
    contexts: Mapping[tuple[str, str], int],
) -> _NestItem:
    options = sorted({o for cell in cells for answer in cell.answers for o in answer})
    columns = {option: column for column, option in enumerate(options)}
    n = np.array([len(cell.answers) for cell in cells], dtype=np.float64)
    counts = np.zeros((len(cells), len(options)))
    for row, cell in enumerate(cells):
        for answer in cell.answers:
            counts[row, [columns[option] for option in answer]] += 1
    length, means = counts.sum(axis=1) / n, counts / n[:, None]
    pairs = np.where(n > 1, n, np.nan)
    return _NestItem(
        user=np.array([places[cell.user] for cell in cells], dtype=np.int64),
        context=np.array([contexts[cell.user, cell.context] for cell in cells], dtype=np.int64),
        length=length,
        means=means,
        rerun=pairs / (pairs - 1) * (length - (means**2).sum(axis=1)),
    )


def nest_distances(layout: NestedLayout) -> NestedDistances:
    """Mean distances over the items that have all of them; reruns are left aside where none has any."""
    arrays = [_item_distances(item, len(layout.users)) for item in layout.items]
    whole = [a for a in arrays if np.isfinite(a.context[-1]) and np.isfinite(a.other[-1])]
    whole = [a for a in whole if np.isfinite(a.same[-1])] or whole
    if not whole:
        nothing = np.full(len(layout.users) + 1, np.nan)
        return NestedDistances(nothing, nothing, nothing)
    return NestedDistances(*(np.mean(part, axis=0) for part in zip(*whole, strict=True)))


def _item_distances(cells: _NestItem, n_users: int) -> NestedDistances:
    # the user behind the last has no answers, so that nobody is left out there
    size = n_users + 1

    def add(values: Floats) -> Floats:
        return np.bincount(cells.user, weights=values, minlength=size).astype(np.float64)

    n_contexts = add(np.ones(len(cells.user)))
    is_present = n_contexts > 0
    shares = np.zeros((size, cells.means.shape[1]))
    np.add.at(shares, cells.user, cells.means)
    length = add(cells.length) / np.maximum(n_contexts, 1)
    squares = add((cells.means**2).sum(axis=1))
    is_nested = n_contexts > 1
    n_pairs = np.where(is_nested, n_contexts * (n_contexts - 1), 1)
    context = length - ((shares**2).sum(axis=1) - squares) / n_pairs
    is_repeated = np.isfinite(cells.rerun)
    n_repeated = add(is_repeated.astype(np.float64))
    same = add(np.where(is_repeated, cells.rerun, 0.0)) / np.maximum(n_repeated, 1)
    means = shares / np.maximum(n_contexts, 1)[:, None]
    return NestedDistances(
        same=_mean_without_each(same, n_repeated > 0),
        context=_mean_without_each(context, is_nested),
        other=_between_users(length, means, is_present),
    )


def _mean_without_each(values: Floats, counts: Flags) -> Floats:
    values, weight = np.where(counts, values, 0.0), counts.astype(np.float64)
    return _ratio(values.sum() - values, weight.sum() - weight)


def _between_users(length: Floats, means: Floats, is_present: Flags) -> Floats:
    """Mean over ordered pairs of users, without each: lengths less the product of the mean vectors."""
    n = is_present.sum() - is_present.astype(np.float64)
    squares = (means**2).sum(axis=1)
    rest = means.sum(axis=0) - means
    products = (rest**2).sum(axis=1) - (squares.sum() - squares)
    distance: Floats = _ratio(length.sum() - length, n) - _ratio(products, n * (n - 1))
    return distance


def _ratio(above: Floats, below: Floats) -> Floats:
    quotient = np.full(len(below), np.nan)
    np.divide(above, below, out=quotient, where=below > 0.5)
    return quotient


def dealt_context_distances(
    layout: NestedLayout, *, n_permutations: int, random: np.random.Generator
) -> Floats:
    """Mean distance of two contexts of one user, with contexts dealt anew among the users.

    The first is that of the true users: shape (n_permutations + 1,). If users make no difference beyond
    their contexts, all deals are equally likely; a context keeps all its answers.
    """
    n = len(layout.context_user)
    sums, n_items = np.zeros((n, n)), np.zeros((n, n))
    for cells in layout.items:
        lengths = (cells.length[:, None] + cells.length[None, :]) / 2
        square = np.ix_(cells.context, cells.context)
        sums[square] += lengths - cells.means @ cells.means.T
        n_items[square] += 1
    distances = np.divide(sums, n_items, out=np.full((n, n), np.nan), where=n_items > 0)
    first, second = layout.context_pairs.T
    deals = _deals(n, n_permutations, random)
    return np.array([np.nanmean(distances[deal[first], deal[second]]) for deal in deals])


def _deals(n: int, n_permutations: int, random: np.random.Generator) -> Iterable[Indices]:
    yield np.arange(n)
    for _ in range(n_permutations):
        yield random.permutation(n)

"""How often answers to a variant agree with those to its origin, beside two answers to the origin.

Owns letters that differ (`flips`) and options in common (`overlap`), what reruns of the origin give by
themselves, and the test of what is beyond that. Two answers of different reruns are compared, as two
answers to the origin are: a service may draw alike for one number of rerun.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from fieldwork.estimates.answer_sets import Options
from fieldwork.metrics.robustness.estimates import Form, bounded_mean, cell_values
from fieldwork.metrics.robustness.pairs import (
    Cell,
    Derivation,
    RobustnessSettings,
    TaskReplies,
    shared_cells,
    shared_reruns,
)
from fieldwork.metrics.robustness.rows import basis_of, robustness_row
from fieldwork.records.robustness import Robustness
from fieldwork.records.tasks import ItemKind
from fieldwork.statistics.arrays import Floats
from fieldwork.statistics.permutation import TIE, PermutationTest, random_p_value
from fieldwork.statistics.seeds import generator


class _Words(NamedTuple):
    """What agreement is called and how it is counted; forms are of a value and of a difference."""

    metric: str
    value: Form
    difference: Form


_WORDS: Mapping[ItemKind, _Words] = {
    "choice": _Words("flips", "share", "share_difference"),
    "scale": _Words("flips", "share", "share_difference"),
    "list": _Words("overlap", "value", "value_difference"),
}


class CellDistances(NamedTuple):
    """Distances between the answers of one cell, from 0 (same options) to 1 (none in common).

    `distances` has shape (2 x reruns, 2 x reruns): the origin's reruns first, then the variant's.
    """

    distances: Floats

    @property
    def n_reruns(self) -> int:
        """Reruns that both sides have."""
        return len(self.distances) // 2

    def of_sides(self) -> float:
        """Mean distance of answers of both sides, of different reruns where there are two."""
        n = self.n_reruns
        block = self.distances[:n, n:]
        return _mean_of_others(block) if n > 1 else float(block[0, 0])

    def of_reruns(self) -> float:
        """Mean distance of two reruns of the origin, of which there are two or more."""
        n = self.n_reruns
        return _mean_of_others(self.distances[:n, :n])

    def excess_of_swaps(self, swaps: Floats) -> Floats:
        """`of_sides` - `of_reruns` where the answers of some reruns change sides: shape (swaps,).

        Args:
            swaps: 1 for a rerun whose two answers change sides, shape (swaps, reruns).
        """
        n = self.n_reruns
        origin = np.hstack([1 - swaps, swaps])
        of_others = origin @ self.distances
        of_reruns = (of_others * origin).sum(axis=1)
        # the two answers of one rerun are on different sides however they are swapped
        of_sides = (of_others * (1 - origin)).sum(axis=1) - np.trace(self.distances[:n, n:])
        excess: Floats = (of_sides - of_reruns) / (n * (n - 1))
        return excess


def _mean_of_others(block: Floats) -> float:
    """Mean of a square block without its diagonal."""
    n = len(block)
    return (math.fsum(block.ravel().tolist()) - math.fsum(block.diagonal().tolist())) / (
        n * (n - 1)
    )


def jaccard_distances(replies: Sequence[Options]) -> Floats:
    """1 - the options in common / all options named, of each pair (Jaccard 1901)."""
    kinds = sorted(set(replies))
    sets = [frozenset(kind) for kind in kinds]
    of_kinds = np.array([[1 - len(a & b) / len(a | b) for b in sets] for a in sets])
    places = [kinds.index(reply) for reply in replies]
    distances: Floats = of_kinds[np.ix_(places, places)]
    return distances


def agreement_rows(derivation: Derivation, settings: RobustnessSettings) -> Iterator[Robustness]:
    """Rows about letters that differ, or options in common, for each variant."""
    for variant in derivation.variants:
        yield from _agreement(derivation, variant, settings)


def _agreement(
    derivation: Derivation, variant: TaskReplies, settings: RobustnessSettings
) -> Iterator[Robustness]:
    name, value, difference = _WORDS[derivation.kind]
    cells = _cell_distances(derivation.origin, variant)
    repeated_cells = {cell: of_cell for cell, of_cell in cells.items() if of_cell.n_reruns > 1}
    of_sides = {cell: of_cell.of_sides() for cell, of_cell in cells.items()}
    of_reruns = {cell: of_cell.of_reruns() for cell, of_cell in repeated_cells.items()}
    excess = {cell: of_sides[cell] - of_reruns[cell] for cell in repeated_cells}
    if derivation.kind == "list":
        of_sides, of_reruns = (
            {c: 1 - d for c, d in side.items()} for side in (of_sides, of_reruns)
        )
        excess = {cell: -distance for cell, distance in excess.items()}
    test = None
    if repeated_cells:
        random = generator(settings.seed, *derivation.names("agreement", variant.task))
        test = swap_test(repeated_cells, n_permutations=settings.n_permutations, random=random)
    origin = derivation.origin.task
    no_pair = f"no item is answered both in {origin} and in {variant.task}"
    no_rerun = f"no control: no item of {variant.task} is answered twice; raise runs or replicates"
    for metric, form, numbers in (
        (name, value, of_sides),
        (f"{name}_rerun", value, of_reruns),
        (f"excess_{name}", difference, excess),
    ):
        if not numbers:
            reason = no_rerun if cells else no_pair
            yield robustness_row(derivation, variant, metric, None, reason=reason)
            continue
        table = cell_values(numbers, has_users=derivation.has_users)
        # n reruns are compared with n - 1 others
        n_answers = max(1, min(cells[cell].n_reruns for cell in numbers) - 1)
        yield robustness_row(
            derivation,
            variant,
            metric,
            bounded_mean(table, form, settings, n_answers=n_answers),
            basis_of(table),
            test=test if numbers is excess else None,
        )


def _cell_distances(origin: TaskReplies, variant: TaskReplies) -> dict[Cell, CellDistances]:
    cells = {}
    for cell in shared_cells([origin.replies, variant.replies]):
        sides = origin.replies[cell], variant.replies[cell]
        reruns = shared_reruns(sides)
        if reruns:
            replies = [side[rerun] for side in sides for rerun in reruns]
            cells[cell] = CellDistances(jaccard_distances(replies))
    return cells


def swap_test(
    cells: Mapping[Cell, CellDistances], *, n_permutations: int, random: np.random.Generator
) -> PermutationTest:
    """Two-sided test that a variant is answered as its origin: answers of a rerun change sides.

    The two answers to an item of one user and rerun are swapped or not, by lot. Of cells with two reruns
    or more.
    """
    n_users: dict[str, int] = {}
    for cell in cells:
        n_users[cell.item_id] = n_users.get(cell.item_id, 0) + 1
    totals = np.zeros(n_permutations + 1)
    n_swaps = 0
    for cell, of_cell in cells.items():
        n = of_cell.n_reruns
        if not of_cell.distances.any():
            continue
        n_swaps += int((of_cell.distances[:n, n:].diagonal() > 0).sum())
        swaps = random.integers(0, 2, size=(n_permutations, n)).astype(np.float64)
        excess = of_cell.excess_of_swaps(np.vstack([np.zeros((1, n)), swaps]))
        totals += excess / n_users[cell.item_id]
    n_hits = int((np.abs(totals[1:]) >= abs(totals[0]) - TIE).sum())
    p_least = max(random_p_value(0, n_permutations), min(1.0, 0.5**n_swaps))
    return PermutationTest(random_p_value(n_hits, n_permutations), n_permutations, p_least)

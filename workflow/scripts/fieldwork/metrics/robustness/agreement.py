"""How often answers to a variant agree with those to its origin, beside two answers to the origin.

Owns letters that differ (`flips`) and options in common (`overlap`), what reruns of the origin give by
themselves, and the test of what is beyond that. Two answers of different reruns are compared, as two
answers to the origin are: a service may draw alike for one number of rerun.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from fieldwork.estimates.answer_sets import Options
from fieldwork.estimates.cell_means import CellTable, Form
from fieldwork.estimates.quantity import ChanceSettings
from fieldwork.metrics.robustness.replies import (
    Derivation,
    TaskReplies,
    by_cell,
    side_by_side,
)
from fieldwork.metrics.robustness.rows import missing_rows, robustness_row
from fieldwork.records.robustness import Robustness
from fieldwork.statistics.arrays import Floats
from fieldwork.statistics.permutation import PermutationTest, p_value_of_first, random_p_value


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
        """Mean distance of two reruns of the origin, NaN where there is one."""
        n = self.n_reruns
        return _mean_of_others(self.distances[:n, :n]) if n > 1 else math.nan

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
    rest = math.fsum(block.ravel().tolist()) - math.fsum(block.diagonal().tolist())
    return rest / (n * (n - 1))


def jaccard_distances(replies: Sequence[Options]) -> Floats:
    """1 - the options in common / all options named, of each pair (Jaccard 1901)."""
    kinds = sorted(set(replies))
    sets = [frozenset(kind) for kind in kinds]
    of_kinds = np.array([[1 - len(a & b) / len(a | b) for b in sets] for a in sets])
    places = [kinds.index(reply) for reply in replies]
    distances: Floats = of_kinds[np.ix_(places, places)]
    return distances


def agreement_rows(
    derivation: Derivation, variant: TaskReplies, settings: ChanceSettings
) -> Iterator[Robustness]:
    """Rows about letters that differ, or options in common."""
    is_list = derivation.arm.kind == "list"
    name: str = "overlap" if is_list else "flips"
    form: Form = "value" if is_list else "share"
    difference_form: Form = "value_difference" if is_list else "share_difference"
    cells = cell_distances(derivation.origin, variant)
    if not cells:
        reason = f"no item is answered both in {derivation.origin.task} and in {variant.task}"
        names = (name, f"{name}_rerun", f"excess_{name}")
        yield from missing_rows(derivation, variant, names, reason)
        return
    index = pd.MultiIndex.from_tuples(cells)
    of_sides, of_reruns = (
        pd.Series([side(cell) for cell in cells.values()], index)
        for side in (CellDistances.of_sides, CellDistances.of_reruns)
    )
    excess = (of_sides - of_reruns) * (-1 if is_list else 1)
    if is_list:
        of_sides, of_reruns = 1 - of_sides, 1 - of_reruns
    n_reruns = pd.Series([cell.n_reruns for cell in cells.values()], index)
    test = None
    if n_reruns.max() > 1:
        test = swap_test(
            {cell: of_cell for cell, of_cell in cells.items() if of_cell.n_reruns > 1},
            n_permutations=settings.n_permutations,
            random=settings.random(*derivation.names("agreement", variant.task)),
        )
    no_rerun = f"no control: no item of {variant.task} is answered twice; raise runs or replicates"
    for metric, metric_form, numbers in (
        (name, form, of_sides),
        (f"{name}_rerun", form, of_reruns),
        (f"excess_{name}", difference_form, excess),
    ):
        counted_cells = numbers.dropna()
        if counted_cells.empty:
            yield from missing_rows(derivation, variant, (metric,), no_rerun)
            continue
        table = CellTable.of(counted_cells, has_users=derivation.has_users)
        # n reruns are compared with n - 1 others
        n_answers = max(1, int(n_reruns[counted_cells.index].min()) - 1)
        quantity = table.quantity(metric_form, settings, n_answers=n_answers)
        is_tested = metric == f"excess_{name}"
        yield robustness_row(
            derivation, variant, metric, quantity, table, test=test if is_tested else None
        )


def cell_distances(
    origin: TaskReplies, variant: TaskReplies
) -> dict[tuple[str, str], CellDistances]:
    """The distances of each cell that both sides answer, by item and puppet."""
    pairs = by_cell(side_by_side((origin, variant), "options"))
    return {
        cell: CellDistances(
            jaccard_distances([reply for side in zip(*rows, strict=True) for reply in side])
        )
        for cell, rows in pairs.items()
    }


def swap_test(
    cells: Mapping[tuple[str, str], CellDistances],
    *,
    n_permutations: int,
    random: np.random.Generator,
) -> PermutationTest:
    """Two-sided test that a variant is answered as its origin: answers of a rerun change sides.

    The two answers to an item of one user and rerun are swapped or not, by lot. Of cells with two reruns
    or more.
    """
    n_users = pd.Series([item for item, _ in cells]).value_counts()
    totals = np.zeros(n_permutations + 1)
    n_swaps = 0
    for (item, _), of_cell in cells.items():
        n = of_cell.n_reruns
        if of_cell.distances.any():
            n_swaps += int((of_cell.distances[:n, n:].diagonal() > 0).sum())
            swaps = random.integers(0, 2, size=(n_permutations, n)).astype(np.float64)
            totals += of_cell.excess_of_swaps(np.vstack([np.zeros((1, n)), swaps])) / n_users[item]
    p_least = max(random_p_value(0, n_permutations), min(1.0, 0.5**n_swaps))
    return PermutationTest(p_value_of_first(np.abs(totals)), n_permutations, p_least)

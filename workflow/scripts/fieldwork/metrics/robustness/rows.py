"""Rows of `robustness`: what every estimate says of the answers behind it."""

from typing import NamedTuple

from fieldwork.metrics.robustness.estimates import BoundedMean, CellTable
from fieldwork.metrics.robustness.pairs import Derivation, TaskReplies
from fieldwork.records.robustness import Robustness
from fieldwork.statistics.permutation import PermutationTest


class Basis(NamedTuple):
    """What an estimate rests on."""

    n_items: int
    n_units: int


NOTHING = Basis(0, 0)


def basis_of(cells: CellTable) -> Basis:
    """Items and units of a table of cells."""
    return Basis(len(cells.items), len(cells.units))


def robustness_row(
    derivation: Derivation,
    side: TaskReplies,
    metric: str,
    estimate: BoundedMean | None,
    basis: Basis = NOTHING,
    *,
    test: PermutationTest | None = None,
    reason: str | None = None,
    n_left_out: int | None = None,
) -> Robustness:
    """A row about one side of a derivation, not corrected.

    Args:
        reason: what the estimate does not say of itself.
    """
    interval = estimate.interval if estimate else None
    reasons = [estimate.reason if estimate else None, reason]
    return Robustness(
        model=derivation.model,
        origin=derivation.origin.task,
        task=side.task,
        condition=derivation.condition,
        metric=metric,
        estimate=estimate.value if estimate else None,
        ci_low=interval.low if interval else None,
        ci_high=interval.high if interval else None,
        p_value=test.p_value if test else None,
        p_holm=None,
        p_least=test.p_least if test else None,
        n_permutations=test.n_permutations if test else None,
        n_lost=None,
        n_won=None,
        n_items=basis.n_items,
        n_left_out=len(side.left_out) if n_left_out is None else n_left_out,
        n_units=basis.n_units,
        unit="puppet" if derivation.has_users else "item",
        reason="; ".join(filter(None, reasons)) or None,
    )

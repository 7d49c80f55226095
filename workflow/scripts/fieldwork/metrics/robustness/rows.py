"""Rows of `robustness`: what every estimate says of the answers behind it."""

from collections.abc import Iterator, Sequence
from typing import Any

from fieldwork.estimates.cell_means import CellTable
from fieldwork.estimates.quantity import Quantity
from fieldwork.metrics.robustness.replies import Derivation, TaskReplies
from fieldwork.records.columns import row_of
from fieldwork.records.robustness import Robustness
from fieldwork.statistics.permutation import PermutationTest


def robustness_row(
    derivation: Derivation,
    side: TaskReplies,
    metric: str,
    quantity: Quantity,
    cells: CellTable | None = None,
    *,
    test: PermutationTest | None = None,
    **columns: Any,
) -> Robustness:
    """A row about one side of a derivation.

    Args:
        cells: what the quantity rests on.
        columns: of the row, in place of what these say.
    """
    values = {
        "model": derivation.arm.model,
        "origin": derivation.origin.task,
        "task": side.task,
        "condition": derivation.arm.condition,
        "metric": metric,
        **quantity.columns(),
        **(test._asdict() if test else {}),
        "n_items": len(cells.items) if cells else 0,
        "n_left_out": len(side.left_out),
        "n_units": len(cells.units) if cells else 0,
        "unit": "puppet" if derivation.has_users else "item",
        "reason": quantity.reason,
    }
    return row_of(Robustness, **(values | columns))


def missing_rows(
    derivation: Derivation, side: TaskReplies, metrics: Sequence[str], reason: str
) -> Iterator[Robustness]:
    """Rows of metrics that have no value."""
    for metric in metrics:
        yield robustness_row(derivation, side, metric, Quantity(reason=reason))

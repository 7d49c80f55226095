"""The table `robustness`: every estimate of every task that is put otherwise."""

from collections.abc import Iterator, Mapping

import pandas as pd

from fieldwork.estimates.cell_means import CellTable
from fieldwork.estimates.quantity import ChanceSettings
from fieldwork.metrics.comparisons import distance_at_equal_n, sample_tables
from fieldwork.metrics.robustness.agreement import agreement_rows
from fieldwork.metrics.robustness.replies import Derivation, TaskReplies, read_derivations
from fieldwork.metrics.robustness.rows import missing_rows, robustness_row
from fieldwork.metrics.robustness.scores import score_rows
from fieldwork.records.robustness import Robustness
from fieldwork.statistics.permutation import require_permutations

DISTANCES = ("distance", "distance_same", "excess_distance")
"""How far the options named in a variant are from those of its origin, as in `comparisons`."""


def measure_robustness(
    answers: pd.DataFrame,
    items: pd.DataFrame,
    *,
    variants: Mapping[str, str],
    settings: ChanceSettings,
) -> list[Robustness]:
    """One row for each model, origin, variant, condition and metric, in this order.

    Empty input gives no rows.

    Args:
        items: of the tasks, with a column `task`.
        variants: by a variant, the task that it is put otherwise.

    Raises:
        StudyError: no permutations.
    """
    require_permutations(settings.n_permutations)
    rows = [
        row
        for derivation in read_derivations(answers, items, variants)
        for row in _rows(derivation, settings)
    ]
    return sorted(rows, key=lambda r: (r.model, r.origin, r.task, r.condition, r.metric))


def _rows(derivation: Derivation, settings: ChanceSettings) -> Iterator[Robustness]:
    if derivation.arm.kind == "choice":
        yield from score_rows(derivation, settings)
    for variant in derivation.variants:
        if derivation.arm.kind != "choice":
            yield from _distances(derivation, variant, settings)
        yield from agreement_rows(derivation, variant, settings)


def _distances(
    derivation: Derivation, variant: TaskReplies, settings: ChanceSettings
) -> Iterator[Robustness]:
    origin = derivation.origin
    first, second = origin.independent(), variant.independent()
    values = {}
    for item in sorted(first.keys() & second.keys()):
        tables, n_equal = (
            sample_tables(second[item], first[item]),
            min(len(second[item]), len(first[item])),
        )
        random = settings.random(*derivation.names("distance", variant.task, item))
        value, same = distance_at_equal_n(tables, "js_bits", n_equal, random)
        values[item, ""] = dict(zip(DISTANCES, (value, same, value - same), strict=True))
    if not values:
        reason = f"no item is answered both in {origin.task} and in {variant.task}"
        yield from missing_rows(derivation, variant, DISTANCES, reason)
        return
    puppets = set(origin.replies.index.get_level_values("puppet")) - {""}
    for metric in DISTANCES:
        numbers = pd.Series({cell: of_cell[metric] for cell, of_cell in values.items()})
        table = CellTable.of(numbers, has_users=False)
        is_difference = metric == "excess_distance"
        quantity = table.quantity("value_difference" if is_difference else "value", settings)
        if derivation.has_users:
            # the same users answer all items, so that items are not independent
            reason = "no interval: there is none over users"
            quantity = quantity._replace(interval=None, reason=reason)
        n_units = len(puppets) or len(numbers)
        yield robustness_row(derivation, variant, metric, quantity, table, n_units=n_units)

"""The table `robustness`: every estimate of every task that is put otherwise."""

from collections.abc import Iterator, Mapping

import pandas as pd

from fieldwork.metrics.robustness.agreement import agreement_rows
from fieldwork.metrics.robustness.distances import distance_rows
from fieldwork.metrics.robustness.pairs import (
    Derivation,
    RobustnessSettings,
    read_derivations,
)
from fieldwork.metrics.robustness.scores import score_rows
from fieldwork.records.robustness import Robustness
from fieldwork.statistics.families import correct_rows
from fieldwork.statistics.permutation import require_permutations


def measure_robustness(
    answers: pd.DataFrame,
    items: pd.DataFrame,
    *,
    variants: Mapping[str, str],
    settings: RobustnessSettings,
) -> list[Robustness]:
    """One row for each model, origin, variant, condition and metric, in this order.

    P-values are corrected over the variants of an origin, for each model, condition and metric. Empty
    input gives no rows.

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
    rows = correct_rows(rows, lambda r: (r.model, r.origin, r.condition, r.metric))
    return sorted(rows, key=lambda r: (r.model, r.origin, r.task, r.condition, r.metric))


def _rows(derivation: Derivation, settings: RobustnessSettings) -> Iterator[Robustness]:
    if derivation.kind == "choice":
        yield from score_rows(derivation, settings)
    else:
        yield from distance_rows(derivation, settings)
    yield from agreement_rows(derivation, settings)

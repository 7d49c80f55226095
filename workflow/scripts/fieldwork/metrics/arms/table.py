"""The table behind the figure of arms: measures of each condition, and what its contexts hold.

Owns the choice of measures and their means over prompts. Each value comes from the table of the metric
that defines it. Promises a row for each measure of each condition; where there is no value, the row has
NULL and a reason.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from fieldwork import tables
from fieldwork.estimates.quantity import Quantity
from fieldwork.metrics.arms.contexts import ContextMeans
from fieldwork.metrics.arms.tests import StudyArm
from fieldwork.records.arms import ArmMeasure
from fieldwork.records.estimates import Estimate
from fieldwork.records.metrics import Comparison, VarianceShare
from fieldwork.records.tasks import ItemKind
from fieldwork.statistics.families import LEVEL, holm
from fieldwork.statistics.intervals import Interval

MEASURES_OF: Mapping[ItemKind, tuple[str, ...]] = {
    "list": ("excess_js_bits", "share_who", "entropy_bits"),
    "choice": ("excess_js_bits", "share_who", "em_strict"),
    "scale": ("excess_js_bits", "share_who"),
}
MEAN_OVER_PROMPTS = "no interval: the mean is over prompts, which share their puppets"


class ArmTables(NamedTuple):
    """Tables of the metrics: `comparisons`, `variance`, and the estimates of lists and of scores."""

    comparisons: pd.DataFrame
    variance: pd.DataFrame
    estimates: pd.DataFrame

    @classmethod
    def read(cls, paths: Mapping[str, Any]) -> "ArmTables":
        """Read them from their files, by name."""
        return cls(
            tables.read_frame(paths["comparisons"], Comparison),
            tables.read_frame(paths["variance"], VarianceShare),
            pd.concat([tables.read_frame(path, Estimate) for path in paths["estimates"]]),
        )


def measure_arms(
    metrics: ArmTables,
    *,
    arms: Sequence[StudyArm],
    contexts: Mapping[tuple[str, str], ContextMeans],
    baseline: str,
) -> list[ArmMeasure]:
    """The measures of each arm, for each model, task and kind of item that `variance` has.

    Args:
        arms: in the order of the axis.
        contexts: by task and condition.
    """
    rows: list[ArmMeasure] = []
    for position, arm in enumerate(arms):
        variance = metrics.variance[metrics.variance["condition"] == arm.condition]
        arm_rows: Any = variance.itertuples(index=False)
        for row in arm_rows:
            context = contexts.get((str(row.task), arm.condition))
            for measure in MEASURES_OF[row.kind]:
                rows.append(
                    ArmMeasure(
                        model=row.model,
                        task=row.task,
                        kind=row.kind,
                        position=position,
                        condition=arm.condition,
                        asked=arm.n_conversations,
                        conversations=context.conversations if context else None,
                        dropped=context.n_dropped if context else None,
                        tokens=context.tokens if context else None,
                        measure=measure,
                        n_puppets=int(row.n_puppets),
                        n_responses=int(row.n_responses),
                        **_value_columns(metrics, row, measure, baseline),
                    )
                )
    return sorted(rows, key=lambda r: (r.model, r.task, r.kind, r.position, r.measure))


def _value_columns(metrics: ArmTables, row: Any, measure: str, baseline: str) -> dict[str, Any]:
    match measure:
        case "excess_js_bits":
            return _mean_excess(_select_metric(metrics.comparisons, row, "js_bits"), row, baseline)
        case "share_who":
            return _value_with_interval(row, row.share_who)
        case "entropy_bits":
            prompts = metrics.estimates[metrics.estimates["item_id"].notna()]
            entropies = _select_metric(prompts, row, measure, column="measure")["value"].dropna()
            return _mean_over_prompts(entropies, "no response gives an option")
        case _:
            means = metrics.estimates[metrics.estimates["reference"] == "baseline"]
            return _mean_score(_select_metric(means, row, measure, column="measure"))


def _select_metric(
    table: pd.DataFrame, row: Any, metric: str, *, column: str = "metric"
) -> pd.DataFrame:
    """The rows of the row's arm, of one metric."""
    is_arm = (table["model"] == row.model) & (table["task"] == row.task)
    is_arm &= table["condition"] == row.condition
    rows: pd.DataFrame = table[is_arm & (table[column] == metric)]
    return rows


def _mean_excess(comparisons: pd.DataFrame, row: Any, baseline: str) -> dict[str, Any]:
    if row.condition == baseline:
        reason = "this is the baseline, with which the other conditions are compared"
        return _mean_over_prompts(comparisons["excess"][:0], reason)
    comparisons = comparisons[comparisons["excess"].notna()]
    reason = f"no item has answers both under this condition and under {baseline}"
    columns = _mean_over_prompts(comparisons["excess"], reason)
    if len(comparisons):
        columns["n_different"] = sum(p <= LEVEL for p in holm([*comparisons["p_value"]]))
    return columns


def _mean_over_prompts(values: pd.Series, absence: str) -> dict[str, Any]:
    mean = Quantity(reason=absence)
    if len(values):
        mean = Quantity(math.fsum(values) / len(values), reason=MEAN_OVER_PROMPTS)
    return _columns(mean, len(values))


def _mean_score(scores: pd.DataFrame) -> dict[str, Any]:
    if scores.empty:
        return _columns(Quantity(reason="no item of this task has a gold letter"), 0)
    (row,) = scores.itertuples(index=False)
    return _value_with_interval(row, row.value)


def _value_with_interval(row: Any, value: Any) -> dict[str, Any]:
    number, low, high = (None if pd.isna(v) else float(v) for v in (value, row.ci_low, row.ci_high))
    interval = None if low is None or high is None else Interval(low, high)
    reason = row.reason if isinstance(row.reason, str) else None
    return _columns(Quantity(number, interval, reason=reason), int(row.n_items))


def _columns(quantity: Quantity, n_items: int) -> dict[str, Any]:
    return {
        **quantity.columns(),
        "n_items": n_items,
        "n_different": None,
        "reason": quantity.reason,
    }

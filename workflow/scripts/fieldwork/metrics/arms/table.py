"""The table behind the figure of arms: measures of each condition, and what its contexts hold.

Owns the choice of measures and their means over prompts. Each value comes from the table of the metric
that defines it. Promises a row for each measure of each condition; where there is no value, the row has
NULL and a reason.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from fieldwork import tables
from fieldwork.metrics.arms.contexts import ContextMeans
from fieldwork.metrics.arms.tests import StudyArm
from fieldwork.records.arms import ArmMeasure
from fieldwork.records.estimates import Estimate
from fieldwork.records.metrics import Comparison, VarianceShare
from fieldwork.records.tasks import ItemKind
from fieldwork.statistics.families import LEVEL
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


class _MeasureValue(NamedTuple):
    estimate: float | None
    interval: Interval | None
    n_items: int
    n_different: int | None
    reason: str | None


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
        for row in variance.itertuples(index=False):
            context = contexts.get((str(row.task), arm.condition))
            for measure, value in _measure_values(metrics, row, baseline):
                rows.append(_measure_row(row, arm, position, context, measure, value))
    return sorted(rows, key=lambda r: (r.model, r.task, r.kind, r.position, r.measure))


def _measure_row(
    row: Any,
    arm: StudyArm,
    position: int,
    context: ContextMeans | None,
    measure: str,
    value: _MeasureValue,
) -> ArmMeasure:
    return ArmMeasure(
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
        estimate=value.estimate,
        ci_low=value.interval.low if value.interval else None,
        ci_high=value.interval.high if value.interval else None,
        n_items=value.n_items,
        n_different=value.n_different,
        n_puppets=int(row.n_puppets),
        n_responses=int(row.n_responses),
        reason=value.reason,
    )


def _measure_values(
    metrics: ArmTables, row: Any, baseline: str
) -> Iterator[tuple[str, _MeasureValue]]:
    for measure in MEASURES_OF[row.kind]:
        match measure:
            case "excess_js_bits":
                rows = _select_metric(metrics.comparisons, row, "js_bits")
                yield measure, _mean_excess(rows, row, baseline)
            case "share_who":
                yield measure, _value_with_interval(row, row.share_who)
            case "entropy_bits":
                prompts = metrics.estimates[metrics.estimates["item_id"].notna()]
                rows = _select_metric(prompts, row, measure, column="measure")
                yield measure, _mean_entropy(rows)
            case _:
                means = metrics.estimates[metrics.estimates["reference"] == "baseline"]
                yield measure, _mean_score(_select_metric(means, row, measure, column="measure"))


def _select_metric(
    table: pd.DataFrame, row: Any, metric: str, *, column: str = "metric"
) -> pd.DataFrame:
    """The rows of the row's arm, of one metric."""
    is_arm = (table["model"] == row.model) & (table["task"] == row.task)
    is_arm &= table["condition"] == row.condition
    rows: pd.DataFrame = table[is_arm & (table[column] == metric)]
    return rows


def _mean_excess(comparisons: pd.DataFrame, row: Any, baseline: str) -> _MeasureValue:
    if row.condition == baseline:
        reason = "this is the baseline, with which the other conditions are compared"
        return _MeasureValue(None, None, 0, None, reason)
    comparisons = comparisons[comparisons["excess"].notna()]
    if comparisons.empty:
        reason = f"no item has answers both under this condition and under {baseline}"
        return _MeasureValue(None, None, 0, None, reason)
    n_different = int((comparisons["p_holm"] <= LEVEL).sum())
    mean = math.fsum(comparisons["excess"]) / len(comparisons)
    return _MeasureValue(mean, None, len(comparisons), n_different, MEAN_OVER_PROMPTS)


def _mean_entropy(prompts: pd.DataFrame) -> _MeasureValue:
    entropies = prompts["value"].dropna()
    if entropies.empty:
        return _MeasureValue(None, None, 0, None, "no response gives an option")
    mean = math.fsum(entropies) / len(entropies)
    return _MeasureValue(mean, None, len(entropies), None, MEAN_OVER_PROMPTS)


def _mean_score(scores: pd.DataFrame) -> _MeasureValue:
    if scores.empty:
        return _MeasureValue(None, None, 0, None, "no item of this task has a gold letter")
    (row,) = scores.itertuples(index=False)
    return _value_with_interval(row, row.value)


def _value_with_interval(row: Any, estimate: Any) -> _MeasureValue:
    low, high = _none_if_null(row.ci_low), _none_if_null(row.ci_high)
    interval = None if low is None or high is None else Interval(low, high)
    reason = row.reason if isinstance(row.reason, str) else None
    return _MeasureValue(_none_if_null(estimate), interval, int(row.n_items), None, reason)


def _none_if_null(value: Any) -> float | None:
    return None if pd.isna(value) else float(value)

"""What the figure of arms shows: each condition's measures beside what its puppets really brought.

Owns the choice of measures and their means over prompts; every value comes from the table of the metric
that defines it. Promises a row for each measure of each condition, NULL with
a reason where there is none.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from fieldwork.metrics.arms.tests import ArmOfStudy
from fieldwork.records.metrics import ArmMeasure
from fieldwork.records.tasks import ItemKind
from fieldwork.statistics.intervals import Interval

LEVEL = 0.05
MEASURES_OF: Mapping[ItemKind, tuple[str, ...]] = {
    "list": ("excess_js_bits", "share_who", "entropy_bits"),
    "choice": ("excess_js_bits", "share_who", "em_strict"),
}
OVER_PROMPTS = "no interval: the mean is over prompts, which share their puppets"


class Brought(NamedTuple):
    """What the contexts of a task and condition hold, means over contexts."""

    n_contexts: int
    conversations: float
    dropped: float
    tokens: float


class Measured(NamedTuple):
    """Tables of the metrics: `comparisons`, `variance`, `heterogeneity`, `accuracy`."""

    comparisons: pd.DataFrame
    variance: pd.DataFrame
    heterogeneity: pd.DataFrame
    accuracy: pd.DataFrame


class _Value(NamedTuple):
    estimate: float | None
    interval: Interval | None
    n_items: int
    n_different: int | None
    reason: str | None


def brought(rows: Sequence[tuple[int, int, int]]) -> Brought:
    """Means over contexts.

    Args:
        rows: conversations, conversations left out, and tokens of each context; at least one.
    """
    n = len(rows)
    held, dropped, tokens = (math.fsum(of) / n for of in zip(*rows, strict=True))
    return Brought(n, held, dropped, tokens)


def measure_arms(
    measured: Measured,
    *,
    arms: Sequence[ArmOfStudy],
    contexts: Mapping[tuple[str, str], Brought],
    baseline: str,
) -> list[ArmMeasure]:
    """The measures of each arm, for each model, task and kind of item that `variance` has.

    Args:
        arms: in the order of the axis.
        contexts: by task and condition.
    """
    rows: list[ArmMeasure] = []
    for position, arm in enumerate(arms):
        found = measured.variance[measured.variance["condition"] == arm.condition]
        for row in _rows(found):
            held = contexts.get((row.task, arm.condition))
            for measure, value in _values(measured, row, baseline):
                rows.append(_row(row, arm, position, held, measure, value))
    return sorted(rows, key=lambda r: (r.model, r.task, r.kind, r.position, r.measure))


def _row(
    row: Any,
    arm: ArmOfStudy,
    position: int,
    held: Brought | None,
    measure: str,
    value: _Value,
) -> ArmMeasure:
    return ArmMeasure(
        model=row.model,
        task=row.task,
        kind=row.kind,
        position=position,
        condition=arm.condition,
        asked=arm.asked,
        conversations=held.conversations if held else None,
        dropped=held.dropped if held else None,
        tokens=held.tokens if held else None,
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


def _values(measured: Measured, row: Any, baseline: str) -> Iterator[tuple[str, _Value]]:
    for measure in MEASURES_OF[row.kind]:
        match measure:
            case "excess_js_bits":
                yield measure, _distance(_of(measured.comparisons, row), row, baseline)
            case "share_who":
                yield measure, _shared(row)
            case "entropy_bits":
                yield measure, _entropy(_of(measured.heterogeneity, row))
            case _:
                yield measure, _score(_of(measured.accuracy, row))


def _of(table: pd.DataFrame, row: Any) -> pd.DataFrame:
    """The rows of an arm, of the one metric that is shown."""
    shown = table["metric"].isin(("js_bits", "entropy_bits", "em_strict"))
    same = (table["model"] == row.model) & (table["task"] == row.task)
    found: pd.DataFrame = table[shown & same & (table["condition"] == row.condition)]
    return found


def _rows(table: pd.DataFrame) -> list[Any]:
    """Rows, their columns as attributes."""
    return list(table.itertuples(index=False))


def _distance(rows: pd.DataFrame, row: Any, baseline: str) -> _Value:
    if row.condition == baseline:
        return _Value(None, None, 0, None, "this is the condition the others are compared with")
    known = rows[rows["excess"].notna()]
    if known.empty:
        return _Value(None, None, 0, None, f"no item has answers here and under {baseline}")
    different = int((known["p_holm"] <= LEVEL).sum())
    mean = math.fsum(known["excess"]) / len(known)
    return _Value(mean, None, len(known), different, OVER_PROMPTS)


def _shared(row: Any) -> _Value:
    return _Value(_known(row.share_who), _interval(row), int(row.n_items), None, _text(row.reason))


def _entropy(rows: pd.DataFrame) -> _Value:
    known = rows[rows["estimate"].notna()]
    if known.empty:
        return _Value(None, None, 0, None, "no response gives an option")
    mean = math.fsum(known["estimate"]) / len(known)
    return _Value(mean, None, len(known), None, OVER_PROMPTS)


def _score(rows: pd.DataFrame) -> _Value:
    if rows.empty:
        return _Value(None, None, 0, None, "no item of this task has a gold letter")
    (row,) = _rows(rows)
    return _Value(_known(row.mean), _interval(row), int(row.n_items), None, _text(row.reason))


def _interval(row: Any) -> Interval | None:
    low, high = _known(row.ci_low), _known(row.ci_high)
    return None if low is None or high is None else Interval(low, high)


def _known(value: Any) -> float | None:
    return None if pd.isna(value) else float(value)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None

"""Score, waiting time and price side by side, and which arms no other beats in all of them."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from fieldwork.metrics.service.scores import arm_scores
from fieldwork.metrics.service.values import USD
from fieldwork.records.estimates import Estimate
from fieldwork.records.service import ServiceMeasure, TradeOff

LATENCY = "latency_p95_s"
_NAMES = {"score": "score", "latency_s": "time", "usd": "price"}


def measure_trade_offs(
    service: Sequence[ServiceMeasure], scores: Iterable[Estimate]
) -> list[TradeOff]:
    """A row for each arm of a task with scores that has calls.

    Weighed are the score and, of time and price, what an arm of the task has. An arm that lacks one of
    them is neither best nor beats another.
    """
    measures = {(row.task, row.model, row.condition, row.measure): row for row in service}
    arms = {key[:3] for key in measures}
    rows = [
        _trade_off(row, *(measures.get((*arm, name)) for name in (LATENCY, USD)))
        for row in arm_scores(scores)
        if (arm := (row.task, row.model, row.condition)) in arms
    ]
    tasks = sorted({row.task for row in rows})
    return [row for task in tasks for row in _judge([r for r in rows if r.task == task])]


def _trade_off(
    score: Estimate, latency: ServiceMeasure | None, usd: ServiceMeasure | None
) -> TradeOff:
    return TradeOff(
        task=score.task,
        model=score.model,
        condition=score.condition,
        score=score.value,
        score_low=score.ci_low,
        score_high=score.ci_high,
        latency_s=latency.estimate if latency else None,
        latency_low=latency.ci_low if latency else None,
        latency_high=latency.ci_high if latency else None,
        usd=usd.estimate if usd else None,
        usd_low=usd.ci_low if usd else None,
        usd_high=usd.ci_high if usd else None,
        is_best=None,
        weighed="",
        reason=None,
    )


def _judge(rows: Sequence[TradeOff]) -> list[TradeOff]:
    """The rows of a task, with what is weighed and who is best."""
    criteria = [
        name for name in ("latency_s", "usd") if any(getattr(row, name) is not None for row in rows)
    ]
    necessary = ["score", *(criteria or ["latency_s", "usd"])]
    whole = [row for row in rows if all(getattr(row, name) is not None for name in necessary)]
    return [
        replace(
            row,
            weighed=", ".join(criteria),
            is_best=None if row not in whole else not any(_beats(o, row, criteria) for o in whole),
            reason=_lack(row, necessary),
        )
        for row in rows
    ]


def _lack(row: TradeOff, necessary: Sequence[str]) -> str | None:
    names = [_NAMES[name] for name in necessary if getattr(row, name) is None]
    return f"it has no {' and no '.join(names)}" if names else None


def _beats(other: TradeOff, row: TradeOff, criteria: Sequence[str]) -> bool:
    """Whether another arm is nowhere worse and somewhere better."""
    # equal scores may differ by rounding
    gains = [round((other.score or 0.0) - (row.score or 0.0), 12)]
    gains += [getattr(row, name) - getattr(other, name) for name in criteria]
    return min(gains) >= 0 and max(gains) > 0

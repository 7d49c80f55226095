"""Frames of responses, as the tables of responses give them, in as few words as a test needs."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pandas as pd

from fieldwork.metrics.service.calls import COLUMNS, ArmCalls, arms_of
from fieldwork.metrics.service.table import measure_service
from fieldwork.records.estimates import Estimate
from fieldwork.records.service import ServiceMeasure
from unit.metrics.findings.finding_rows import filled

START = datetime(2026, 11, 2, 9, tzinfo=UTC)


def call(seconds: float | None = 1.0, **changes: Any) -> dict[str, Any]:
    """A live answer of a baseline call."""
    plain = {
        **{"model": "m", "task": "t", "condition": "offline", "puppet_id": None, "outcome": "ok"},
        **{"dispatch": "live", "started_at": START, "latency_s": seconds, "attempts": 1},
        **{"input_tokens": 100, "cached_tokens": 0, "output_tokens": 10, "cost_usd": 0.002},
    }
    return plain | changes


def timed(times: Sequence[float], **changes: Any) -> list[dict[str, Any]]:
    """Answers a second after one another."""
    return [
        call(seconds, started_at=START + timedelta(seconds=n), **changes)
        for n, seconds in enumerate(times)
    ]


def of_users(times_by_user: Sequence[Sequence[float]], **changes: Any) -> list[dict[str, Any]]:
    """Answers with users."""
    return [
        call(seconds, **{"condition": "history", "puppet_id": f"p{user:03d}"} | changes)
        for user, times in enumerate(times_by_user)
        for seconds in times
    ]


def arms(*calls: dict[str, Any]) -> list[ArmCalls]:
    return list(arms_of(pd.DataFrame(list(calls), columns=list(COLUMNS), dtype=object)))


def rows(calls: Sequence[dict[str, Any]], **settings: Any) -> dict[tuple[str, str], ServiceMeasure]:
    """Rows by condition and measure."""
    settings = {"scores": {}, "baseline": "offline"} | settings
    return {(row.condition, row.measure): row for row in measure_service(arms(*calls), **settings)}


def accuracy(condition: str = "offline", **changes: Any) -> Estimate:
    """A mean score of 0.6 in runs of ten questions."""
    plain = {
        **{"model": "m", "task": "t", "condition": condition, "measure": "em_strict"},
        **{"value": 0.6, "ci_low": 0.55, "ci_high": 0.65, "reference": "baseline"},
        **{"n_units": 5, "n_items": 10},
    }
    row: Estimate = filled(Estimate, **plain | changes)
    return row

"""Waves of calls, in as few words as a test needs."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from fieldwork.metrics.drift.table import WavePlan, measure_drift
from fieldwork.records.drift import Drift

FIRST, SECOND, THIRD = "2026-W40", "2026-W41", "2026-W42"
PLAN = WavePlan(
    waves={"w40": FIRST, "w41": SECOND, "w42": THIRD},
    series=dict.fromkeys(["w40", "w41", "w42"], "w40"),
    looks=4,
    seed=1,
)
DEFAULTS = {
    "model": "m", "task": "t", "puppet_id": "", "kind": "choice", "items": None, "letter": None,
    "gold": "A", "reason": None, "words": 10, "latency_s": None, "dispatch": "live",
    "returned_model": None, "fingerprint": None,
}  # fmt: skip


def calls(condition: str, letters: Mapping[str, str], **values: Any) -> list[dict[str, Any]]:
    """A call a letter of each item's text; `?` is unreadable and `!` refused."""
    return [
        DEFAULTS
        | {
            "condition": condition,
            "item_id": item,
            "replicate": replicate,
            "letter": None if letter in "?!" else letter,
            "reason": {"?": "no letter found", "!": "refused"}.get(letter),
        }
        | values
        for item, text in letters.items()
        for replicate, letter in enumerate(text)
    ]


def calls_with(
    column: str, condition: str, values: Mapping[str, Sequence[Any]]
) -> list[dict[str, Any]]:
    """Right answers, each with a value of its own, such as a list or a time."""
    return [
        row | {column: values[row["item_id"]][row["replicate"]]}
        for row in calls(condition, {item: "A" * len(each) for item, each in values.items()})
    ]


def measure(rows: Iterable[dict[str, Any]], plan: WavePlan = PLAN) -> list[Drift]:
    """The table of some calls."""
    return measure_drift(pd.DataFrame([*rows]), plan)


def by_measure(rows: Iterable[Drift], condition: str = "w41") -> dict[str, Drift]:
    """The rows of a wave."""
    return {row.measure: row for row in rows if row.condition == condition}

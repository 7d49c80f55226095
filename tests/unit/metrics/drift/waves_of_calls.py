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


def lists(
    condition: str, options: Mapping[str, Sequence[Sequence[str]]], **values: Any
) -> list[dict[str, Any]]:
    """A list a call of each item."""
    return [
        DEFAULTS
        | {"condition": condition, "item_id": item, "replicate": replicate, "gold": None}
        | {"kind": "list", "items": names}
        | values
        for item, replies in options.items()
        for replicate, names in enumerate(replies)
    ]


def times(condition: str, seconds: Mapping[str, Sequence[float | None]]) -> list[dict[str, Any]]:
    """Right answers, each after so many seconds."""
    return [
        row | {"latency_s": seconds[row["item_id"]][row["replicate"]]}
        for row in calls(condition, {item: "A" * len(each) for item, each in seconds.items()})
    ]


def measure(rows: Iterable[dict[str, Any]], plan: WavePlan = PLAN) -> list[Drift]:
    """The table of some calls."""
    return measure_drift(pd.DataFrame([*rows]), plan)


def by_measure(rows: Iterable[Drift], condition: str = "w41") -> dict[str, Drift]:
    """The rows of a wave."""
    return {row.measure: row for row in rows if row.condition == condition}

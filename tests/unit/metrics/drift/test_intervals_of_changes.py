"""Intervals of changes: what is independent in them, and where there is none."""

import numpy as np
import pytest

from fieldwork.metrics.drift.calls import WavePair
from fieldwork.metrics.drift.intervals import change_interval
from fieldwork.statistics.arrays import Floats


def pair(n_items: int, first_runs: int, later_runs: int) -> WavePair:
    """Calls without users, so many to each item in both waves; values are not read."""
    runs = first_runs + later_runs
    items = np.repeat(np.arange(n_items), runs)
    is_later = np.tile(np.arange(runs) >= first_runs, n_items)
    return WavePair([0.0] * len(items), items, items, is_later)


def coverage(n_items: int, runs: int, *, is_share: bool, change: float = 0.0) -> float:
    random = np.random.default_rng([n_items, runs])
    calls = pair(n_items, runs, runs)
    n_inside = 0
    for _ in range(400):
        if is_share:
            chances = random.beta(1.2, 0.6, size=n_items)[calls.items]
            values: Floats = (random.random(len(chances)) < chances).astype(float)
        else:
            means = random.normal(40, 10, size=n_items)[calls.items]
            values = means + random.gamma(1.5, 6, size=len(means)) + change * calls.is_later
        _, interval, *_ = change_interval(calls, values, is_share=is_share)
        assert interval is not None
        n_inside += interval.low <= change <= interval.high
    return n_inside / 400


@pytest.mark.parametrize(("n_items", "runs"), [(20, 1), (9, 10), (20, 2), (100, 2)])
def test_changes_are_covered(n_items: int, runs: int) -> None:
    assert coverage(n_items, runs, is_share=True) >= 0.925
    assert coverage(n_items, runs, is_share=False, change=3.0) >= 0.915


@pytest.mark.parametrize(
    ("size", "is_share", "reason"),
    [
        ((9, 3, 3), False, "no interval: answers to an item are always equally long"),
        ((9, 1, 1), False, "no interval: all items changed alike"),
        ((4, 1, 5), True, "fewer than 5 items"),
    ],
)
def test_why_there_is_no_interval(size: tuple[int, int, int], is_share: bool, reason: str) -> None:
    calls = pair(*size)
    _, interval, _, why = change_interval(calls, np.full(len(calls.items), 1.0), is_share=is_share)
    assert interval is None
    assert reason in (why or "")


def test_answers_that_never_differ_are_not_certain() -> None:
    _, interval, _, reason = change_interval(pair(9, 10, 10), np.ones(180), is_share=True)
    assert reason is None
    assert interval is not None
    assert -0.1 < interval.low < 0 < interval.high < 0.1

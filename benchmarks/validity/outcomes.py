"""What a simulation says of an estimator: bias, coverage and false positives with their errors."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Outcome:
    """A row of results.csv: one estimator, one source, one size; empty where it does not apply."""

    part: str
    estimator: str
    source: str
    size: str
    sets: int
    truth: float | None
    mean: float | None
    bias: float | None
    bias_error: float | None
    sd: float | None
    n_intervals: int
    coverage: float | None
    coverage_error: float | None
    false_positives: float | None
    false_positive_error: float | None


Job = Callable[[int, int], Iterable[Outcome]]
"""Some lines of the results, from a number of data sets and a seed."""


def outcome(
    part: str,
    estimator: str,
    source: str,
    size: str,
    *,
    truth: float | None,
    estimates: Sequence[float | None] = (),
    intervals: Sequence[tuple[float | None, float | None]] = (),
    p_values: Sequence[float | None] = (),
    level: float = 0.05,
) -> Outcome:
    """Sum up the data sets of one simulation; NULL estimates, intervals and p-values are left out."""
    values = np.array([value for value in estimates if value is not None], dtype=np.float64)
    held = [
        low <= truth <= high
        for low, high in intervals
        if low is not None and high is not None and truth is not None
    ]
    is_rejected = [p <= level for p in p_values if p is not None]
    known = truth is not None and len(values) > 1
    sd = float(values.std(ddof=1)) if len(values) > 1 else None
    return Outcome(
        part=part,
        estimator=estimator,
        source=source,
        size=size,
        sets=max(len(estimates), len(p_values), len(intervals)),
        truth=truth,
        mean=float(values.mean()) if len(values) else None,
        bias=float(values.mean()) - truth if known and truth is not None else None,
        bias_error=sd / math.sqrt(len(values)) if known and sd is not None else None,
        sd=sd,
        n_intervals=len(held),
        coverage=_share(held),
        coverage_error=_error(held),
        false_positives=_share(is_rejected),
        false_positive_error=_error(is_rejected),
    )


def _share(flags: Sequence[bool]) -> float | None:
    return sum(flags) / len(flags) if flags else None


def _error(flags: Sequence[bool]) -> float | None:
    share = _share(flags)
    return None if share is None else math.sqrt(share * (1 - share) / len(flags))

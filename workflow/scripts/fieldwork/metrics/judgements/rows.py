"""A row of the table of judgements, from a value and its values without each user."""

import math
from typing import NamedTuple

import numpy as np
import pandas as pd

from fieldwork.metrics.judgements.sample import (
    JudgementSample,
    Statistic,
    freedom_of,
    without_each,
)
from fieldwork.records.judging import JudgementEstimate
from fieldwork.statistics.arrays import Floats, Indices


class EstimateName(NamedTuple):
    """Which estimate a row is; the names are those of its columns."""

    measure: str
    raters: str
    versus: str | None = None
    unit_group: str | None = None
    option: str | None = None


SHARE = (0.0, 1.0)
"""Ends of shares."""
CORRELATION = (-1.0, 1.0)
"""Ends of correlations, and of agreements beyond chance."""


class EstimateValue(NamedTuple):
    """A value, and what its interval is made from.

    Attributes:
        value: None with a reason.
        rest: the value without each cluster; None where the estimate has no interval.
        ends: the least and the largest value that there can be.
        n_decisive: owners that the precision hangs on, where these are not all behind the value.
        chance, largest, p_value: as in the table.
    """

    value: float | None
    rest: Floats | None = None
    ends: tuple[float, float] = (-math.inf, math.inf)
    n_decisive: int | None = None
    chance: float | None = None
    largest: float | None = None
    p_value: float | None = None
    reason: str | None = None

    @classmethod
    def over(
        cls,
        owners: Indices,
        statistic: Statistic,
        ends: tuple[float, float] = (-math.inf, math.inf),
        *,
        reason: str | None = None,
    ) -> "EstimateValue":
        """A statistic of rows, and what it is without each cluster of their owners.

        Args:
            owners: of each row.
            statistic: of the rows that a mask keeps.
            reason: where it has no value.
        """
        value = statistic(np.ones(len(owners), dtype=bool))
        rest = without_each(owners, statistic)
        return cls(value, rest, ends, reason=reason if value is None else None)


def mean_of(values: Floats) -> Statistic:
    """The mean of the values that a mask keeps; None of nothing."""
    return lambda mask: float(values[mask].mean()) if mask.any() else None


class EstimateBasis(NamedTuple):
    """What stands behind an estimate; `freedom` are the degrees of freedom of its owners."""

    n_units: int
    n_judgements: int
    n_raters: int
    n_owners: int
    freedom: float


def basis_of(rows: pd.DataFrame, n_judgements: int | None = None) -> EstimateBasis:
    """What some judgements are.

    Args:
        n_judgements: pairs of judgements, where pairs are counted.
    """
    return EstimateBasis(
        n_units=int(rows["unit"].nunique()),
        n_judgements=len(rows) if n_judgements is None else n_judgements,
        n_raters=int(rows["rater"].nunique()),
        n_owners=int(rows["owner"].nunique()),
        freedom=freedom_of(rows["owner"].to_numpy()),
    )


def estimate_row(
    sample: JudgementSample, name: EstimateName, result: EstimateValue, basis: EstimateBasis
) -> JudgementEstimate:
    """The row of an estimate, with its interval over users where there is one."""
    interval, reason = None, result.reason
    if result.value is not None and result.rest is not None:
        interval, reason = sample.interval(
            result.value, result.rest, basis.n_owners, basis.freedom, result.n_decisive
        )
    return JudgementEstimate(
        scale=sample.scale.name,
        measure=name.measure,
        raters=name.raters,
        versus=name.versus,
        unit_group=name.unit_group,
        option=name.option,
        estimate=result.value,
        ci_low=max(interval.low, result.ends[0]) if interval else None,
        ci_high=min(interval.high, result.ends[1]) if interval else None,
        chance=result.chance,
        largest=result.largest,
        n_units=basis.n_units,
        n_judgements=basis.n_judgements,
        n_raters=basis.n_raters,
        n_owners=basis.n_owners,
        p_value=result.p_value,
        reason=reason,
    )

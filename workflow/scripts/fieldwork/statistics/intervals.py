"""Intervals of shares, means and their differences.

Promises that equal arguments give equal bits.
"""

import math
from collections.abc import Callable, Sequence
from statistics import NormalDist
from typing import NamedTuple, Self

import numpy as np
from scipy.special import stdtr, stdtrit

from fieldwork.statistics.arrays import Floats

CONFIDENCE = 0.95
"""Confidence of every interval in a study's tables."""

_LEAST_P = 1e-12
"""Smallest p-value of an interval: at more confidence than 1 less this, quantiles are infinite."""

_P_VALUE_STEPS = 24
"""Halvings of the logarithm of a p-value."""

NO_ERROR = 1e-9
"""Errors below this are rounding."""


class Interval(NamedTuple):
    """A two-sided interval, `low <= high`."""

    low: float
    high: float

    def clip(self, low: float, high: float) -> Self:
        """The part of it that an estimate can reach, which lies from `low` to `high`."""
        return self._replace(low=max(low, self.low), high=min(high, self.high))

    def widen(self, reach: float) -> Self:
        """It with so much more on either side."""
        return self._replace(low=self.low - reach, high=self.high + reach)


def ends_of(interval: Interval | None) -> tuple[float | None, float | None]:
    """The two columns of an interval; both None where there is none."""
    return (interval.low, interval.high) if interval else (None, None)


class ShareCount(NamedTuple):
    """How many answers give an option, and how many there are."""

    n_named: int
    n_answers: int

    @property
    def share(self) -> float:
        """Share of the answers that give the option."""
        return self.n_named / self.n_answers


def wilson_interval(successes: float, trials: float, *, confidence: float = CONFIDENCE) -> Interval:
    """Interval of a share (Wilson 1927, without continuity correction).

    `successes` need not be whole: a share of clustered answers, times the number of clusters.

    Raises:
        ValueError: there are no trials, or more successes than trials.
    """
    if not 0 <= successes <= trials or trials == 0:
        raise ValueError(f"{successes} successes in {trials} trials have no interval")
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    share = successes / trials
    scale = 1 + z * z / trials
    centre = (share + z * z / (2 * trials)) / scale
    half = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials)) / scale
    # at the ends the formula gives 0 and 1 up to rounding; a share outside [0, 1] would be wrong
    low = 0.0 if successes == 0 else centre - half
    high = 1.0 if successes == trials else centre + half
    return Interval(low, high)


class BoundedValue(NamedTuple):
    """A value and its interval."""

    value: float
    interval: Interval


def difference_interval(first: BoundedValue, rest: Sequence[BoundedValue]) -> Interval:
    """Interval of a value less the mean of others, all independent (MOVER: Zou and Donner 2008).

    Reaches of the intervals are added in squares; they may be unequal on the two sides of a value.
    """
    n = len(rest)
    difference = first.value - math.fsum(other.value for other in rest) / n
    down, up = [first.value - first.interval.low], [first.interval.high - first.value]
    for value, (low, high) in rest:
        down.append((high - value) / n)
        up.append((value - low) / n)
    return Interval(difference - math.hypot(*down), difference + math.hypot(*up))


def ratio_interval(numerator: BoundedValue, denominator: BoundedValue) -> Interval | None:
    """Interval of a ratio of independent values (MOVER: Donner and Zou 2012).

    It holds the ratios r for which the interval of numerator - r * denominator (`difference_interval`)
    holds 0. None unless the numerator and the whole interval of the denominator lie above 0.
    """
    (a, (a_low, a_high)), (b, (b_low, b_high)) = numerator, denominator
    if a <= 0 or b_low <= 0:
        return None
    low_part, high_part = a_low * (2 * a - a_low), a_high * (2 * a - a_high)
    below = math.sqrt(max(0.0, (a * b) ** 2 - low_part * b_high * (2 * b - b_high)))
    above = math.sqrt(max(0.0, (a * b) ** 2 - high_part * b_low * (2 * b - b_low)))
    return Interval(low_part / (a * b + below), (a * b + above) / (b_low * (2 * b - b_low)))


def newcombe_interval(count: ShareCount, other_counts: Sequence[ShareCount]) -> Interval:
    """Interval of a share less the mean of other shares, from Wilson's interval of each.

    With one other share it is method 10 of Newcombe 1998.

    Raises:
        ValueError: one of them has no answers.
    """
    first, *rest = (
        BoundedValue(side.share, wilson_interval(*side)) for side in (count, *other_counts)
    )
    return difference_interval(first, rest).clip(-1.0, 1.0)


def student_quantile(freedom: float, confidence: float = CONFIDENCE) -> float:
    """Half width of a two-sided interval in standard errors; NaN without a degree of freedom."""
    return float(stdtrit(freedom, 0.5 + confidence / 2)) if freedom > 0 else math.nan


def student_interval(
    centre: float, error: float, freedom: float, confidence: float = CONFIDENCE
) -> Interval:
    """Student's t around a value with this standard error."""
    half = student_quantile(freedom, confidence) * error
    return Interval(centre - half, centre + half)


class StudentTest(NamedTuple):
    """An interval of a value, and the two-sided test that it is 0: one rejects where the other does."""

    interval: Interval
    p_value: float


MIN_ALIKE = 100
"""Answers from which a source that always answered alike is taken to do so.

Answers of a kind that 1 in 20 gives would be missed by all of them with a chance of 0.6 %.
"""


def student_test(
    value: float,
    variances: Sequence[float],
    freedoms: Sequence[float],
    sizes: Sequence[int] = (),
) -> StudentTest | None:
    """Student's t of a value whose error is made of independent parts; of two Welch 1947.

    None where a part has no degree of freedom, or no variance: few answers that are all alike do not say
    that nothing is uncertain. A part of `MIN_ALIKE` answers without variance, as those of a model at
    temperature 0, adds no error; where no part adds any there is no test.

    Args:
        sizes: independent answers of each part; without them each has to vary.
    """
    if min(freedoms) < 1:
        return None
    parts = [
        (variance, freedom)
        for variance, freedom, size in zip(
            variances, freedoms, sizes or [0] * len(variances), strict=True
        )
        if variance > NO_ERROR**2 or size < MIN_ALIKE
    ]
    if not parts or not min(variance for variance, _ in parts) > NO_ERROR**2:
        return None
    variances, freedoms = zip(*parts, strict=True)
    freedom, error = welch_freedom(variances, freedoms), math.sqrt(math.fsum(variances))
    p_value = float(2 * stdtr(freedom, -abs(value) / error))
    return StudentTest(student_interval(value, error, freedom), p_value)


def p_value_with_interval(p_value: float, interval_at: Callable[[float], Interval | None]) -> float:
    """The larger of a test's two-sided p-value and an interval's: 1 - confidence where it reaches 0.

    A symmetric test of a mean rejects too often where few users are far from the others; an interval that
    follows them does not.

    Args:
        interval_at: the interval at a confidence; where it is None the test stands alone.
    """

    def is_held(p: float) -> bool:
        interval = interval_at(1 - p)
        return interval is None or interval.low <= 0 <= interval.high

    low, high = max(p_value, _LEAST_P), 1.0
    if not is_held(low) or interval_at(CONFIDENCE) is None:
        return p_value
    for _ in range(_P_VALUE_STEPS):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if is_held(middle) else (low, middle)
    return high


def welch_freedom(variances: Sequence[float], freedoms: Sequence[float]) -> float:
    """Degrees of freedom of a sum of independent variances (Satterthwaite 1946; of two Welch 1947)."""
    total = variances[0] + math.fsum(variances[1:])
    parts = zip(variances, freedoms, strict=True)
    return total**2 / math.fsum(variance**2 / freedom for variance, freedom in parts)


def jackknife_variance(values: Floats) -> Floats:
    """Variance of an estimate from its values without each unit, along the first axis.

    (n - 1) / n times the sum of squares around their mean (Quenouille 1956, Tukey 1958).
    """
    n = len(values)
    variance: Floats = (n - 1) / n * ((values - values.mean(axis=0)) ** 2).sum(axis=0)
    return variance


def percentile_interval(values: Floats) -> Interval | None:
    """Interval between two quantiles of bootstrap values (Efron 1979); NaN is a sample without a value.

    None where more samples than lie beyond an end have no value: those left are the lucky ones.
    """
    ends = [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2]
    finite = values[np.isfinite(values)]
    if len(finite) < len(values) * ends[1]:
        return None
    low, high = np.quantile(finite, ends)
    return Interval(float(low), float(high))

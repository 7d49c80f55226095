"""Intervals and resampling plans shared by the metrics.

Owns the closed-form interval of a share, the seeds of the cells, the index arrays of subsamples, and
the table of sample-based rarefaction. Promises that equal arguments give equal bits,
and that a cell's random numbers depend on its own name and the study's seed, never on other cells.
"""

import hashlib
import json
import math
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Counts = NDArray[np.int64]


class Interval(NamedTuple):
    """A two-sided interval, `low <= high`."""

    low: float
    high: float


def wilson_interval(successes: float, trials: int, *, confidence: float = 0.95) -> Interval:
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


def student_quantile(freedom: float, confidence: float = 0.95) -> float:
    """Half width of a two-sided interval in standard errors; NaN without a degree of freedom."""
    return float(student.ppf(0.5 + confidence / 2, freedom)) if freedom > 0 else math.nan


def generator(seed: int, *names: str) -> np.random.Generator:
    """Random numbers of one purpose in one cell; JSON keeps ("ab", "c") and ("a", "bc") apart."""
    digest = hashlib.sha256(json.dumps([seed, *names]).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest))


def subsample_indices(
    population: int, size: int, *, n_subsamples: int, random: np.random.Generator
) -> Indices:
    """Samples without replacement: shape (n_subsamples, size), values in [0, population)."""
    order = np.argsort(random.random((n_subsamples, population)), axis=1, kind="stable")
    return order[:, :size].astype(np.int64)


def sampled_counts(samples: Indices, indicator: Counts) -> Counts:
    """How many responses of each sample name each item.

    Takes samples of shape (s, m) into an indicator of shape (responses, items), gives (s, items).
    The product sums whole numbers below 2**24, which float32 holds exactly in any order.
    """
    n_samples, population = len(samples), len(indicator)
    flat = samples + (np.arange(n_samples, dtype=np.int64) * population)[:, None]
    weights = np.bincount(flat.ravel(), minlength=n_samples * population)
    weights = weights.reshape(n_samples, population).astype(np.float32)
    return (weights @ indicator.astype(np.float32)).astype(np.int64)


def rarefaction_table(population: int, size: int) -> Floats:
    """Chance that an item named by k of `population` responses is among `size` of them.

    1 - C(N - k, m) / C(N, m) for k = 0..N, shape (N + 1,); the ratio is built up as a product, so
    that m = N gives exactly 0 and 1. Hurlbert 1971; sample-based: Colwell et al. 2004.
    """
    k = np.arange(population, dtype=np.float64)
    factors = np.maximum(population - k - size, 0.0) / (population - k)
    return 1.0 - np.concatenate([np.ones(1), np.cumprod(factors)])

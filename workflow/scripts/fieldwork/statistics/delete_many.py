"""The jackknife that leaves out many units at once, for estimates that a small change may turn round.

A share of the five commonest options moves one way or the other as soon as two options change places,
and an entropy hardly moves where two crowds are nearly as varied together as apart. Then leaving out one
unit says too little of how the estimate varies. Leaving out most of them does (Shao and Wu 1989). Owns
the samples, and how far an interval is widened.
"""

import numpy as np

from fieldwork.statistics.arrays import Counts, Floats

N_SAMPLES = 200
LEAST_RATIO = 1 + 2 * np.sqrt(2 / N_SAMPLES)
"""Of two variances: less is what so few samples may show by chance, and widens nothing."""
LEAST_UNITS = 6
"""Units from which a third of them is a sample of two."""


def third_samples(n_units: int, random: np.random.Generator) -> Counts:
    """Samples of a third of the units, without replacement: 0 and 1 of shape (samples, units)."""
    order = np.argsort(random.random((N_SAMPLES, n_units)), axis=1, kind="stable")
    is_in: Counts = (order < n_units // 3).astype(np.int64)
    return is_in


def scale_deviations(values: Floats, n_units: int) -> Floats:
    """Values of `third_samples` less their mean, so that their variance is that of the estimate.

    Times the root of kept / left out: 0 where the units are fewer than `LEAST_UNITS`.
    """
    n_kept = n_units // 3
    if n_units < LEAST_UNITS:
        return np.zeros_like(values)
    deviations: Floats = (values - values.mean()) * np.sqrt(n_kept / (n_units - n_kept))
    return deviations


def widening(deviations: Floats, variance: float) -> float:
    """By how much the error of the ordinary jackknife is too small, at least 1.

    Args:
        deviations: of the estimate, from `scale_deviations`.
        variance: the ordinary jackknife's.
    """
    if not variance > 0:
        return 1.0
    ratio = float(deviations.var(ddof=1)) / variance
    return float(np.sqrt(ratio)) if ratio > LEAST_RATIO else 1.0

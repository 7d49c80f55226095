"""How many options there are: expected among fewer answers."""

from collections.abc import Iterable

import numpy as np

from fieldwork.statistics.arrays import Floats


def rarefaction_table(population: int, size: int) -> Floats:
    """Chance that an option named by k of `population` answers is among `size` of them.

    1 - C(N - k, m) / C(N, m) for k = 0..N, shape (N + 1,); the ratio is built up as a product, so
    that m = N gives exactly 0 and 1. Hurlbert 1971; sample-based: Colwell et al. 2004.
    """
    k = np.arange(population, dtype=np.float64)
    factors = np.maximum(population - k - size, 0.0) / (population - k)
    return 1.0 - np.concatenate([np.ones(1), np.cumprod(factors)])


def rarefaction_curve(counts: Iterable[int], population: int) -> Floats:
    """Expected distinct options among m of `population` answers, m = 1..N, shape (N,).

    S(m) = sum over options of 1 - C(N - k, m) / C(N, m), with k answers naming the option:
    Hurlbert 1971; sample-based: Colwell, Mao and Chang 2004.

    Args:
        counts: by how many answers each option is named.
    """
    k, n_options = np.unique(np.array(list(counts), dtype=np.int64), return_counts=True)
    # chance that none of the first m answers names an option that k name, built up over m
    m = np.arange(population, dtype=np.float64)
    factors = np.maximum(population - k[:, None] - m, 0.0) / (population - m)
    curve: Floats = (n_options[:, None] * (1.0 - np.cumprod(factors, axis=1))).sum(axis=0)
    return curve

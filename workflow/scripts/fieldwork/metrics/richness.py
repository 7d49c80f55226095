"""What a sample says of options nobody has named yet: richness and entropy beyond the plug-in.

Owns Chao's estimate of the number of options and the Miller-Madow and Chao-Shen entropies. Each
takes counts of shape (samples, options), zeros allowed, and gives one value a sample.
"""

import math

import numpy as np

from fieldwork.metrics.resampling import Counts, Floats


def chao2(counts: Counts, units: int) -> Floats:
    """Number of options there are, named or not: Chao 1987, bias-corrected.

    S + (m - 1)/m * Q1 (Q1 - 1) / (2 (Q2 + 1)), with S options named, Q1 and Q2 of them by one and
    by two of the m = `units` responses. A lower bound in expectation. For large m it is the
    bias-corrected Chao1 (Chao 1984) of the same counts.
    """
    named = (counts > 0).sum(axis=1)
    once = (counts == 1).sum(axis=1)
    twice = (counts == 2).sum(axis=1)
    unseen: Floats = (units - 1) / units * once * (once - 1) / (2 * (twice + 1))
    total: Floats = named + unseen
    return total


def plug_in_bits(counts: Counts) -> Floats:
    """Entropy of the observed shares, in bits (Shannon 1948)."""
    totals = counts.sum(axis=1)
    k = np.arange(int(counts.max()) + 1, dtype=np.float64)
    # k log2 k with 0 for k = 0: sum p log2(1/p) = log2 N - (sum k log2 k) / N
    k_log_k = k * np.log2(np.maximum(k, 1.0))
    entropy: Floats = np.log2(totals) - k_log_k[counts].sum(axis=1) / totals
    # one option alone has no entropy; the difference of logarithms leaves the last bit of it
    entropy[counts.max(axis=1) == totals] = 0.0
    return entropy


def miller_madow_bits(counts: Counts) -> Floats:
    """Plug-in entropy + (S - 1) / (2 N ln 2), in bits: Miller 1955."""
    named = (counts > 0).sum(axis=1)
    corrected: Floats = plug_in_bits(counts) + (named - 1) / (2 * counts.sum(axis=1) * math.log(2))
    return corrected


def chao_shen_bits(counts: Counts) -> Floats:
    """Coverage-adjusted Horvitz-Thompson entropy, in bits: Chao and Shen 2003.

    With coverage C = 1 - f1/N and q = C n/N: -sum q log2 q / (1 - (1 - q)^N). Where every mention
    is of an option of its own, C would be 0; f1 = N - 1 is then used, as R's entropy 1.3 does.
    """
    totals = counts.sum(axis=1)[:, None]
    once = (counts == 1).sum(axis=1)[:, None]
    coverage = 1 - np.where(once == totals, totals - 1, once) / totals
    shares = coverage * counts / totals
    seen = shares > 0
    safe = np.where(seen, shares, 0.5)
    # 1 - (1 - q)^N without losing the digits of a small q; q = 1 is one option alone
    chance = -np.expm1(totals * np.log1p(-np.minimum(safe, 1 - 1e-16)))
    entropy: Floats = -np.where(seen, safe * np.log2(safe) / chance, 0.0).sum(axis=1)
    return entropy + 0.0

"""Entropy in bits, of counts and of shares, and the Jensen-Shannon divergence made of it.

Functions of counts take them in shape (samples, options), zeros allowed, and give one value a sample.
"""

import numpy as np

from fieldwork.statistics.arrays import Counts, Floats


def k_log_k(highest: int) -> Floats:
    """k log2 k for k = 0..highest, shape (highest + 1,), with 0 for k = 0."""
    k = np.arange(highest + 1, dtype=np.float64)
    products: Floats = k * np.log2(np.maximum(k, 1.0))
    return products


def plug_in_bits(counts: Counts) -> Floats:
    """Entropy of the observed shares (Shannon 1948)."""
    totals = counts.sum(axis=1)
    # sum p log2(1/p) = log2 N - (sum k log2 k) / N
    entropy: Floats = np.log2(totals) - k_log_k(int(counts.max()))[counts].sum(axis=1) / totals
    # one option alone has no entropy; the difference of logarithms leaves the last bit of it
    entropy[counts.max(axis=1) == totals] = 0.0
    return entropy


def entropy_bits(shares: Floats) -> Floats:
    """Entropy of shares that add up to 1 along the last axis."""
    entropy: Floats = -(shares * np.log2(np.where(shares > 0, shares, 1.0))).sum(axis=-1)
    return entropy


def jensen_shannon_bits(first: Floats, second: Floats) -> Floats:
    """H((p + q) / 2) - (H(p) + H(q)) / 2, from 0 to 1, of shares along the last axis: Lin 1991."""
    middle = (first + second) / 2
    bits = entropy_bits(middle) - (entropy_bits(first) + entropy_bits(second)) / 2
    divergence: Floats = np.clip(bits, 0.0, 1.0)
    return divergence


def relative_entropy_bits(shares: Floats, reference: Floats) -> float:
    """Kullback-Leibler divergence of shares from a reference, both of any one shape."""
    is_named = shares > 0
    return float((shares[is_named] * np.log2(shares[is_named] / reference[is_named])).sum())

"""Entropy in bits, of counts and of shares, and the Jensen-Shannon divergence made of it.

Functions of counts take them in shape (samples, options), zeros allowed, and give one value a sample.
"""

import math

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


def miller_madow_bits(counts: Counts) -> Floats:
    """Plug-in entropy + (S - 1) / (2 N ln 2), with S options named: Miller 1955."""
    n_named = (counts > 0).sum(axis=1)
    bias = (n_named - 1) / (2 * counts.sum(axis=1) * math.log(2))
    entropy: Floats = plug_in_bits(counts) + bias
    return entropy


def chao_shen_bits(counts: Counts) -> Floats:
    """Coverage-adjusted Horvitz-Thompson entropy: Chao and Shen 2003.

    With coverage C = 1 - f1/N and q = C n/N: -sum q log2 q / (1 - (1 - q)^N). Where every mention
    is of an option of its own, C would be 0; f1 = N - 1 is then used, as R's entropy 1.3 does.
    """
    totals = counts.sum(axis=1)[:, None]
    n_once = (counts == 1).sum(axis=1)[:, None]
    coverage = 1 - np.where(n_once == totals, totals - 1, n_once) / totals
    shares = coverage * counts / totals
    is_named = shares > 0
    safe = np.where(is_named, shares, 0.5)
    # 1 - (1 - q)^N without losing the digits of a small q; q = 1 is one option alone
    chance = -np.expm1(totals * np.log1p(-np.minimum(safe, 1 - 1e-16)))
    entropy: Floats = -np.where(is_named, safe * np.log2(safe) / chance, 0.0).sum(axis=1)
    return entropy + 0.0


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

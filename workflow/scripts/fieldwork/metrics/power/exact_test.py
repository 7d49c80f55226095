"""The exact permutation test of who asks, for answers with two options.

Owns the exact distribution of the rerun component when the answers to each item are assigned to its
puppets at random; `components.permuted_rerun` draws from the same distribution. If k of a puppet's r
answers to an item are of one kind, k (r - k) of its pairs differ. The assignment is fixed by the number
of answers of that kind. Promises probabilities to about eight digits, and equal bits for equal
arguments.
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.fft import next_fast_len

from fieldwork.statistics.arrays import Counts, Floats

_WIDTH = 4.0
"""Standard deviations that one expansion covers on each side. Beyond them its digits run out."""

_CELLS_AT_ONCE = 4_000_000

Spectrum = NDArray[np.complex128]


def count_differing_pairs(ones: Counts, answers: int) -> Counts:
    """Pairs of a puppet's answers to an item that differ, from its answers of the first kind."""
    return ones * (answers - ones)


def exact_p_values(ones: Counts, differing: Counts, *, puppets: int, answers: int) -> Floats:
    """Chance that a random assignment has at most as many differing pairs as were observed.

    Args:
        ones: answers of the first kind to each item, shape (sets, items).
        differing: differing pairs over all items and puppets, shape (sets,).
        puppets, answers: puppets that answer, and answers of each to each item.
    """
    step = math.gcd(*_pairs_by_ones(answers))
    # items do not care which of the two answers is counted
    rarer = np.minimum(ones, puppets * answers - ones)
    distinct, place = np.unique(rarer, return_inverse=True)
    place = place.reshape(rarer.shape)
    n_values = ones.shape[1] * puppets * max(_pairs_by_ones(answers)) // step + 1
    size = int(next_fast_len(n_values, real=True))
    distributions = np.stack(_pair_distributions(distinct.tolist(), puppets, answers))
    # the sum over items is a product of transforms, taken as a sum of logarithms
    spectrum: Spectrum = np.fft.rfft(distributions, n=size, axis=1)
    logs = np.log(np.maximum(np.abs(spectrum), 1e-300)) + 1j * np.angle(spectrum)
    p_values = np.empty(len(ones))
    rows = max(1, _CELLS_AT_ONCE // size)
    for start in range(0, len(ones), rows):
        part = slice(start, start + rows)
        counts = np.stack([np.bincount(row, minlength=len(distinct)) for row in place[part]])
        sums = np.fft.irfft(np.exp(counts @ logs), n=size, axis=1)
        cumulative = np.cumsum(sums, axis=1)
        p_values[part] = cumulative[np.arange(len(counts)), differing[part] // step]
    return np.clip(p_values, 0.0, 1.0)


def _pairs_by_ones(answers: int) -> list[int]:
    return [k * (answers - k) for k in range(answers + 1)]


def _pair_distributions(ones: Sequence[int], puppets: int, answers: int) -> list[Floats]:
    """Chances of each number of differing pairs, one distribution for each number of ones.

    `ones` rises and is at most half of all answers. Distributions count pairs in steps of the greatest
    common divisor of what one puppet can have.
    """
    distributions: list[Floats] = []
    while len(distributions) < len(ones):
        first = ones[len(distributions)]
        total = puppets * answers
        centre = min(first + _WIDTH * max(1.0, _deviation(first, total)), total / 2)
        last = centre + _WIDTH * _deviation(centre, total)
        batch = [k for k in ones[len(distributions) :] if k <= max(last, first)]
        distributions += _expand(batch, centre / total, puppets, answers)
    return distributions


def _deviation(ones: float, total: int) -> float:
    return math.sqrt(ones * (total - ones) / total)


def _expand(ones: Sequence[int], share: float, puppets: int, answers: int) -> Iterator[Floats]:
    """Read the distributions off the generating function of independent puppets with this share.

    Given the number of ones, the share cancels. Near it, their probability is not small.
    """
    pairs = _pairs_by_ones(answers)
    step = math.gcd(*pairs)
    n_ones, n_values = puppets * answers + 1, puppets * max(pairs) // step + 1
    by_ones = np.exp(-2j * np.pi * np.arange(n_ones) / n_ones)[:, None]
    by_pairs = np.exp(-2j * np.pi * np.arange(n_values // 2 + 1) / n_values)[None, :]
    joint: Spectrum = np.empty((len(ones), by_pairs.shape[1]), dtype=np.complex128)
    columns = max(1, _CELLS_AT_ONCE // n_ones)
    for start in range(0, by_pairs.shape[1], columns):
        part = slice(start, start + columns)
        one_puppet = sum(
            math.comb(answers, k)
            * share**k
            * (1 - share) ** (answers - k)
            * (by_ones**k * by_pairs[:, part] ** (differing // step))
            for k, differing in enumerate(pairs)
        )
        joint[:, part] = np.fft.ifft(one_puppet**puppets, axis=0)[list(ones)]
    for row in np.fft.irfft(joint, n=n_values, axis=1):
        positive = np.maximum(row, 0.0)
        yield positive / positive.sum()

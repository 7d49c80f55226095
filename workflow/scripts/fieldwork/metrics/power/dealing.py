"""The test of who asks, counted out, where every answer is one of two.

Owns the exact distribution of the rerun component when the answers to each item are dealt to its
puppets at random, which `components.permuted_rerun` draws from. With k of a puppet's r answers to an
item of one kind, k (r - k) of its pairs differ; what is dealt is fixed by how many answers are of that
kind. Promises probabilities to about eight digits, and the same bits for the same arguments.
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.fft import next_fast_len

from fieldwork.statistics.arrays import Counts, Floats

_WIDTH = 4.0
"""Standard deviations that one expansion serves on each side: beyond, its digits run out."""

_CELLS_AT_ONCE = 4_000_000

Waves = NDArray[np.complex128]


def differing_pairs(ones: Counts, answers: int) -> Counts:
    """Pairs of a puppet's answers to an item that differ, given how many are of the first kind."""
    return ones * (answers - ones)


def chance_as_alike(ones: Counts, differing: Counts, *, puppets: int, answers: int) -> Floats:
    """Chance that dealing at random leaves as few differing pairs as were observed, or fewer.

    Args:
        ones: answers of the first kind to each item, shape (sets, items).
        differing: differing pairs over all items and puppets, shape (sets,).
        puppets, answers: puppets that answer, and answers of each to each item.
    """
    step = math.gcd(*_pairs_by_ones(answers))
    folded = np.minimum(ones, puppets * answers - ones)
    known, place = np.unique(folded, return_inverse=True)
    place = place.reshape(folded.shape)
    n_values = ones.shape[1] * puppets * max(_pairs_by_ones(answers)) // step + 1
    size = int(next_fast_len(n_values, real=True))
    dealt = np.stack(_distributions(known.tolist(), puppets, answers))
    # the sum over items is a product of transforms, taken as a sum of logarithms
    waves: Waves = np.fft.rfft(dealt, n=size, axis=1)
    logs = np.log(np.maximum(np.abs(waves), 1e-300)) + 1j * np.angle(waves)
    chances = np.empty(len(ones))
    rows = max(1, _CELLS_AT_ONCE // size)
    for start in range(0, len(ones), rows):
        part = slice(start, start + rows)
        counts = np.stack([np.bincount(row, minlength=len(known)) for row in place[part]])
        summed = np.fft.irfft(np.exp(counts @ logs), n=size, axis=1)
        below = np.cumsum(summed, axis=1)
        chances[part] = below[np.arange(len(counts)), differing[part] // step]
    clipped: Floats = np.clip(chances, 0.0, 1.0)
    return clipped


def _pairs_by_ones(answers: int) -> list[int]:
    return [k * (answers - k) for k in range(answers + 1)]


def _distributions(ones: Sequence[int], puppets: int, answers: int) -> list[Floats]:
    """Of each number of ones, rising and at most half of all answers: chances of differing pairs.

    In steps of the greatest common divisor of what one puppet can have.
    """
    found: list[Floats] = []
    while len(found) < len(ones):
        first = ones[len(found)]
        total = puppets * answers
        centre = min(first + _WIDTH * max(1.0, _deviation(first, total)), total / 2)
        last = centre + _WIDTH * _deviation(centre, total)
        served = [k for k in ones[len(found) :] if k <= max(last, first)]
        found += _expanded(served, centre / total, puppets, answers)
    return found


def _deviation(ones: float, total: int) -> float:
    return math.sqrt(ones * (total - ones) / total)


def _expanded(ones: Sequence[int], share: float, puppets: int, answers: int) -> Iterator[Floats]:
    """Read the distributions off the generating function of independent puppets with this share.

    Given the number of ones, the share cancels; near it, their probability is not small.
    """
    pairs = _pairs_by_ones(answers)
    step = math.gcd(*pairs)
    n_ones, n_values = puppets * answers + 1, puppets * max(pairs) // step + 1
    by_ones = np.exp(-2j * np.pi * np.arange(n_ones) / n_ones)[:, None]
    by_pairs = np.exp(-2j * np.pi * np.arange(n_values // 2 + 1) / n_values)[None, :]
    joint: Waves = np.empty((len(ones), by_pairs.shape[1]), dtype=np.complex128)
    columns = max(1, _CELLS_AT_ONCE // n_ones)
    for start in range(0, by_pairs.shape[1], columns):
        part = slice(start, start + columns)
        one = sum(
            math.comb(answers, k)
            * share**k
            * (1 - share) ** (answers - k)
            * (by_ones**k * by_pairs[:, part] ** (differing // step))
            for k, differing in enumerate(pairs)
        )
        joint[:, part] = np.fft.ifft(one**puppets, axis=0)[list(ones)]
    for row in np.fft.irfft(joint, n=n_values, axis=1):
        positive = np.maximum(row, 0.0)
        yield positive / positive.sum()

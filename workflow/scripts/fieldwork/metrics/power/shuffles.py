"""Permutations that simulated studies share.

Which answers a test deals to which side does not depend on the answers, so studies may share their deals:
each p-value keeps its distribution. Forty studies share a set, so that no single set decides.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fieldwork.statistics.arrays import Counts

_FIRST_PERMUTATIONS = 200
_MANY_HITS = 30
"""With so many hits among the first permutations, all of them leave p below 0.05 once in 10 million."""


def count_all_hits(count_hits: Callable[[int, int], int], n_permutations: int) -> int:
    """Hits of all permutations; where the first few have many, as many in proportion.

    Such a p-value is far above the level, and no correction brings it below.

    Args:
        count_hits: of the permutations from one number to another.
    """
    n_first = min(_FIRST_PERMUTATIONS, n_permutations)
    n_hits = count_hits(0, n_first)
    if n_hits >= _MANY_HITS:
        return n_hits * n_permutations // n_first
    return n_hits + count_hits(n_first, n_permutations)


class SharedSplits:
    """Random splits of 2n answers into two halves, drawn when first needed and kept as bits."""

    def __init__(self, n: int, random: np.random.Generator) -> None:
        self._n = n
        self._random = random
        self._stages: list[NDArray[np.uint8]] = []

    def draw(self, stage: int, n_splits: int) -> None:
        """Draw the splits of a stage of a test, unless another test did: all ask for the same number."""
        if stage == len(self._stages):
            is_first = np.tile(np.arange(2 * self._n) < self._n, (n_splits, 1))
            self._random.permuted(is_first, axis=1, out=is_first)
            self._stages.append(np.packbits(is_first, axis=1))

    def part(self, stage: int, start: int, stop: int) -> NDArray[np.float32]:
        """Some splits of a stage, 1 for the first half: shape (splits, answers)."""
        bits = self._stages[stage][start:stop]
        return np.unpackbits(bits, axis=1, count=2 * self._n).astype(np.float32)


def permuted_orders(n_answers: int, n_permutations: int, random: np.random.Generator) -> Counts:
    """Random orders of the answers to a prompt: shape (permutations, answers)."""
    orders: Counts = np.argsort(random.random((n_permutations, n_answers)), axis=1)
    return orders

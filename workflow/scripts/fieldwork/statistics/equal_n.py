"""Equal n: samples of different sizes are brought to the size of the smallest before they are compared.

Owns the size of the smallest, the random subsamples, and how often each option occurs in them.
"""

from collections.abc import Hashable, Iterable
from typing import TypeVar

import numpy as np

from fieldwork.statistics.arrays import Counts, Indices

N_SUBSAMPLES = 200
"""Subsamples behind a value at equal n."""

Key = TypeVar("Key", bound=Hashable)


def smallest_sizes(sizes: Iterable[tuple[Key, int]]) -> dict[Key, int]:
    """The smallest size of each key; a sample without an answer is left out."""
    smallest: dict[Key, int] = {}
    for key, size in sizes:
        if size:
            smallest[key] = min(size, smallest.get(key, size))
    return smallest


def subsample_indices(
    population: int, size: int, *, n_subsamples: int, random: np.random.Generator
) -> Indices:
    """Samples without replacement: shape (n_subsamples, size), values in [0, population)."""
    order = np.argsort(random.random((n_subsamples, population)), axis=1, kind="stable")
    return order[:, :size].astype(np.int64)


def random_orders(population: int, n_equal: int, random: np.random.Generator) -> Indices:
    """Random orders of answers; the first `n_equal` of each are a subsample.

    Shape (subsamples, n_equal + 1): the last one comes in when another is left out. Where all answers
    are in the subsample there is one order, of shape (1, n_equal).
    """
    if n_equal == population:
        return np.arange(population, dtype=np.int64)[None, :]
    return subsample_indices(population, n_equal + 1, n_subsamples=N_SUBSAMPLES, random=random)


def sampled_counts(samples: Indices, indicator: Counts) -> Counts:
    """How many answers of each sample name each option.

    Takes samples of shape (s, m) into an indicator of shape (answers, options), gives (s, options).
    The product sums whole numbers below 2**24, which float32 holds exactly in any order.
    """
    n_samples, population = len(samples), len(indicator)
    flat = samples + (np.arange(n_samples, dtype=np.int64) * population)[:, None]
    weights = np.bincount(flat.ravel(), minlength=n_samples * population)
    weights = weights.reshape(n_samples, population).astype(np.float32)
    return (weights @ indicator.astype(np.float32)).astype(np.int64)


def subsampled_tables(
    table: Counts, size: int, random: np.random.Generator, *, n_subsamples: int = N_SUBSAMPLES
) -> Counts:
    """Subsamples of answers that are counted by kind: shape (n_subsamples, kinds).

    Args:
        table: how many answers there are of each kind, shape (kinds,).
    """
    if size == table.sum():
        return np.repeat(table[None, :], n_subsamples, axis=0)
    return random.multivariate_hypergeometric(table, size, size=n_subsamples, method="marginals")

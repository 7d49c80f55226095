"""Entropies against scipy's."""

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon
from scipy.stats import entropy

from fieldwork.statistics.entropy import (
    entropy_bits,
    jensen_shannon_bits,
    plug_in_bits,
    relative_entropy_bits,
)


def test_entropies_are_scipys() -> None:
    p, q = np.random.default_rng(0).dirichlet([1] * 6, size=2)
    assert entropy_bits(p) == pytest.approx(entropy(p, base=2))
    assert relative_entropy_bits(p, q) == pytest.approx(entropy(p, q, base=2))
    assert jensen_shannon_bits(p[None], q[None])[0] == pytest.approx(jensenshannon(p, q, 2) ** 2)
    counts = np.array([[4, 2, 3, 0, 2], [4, 0, 0, 2, 1], [7, 0, 0, 0, 0]], dtype=np.int64)
    assert plug_in_bits(counts) == pytest.approx(entropy(counts, base=2, axis=1))

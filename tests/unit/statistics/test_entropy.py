"""Entropies against closed forms and scipy."""

import math

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon
from scipy.stats import entropy

from fieldwork.statistics.arrays import Counts
from fieldwork.statistics.entropy import (
    entropy_bits,
    jensen_shannon_bits,
    plug_in_bits,
    relative_entropy_bits,
)


def counts(*values: int) -> Counts:
    return np.array([values], dtype=np.int64)


def test_entropy_of_counts() -> None:
    # 8 options, 19 mentions
    y = counts(4, 2, 3, 0, 2, 4, 0, 0, 2, 1, 1)
    nats = -sum(k / 19 * math.log(k / 19) for k in (4, 2, 3, 2, 4, 2, 1, 1))
    assert plug_in_bits(y)[0] * math.log(2) == pytest.approx(nats)


@pytest.mark.parametrize("n", [1, 2, 10, 48])
def test_one_option_has_no_entropy(n: int) -> None:
    assert plug_in_bits(counts(n, 0))[0] == 0.0


def test_rows_are_samples_of_their_own() -> None:
    both = np.array([[3, 1, 0], [2, 2, 2]], dtype=np.int64)
    alone = [plug_in_bits(both[k : k + 1])[0] for k in range(2)]
    assert plug_in_bits(both).tolist() == pytest.approx(alone)


@pytest.mark.parametrize(
    ("p", "q", "bits"),
    [
        ((1.0, 0.0), (0.0, 1.0), 1.0),
        ((0.5, 0.5), (0.5, 0.5), 0.0),
        # H(1/4, 3/4) - H(1/2, 1/2) / 2
        ((0.0, 1.0), (0.5, 0.5), 0.8112781244591328 - 0.5),
    ],
)
def test_divergence_in_closed_form(p: tuple[float, ...], q: tuple[float, ...], bits: float) -> None:
    assert jensen_shannon_bits(np.array([p]), np.array([q]))[0] == pytest.approx(bits)


def test_divergence_is_scipys_distance_squared() -> None:
    p, q = np.random.default_rng(0).dirichlet([1] * 6, size=2)
    expected = jensenshannon(p, q, base=2) ** 2
    assert jensen_shannon_bits(p[None], q[None])[0] == pytest.approx(expected)


def test_entropies_of_shares_are_scipys() -> None:
    p, q = np.random.default_rng(4).dirichlet([1] * 5, size=2)
    assert entropy_bits(p) == pytest.approx(entropy(p, base=2))
    assert relative_entropy_bits(p, q) == pytest.approx(entropy(p, q, base=2))


def test_counts_and_shares_have_one_entropy() -> None:
    table = counts(4, 0, 2, 1)
    assert plug_in_bits(table)[0] == pytest.approx(entropy_bits(table / 7)[0])

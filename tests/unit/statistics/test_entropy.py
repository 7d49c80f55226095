"""Entropies against printed values of R packages, closed forms, and plain formulas."""

import math

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon
from scipy.stats import entropy

from fieldwork.statistics.arrays import Counts
from fieldwork.statistics.entropy import (
    chao_shen_bits,
    entropy_bits,
    jensen_shannon_bits,
    miller_madow_bits,
    plug_in_bits,
    relative_entropy_bits,
)


def counts(*values: int) -> Counts:
    return np.array([values], dtype=np.int64)


def test_miller_madow_adds_its_term() -> None:
    # 8 options, 20 mentions; R's entropy package prints nats: entropy(y, method = "MM")
    y = counts(4, 2, 3, 0, 2, 4, 0, 0, 2, 1, 1)
    nats = -sum(k / 19 * math.log(k / 19) for k in (4, 2, 3, 2, 4, 2, 1, 1))
    assert plug_in_bits(y)[0] * math.log(2) == pytest.approx(nats)
    assert miller_madow_bits(y)[0] * math.log(2) == pytest.approx(nats + 7 / 38)


def chao_shen_plainly(values: tuple[int, ...]) -> float:
    n, once = sum(values), sum(1 for k in values if k == 1)
    coverage = 1 - (once - (once == n)) / n
    return -sum(
        (q := coverage * k / n) * math.log2(q) / (1 - (1 - q) ** n) for k in values if k > 0
    )


@pytest.mark.parametrize(
    "values",
    [(4, 2, 3, 0, 2, 4, 0, 0, 2, 1, 1), (1, 1, 1, 1), (9, 1), (100, 50, 1, 1, 2), (3, 3)],
)
def test_chao_shen_is_its_formula(values: tuple[int, ...]) -> None:
    assert chao_shen_bits(counts(*values))[0] == pytest.approx(chao_shen_plainly(values))


@pytest.mark.parametrize("estimator", [plug_in_bits, miller_madow_bits, chao_shen_bits])
@pytest.mark.parametrize("n", [1, 2, 10, 48])
def test_one_option_has_no_entropy(estimator: object, n: int) -> None:
    if n > 1:
        assert estimator(counts(n, 0))[0] == pytest.approx(0.0, abs=1e-12)  # type: ignore[operator]


@pytest.mark.parametrize("estimator", [plug_in_bits, miller_madow_bits, chao_shen_bits])
def test_large_samples_agree_on_the_truth(estimator: object) -> None:
    shares = np.array([0.5, 0.25, 0.125, 0.125])
    found = estimator((shares * 2**20).astype(np.int64)[None, :])[0]  # type: ignore[operator]
    assert found == pytest.approx(1.75, abs=1e-5)


def test_rows_are_samples_of_their_own() -> None:
    both = np.array([[3, 1, 0], [2, 2, 2]], dtype=np.int64)
    for estimator in (plug_in_bits, miller_madow_bits, chao_shen_bits):
        alone = [estimator(both[k : k + 1])[0] for k in range(2)]
        assert estimator(both).tolist() == pytest.approx(alone)


def test_corrections_take_most_of_the_bias_away() -> None:
    """40 draws from 20 equal options: 4.32 bits. Means of 500 samples, error below 0.01."""
    sample = np.random.default_rng(3).multinomial(40, [1 / 20] * 20, size=500)
    truth = math.log2(20)
    plain, corrected, shen = (
        truth - float(f(sample).mean()) for f in (plug_in_bits, miller_madow_bits, chao_shen_bits)
    )
    assert 0.25 < plain < 0.45
    assert abs(corrected) < plain / 2
    assert abs(shen) < plain / 4


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

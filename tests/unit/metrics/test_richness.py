"""Richness and entropies against printed values of R packages, closed forms, and plain formulas."""

import math

import numpy as np
import pytest

from fieldwork.metrics.resampling import Counts
from fieldwork.metrics.richness import chao2, chao_shen_bits, miller_madow_bits, plug_in_bits

MANY = 10**12
"""Responses without number: Chao2 is then Chao1."""


def counts(*values: int) -> Counts:
    return np.array([values], dtype=np.int64)


def with_rare(named: int, once: int, twice: int) -> Counts:
    return counts(*[1] * once, *[2] * twice, *[3] * (named - once - twice))


@pytest.mark.parametrize(
    ("named", "once", "twice", "expected"),
    # estimateR(BCI[1:2, ]) in the documentation of R's vegan; f1 and f2 are those its S.chao1 implies
    [(93, 31, 18, 117.473684), (84, 31, 13, 117.214286)],
)
def test_chao_is_vegans(named: int, once: int, twice: int, expected: float) -> None:
    assert chao2(with_rare(named, once, twice), MANY)[0] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("named", "once", "twice", "units", "expected"),
    [
        (10, 0, 0, 5, 10.0),
        (10, 1, 0, 5, 10.0),
        (10, 4, 0, 5, 10 + 4 / 5 * 4 * 3 / 2),
        (10, 4, 2, 5, 10 + 4 / 5 * 4 * 3 / 6),
        (5, 5, 0, 1, 5.0),
    ],
)
def test_chao2(named: int, once: int, twice: int, units: int, expected: float) -> None:
    assert chao2(with_rare(named, once, twice), units)[0] == pytest.approx(expected)


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

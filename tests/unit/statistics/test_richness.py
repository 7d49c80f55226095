"""Richness against printed values of R packages, subsets and binomial ratios."""

import math
from itertools import combinations

import numpy as np
import pytest

from fieldwork.statistics.arrays import Counts
from fieldwork.statistics.richness import chao2, rarefaction_curve, rarefaction_table

MANY = 10**12
"""Answers without number: Chao2 is then Chao1."""


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


@pytest.mark.parametrize(("population", "size"), [(1, 1), (5, 1), (5, 3), (6, 6), (9, 4)])
def test_rarefaction_table_is_the_share_of_subsets(population: int, size: int) -> None:
    subsets = list(combinations(range(population), size))
    for k, found in enumerate(rarefaction_table(population, size)):
        holding = sum(any(member < k for member in subset) for subset in subsets)
        assert found == pytest.approx(holding / len(subsets), abs=1e-12)


@pytest.mark.parametrize(("population", "size"), [(550, 37), (550, 549), (2000, 1000)])
def test_rarefaction_table_is_the_binomial_ratio(population: int, size: int) -> None:
    table = rarefaction_table(population, size)
    for k in (0, 1, 2, population // 2, population - 1, population):
        exact = 1 - math.comb(population - k, size) / math.comb(population, size)
        assert table[k] == pytest.approx(exact, rel=1e-9, abs=1e-12)


def test_rarefaction_table_at_full_size_is_exact() -> None:
    assert rarefaction_table(7, 7).tolist() == [0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]


def test_the_curve_is_the_table_at_every_number_of_answers() -> None:
    counts = [5, 3, 3, 1]
    tables = [rarefaction_table(6, m)[counts].sum() for m in range(1, 7)]
    assert rarefaction_curve(counts, 6).tolist() == pytest.approx(tables)

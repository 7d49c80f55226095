"""Rarefaction against binomial ratios."""

import math

import pytest

from fieldwork.statistics.richness import rarefaction_curve, rarefaction_table


@pytest.mark.parametrize(
    ("population", "size"), [(1, 1), (5, 1), (5, 3), (6, 6), (550, 37), (550, 549), (2000, 1000)]
)
def test_rarefaction_table_is_the_binomial_ratio(population: int, size: int) -> None:
    table = rarefaction_table(population, size)
    for k in {0, 1, min(2, population), population // 2, population - 1, population}:
        exact = 1 - math.comb(population - k, size) / math.comb(population, size)
        assert table[k] == pytest.approx(exact, rel=1e-9, abs=1e-12)


def test_the_curve_is_the_table_at_every_number_of_answers() -> None:
    counts = [5, 3, 3, 1]
    tables = [rarefaction_table(6, m)[counts].sum() for m in range(1, 7)]
    assert rarefaction_curve(counts, 6).tolist() == pytest.approx(tables)

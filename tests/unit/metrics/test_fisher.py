"""Fisher's test against scipy's, and the correction against Holm's and by hand."""

import itertools

import numpy as np
import pytest
from scipy.stats import fisher_exact, hypergeom

from fieldwork.metrics.fisher import Margins, fisher_p, holm_of_discrete, p_of_tables
from fieldwork.metrics.permutation import holm


@pytest.mark.parametrize(("n", "m"), [(1, 1), (3, 8), (10, 10), (12, 40)])
def test_the_p_value_is_scipys(n: int, m: int) -> None:
    for a, b in itertools.product(range(n + 1), range(m + 1)):
        expected = fisher_exact([[a, n - a], [b, m - b]])[1]
        assert fisher_p(a, Margins(a + b, n, m)) == pytest.approx(expected)


def test_fishers_lady_tasting_tea() -> None:
    # three of four cups right: Fisher 1935
    assert fisher_p(3, Margins(4, 4, 4)) == pytest.approx(34 / 70)
    assert fisher_p(4, Margins(4, 4, 4)) == pytest.approx(2 / 70)


def test_impossible_tables_have_none() -> None:
    assert np.isnan(p_of_tables(Margins(3, 2, 1))).tolist() == [True, True, False, True]


def test_a_p_value_is_the_chance_to_come_out_there_or_below() -> None:
    margins = Margins(13, 20, 31)
    p_values = p_of_tables(margins)
    chances = hypergeom.pmf(np.arange(14), 51, 13, 20)
    for p in p_values:
        assert chances[p_values <= p * (1 + 1e-9)].sum() == pytest.approx(p)


WIDE, NARROW = Margins(40, 40, 40), Margins(2, 40, 40)


@pytest.mark.parametrize(
    ("named", "margins", "expected"),
    [
        # alone there is nothing to correct
        ([30], [WIDE], [fisher_p(30, WIDE)]),
        # two of eighty cannot come out that low, and cost nothing
        ([30, 1], [WIDE, NARROW], [fisher_p(30, WIDE), 1.0]),
        ([30, 30], [WIDE, WIDE], [2 * fisher_p(30, WIDE)] * 2),
        # the next step no longer counts the first
        ([32, 28], [WIDE, WIDE], [2 * fisher_p(32, WIDE), fisher_p(28, WIDE)]),
        ([], [], []),
    ],
)
def test_each_hypothesis_costs_what_it_could_come_out_at(named, margins, expected) -> None:
    p_values = [fisher_p(k, of) for k, of in zip(named, margins, strict=True)]
    assert holm_of_discrete(p_values, margins) == pytest.approx(expected)


def test_it_is_never_larger_than_holms_and_keeps_the_order() -> None:
    random = np.random.default_rng(3)
    margins = [Margins(int(k), 40, 30) for k in random.integers(1, 60, size=80)]
    p_values = [fisher_p(int(random.hypergeometric(m.named, 70 - m.named, 40)), m) for m in margins]
    corrected = holm_of_discrete(p_values, margins)
    pairs = list(zip(p_values, corrected, holm(p_values), strict=True))
    assert all(p <= q * (1 + 1e-6) <= plain * (1 + 2e-6) for p, q, plain in pairs)
    assert [q for _, q, _ in sorted(pairs)] == sorted(corrected)
    shuffled = random.permutation(len(margins))
    again = holm_of_discrete([p_values[k] for k in shuffled], [margins[k] for k in shuffled])
    assert again == [corrected[k] for k in shuffled]

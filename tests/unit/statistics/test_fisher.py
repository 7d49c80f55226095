"""Fisher's test against scipy's, and the correction against Holm's and by hand."""

import itertools
from typing import Any

import numpy as np
import pytest
from scipy.stats import fisher_exact

from fieldwork.statistics import fisher
from fieldwork.statistics.families import holm
from fieldwork.statistics.fisher import (
    Margins,
    fisher_p,
    fisher_test_of_groups,
    holm_of_discrete,
    least_fisher_p,
    p_of_tables,
)


@pytest.mark.parametrize(("n", "m"), [(1, 1), (3, 8), (10, 10), (12, 40)])
def test_the_p_value_is_scipys(n: int, m: int) -> None:
    for a, b in itertools.product(range(n + 1), range(m + 1)):
        expected = fisher_exact([[a, n - a], [b, m - b]])[1]
        assert fisher_p(a, Margins(a + b, n, m)) == pytest.approx(expected)
    # impossible tables have none
    assert np.isnan(p_of_tables(Margins(3, 2, 1))).tolist() == [True, True, False, True]


WIDE, NARROW = Margins(40, 40, 40), Margins(2, 40, 40)


def test_each_hypothesis_costs_what_it_could_come_out_at() -> None:
    def p(*named: int) -> list[float]:
        return [fisher_p(n, WIDE) for n in named]

    # alone there is nothing to correct, and two of eighty cannot come out that low, and cost nothing
    assert holm_of_discrete([], []) == []
    assert holm_of_discrete(p(30), [WIDE]) == pytest.approx(p(30))
    pair = [*p(30), fisher_p(1, NARROW)]
    assert holm_of_discrete(pair, [WIDE, NARROW]) == pytest.approx([*p(30), 1.0])
    assert holm_of_discrete(p(30, 30), [WIDE] * 2) == pytest.approx([2 * p(30)[0]] * 2)
    # the next step no longer counts the first
    corrected = holm_of_discrete(p(32, 28), [WIDE] * 2)
    assert corrected == pytest.approx([2 * p(32)[0], p(28)[0]])
    # a test that can have any p-value from .01 adds p from there on, and nothing below
    bounds = [0.01, 0.0, Margins(2, 20, 20)]
    assert holm_of_discrete([0.02, 0.03, 1.0], bounds) == pytest.approx([0.04, 0.04, 1.0])
    assert holm_of_discrete([0.005, 0.5], [0.0, 0.01]) == pytest.approx([0.005, 0.5])


def test_it_is_never_larger_than_holms_and_keeps_the_order() -> None:
    random = np.random.default_rng(3)
    margins = [Margins(int(k), 40, 30) for k in random.integers(1, 60, size=80)]
    p_values = [
        fisher_p(int(random.hypergeometric(m.n_named, 70 - m.n_named, 40)), m) for m in margins
    ]
    corrected = holm_of_discrete(p_values, margins)
    pairs = list(zip(p_values, corrected, holm(p_values), strict=True))
    assert all(p <= q * (1 + 1e-6) <= plain * (1 + 2e-6) for p, q, plain in pairs)
    assert [q for _, q, _ in sorted(pairs)] == sorted(corrected)
    shuffled = random.permutation(len(margins))
    again = holm_of_discrete([p_values[k] for k in shuffled], [margins[k] for k in shuffled])
    assert again == [corrected[k] for k in shuffled]


def p_of_groups(lost: Any, sizes: Any) -> float:
    random = np.random.default_rng(1)
    return fisher_test_of_groups(np.array(lost), np.array(sizes), random=random).p_value


def test_few_groups_are_fishers_test_and_counted_by_hand() -> None:
    pairs = ((3, 0), (10, 10)), ((1, 5), (9, 30)), ((0, 1), (4, 3)), ((20, 9), (50, 40))
    for lost, sizes in pairs:
        table = [lost, (sizes[0] - lost[0], sizes[1] - lost[1])]
        assert p_of_groups(lost, sizes) == pytest.approx(fisher_exact(table).pvalue)
    # two of two lost in one of three groups of two: 3 of the 15 ways, the others 12 of 15
    assert p_of_groups([2, 0, 0], [2, 2, 2]) == pytest.approx(0.2)
    assert p_of_groups([1, 1, 0], [2, 2, 2]) == pytest.approx(1.0)


@pytest.mark.parametrize("sizes", [(10, 10), (4, 9), (2, 2, 2), (5, 3, 8, 4)])
def test_no_table_of_groups_has_a_smaller_p_value_than_the_smallest(sizes: tuple[int, ...]) -> None:
    random = np.random.default_rng(1)
    for total in range(1, sum(sizes)):
        tests = [
            fisher_test_of_groups(np.array(lost), np.array(sizes), random=random)
            for lost in itertools.product(*(range(size + 1) for size in sizes))
            if sum(lost) == total
        ]
        (p_least,) = {test.p_least for test in tests}
        assert p_least == pytest.approx(min(test.p_value for test in tests))
        if len(sizes) == 2:
            assert p_least == pytest.approx(least_fisher_p(Margins(total, *sizes)))


def test_drawn_tables_agree_with_counted_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    lost, sizes = [6, 1, 2, 0], [10, 10, 12, 9]
    exact = p_of_groups(lost, sizes)
    monkeypatch.setattr(fisher, "MAX_GROUP_TABLES", 0)
    drawn = p_of_groups(lost, sizes)
    assert drawn == pytest.approx(exact, abs=0.005)
    assert drawn != exact


def test_the_test_holds_its_level() -> None:
    """Where groups lose alike, no more than 5 % of p-values are at or below .05."""
    random = np.random.default_rng(7)
    sizes = np.array([10, 10, 10, 10])
    p_values = np.array([p_of_groups(random.binomial(sizes, 0.15), sizes) for _ in range(1_000)])
    assert np.mean(p_values <= 0.05) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 1_000)
    assert np.mean(p_values <= 0.05) > 0.005

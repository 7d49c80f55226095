"""Rank correlations and their test against scipy and plain enumeration."""

import itertools
import random

import numpy as np
import pytest
from scipy import stats

from fieldwork.statistics.rank_correlation import (
    bootstrap_intervals,
    correlate_ranks,
    descending_ranks,
    discordant_pairs,
    rho_permutation_test,
    tau_permutation_test,
)


def draw_values(seed: int, n: int, levels: int) -> tuple[list[float], list[float]]:
    """Few levels make ties."""
    source = random.Random(seed)
    return tuple([source.randrange(levels) / 7 for _ in range(n)] for _ in range(2))  # type: ignore[return-value]


@pytest.mark.parametrize("levels", [3, 1000])
@pytest.mark.parametrize("seed", range(5))
def test_correlations_are_scipys(seed: int, levels: int) -> None:
    x, y = draw_values(seed, 8, levels)
    correlation = correlate_ranks(x, y)
    assert correlation.rho == pytest.approx(stats.spearmanr(x, y).statistic)
    assert correlation.tau_b == pytest.approx(stats.kendalltau(x, y, variant="b").statistic)


@pytest.mark.parametrize("levels", [3, 1000])
@pytest.mark.parametrize("seed", range(5))
def test_pairs_by_hand(seed: int, levels: int) -> None:
    x, y = draw_values(seed, 7, levels)
    discordant = n_tied = 0
    for i, j in itertools.combinations(range(7), 2):
        product = (x[i] - x[j]) * (y[i] - y[j])
        discordant += product < 0
        n_tied += product == 0
    assert correlate_ranks(x, y).pairs == (discordant, n_tied, 21)


@pytest.mark.parametrize("seed", range(4))
def test_with_ties_all_orders_are_counted_out(seed: int) -> None:
    x, y = draw_values(seed, 6, 3)
    taus = [
        abs(stats.kendalltau(x, order, variant="b").statistic)
        for order in itertools.permutations(y)
    ]
    observed_tau = abs(stats.kendalltau(x, y, variant="b").statistic)
    expected = np.mean([tau >= observed_tau - 1e-9 for tau in taus])
    correlation = tau_permutation_test(x, y, n_permutations=9, random=np.random.default_rng(1))
    assert correlation.p_value == pytest.approx(expected)


@pytest.mark.parametrize("levels", [2, 3, 10_000])
@pytest.mark.parametrize("n", [3, 4, 6])
def test_the_test_of_rho_counts_out_all_orders(n: int, levels: int) -> None:
    for seed in range(4):
        x, y = draw_values(seed, n, levels)
        if len(set(x)) == 1 or len(set(y)) == 1:
            continue
        x_ranks, y_ranks = stats.rankdata(x), stats.rankdata(y)
        orders = itertools.permutations(y_ranks)
        rhos = [abs(float(np.corrcoef(x_ranks, order)[0, 1])) for order in orders]
        observed_rho = abs(stats.spearmanr(x, y).statistic)
        test = rho_permutation_test(x, y, n_permutations=9, random=np.random.default_rng(1))
        assert test.p_value == pytest.approx(np.mean([r >= observed_rho - 1e-9 for r in rhos]))
        assert test.p_least == pytest.approx(np.mean([r >= max(rhos) - 1e-9 for r in rhos]))
        assert test.n_permutations == 0


def test_places_are_from_the_highest_and_ties_share_theirs() -> None:
    assert descending_ranks([0.2, 0.9, 0.2, 0.1 + 0.2 - 0.3 + 0.2]).tolist() == [3, 1, 3, 3]


@pytest.mark.parametrize(("n", "has_interval"), [(8, False), (9, True)])
def test_few_things_have_no_interval(n: int, has_interval: bool) -> None:
    source = np.random.default_rng(3)
    intervals = bootstrap_intervals(source.normal(size=n), source.normal(size=n), random=source)
    assert [interval is not None for interval in intervals] == [has_interval, has_interval]


def test_the_bootstrap_is_that_of_plain_resampling() -> None:
    source = np.random.default_rng(3)
    x, y = source.normal(size=(2, 12))
    intervals = bootstrap_intervals(x, y, random=np.random.default_rng(5))
    samples = np.random.default_rng(5).integers(0, 12, size=(1999, 12))
    taus = [stats.kendalltau(x[row], y[row]).statistic for row in samples]
    assert intervals.tau_b is not None
    assert intervals.tau_b == pytest.approx(np.quantile(taus, [0.025, 0.975]))


def test_ties_that_leave_many_samples_without_an_order_have_no_interval() -> None:
    """A third of the samples miss the one thing that is apart: what is left says too much."""
    n_tied = np.array([1.0, *[0.0] * 8])
    assert correlate_ranks(n_tied, np.arange(9.0)).tau_b is not None
    intervals = bootstrap_intervals(n_tied, np.arange(9.0), random=np.random.default_rng(2))
    assert intervals == (None, None)


@pytest.mark.parametrize("levels", [3, 1000])
@pytest.mark.parametrize("seed", range(5))
def test_discordant_pairs_are_those_counted_and_say_who_was_ahead(seed: int, levels: int) -> None:
    x, y = draw_values(seed, 7, levels)
    pairs = discordant_pairs(x, y)
    assert len(pairs) == correlate_ranks(x, y).pairs.discordant
    assert all(x[i] > x[j] and y[i] < y[j] for i, j in pairs)


def test_a_side_that_ties_all_has_no_correlation() -> None:
    assert correlate_ranks([1, 1, 1], [1, 2, 3])[:2] == (None, None)


def test_rounding_turns_no_pair() -> None:
    assert discordant_pairs([0.3, 0.1], [0.1 + 0.2, 0.3]) == []

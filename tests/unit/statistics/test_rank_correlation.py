"""Rank correlations and their test against scipy and plain enumeration."""

import itertools
import random
from typing import Any

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
def test_correlations_are_scipys_and_pairs_are_counted(seed: int, levels: int) -> None:
    x, y = draw_values(seed, 8, levels)
    correlation = correlate_ranks(x, y)
    assert correlation.rho == pytest.approx(stats.spearmanr(x, y).statistic)
    assert correlation.tau_b == pytest.approx(stats.kendalltau(x, y, variant="b").statistic)
    steps = [(x[i] - x[j]) * (y[i] - y[j]) for i, j in itertools.combinations(range(8), 2)]
    n_turned, n_tied = sum(step < 0 for step in steps), steps.count(0)
    assert correlation.pairs == (n_turned, n_tied, 28)
    pairs = discordant_pairs(x, y)
    assert len(pairs) == n_turned
    assert all(x[i] > x[j] and y[i] < y[j] for i, j in pairs)


def test_ties_and_rounding() -> None:
    assert correlate_ranks([1, 1, 1], [1, 2, 3])[:2] == (None, None)
    assert discordant_pairs([0.3, 0.1], [0.1 + 0.2, 0.3]) == []


@pytest.mark.parametrize("levels", [2, 3, 10_000])
@pytest.mark.parametrize("n", [3, 4, 6])
def test_both_tests_count_out_all_orders(n: int, levels: int) -> None:
    draw: dict[str, Any] = {"n_permutations": 9, "random": np.random.default_rng(1)}
    for seed in range(4):
        x, y = draw_values(seed, n, levels)
        if len(set(x)) == 1 or len(set(y)) == 1:
            continue
        orders = [*itertools.permutations(y)]
        rhos = np.abs([stats.spearmanr(x, order).statistic for order in orders])
        taus = np.abs([stats.kendalltau(x, order).statistic for order in orders])
        test = rho_permutation_test(x, y, **draw)
        # the first order is the observed one
        assert test.p_value == pytest.approx(np.mean(rhos >= rhos[0] - 1e-9))
        assert test.p_least == pytest.approx(np.mean(rhos >= max(rhos) - 1e-9))
        assert test.n_permutations == 0
        p_of_tau = tau_permutation_test(x, y, **draw).p_value
        assert p_of_tau == pytest.approx(np.mean(taus >= taus[0] - 1e-9))


def test_places_are_from_the_highest_and_ties_share_theirs() -> None:
    assert descending_ranks([0.2, 0.9, 0.2, 0.1 + 0.2 - 0.3 + 0.2]).tolist() == [3, 1, 3, 3]


def test_the_bootstrap_is_that_of_plain_resampling() -> None:
    x, y = np.random.default_rng(3).normal(size=(2, 12))
    intervals = bootstrap_intervals(x, y, random=np.random.default_rng(5))
    samples = np.random.default_rng(5).integers(0, 12, size=(1999, 12))
    taus = [stats.kendalltau(x[row], y[row]).statistic for row in samples]
    assert intervals.tau_b == pytest.approx(np.quantile(taus, [0.025, 0.975]))
    assert None not in bootstrap_intervals(x[:9], y[:9], random=np.random.default_rng(5))
    assert bootstrap_intervals(x[:8], y[:8], random=np.random.default_rng(5)) == (None, None)
    # a third of the samples miss the one thing that is apart: what is left says too much
    ties = np.array([1.0, *[0.0] * 8])
    assert correlate_ranks(ties, np.arange(9.0)).tau_b is not None
    assert bootstrap_intervals(ties, np.arange(9.0), random=np.random.default_rng(2)) == (
        None,
        None,
    )

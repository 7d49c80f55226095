"""Tests within strata beside brute force and scipy, and their level."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import binomtest, fisher_exact, hypergeom

from fieldwork.statistics.arrays import Floats
from fieldwork.statistics.stratified import (
    FIRST_DRAWS,
    DrawPlan,
    StratumCounts,
    StratumShuffles,
    aligned_ranks,
    exact_share_test,
    least_chance,
    shuffle_test,
)


def counts(*strata: tuple[int, int, int, int]) -> StratumCounts:
    """Strata as successes and answers of the first sample, then of the second."""
    rows = np.array(strata, dtype=np.int64)
    return StratumCounts(rows[:, [0, 2]], rows[:, [1, 3]])


@pytest.mark.parametrize(("n_up", "n_down"), [(0, 1), (3, 3), (1, 7), (0, 12), (20, 41)])
def test_with_one_answer_a_sample_it_is_mcnemars_exact_test(n_up: int, n_down: int) -> None:
    strata = [(0, 1, 1, 1)] * n_up + [(1, 1, 0, 1)] * n_down + [(1, 1, 1, 1)] * 9 + [(0, 1, 0, 1)]
    test = exact_share_test(counts(*strata))
    assert test.p_value == pytest.approx(binomtest(n_up, n_up + n_down).pvalue)
    assert test.p_least == pytest.approx(min(1.0, 2 * 0.5 ** (n_up + n_down)))
    assert test.n_permutations == 0


@pytest.mark.parametrize("stratum", [(1, 9, 6, 8), (0, 5, 5, 5), (3, 3, 2, 40), (0, 4, 1, 4)])
def test_with_one_stratum_it_is_fishers_exact_test(stratum: tuple[int, int, int, int]) -> None:
    first, n_first, second, n_second = stratum
    table = [[first, n_first - first], [second, n_second - second]]
    assert exact_share_test(counts(stratum)).p_value == pytest.approx(fisher_exact(table).pvalue)


def test_several_strata_are_counted_out() -> None:
    strata = [(0, 3, 2, 2), (1, 4, 3, 3), (2, 2, 0, 4)]
    chances = np.ones(1)
    for s, a, t, b in strata:
        chances = np.convolve(chances, hypergeom.pmf(np.arange(b + 1), a + b, s + t, b))
    observed = chances[sum(t for _, _, t, _ in strata)]
    p_value = chances[chances <= observed * (1 + 1e-7)].sum()
    assert exact_share_test(counts(*strata)).p_value == pytest.approx(p_value)


def test_only_what_is_of_a_stratum_is_dealt_anew() -> None:
    strata = np.array([0, 0, 0, 0, 1, 1, 2, 3, 3, 3])
    is_second = np.array([0, 0, 0, 1, 0, 1, 1, 0, 0, 0], dtype=bool)
    [draws] = StratumShuffles(strata, is_second).draw(4000, np.random.default_rng(1))
    assert set(draws[:, :4].sum(axis=1)) == {1.0}
    assert set(draws[:, 4:6].sum(axis=1)) == {1.0}
    assert set(draws[:, 6]) == {1.0}
    assert not draws[:, 7:].any()
    assert draws.mean(axis=0)[:6] == pytest.approx([0.25] * 4 + [0.5] * 2, abs=0.03)
    # strata are dealt apart
    assert abs(np.corrcoef(draws[:, 0], draws[:, 4])[0, 1]) < 0.05


def run(
    values: Floats, strata: np.ndarray, is_second: np.ndarray, *, level: float, n_tests: int = 1
) -> tuple[float, int, float, bool]:
    scores = aligned_ranks(values, strata)

    def statistic(dealt_second: Floats) -> Floats:
        return np.abs(dealt_second @ scores)

    (p_value, n_draws, p_least), _, is_capped = shuffle_test(
        StratumShuffles(strata, is_second),
        statistic,
        float(statistic(is_second.astype(float)[None, :])[0]),
        least_chance=least_chance(np.arange(len(values)), strata, is_second),
        plan=DrawPlan(level, n_tests),
        generators=(np.random.default_rng(1), np.random.default_rng(2)),
    )
    return p_value, n_draws, p_least, is_capped


def test_pairs_of_numbers_have_the_p_value_of_all_signs() -> None:
    strata, is_second = np.repeat(np.arange(10), 2), np.tile([False, True], 10)
    values = np.random.default_rng(3).normal(size=20) + 0.8 * is_second
    ranks = aligned_ranks(values, strata)[is_second]
    sums = np.abs(np.array([*product((-1, 1), repeat=10)]) @ ranks)
    p_value, n_draws, p_least, _ = run(values, strata, is_second, level=1e-6)
    assert p_value == pytest.approx(np.mean(sums >= abs(ranks.sum()) - 1e-9), abs=0.02)
    assert (n_draws, p_least) == (FIRST_DRAWS, 2.0**-10)


def test_small_p_values_are_drawn_again_with_more_permutations() -> None:
    strata, is_second = np.repeat(np.arange(40), 2), np.tile([False, True], 40)
    values = np.arange(80.0) + 100 * is_second
    p_value, n_draws, _, is_capped = run(values, strata, is_second, level=0.01, n_tests=10)
    assert (n_draws, is_capped) == (20_000, False)
    assert p_value == pytest.approx(1 / 20_001)
    _, n_draws, p_least, is_capped = run(values, strata, is_second, level=0.001, n_tests=20)
    assert (n_draws, is_capped) == (200_000, True)
    assert p_least == pytest.approx(1 / 200_001)


def test_the_level_is_kept_below_and_above_the_second_draws() -> None:
    random = np.random.default_rng(5)
    strata, is_second = np.repeat(np.arange(8), 6), np.tile([False] * 3 + [True] * 3, 8)
    p_values = [
        run(random.pareto(1.2, size=48), strata, is_second, level=0.005)[0] for _ in range(300)
    ]
    for bound in (0.005, 0.05, 0.3):
        share = np.mean(np.array(p_values) <= bound)
        assert share <= bound + 3 * np.sqrt(bound * (1 - bound) / 300)

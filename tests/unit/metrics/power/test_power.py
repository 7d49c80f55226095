"""Simulated power against closed forms: Fisher's test, noncentral t, and the test of who asks."""

import itertools
import math

import numpy as np
import pytest
from scipy.special import betaln, gammaln
from scipy.stats import binom, f, fisher_exact, nct
from scipy.stats import t as student

from fieldwork.metrics.comparisons import option_distance
from fieldwork.metrics.power import simulation
from fieldwork.metrics.power.exact_test import exact_p_values
from fieldwork.metrics.power.simulation import (
    Scenario,
    ScoreDifference,
    ShareChange,
    SimulationSettings,
    UserEffect,
    detect_share_change,
    mean_difference_p_values,
    power_curve,
    two_answer_p_values,
    user_effect_p_values,
)
from fieldwork.metrics.variance import measure_variance
from fieldwork.statistics.permutation import permutation_test
from fieldwork.statistics.seeds import generator
from unit.metrics.metric_frames import answer_frame, chosen


def settings(*sizes: int, simulations: int = 2000, alpha: float = 0.05) -> SimulationSettings:
    return SimulationSettings(sizes, simulations, alpha, 1999, 7)


def simulate_power(scenario: Scenario, n: int, simulations: int = 2000) -> float:
    (point,) = power_curve(scenario, settings(n, simulations=simulations))
    assert point.power is not None
    return point.power


def close(share: float, simulations: int = 2000) -> float:
    """Four standard errors."""
    return 4 * math.sqrt(max(share * (1 - share), 0.001) / simulations)


@pytest.mark.parametrize("n", [2, 5, 9])
def test_counted_p_values_are_the_permutation_tests(n: int) -> None:
    table = two_answer_p_values(n)
    # of two answers and equal sides the divergence orders tables as the distance does
    for metric in ("total_variation", "js_bits"):
        statistic = option_distance(metric, np.eye(2, dtype=np.int64))
        for a, b in itertools.product(range(n + 1), repeat=2):
            test = permutation_test(
                np.array([a, n - a]),
                np.array([b, n - b]),
                statistic,
                n_permutations=9,
                random=np.random.default_rng(0),
            )
            assert table[a, b] == pytest.approx(test.p_value)
            assert test.n_permutations == 0


def fishers_power(change: ShareChange, n: int, alpha: float) -> float:
    """Both binomials counted out."""
    counts = np.arange(n + 1)
    condition, baseline = (
        binom.pmf(counts, n, share) for share in (change.condition, change.baseline)
    )
    return sum(
        condition[a] * baseline[b]
        for a, b in itertools.product(counts, repeat=2)
        if fisher_exact([[a, n - a], [b, n - b]]).pvalue <= alpha
    )


@pytest.mark.parametrize(
    ("change", "n"),
    [
        (ShareChange(0.93, 0.35), 8),
        (ShareChange(0.93, 0.80), 40),
        (ShareChange(0.5, 0.4), 30),
        (ShareChange(0.5, 0.5), 20),
    ],
)
def test_one_prompt_has_the_power_of_fishers_test(change: ShareChange, n: int) -> None:
    expected = fishers_power(change, n, 0.05)
    assert simulate_power(Scenario(change), n) == pytest.approx(expected, abs=close(expected))


@pytest.mark.parametrize("n_tests", [4, 20])
def test_holm_finds_at_least_what_bonferroni_finds_and_little_more(n_tests: int) -> None:
    change = ShareChange(0.9, 0.5)
    least, most = fishers_power(change, 25, 0.05 / n_tests), fishers_power(change, 25, 0.05)
    power = simulate_power(Scenario(change, n_tests=n_tests), 25)
    assert least - close(least) <= power <= min(most, least + 0.03 + close(least))


def test_holm_is_used_where_bonferroni_does_not_decide() -> None:
    # nothing is left to chance: every prompt's answers are opposite, or equal
    plan = settings(4, simulations=5)
    assert two_answer_p_values(4)[0, 4] == pytest.approx(2 / 70)
    certain = ShareChange(1.0, 0.0)
    (one, two) = (
        detect_share_change(certain, 4, n, plan, np.random.default_rng(0)) for n in (1, 2)
    )
    assert one.all()
    assert not two.any()


@pytest.mark.parametrize(
    ("scores", "n"),
    [
        (ScoreDifference(0.01, 0.0, 0.01), 12),
        (ScoreDifference(0.006, 0.01, 0.01), 60),
        (ScoreDifference(0, 0.01, 0.01), 20),
    ],
)
def test_scores_have_the_power_of_students_test(scores: ScoreDifference, n: int) -> None:
    error = math.sqrt((scores.sd_users**2 + 2 * scores.sd_reruns**2) / n)
    freedom, limit = 2 * n - 2, student.ppf(0.975, 2 * n - 2)
    noncentrality = scores.difference / error
    expected = nct.sf(limit, freedom, noncentrality) + nct.cdf(-limit, freedom, noncentrality)
    # unequal variances and the permutations cost little at equal n
    assert simulate_power(Scenario(scores), n) == pytest.approx(
        expected, abs=close(expected) + 0.01
    )


def welch(pooled: np.ndarray, side: tuple[int, ...]) -> float:
    """|t| of one split, errors of both sides taken apart."""
    rest = [k for k in range(len(pooled)) if k not in side]
    first, second = pooled[list(side)], pooled[rest]
    error = math.sqrt(first.var(ddof=1) / len(first) + second.var(ddof=1) / len(second))
    return abs(float(first.mean() - second.mean())) / error


@pytest.mark.parametrize(("n_tables", "tolerance"), [(20_000, 1e-9), (0, 0.02)])
def test_p_values_of_scores_are_the_share_of_splits(
    monkeypatch: pytest.MonkeyPatch, n_tables: int, tolerance: float
) -> None:
    monkeypatch.setattr(simulation, "MAX_TABLES", n_tables)
    random = np.random.default_rng(5)
    first, second = random.normal(0.6, 1.5, (6, 4)), random.normal(0, 0.5, (6, 4))
    p_values = mean_difference_p_values(first, second, 9999, random)
    for number, p_value in enumerate(p_values):
        pooled = np.concatenate([first[number], second[number]])
        distances = [welch(pooled, side) for side in itertools.combinations(range(8), 4)]
        exact = np.mean(np.array(distances) >= distances[0] - 1e-9)
        assert p_value == pytest.approx(exact, abs=tolerance)


def user_power_of_twos(effect: UserEffect, n: int) -> float:
    """One prompt and two answers: every number of users with none, one or two of an answer."""
    first, second = (
        m * (1 / effect.share_who - 1) for m in (effect.answer_share, 1 - effect.answer_share)
    )
    chances = [
        math.exp(betaln(first + k, second + 2 - k) - betaln(first, second)) * math.comb(2, k)
        for k in range(3)
    ]
    total = 0.0
    for one, both in itertools.product(range(n + 1), repeat=2):
        none = n - one - both
        if none < 0:
            continue
        (p_value,) = exact_p_values(
            np.array([[one + 2 * both]]), np.array([one]), puppets=n, answers=2
        )
        ways = gammaln(n + 1) - gammaln(one + 1) - gammaln(both + 1) - gammaln(none + 1)
        chance = math.exp(ways) * chances[0] ** none * chances[1] ** one * chances[2] ** both
        total += chance * (p_value <= 0.05)
    return total


@pytest.mark.parametrize(
    ("effect", "n"),
    [(UserEffect(0.4, 0.5), 10), (UserEffect(0.3, 0.8), 24), (UserEffect(0.001, 0.5), 24)],
)
def test_who_asks_twice_is_exact(effect: UserEffect, n: int) -> None:
    expected = user_power_of_twos(effect, n)
    assert simulate_power(Scenario(effect, 2), n) == pytest.approx(expected, abs=close(expected))


@pytest.mark.parametrize(("share", "answers", "n_items", "n"), [(0.1, 3, 1, 200), (0.05, 5, 4, 50)])
def test_who_asks_comes_near_the_f_test_of_a_correlation(
    share: float, answers: int, n_items: int, n: int
) -> None:
    # F of a one-way random-effects model, as if answers were normal: items give degrees of freedom
    freedom = n_items * (n - 1), n_items * n * (answers - 1)
    expected = f.sf(f.ppf(0.95, *freedom) / (1 + answers * share / (1 - share)), *freedom)
    power = simulate_power(Scenario(UserEffect(share, 0.5), answers, n_items), n)
    assert power == pytest.approx(expected, abs=close(expected) + 0.03)


def test_who_asks_is_decided_as_the_study_decides() -> None:
    scenario, n, simulations = Scenario(UserEffect(0.3, 0.5), 2, 3), 8, 30
    p_values = user_effect_p_values(scenario.effect, n, scenario, simulations, generator(1, "x"))
    random = generator(1, "x")
    counts = random.binomial(2, random.beta(0.5 / 0.3 - 0.5, 0.5 / 0.3 - 0.5, (simulations, 3, n)))
    for number, data in enumerate(counts):
        rows = [
            row
            for item, puppet in itertools.product(range(3), range(n))
            for row in chosen(
                "A" * data[item, puppet] + "B" * (2 - data[item, puppet]),
                puppet_id=f"p{puppet}",
                item_id=f"i{item}",
            )
        ]
        (share_row,) = measure_variance(
            answer_frame(rows), baseline="offline", n_permutations=999, seed=number
        )
        assert share_row.p_value == pytest.approx(p_values[number], abs=0.07)


@pytest.mark.parametrize(
    ("scenario", "n"),
    [
        (Scenario(ShareChange(0.5, 0.5), n_tests=5), 40),
        (Scenario(UserEffect(0.0, 0.7), 3, 4), 20),
        (Scenario(ScoreDifference(0.0, 0.01, 0.01), n_tests=2), 15),
    ],
)
def test_without_an_effect_the_level_is_kept(scenario: Scenario, n: int) -> None:
    level = 0.05 / scenario.n_tests
    assert simulate_power(scenario, n) <= level + close(level)


@pytest.mark.parametrize(
    ("scenario", "expected"),
    [
        (Scenario(ShareChange(0.0, 1.0)), 1.0),
        (Scenario(ShareChange(1.0, 1.0)), 0.0),
        (Scenario(ShareChange(0.0, 0.0), n_tests=3), 0.0),
        (Scenario(UserEffect(1.0, 0.5), 2, 4), 1.0),
        (Scenario(ScoreDifference(0.0, 0.0, 0.01)), 0.05),
    ],
)
def test_certain_sources(scenario: Scenario, expected: float) -> None:
    assert simulate_power(scenario, 20, simulations=400) == pytest.approx(expected, abs=0.04)


def test_two_users_can_find_nothing() -> None:
    assert simulate_power(Scenario(ShareChange(1.0, 0.0)), 2, simulations=20) == 0
    assert simulate_power(Scenario(ScoreDifference(0.5, 0.0, 0.01)), 2, simulations=20) == 0


SCENARIO = Scenario(UserEffect(0.2, 0.5), 2, 4)


def test_a_size_does_not_depend_on_the_others() -> None:
    single_size = list(power_curve(SCENARIO, settings(20, simulations=100)))
    all_sizes = list(power_curve(SCENARIO, settings(5, 20, 40, simulations=100)))
    assert single_size[0] == all_sizes[1]
    assert list(power_curve(SCENARIO, settings(5, 20, 40, simulations=100))) == all_sizes


def test_memory_at_once_changes_no_test(monkeypatch: pytest.MonkeyPatch) -> None:
    estimates = list(power_curve(SCENARIO, settings(20, simulations=100)))
    monkeypatch.setattr("fieldwork.metrics.power.exact_test._CELLS_AT_ONCE", 1000)
    assert list(power_curve(SCENARIO, settings(20, simulations=100))) == estimates


def test_beyond_certainty_nothing_is_simulated() -> None:
    first, second, third = power_curve(
        Scenario(ShareChange(1.0, 0.0)), settings(4, 8, 9, simulations=50, alpha=0.01)
    )
    assert (first.power, second.power) == (0.0, 1.0)
    assert (third.power, third.low, third.n_simulations) == (None, None, 0)
    assert third.reason == "not simulated: power is 1.000 with 8"
    assert simulation.POWER_CEILING < 1

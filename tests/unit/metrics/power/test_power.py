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
from fieldwork.metrics.power.dealing import chance_as_alike
from fieldwork.metrics.power.simulation import (
    Moved,
    Scores,
    Settings,
    Setup,
    Who,
    mean_difference_p_values,
    moved_found,
    power_curve,
    two_answer_p_values,
    who_p_values,
)
from fieldwork.metrics.variance import measure_variance
from fieldwork.statistics.permutation import permutation_test
from fieldwork.statistics.seeds import generator
from unit.metrics.metric_frames import answer_frame, chosen


def settings(*sizes: int, simulations: int = 2000, alpha: float = 0.05) -> Settings:
    return Settings(sizes, simulations, alpha, 1999, 7)


def simulated(setup: Setup, n: int, simulations: int = 2000) -> float:
    (point,) = power_curve(setup, settings(n, simulations=simulations))
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
            tested = permutation_test(
                np.array([a, n - a]),
                np.array([b, n - b]),
                statistic,
                n_permutations=9,
                random=np.random.default_rng(0),
            )
            assert table[a, b] == pytest.approx(tested.p_value)
            assert tested.n_permutations == 0


def fishers_power(moved: Moved, n: int, alpha: float) -> float:
    """Both binomials counted out."""
    counts = np.arange(n + 1)
    here, there = (binom.pmf(counts, n, share) for share in (moved.condition, moved.baseline))
    return sum(
        here[a] * there[b]
        for a, b in itertools.product(counts, repeat=2)
        if fisher_exact([[a, n - a], [b, n - b]]).pvalue <= alpha
    )


@pytest.mark.parametrize(
    ("moved", "n"),
    [(Moved(0.93, 0.35), 8), (Moved(0.93, 0.80), 40), (Moved(0.5, 0.4), 30), (Moved(0.5, 0.5), 20)],
)
def test_one_prompt_has_the_power_of_fishers_test(moved: Moved, n: int) -> None:
    expected = fishers_power(moved, n, 0.05)
    assert simulated(Setup(moved), n) == pytest.approx(expected, abs=close(expected))


@pytest.mark.parametrize("n_tests", [4, 20])
def test_holm_finds_at_least_what_bonferroni_finds_and_little_more(n_tests: int) -> None:
    moved = Moved(0.9, 0.5)
    least, most = fishers_power(moved, 25, 0.05 / n_tests), fishers_power(moved, 25, 0.05)
    found = simulated(Setup(moved, n_tests=n_tests), 25)
    assert least - close(least) <= found <= min(most, least + 0.03 + close(least))


def test_holm_is_used_where_bonferroni_does_not_decide() -> None:
    # nothing is left to chance: every prompt's answers are opposite, or equal
    plan = settings(4, simulations=5)
    assert two_answer_p_values(4)[0, 4] == pytest.approx(2 / 70)
    certain = Moved(1.0, 0.0)
    (one, two) = (moved_found(certain, 4, n, plan, np.random.default_rng(0)) for n in (1, 2))
    assert one.all()
    assert not two.any()


@pytest.mark.parametrize(
    ("scores", "n"),
    [(Scores(0.01, 0.0, 0.01), 12), (Scores(0.006, 0.01, 0.01), 60), (Scores(0, 0.01, 0.01), 20)],
)
def test_scores_have_the_power_of_students_test(scores: Scores, n: int) -> None:
    error = math.sqrt((scores.sd_users**2 + 2 * scores.sd_reruns**2) / n)
    freedom, limit = 2 * n - 2, student.ppf(0.975, 2 * n - 2)
    away = scores.difference / error
    expected = nct.sf(limit, freedom, away) + nct.cdf(-limit, freedom, away)
    # unequal variances and the permutations cost little at equal n
    assert simulated(Setup(scores), n) == pytest.approx(expected, abs=close(expected) + 0.01)


def welch(pooled: np.ndarray, side: tuple[int, ...]) -> float:
    """|t| of one split, errors of both sides taken apart."""
    rest = [k for k in range(len(pooled)) if k not in side]
    here, there = pooled[list(side)], pooled[rest]
    error = math.sqrt(here.var(ddof=1) / len(here) + there.var(ddof=1) / len(there))
    return abs(float(here.mean() - there.mean())) / error


@pytest.mark.parametrize(("n_tables", "tolerance"), [(20_000, 1e-9), (0, 0.02)])
def test_p_values_of_scores_are_the_share_of_splits(
    monkeypatch: pytest.MonkeyPatch, n_tables: int, tolerance: float
) -> None:
    monkeypatch.setattr(simulation, "MAX_TABLES", n_tables)
    random = np.random.default_rng(5)
    first, second = random.normal(0.6, 1.5, (6, 4)), random.normal(0, 0.5, (6, 4))
    found = mean_difference_p_values(first, second, 9999, random)
    for number, p_value in enumerate(found):
        pooled = np.concatenate([first[number], second[number]])
        distances = [welch(pooled, side) for side in itertools.combinations(range(8), 4)]
        exact = np.mean(np.array(distances) >= distances[0] - 1e-9)
        assert p_value == pytest.approx(exact, abs=tolerance)


def who_power_of_twos(who: Who, n: int) -> float:
    """One prompt and two answers: every number of users with none, one or two of an answer."""
    first, second = (m * (1 / who.share_who - 1) for m in (who.answer_share, 1 - who.answer_share))
    chances = [
        math.exp(betaln(first + k, second + 2 - k) - betaln(first, second)) * math.comb(2, k)
        for k in range(3)
    ]
    total = 0.0
    for one, both in itertools.product(range(n + 1), repeat=2):
        none = n - one - both
        if none < 0:
            continue
        (p_value,) = chance_as_alike(
            np.array([[one + 2 * both]]), np.array([one]), puppets=n, answers=2
        )
        ways = gammaln(n + 1) - gammaln(one + 1) - gammaln(both + 1) - gammaln(none + 1)
        chance = math.exp(ways) * chances[0] ** none * chances[1] ** one * chances[2] ** both
        total += chance * (p_value <= 0.05)
    return total


@pytest.mark.parametrize(
    ("who", "n"), [(Who(0.4, 0.5), 10), (Who(0.3, 0.8), 24), (Who(0.001, 0.5), 24)]
)
def test_who_asks_twice_is_counted_out(who: Who, n: int) -> None:
    expected = who_power_of_twos(who, n)
    assert simulated(Setup(who, 2), n) == pytest.approx(expected, abs=close(expected))


@pytest.mark.parametrize(("share", "answers", "n_items", "n"), [(0.1, 3, 1, 200), (0.05, 5, 4, 50)])
def test_who_asks_comes_near_the_f_test_of_a_correlation(
    share: float, answers: int, n_items: int, n: int
) -> None:
    # F of a one-way random-effects model, as if answers were normal: items give degrees of freedom
    freedom = n_items * (n - 1), n_items * n * (answers - 1)
    expected = f.sf(f.ppf(0.95, *freedom) / (1 + answers * share / (1 - share)), *freedom)
    found = simulated(Setup(Who(share, 0.5), answers, n_items), n)
    assert found == pytest.approx(expected, abs=close(expected) + 0.03)


def test_who_asks_is_decided_as_the_study_decides() -> None:
    setup, n, simulations = Setup(Who(0.3, 0.5), 2, 3), 8, 30
    counted = who_p_values(setup.effect, n, setup, simulations, generator(1, "x"))
    random = generator(1, "x")
    given = random.binomial(2, random.beta(0.5 / 0.3 - 0.5, 0.5 / 0.3 - 0.5, (simulations, 3, n)))
    for number, data in enumerate(given):
        rows = [
            row
            for item, puppet in itertools.product(range(3), range(n))
            for row in chosen(
                "A" * data[item, puppet] + "B" * (2 - data[item, puppet]),
                puppet_id=f"p{puppet}",
                item_id=f"i{item}",
            )
        ]
        (measured,) = measure_variance(
            answer_frame(rows), baseline="offline", n_permutations=999, seed=number
        )
        assert measured.p_value == pytest.approx(counted[number], abs=0.07)


@pytest.mark.parametrize(
    ("setup", "n"),
    [
        (Setup(Moved(0.5, 0.5), n_tests=5), 40),
        (Setup(Who(0.0, 0.7), 3, 4), 20),
        (Setup(Scores(0.0, 0.01, 0.01), n_tests=2), 15),
    ],
)
def test_without_an_effect_the_level_is_kept(setup: Setup, n: int) -> None:
    level = 0.05 / setup.n_tests
    assert simulated(setup, n) <= level + close(level)


@pytest.mark.parametrize(
    ("setup", "expected"),
    [
        (Setup(Moved(0.0, 1.0)), 1.0),
        (Setup(Moved(1.0, 1.0)), 0.0),
        (Setup(Moved(0.0, 0.0), n_tests=3), 0.0),
        (Setup(Who(1.0, 0.5), 2, 4), 1.0),
        (Setup(Scores(0.0, 0.0, 0.01)), 0.05),
    ],
)
def test_certain_sources(setup: Setup, expected: float) -> None:
    assert simulated(setup, 20, simulations=400) == pytest.approx(expected, abs=0.04)


def test_two_users_can_find_nothing() -> None:
    assert simulated(Setup(Moved(1.0, 0.0)), 2, simulations=20) == 0
    assert simulated(Setup(Scores(0.5, 0.0, 0.01)), 2, simulations=20) == 0


SETUP = Setup(Who(0.2, 0.5), 2, 4)


def test_a_size_does_not_depend_on_the_others() -> None:
    alone = list(power_curve(SETUP, settings(20, simulations=100)))
    among = list(power_curve(SETUP, settings(5, 20, 40, simulations=100)))
    assert alone[0] == among[1]
    assert list(power_curve(SETUP, settings(5, 20, 40, simulations=100))) == among


def test_memory_at_once_changes_no_test(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = list(power_curve(SETUP, settings(20, simulations=100)))
    monkeypatch.setattr("fieldwork.metrics.power.dealing._CELLS_AT_ONCE", 1000)
    assert list(power_curve(SETUP, settings(20, simulations=100))) == whole


def test_beyond_certainty_nothing_is_simulated() -> None:
    first, second, third = power_curve(
        Setup(Moved(1.0, 0.0)), settings(4, 8, 9, simulations=50, alpha=0.01)
    )
    assert (first.power, second.power) == (0.0, 1.0)
    assert (third.power, third.low, third.n_simulations) == (None, None, 0)
    assert third.reason == "not simulated: power is 1.000 with 8"
    assert simulation.SATURATED < 1

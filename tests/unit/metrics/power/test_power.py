"""Simulated power against closed forms, what raises and lowers it, and what it does not depend on."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from power_plans import planned_study, score_difference, share_change, value_difference
from scipy.special import betaln, gammaln
from scipy.stats import binom, fisher_exact, nct
from scipy.stats import t as student

from fieldwork.metrics.power import simulation
from fieldwork.metrics.power.effects import Effect, LetterSource, ListSource, Scenario, ValueSource
from fieldwork.metrics.power.exact_test import exact_p_values
from fieldwork.metrics.power.family import Family, PowerEstimate
from fieldwork.metrics.power.simulation import power_curve
from fieldwork.metrics.power.study import PlannedStudy

HALF = LetterSource(0.5)
LISTS = ListSource(2, 6, 1.0)
ALONE = Family("primary", 0)
"""Nothing is tested beside the effect."""


def settings(*sizes: int, simulations: int = 2000) -> PlannedStudy:
    power = {"sizes": [*sizes], "simulations": simulations}
    return planned_study({}, power, n_permutations=1999, seed=7)


def curve(scenario: Scenario, plan: PlannedStudy, family: Family = ALONE) -> list[PowerEstimate]:
    return [size[family] for size in power_curve(scenario, [family], plan)]


def simulate_power(
    scenario: Scenario, n: int, simulations: int = 2000, family: Family = ALONE
) -> float:
    (point,) = curve(scenario, settings(n, simulations=simulations), family)
    assert point.power is not None
    return point.power


def close(share: float, simulations: int = 2000) -> float:
    """Four standard errors."""
    return 4 * math.sqrt(max(share * (1 - share), 0.001) / simulations)


def scenario(
    measure: str,
    effect: Effect,
    source: LetterSource | ListSource | ValueSource = HALF,
    **more: Any,
) -> Scenario:
    return Scenario(measure, effect, source, **more)


def fishers_power(change: Effect, n: int, level: float) -> float:
    """Both binomials counted out."""
    counts = np.arange(n + 1)
    condition, baseline = (binom.pmf(counts, n, share) for share in (change.size, change.baseline))
    return sum(
        condition[a] * baseline[b]
        for a, b in itertools.product(counts, repeat=2)
        if fisher_exact([[a, n - a], [b, n - b]]).pvalue < level
    )


@pytest.mark.parametrize(
    ("change", "n"), [(share_change(0.93, 0.35), 8), (share_change(0.93, 0.80), 40)]
)
def test_one_prompt_has_the_power_of_fishers_test(change: Effect, n: int) -> None:
    expected = fishers_power(change, n, 0.05)
    power = simulate_power(scenario("distance", change), n)
    assert power == pytest.approx(expected, abs=close(expected))


@pytest.mark.parametrize("n_plain", [3, 19])
def test_other_tests_cost_power_and_little_more_than_bonferroni_says(n_plain: int) -> None:
    change = share_change(0.9, 0.5)
    level = 0.05 / (n_plain + 1)
    least, most = fishers_power(change, 25, level), fishers_power(change, 25, 0.05)
    families = [Family(name, n_plain) for name in ("primary", "distance")]
    (powers,) = power_curve(scenario("distance", change), families, settings(25))
    for estimate in powers.values():
        assert least - close(least) <= estimate.power <= min(most, least + 0.03 + close(least))


def students_power(difference: float, variances: tuple[float, float], n: int) -> float:
    """Of two groups of n, each with a variance."""
    freedom, limit = 2 * n - 2, student.ppf(0.975, 2 * n - 2)
    distance = difference / math.sqrt(sum(variances) / n)
    return nct.sf(limit, freedom, distance) + nct.cdf(-limit, freedom, distance)


@pytest.mark.parametrize("likeness", [0.0, 0.3, 1.0])
def test_scales_together_have_the_power_of_students_test(likeness: float) -> None:
    """The variance of a user's mean over four scales rises with their likeness, a rerun's does not."""
    expected = students_power(0.4, ((1 + 3 * likeness) / 4, 1 / 4), 30)
    effect = value_difference(0.4, 4)
    own = scenario("value", effect, ValueSource(5), n_items=4, likeness=likeness)
    power = simulate_power(own, 30, simulations=1000)
    assert power == pytest.approx(expected, abs=close(expected, 1000) + 0.015)


@pytest.mark.parametrize("n_points", [0, 5])
def test_a_question_has_nearly_the_power_of_students_test(n_points: int) -> None:
    """Ranks find as much as means where answers are normal: 95 % of it, and with five points less."""
    expected = students_power(0.6, (1, 1), 40)
    own = scenario("value", value_difference(0.6), ValueSource(n_points))
    power = simulate_power(own, 40, simulations=400)
    assert expected - 0.07 - close(expected, 400) < power < expected + close(expected, 400)


def user_power_of_twos(effect: Effect, mean: float, n: int) -> float:
    """One prompt and two answers: every number of users with none, one or two of an answer."""
    first, second = (m * (1 / effect.size - 1) for m in (mean, 1 - mean))
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


@pytest.mark.parametrize(("share", "mean", "n"), [(0.4, 0.5, 10), (0.3, 0.8, 24), (0.001, 0.5, 24)])
def test_who_asks_twice_is_exact(share: float, mean: float, n: int) -> None:
    expected = user_power_of_twos(Effect("who", share), mean, n)
    own = scenario("share_who", Effect("who", share), LetterSource(mean), replicates=2)
    assert simulate_power(own, n) == pytest.approx(expected, abs=close(expected) + 0.01)


NULLS = (
    scenario("distance", share_change(0.5, 0.5)),
    scenario("distance", share_change(0.5, 0.5), LISTS),
    scenario("option_share", share_change(0.5, 0.5), LISTS),
    scenario("share_who", Effect("who", 0.0), LetterSource(0.7), n_items=4, replicates=3),
    scenario("share_who", Effect("who", 0.0), LISTS, n_items=3, replicates=2),
    scenario("entropy_bits", Effect("entropy", 0.0), LISTS, n_items=3),
    scenario("score", score_difference(0.0, 0.01, 0.01)),
    scenario("value", value_difference(0.0), ValueSource(5)),
    scenario("value", value_difference(0.0, 4), ValueSource(5), likeness=0.5),
    scenario("entropy_bits", Effect("entropy", 0.0), LISTS, n_items=3, likeness=1.0),
)


@pytest.mark.parametrize("null", NULLS, ids=lambda s: f"{s.measure} {s.source_label}")
def test_without_an_effect_the_level_is_kept(null: Scenario) -> None:
    family = Family("primary", 9)
    (powers,) = power_curve(null, [ALONE, family], settings(15, simulations=600))
    assert powers[ALONE].power <= 0.05 + close(0.05, 600)
    assert powers[family].power <= 0.005 + close(0.005, 600)


EFFECTS = (
    scenario("distance", share_change(0.6, 0.05), LISTS),
    scenario("option_share", share_change(0.7, 0.4), LISTS),
    scenario("share_who", Effect("who", 0.1), n_items=8, replicates=2),
    scenario("share_who", Effect("who", 0.15), LISTS, n_items=4, replicates=2),
    scenario("entropy_bits", Effect("entropy", 0.1), LISTS, n_items=4),
    scenario("value", value_difference(0.7), ValueSource(5)),
)


@pytest.mark.parametrize("effect", EFFECTS, ids=lambda s: f"{s.measure} {s.source_label}")
def test_power_rises_with_users(effect: Scenario) -> None:
    few, many = (simulate_power(effect, n, simulations=150) for n in (8, 40))
    assert few < many - 0.15


OWN = scenario("share_who", Effect("who", 0.2), n_items=4, replicates=2)


def test_a_size_does_not_depend_on_the_others() -> None:
    single_size = curve(OWN, settings(20, simulations=100))
    all_sizes = curve(OWN, settings(5, 20, 40, simulations=100))
    assert single_size[0] == all_sizes[1]
    assert curve(OWN, settings(5, 20, 40, simulations=100)) == all_sizes


def test_beyond_certainty_nothing_is_simulated() -> None:
    sizes = settings(2, 8, 9, simulations=50)
    first, second, third = curve(scenario("distance", share_change(1.0, 0.0)), sizes)
    assert (first.power, second.power) == (0.0, 1.0)
    assert (third.power, third.low, third.n_simulations, third.n_tests) == (None, None, 0, None)
    assert third.reason == "not simulated: power is 1.000 with 8"
    assert simulation.POWER_CEILING < 1


FEW_ODD = scenario("share_who", Effect("who", 0.4), odd_users=0.1)
FEW_ODD_LISTS = scenario("share_who", Effect("who", 0.9), LISTS, odd_users=0.05)


@pytest.mark.parametrize(
    ("impossible", "words"),
    [
        (FEW_ODD, "cannot bring 0.4 of the variance"),
        (FEW_ODD_LISTS, "even the most different"),
        (scenario("entropy_bits", Effect("entropy", 4.0), LISTS), "even the most different"),
    ],
)
def test_an_effect_without_a_source_says_so(impossible: Scenario, words: str) -> None:
    for point in curve(impossible, settings(5, 10)):
        assert (point.power, point.n_simulations) == (None, 0)
        assert words in (point.reason or "")

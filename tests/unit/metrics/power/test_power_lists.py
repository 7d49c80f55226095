"""Lists with a known share of who asks: their truth, and the test the study itself would make."""

import dataclasses
import itertools
import math

import numpy as np
import pytest

from fieldwork.metrics.power import lists as power_lists
from fieldwork.metrics.power.lists import (
    ListSource,
    count_shared_options,
    draw_lists,
    list_p_values,
    taste_strength,
)
from fieldwork.metrics.power.simulation import (
    ListUserEffect,
    Scenario,
    SimulationSettings,
    power_curve,
)
from fieldwork.metrics.variance import measure_variance
from fieldwork.records.metrics import VarianceShare
from unit.metrics.metric_frames import answer_frame, listed

SOURCE = ListSource(5, 60, 1.5)
SMALL = ListSource(2, 6, 1.0)


def measure_share(lists: np.ndarray, n_permutations: int) -> VarianceShare:
    """By the study's own estimator; lists of shape (items, users, answers, options)."""
    rows = [
        dataclasses.replace(row, puppet_id=f"p{user:04}")
        for item, user in itertools.product(*map(range, lists.shape[:2]))
        for row in listed(
            *([f"o{o}" for o in np.flatnonzero(one)] for one in lists[item, user]),
            item_id=f"i{item}",
        )
    ]
    (share_row,) = measure_variance(
        answer_frame(rows), baseline="offline", n_permutations=n_permutations, seed=1
    )
    return share_row


def draw_source(
    taste: float, source: ListSource, shape: tuple[int, int, int], seed: int
) -> np.ndarray:
    random = np.random.default_rng(seed)
    ranks = np.arange(1, source.n_options + 1)
    tastes = taste * random.standard_normal((*shape[:2], 1, source.n_options))
    gumbel = random.gumbel(size=(*shape, source.n_options))
    return draw_lists(tastes - source.exponent * np.log(ranks), gumbel, source.n_named)


@pytest.mark.parametrize("source", [SOURCE, SMALL, ListSource(1, 2, 0.0)])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.4])
def test_the_share_is_the_one_asked_for(source: ListSource, share: float) -> None:
    lists = draw_source(taste_strength(share, source), source, (2, 600, 2), seed=4)
    assert lists.sum(axis=-1).min() == lists.sum(axis=-1).max() == source.n_named
    share_row = measure_share(lists, n_permutations=1)
    assert share_row.share_who == pytest.approx(share, abs=0.06)


def test_seeds_of_lists_keep_their_spelling() -> None:
    """Another spelling would draw other random numbers and change every number of the power table."""
    assert SOURCE.seed_name == "Lists(named=5, options=60, exponent=1.5)"


def test_a_larger_share_takes_stronger_tastes() -> None:
    tastes = [taste_strength(share, SMALL) for share in (0.0, 0.05, 0.2, 0.6, 1.0)]
    assert tastes[0] == 0
    assert tastes == sorted(set(tastes))
    assert taste_strength(0.2, SMALL) == tastes[2]


@pytest.mark.parametrize("answers", [2, 3])
def test_orders_count_options_in_common(answers: int) -> None:
    lists = draw_source(1.0, SMALL, (1, 4, answers), seed=1)[0].reshape(4 * answers, -1)
    random = np.random.default_rng(2)
    orders = np.stack([random.permutation(4 * answers) for _ in range(5)])
    expected = [
        sum(
            int(lists[a] @ lists[b])
            for user in range(4)
            for a, b in itertools.combinations(order[user * answers : (user + 1) * answers], 2)
        )
        for order in orders
    ]
    assert count_shared_options(lists, orders, answers).tolist() == expected


def test_p_values_are_those_of_the_study(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(power_lists, "N_PERMUTATIONS", 999)
    calls: list[np.ndarray] = []
    draw = power_lists.draw_lists

    def record(*arguments: np.ndarray) -> np.ndarray:
        calls.append(draw(*arguments))
        return calls[-1]

    monkeypatch.setattr(power_lists, "draw_lists", record)
    p_values = list_p_values(
        0.8,
        SMALL,
        simulations=20,
        n_items=2,
        n_users=6,
        answers=3,
        random=np.random.default_rng(3),
    )
    for number, p_value in enumerate(p_values):
        lists = np.stack(calls[2 * number : 2 * number + 2])
        expected = measure_share(lists, n_permutations=999).p_value
        assert p_value == pytest.approx(expected, abs=0.07)


def simulate_power(share: float, n: int, n_items: int = 3, answers: int = 2) -> float:
    scenario = Scenario(ListUserEffect(share, SMALL), answers, n_items)
    (point,) = power_curve(scenario, SimulationSettings([n], 400, 0.05, 199, 5))
    assert point.power is not None
    return point.power


def test_without_an_effect_the_level_is_kept() -> None:
    assert simulate_power(0.0, 12) <= 0.05 + 4 * math.sqrt(0.05 * 0.95 / 400)


def test_power_rises_with_users_prompts_answers_and_the_share() -> None:
    power = simulate_power(0.15, 10)
    assert 0.05 < power < 0.9
    larger = (
        simulate_power(0.15, 25),
        simulate_power(0.15, 10, n_items=8),
        simulate_power(0.15, 10, answers=5),
        simulate_power(0.4, 10),
    )
    assert power < min(larger)


def test_users_with_lists_of_their_own_are_found() -> None:
    assert simulate_power(1.0, 10) == 1

"""Lists with a known share of who asks: their truth, and the test the study itself would make."""

import dataclasses
import itertools
import math

import numpy as np
import pytest

from fieldwork.metrics.power import lists as power_lists
from fieldwork.metrics.power.lists import (
    Lists,
    draw_lists,
    list_p_values,
    shared_options,
    taste_of,
)
from fieldwork.metrics.power.simulation import Settings, Setup, WhoLists, power_curve
from fieldwork.metrics.variance import measure_variance
from fieldwork.records.metrics import VarianceShare
from unit.metrics.metric_frames import answer_frame, listed

SOURCE = Lists(5, 60, 1.5)
SMALL = Lists(2, 6, 1.0)


def measured(lists: np.ndarray, n_permutations: int) -> VarianceShare:
    """By the study's own estimator; lists of shape (items, users, answers, options)."""
    rows = [
        dataclasses.replace(row, puppet_id=f"p{user:04}")
        for item, user in itertools.product(*map(range, lists.shape[:2]))
        for row in listed(
            *([f"o{o}" for o in np.flatnonzero(one)] for one in lists[item, user]),
            item_id=f"i{item}",
        )
    ]
    (found,) = measure_variance(
        answer_frame(rows), baseline="offline", n_permutations=n_permutations, seed=1
    )
    return found


def drawn(taste: float, source: Lists, shape: tuple[int, int, int], seed: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    ranks = np.arange(1, source.options + 1)
    tastes = taste * random.standard_normal((*shape[:2], 1, source.options))
    gumbel = random.gumbel(size=(*shape, source.options))
    return draw_lists(tastes - source.exponent * np.log(ranks), gumbel, source.named)


@pytest.mark.parametrize("source", [SOURCE, SMALL, Lists(1, 2, 0.0)])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.4])
def test_the_share_is_the_one_asked_for(source: Lists, share: float) -> None:
    lists = drawn(taste_of(share, source), source, (2, 600, 2), seed=4)
    assert lists.sum(axis=-1).min() == lists.sum(axis=-1).max() == source.named
    found = measured(lists, n_permutations=1)
    assert found.share_who == pytest.approx(share, abs=0.06)


def test_a_larger_share_takes_stronger_tastes() -> None:
    tastes = [taste_of(share, SMALL) for share in (0.0, 0.05, 0.2, 0.6, 1.0)]
    assert tastes[0] == 0
    assert tastes == sorted(set(tastes))
    assert taste_of(0.2, SMALL) == tastes[2]


@pytest.mark.parametrize("answers", [2, 3])
def test_deals_count_options_in_common(answers: int) -> None:
    lists = drawn(1.0, SMALL, (1, 4, answers), seed=1)[0].reshape(4 * answers, -1)
    random = np.random.default_rng(2)
    deals = np.stack([random.permutation(4 * answers) for _ in range(5)])
    expected = [
        sum(
            int(lists[a] @ lists[b])
            for user in range(4)
            for a, b in itertools.combinations(deal[user * answers : (user + 1) * answers], 2)
        )
        for deal in deals
    ]
    assert shared_options(lists, deals, answers).tolist() == expected


def test_p_values_are_those_of_the_study(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(power_lists, "DEALS", 999)
    kept: list[np.ndarray] = []
    draw = power_lists.draw_lists

    def keep(*arguments: np.ndarray) -> np.ndarray:
        kept.append(draw(*arguments))
        return kept[-1]

    monkeypatch.setattr(power_lists, "draw_lists", keep)
    found = list_p_values(0.8, SMALL, (20, 2, 6, 3), np.random.default_rng(3))
    for number, p_value in enumerate(found):
        lists = np.stack(kept[2 * number : 2 * number + 2])
        expected = measured(lists, n_permutations=999).p_value
        assert p_value == pytest.approx(expected, abs=0.07)


def simulated(share: float, n: int, n_items: int = 3, answers: int = 2) -> float:
    setup = Setup(WhoLists(share, SMALL), answers, n_items)
    (point,) = power_curve(setup, Settings([n], 400, 0.05, 199, 5))
    assert point.power is not None
    return point.power


def test_without_an_effect_the_level_is_kept() -> None:
    assert simulated(0.0, 12) <= 0.05 + 4 * math.sqrt(0.05 * 0.95 / 400)


def test_power_rises_with_users_prompts_answers_and_the_share() -> None:
    least = simulated(0.15, 10)
    assert 0.05 < least < 0.9
    assert least < min(
        simulated(0.15, 25), simulated(0.15, 10, n_items=8), simulated(0.15, 10, answers=5),
        simulated(0.4, 10),
    )  # fmt: skip


def test_users_with_lists_of_their_own_are_found() -> None:
    assert simulated(1.0, 10) == 1

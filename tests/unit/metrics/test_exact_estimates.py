"""Exact estimates against closed forms, by brute force, and beside what drawn letters give."""

import dataclasses
from itertools import combinations, product
from string import ascii_uppercase

import numpy as np
import pandas as pd
import pytest

from fieldwork.metrics.accuracy import measure_runs
from fieldwork.metrics.exact_estimates import (
    exact_components,
    measure_exactly,
    new_letter_chance,
)
from fieldwork.metrics.novelty import measure_novelty
from fieldwork.metrics.variance import measure_variance
from fieldwork.records.metrics import ExactEstimate
from fieldwork.records.parsing import Answer
from fieldwork.statistics.arrays import Floats
from unit.metrics.metric_frames import (
    answer_frame,
    chosen,
    item_frame,
    question,
    score_estimates,
)

RAREST = 0.125
N_USERS, N_ITEMS = 40, 6


def answers_of(
    values: Floats, condition: str, random: np.random.Generator, *, calls: int, users: bool = True
) -> list[Answer]:
    """Letters drawn from probabilities of shape (users, items, letters), which the answers state."""
    rows = []
    for user, item in product(range(values.shape[0]), range(values.shape[1])):
        shares = values[user, item]
        letters = random.choice(list(ascii_uppercase[: len(shares)]), p=shares, size=calls)
        stated = [
            {"option": ascii_uppercase[k], "probability": float(share)}
            for k, share in enumerate(shares)
        ]
        rows += [
            dataclasses.replace(row, option_probabilities=stated)
            for row in chosen(
                letters,
                condition=condition,
                item_id=f"i{item}",
                puppet_id=f"p{user:02}" if users else None,
            )
        ]
    return rows


def measured(
    answers: list[Answer], baseline: str = "offline"
) -> dict[tuple[str, str], ExactEstimate]:
    frame = answer_frame(answers)
    items = item_frame(*(question(f"i{k}", gold="A") for k in range(N_ITEMS))).assign(task="t")
    runs = measure_runs(frame, items)
    rows = measure_exactly(
        frame,
        items,
        measure_variance(frame, baseline=baseline, n_permutations=9, seed=1, rarest_users=RAREST),
        score_estimates(runs, baseline=baseline, rarest_users=RAREST),
        measure_novelty(frame, baseline=baseline, n_permutations=9, rarest_users=RAREST),
        baseline=baseline,
        rarest_users=RAREST,
    )
    return {(row.condition, row.measure): row for row in rows}


@pytest.fixture(scope="module")
def study() -> dict[tuple[str, str], ExactEstimate]:
    random = np.random.default_rng(3)
    base = random.dirichlet(np.full(4, 0.5), size=N_ITEMS)
    tastes = random.dirichlet(np.full(4, 0.5), size=(N_USERS, N_ITEMS))
    users = 0.6 * base + 0.4 * tastes
    return measured(
        answers_of(base[None], "offline", random, calls=40, users=False)
        + answers_of(users, "history", random, calls=20)
    )


def test_exact_estimates_are_near_the_sampled_ones_and_need_fewer_calls(
    study: dict[tuple[str, str], ExactEstimate],
) -> None:
    for measure, near in (("share_who", 0.03), ("score", 0.06), ("novelty", 0.25)):
        row = study["history", measure]
        assert row.estimate == pytest.approx(row.sampled, abs=near), measure
        if measure == "novelty":
            # few users decide it, and an interval over users would say too little
            assert (row.ci_low, row.ci_high) == (None, None)
            assert "a single user" in (row.reason or "")
        else:
            assert row.ci_low is not None
            assert row.ci_high is not None
            assert 0 <= row.ci_low < (row.estimate or 0) < row.ci_high <= 1
        assert (row.n_calls, row.n_answers) == (N_USERS * N_ITEMS, 20 * N_USERS * N_ITEMS)
        assert row.n_users == N_USERS


def test_without_users_there_is_a_value_and_nothing_left_to_chance(
    study: dict[tuple[str, str], ExactEstimate],
) -> None:
    score = study["offline", "score"]
    assert score.estimate == pytest.approx(score.sampled, abs=0.08)
    assert (score.ci_low, score.n_users, score.n_calls) == (None, 0, N_ITEMS)
    assert "nothing is left to chance" in (score.reason or "")
    assert study["offline", "share_who"].estimate is None
    assert study["offline", "novelty"].estimate is None


def test_variance_by_hand() -> None:
    """Two users who are certain of different letters, and two who toss the same coin."""
    certain = np.array([[[1.0, 0.0]], [[0.0, 1.0]]])
    assert exact_components(certain) == pytest.approx((1.0, 1.0))
    coins = np.full((2, 1, 2), 0.5)
    assert exact_components(coins) == pytest.approx((0.0, 0.5))
    half = np.concatenate([certain, coins], axis=1)
    assert exact_components(half) == pytest.approx((1.0, 1.5))


def test_variance_is_unbiased_for_the_users_drawn() -> None:
    """Over many studies of three users the mean is that of the population of users."""
    random = np.random.default_rng(5)
    population = random.dirichlet(np.full(3, 0.7), size=2000)
    truth_who = float(population.var(axis=0).sum())
    truth_all = float(1 - (population.mean(axis=0) ** 2).sum())
    sums = np.array(
        [
            exact_components(population[random.integers(0, 2000, size=3)][:, None, :])
            for _ in range(4000)
        ]
    )
    assert sums.mean(axis=0) == pytest.approx((truth_who, truth_all), rel=0.03)


@pytest.mark.parametrize(("n_baseline", "n_equal"), [(1, 1), (2, 2), (3, 2), (2, 3)])
def test_the_chance_of_a_new_letter_by_listing_every_outcome(n_baseline: int, n_equal: int) -> None:
    random = np.random.default_rng(n_baseline * 10 + n_equal)
    baseline, users = random.dirichlet(np.ones(3)), random.dirichlet(np.ones(3), size=3)
    chance, n_choices = 0.0, 0
    for chosen_users in combinations(range(3), n_equal):
        n_choices += 1
        for reruns in product(range(3), repeat=n_baseline):
            for letters in product(range(3), repeat=n_equal):
                p = float(np.prod(baseline[list(reruns)]))
                p *= float(
                    np.prod([users[u, k] for u, k in zip(chosen_users, letters, strict=True)])
                )
                chance += p * (not set(letters) <= set(reruns))
    assert new_letter_chance(users, baseline, n_baseline, n_equal) == pytest.approx(
        chance / n_choices
    )


def test_an_answer_without_probabilities_has_no_row() -> None:
    assert (
        measured(chosen("AB", condition="offline", item_id="i0") + chosen("AB", item_id="i0")) == {}
    )
    empty = pd.DataFrame()
    assert measure_exactly(empty, empty, [], [], [], baseline="offline") == []


def test_few_users_have_no_interval_and_equal_users_no_share() -> None:
    random = np.random.default_rng(1)
    sure = np.zeros((3, N_ITEMS, 2))
    sure[:, :, 0] = 1.0
    rows = measured(
        answers_of(sure[:1], "offline", random, calls=3, users=False)
        + answers_of(sure, "history", random, calls=2)
    )
    assert "one letter is certain" in (rows["history", "share_who"].reason or "")
    score = rows["history", "score"]
    assert (score.estimate, score.ci_low) == (1.0, None)
    assert "39 are needed" in (score.reason or "")
    assert rows["history", "novelty"].estimate == 0.0

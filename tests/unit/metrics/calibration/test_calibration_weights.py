"""The fit: on the simplex, at the optimum, whatever the order; and the penalty."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fieldwork.metrics.calibration.weights import (
    TOLERANCE,
    FitPrompt,
    choose_penalty,
    effective_number,
    fit_weights,
    mean_divergence,
)

seeds = st.integers(0, 10_000)
# how long an example takes is no matter here
untimed = settings(deadline=None, max_examples=30)


def make_prompts(seed: int, *, members: int, prompts: int = 4, options: int = 6) -> list[FitPrompt]:
    random = np.random.default_rng(seed)
    fit_prompts = []
    for _ in range(prompts):
        # some options are named by nobody on one side
        shares = random.dirichlet(np.full(options, 0.3), size=members + 1)
        shares[shares < 0.02] = 0
        shares /= shares.sum(axis=1, keepdims=True)
        fit_prompts.append(FitPrompt(shares[0], shares[1:]))
    return fit_prompts


def grid(members: int, steps: int) -> np.ndarray:
    if members == 2:
        first = np.linspace(0, 1, steps + 1)
        return np.stack([first, 1 - first], axis=1)
    pairs = [(i, j) for i in range(steps + 1) for j in range(steps + 1 - i)]
    return np.array([[i, j, steps - i - j] for i, j in pairs]) / steps


@untimed
@given(seeds, st.sampled_from([2, 3]), st.sampled_from([0.0, 0.1]))
def test_no_weights_on_a_fine_grid_are_better(seed: int, members: int, penalty: float) -> None:
    prompts = make_prompts(seed, members=members)
    fit = fit_weights(prompts, penalty=penalty)
    candidates = grid(members, 100 if members == 2 else 30)
    safe = np.where(candidates > 0, candidates, 1.0)
    kl = (candidates * np.log2(members * safe)).sum(axis=1)
    best = min(
        mean_divergence(prompts, weights) + penalty * divergence
        for weights, divergence in zip(candidates, kl, strict=True)
    )
    assert fit.gap <= TOLERANCE
    assert fit.objective <= best + TOLERANCE
    assert fit.objective >= best - 0.01


@untimed
@given(seeds, st.sampled_from([2, 5, 30]), st.sampled_from([0.0, 0.03]))
def test_weights_lie_on_the_simplex_and_the_order_of_members_is_nothing(
    seed: int, members: int, penalty: float
) -> None:
    prompts = make_prompts(seed, members=members)
    fit = fit_weights(prompts, penalty=penalty)
    assert (fit.weights >= 0).all()
    assert fit.weights.sum() == pytest.approx(1)
    order = np.random.default_rng(seed).permutation(members)
    reordered = [FitPrompt(prompt.field, prompt.members[order]) for prompt in reversed(prompts)]
    refit = fit_weights(reordered, penalty=penalty)
    assert refit.objective == pytest.approx(fit.objective, abs=2 * TOLERANCE)
    if penalty:
        # with a penalty there is one optimum
        assert refit.weights == pytest.approx(fit.weights[order], abs=0.02)


def test_a_penalty_draws_to_equal_weights() -> None:
    prompts = make_prompts(2, members=20)
    effective = [
        effective_number(fit_weights(prompts, penalty=penalty).weights)
        for penalty in (0.0, 0.01, 0.1, 1.0, math.inf)
    ]
    assert effective == sorted(effective)
    assert effective[0] < 6
    assert effective[-1] == pytest.approx(20)


def test_noise_is_given_equal_weights_and_a_nearer_half_is_not() -> None:
    folds = [[0, 1], [2, 3], [4, 5], [6, 7]]
    is_equal = [math.isinf(choose_penalty(_noise(seed), folds)) for seed in range(20)]
    assert sum(is_equal) >= 14
    nearer = []
    for prompt in _noise(0):
        members = prompt.members.copy()
        members[:10] = 0.8 * prompt.field + 0.2 * members[:10]
        nearer.append(FitPrompt(prompt.field, members))
    penalty = choose_penalty(nearer, folds)
    assert penalty <= 0.1
    assert fit_weights(nearer, penalty=penalty).weights[:10].sum() > 0.9


def _noise(seed: int) -> list[FitPrompt]:
    random = np.random.default_rng(seed)
    shares_by_prompt = [random.dirichlet(np.full(5, 1.0), size=21) for _ in range(8)]
    return [FitPrompt(shares[0], shares[1:]) for shares in shares_by_prompt]

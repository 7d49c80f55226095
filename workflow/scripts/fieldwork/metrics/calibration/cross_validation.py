"""How near a calibrated mixture comes to the field on prompts it was not fitted on.

Owns the cross-validation over prompts, and its repetition without each group of people. Promises that
all comparators of a prompt are drawn equally often, in the same orders, and that a fold's weights never
depend on its own prompts.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fieldwork.metrics.calibration.draws import (
    MixtureSampler,
    PromptDraws,
    draw_halves,
)
from fieldwork.metrics.calibration.prompts import N_GROUPS, PuppetShares
from fieldwork.metrics.calibration.weights import (
    FitPrompt,
    WeightFit,
    choose_penalty,
    fit_weights,
)
from fieldwork.statistics.arrays import Floats
from fieldwork.statistics.entropy import jensen_shannon_bits
from fieldwork.statistics.seeds import generator

Folds = list[list[int]]


class MixtureMembers(NamedTuple):
    """The members of a mixture: the puppets of a condition, or, without them, the conditions.

    Puppets are more than prompts can tell apart, so that their weights are penalised. The weights are
    for these very puppets, so that none is left out for the interval. Chance in the arms' answers is
    part of the interval of conditions.
    """

    puppets: PuppetShares | None

    @property
    def is_penalised(self) -> bool:
        """Whether weights are drawn towards equal ones."""
        return self.puppets is not None

    def fit_prompts(self, prompts: Sequence[PromptDraws]) -> list[FitPrompt]:
        """What weights are fitted on."""
        if self.puppets is not None:
            pairs = zip(prompts, self.puppets.prompts, strict=True)
            return [FitPrompt(prompt.field.shares(), shares) for prompt, shares in pairs]
        return [
            FitPrompt(prompt.field.shares(), np.stack([a.shares() for a in prompt.arms.values()]))
            for prompt in prompts
        ]

    def draw_shares(self, prompt: PromptDraws, sampler: MixtureSampler, weights: Floats) -> Floats:
        """Draws from the mixture for a prompt: shape (draws, options)."""
        if self.puppets is None:
            return sampler.mixture_shares(weights)
        condition = self.puppets.condition
        answer_weights = self.puppets.answer_weights(prompt.arms[condition].units, weights)
        return sampler.puppet_mixture_shares(condition, answer_weights)

    def leave_out(self, prompts: Sequence[PromptDraws], group: int) -> list[PromptDraws]:
        """The prompts without a group of people."""
        return [prompt.leave_out(group, arms=self.puppets is None) for prompt in prompts]


class Comparator(NamedTuple):
    """What is compared with the field: `calibrated`, `equal`, `field`, or an `arm` by its name."""

    kind: str
    arm: str | None = None


MIXTURE, EQUAL, FIELD_ITSELF = Comparator("calibrated"), Comparator("equal"), Comparator("field")


class Divergences(NamedTuple):
    """Divergences of each comparator from the field in bits, one a prompt.

    `in_sample` is None where nothing was fitted. `splits` are means over prompts of the field's
    divergence from itself, one a draw.
    """

    values: dict[Comparator, Floats]
    in_sample: Floats | None
    splits: Floats


class CrossValidation(NamedTuple):
    """A calibration as judged on held-out prompts.

    Attributes:
        fit: weights fitted on all prompts, without a bound where the weights come from another study.
        fold_weights: weights of each fold.
        penalty: of the final fit.
        leave_one_out: of each comparator, its divergences without each group of people, shape
            (groups, prompts).
    """

    divergences: Divergences
    fit: WeightFit
    fold_weights: list[Floats]
    penalty: float
    leave_one_out: dict[Comparator, Floats]


class _PromptWeights(NamedTuple):
    """Weights that judge the prompts.

    `held_out` has weights for each prompt that do not depend on it, one set a repeat: shape (repeats,
    prompts, members). `in_sample` are weights fitted on all prompts.
    """

    held_out: Floats
    in_sample: Floats | None


class _Penalties(NamedTuple):
    """The penalty of each fold, by repeat (empty: none has its own), and that of the final fit."""

    folds: list[list[float]]
    final: float


def make_folds(
    n_prompts: int, n_folds: int, n_repeats: int, *, seed: int, model: str
) -> list[Folds]:
    """Places of prompts in folds of nearly equal size, at random in each repeat."""
    k = min(n_folds, n_prompts)
    repeats = []
    # each prompt a fold of its own is one and the same in every repeat
    for repeat in range(1 if k == n_prompts else n_repeats):
        order = generator(seed, "calibration folds", model, str(repeat)).permutation(n_prompts)
        repeats.append([sorted(int(i) for i in order[f::k]) for f in range(k)])
    return repeats


def cross_validate(
    prompts: Sequence[PromptDraws], members: MixtureMembers, repeats: Sequence[Folds]
) -> CrossValidation:
    """Fit and judge, then again without each group of people, at the same penalties."""
    fit_prompts = members.fit_prompts(prompts)
    penalties = (
        _choose_penalties(fit_prompts, repeats) if members.is_penalised else _Penalties([], 0.0)
    )
    held_out = _fit_folds(fit_prompts, repeats, penalties)
    final = fit_weights(fit_prompts, penalty=penalties.final)
    divergences = _measure(prompts, members, _PromptWeights(held_out, final.weights))
    leave_one_out = []
    for group in range(N_GROUPS):
        remaining = members.leave_out(prompts, group)
        weights = _fit_folds(members.fit_prompts(remaining), repeats, penalties)
        leave_one_out.append(_measure(remaining, members, _PromptWeights(weights, None)))
    fold_weights = [held_out[r, fold[0]] for r, folds in enumerate(repeats) for fold in folds]
    return CrossValidation(
        divergences, final, fold_weights, penalties.final, _stack_values(leave_one_out)
    )


def judge_weights(
    prompts: Sequence[PromptDraws], members: MixtureMembers, weights: Floats
) -> CrossValidation:
    """Judge weights of another study: they depend on none of the prompts."""
    held_out = np.broadcast_to(weights, (1, len(prompts), len(weights)))
    prompt_weights = _PromptWeights(held_out, None)
    divergences = _measure(prompts, members, prompt_weights)
    leave_one_out = [
        _measure(members.leave_out(prompts, group), members, prompt_weights)
        for group in range(N_GROUPS)
    ]
    fit = WeightFit(weights, math.nan, math.nan, 0)
    return CrossValidation(divergences, fit, [weights], math.nan, _stack_values(leave_one_out))


def _choose_penalties(prompts: Sequence[FitPrompt], repeats: Sequence[Folds]) -> _Penalties:
    penalties = []
    for folds in repeats:
        repeat_penalties = []
        for fold in folds:
            training = [k for k in range(len(prompts)) if k not in fold]
            place = {k: number for number, k in enumerate(training)}
            inner_folds = [[place[k] for k in other] for other in folds if other is not fold]
            repeat_penalties.append(choose_penalty([prompts[k] for k in training], inner_folds))
        penalties.append(repeat_penalties)
    return _Penalties(penalties, choose_penalty(prompts, repeats[0]))


def _fit_folds(
    prompts: Sequence[FitPrompt], repeats: Sequence[Folds], penalties: _Penalties
) -> Floats:
    """Weights for each prompt, fitted without its fold: shape (repeats, prompts, members)."""
    held_out = np.zeros((len(repeats), len(prompts), len(prompts[0].members)))
    for r, folds in enumerate(repeats):
        for f, fold in enumerate(folds):
            training = [prompt for k, prompt in enumerate(prompts) if k not in fold]
            penalty = penalties.folds[r][f] if penalties.folds else penalties.final
            held_out[r, fold] = fit_weights(training, penalty=penalty).weights
    return held_out


def _measure(
    prompts: Sequence[PromptDraws], members: MixtureMembers, weights: _PromptWeights
) -> Divergences:
    rows: list[dict[Comparator, float]] = []
    in_sample, splits = [], []
    for k, prompt in enumerate(prompts):
        halves, sampler = draw_halves(prompt), MixtureSampler(prompt)

        row = {
            Comparator("arm", arm): halves.divergence(sampler.arm_shares(arm))
            for arm in prompt.arms
        }
        mixtures = [members.draw_shares(prompt, sampler, w) for w in weights.held_out[:, k]]
        row[MIXTURE] = float(np.mean([halves.divergence(shares) for shares in mixtures]))
        if weights.in_sample is not None:
            shares = members.draw_shares(prompt, sampler, weights.in_sample)
            in_sample.append(halves.divergence(shares))
        if not members.is_penalised:
            n_arms = len(prompt.arms)
            equal_weights = np.full(n_arms, 1 / n_arms)
            row[EQUAL] = halves.divergence(sampler.mixture_shares(equal_weights))
        splits.append(jensen_shannon_bits(halves.reference, halves.other_half))
        row[FIELD_ITSELF] = float(splits[-1].mean())
        rows.append(row)
    return Divergences(
        {name: np.array([row[name] for row in rows]) for name in rows[0]},
        np.array(in_sample) if in_sample else None,
        np.stack(splits, axis=1).mean(axis=1),
    )


def _stack_values(leave_one_out: Sequence[Divergences]) -> dict[Comparator, Floats]:
    return {
        name: np.stack([divergences.values[name] for divergences in leave_one_out])
        for name in leave_one_out[0].values
    }

"""How near a calibrated mixture comes to the field on prompts it was not fitted on.

Owns the cross-validation over prompts, and its repetition without each group of people. Promises that
all comparators of a prompt are drawn equally often, in the same orders, and that a fold's weights never
depend on its own prompts.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fieldwork.metrics.calibration.draws import PromptBits, PromptSampler
from fieldwork.metrics.calibration.prompts import N_GROUPS, CalibrationPrompt, MixtureMembers
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
Penalties = Sequence[Sequence[float]]
"""Of each fold of each repeat."""


class Comparator(NamedTuple):
    """What is compared with the field: `calibrated`, `equal`, `field`, or an `arm` by its name."""

    kind: str
    arm: str | None = None


MIXTURE, EQUAL, FIELD_ITSELF = Comparator("calibrated"), Comparator("equal"), Comparator("field")


class CrossValidation(NamedTuple):
    """A calibration as judged on held-out prompts.

    Attributes:
        divergences: of each comparator from the field, in bits.
        in_sample: the same of the mixture fitted on all prompts, one a prompt; None where nothing was.
        splits: means over prompts of the field's divergence from itself, one a draw.
        fit: weights fitted on all prompts, without a bound where the weights come from another study.
        fold_weights: weights of each fold.
        penalty: of the final fit.
    """

    divergences: dict[Comparator, PromptBits]
    in_sample: Floats | None
    splits: Floats
    fit: WeightFit
    fold_weights: list[Floats]
    penalty: float

    def gains(self, first: Comparator, second: Comparator) -> PromptBits:
        """How much nearer to the field the second is than the first, in bits, one a prompt."""
        return self.divergences[first].less(self.divergences[second])


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
    prompts: Sequence[CalibrationPrompt], members: MixtureMembers, repeats: Sequence[Folds]
) -> CrossValidation:
    """Fit and judge, then again without each group of people, at the same penalties."""
    fit_prompts = members.fit_prompts(prompts)
    penalties: Penalties = [[0.0] * len(folds) for folds in repeats]
    penalty = 0.0
    if members.puppets_of is not None:
        penalties = [_fold_penalties(fit_prompts, folds) for folds in repeats]
        penalty = choose_penalty(fit_prompts, repeats[0])
    held_out = _fit_folds(fit_prompts, repeats, penalties)
    fit = fit_weights(fit_prompts, penalty=penalty)
    samplers = [PromptSampler(prompt) for prompt in prompts]
    leave_one_out = []
    for remaining in _without_groups(prompts, members):
        weights = _fit_folds(members.fit_prompts(remaining), repeats, penalties)
        leave_one_out.append(_measure(remaining, members, weights))
    return CrossValidation(
        _join(_measure(prompts, members, held_out), leave_one_out),
        np.array([s.divergence(s.mixture_shares(members, fit.weights)) for s in samplers]),
        _split_bits(samplers),
        fit,
        [held_out[r, fold[0]] for r, folds in enumerate(repeats) for fold in folds],
        penalty,
    )


def judge_weights(
    prompts: Sequence[CalibrationPrompt], members: MixtureMembers, weights: Floats
) -> CrossValidation:
    """Judge weights of another study: they depend on none of the prompts."""
    held_out = np.broadcast_to(weights, (1, len(prompts), len(weights)))
    values = _measure(prompts, members, held_out)
    leave_one_out = [
        _measure(remaining, members, held_out) for remaining in _without_groups(prompts, members)
    ]
    splits = _split_bits([PromptSampler(prompt) for prompt in prompts])
    fit = WeightFit(weights, math.nan, math.nan, 0)
    return CrossValidation(_join(values, leave_one_out), None, splits, fit, [weights], math.nan)


def _without_groups(
    prompts: Sequence[CalibrationPrompt], members: MixtureMembers
) -> list[list[CalibrationPrompt]]:
    """The prompts without each group of people; puppets that are members all stay."""
    arms = members.puppets_of is None
    return [[prompt.leave_out(group, arms=arms) for prompt in prompts] for group in range(N_GROUPS)]


def _fold_penalties(prompts: Sequence[FitPrompt], folds: Folds) -> list[float]:
    """The penalty of each fold, chosen on the others."""
    penalties = []
    for fold in folds:
        training = [k for k in range(len(prompts)) if k not in fold]
        place = {k: number for number, k in enumerate(training)}
        inner_folds = [[place[k] for k in other] for other in folds if other is not fold]
        penalties.append(choose_penalty([prompts[k] for k in training], inner_folds))
    return penalties


def _fit_folds(
    prompts: Sequence[FitPrompt], repeats: Sequence[Folds], penalties: Penalties
) -> Floats:
    """Weights for each prompt, fitted without its fold: shape (repeats, prompts, members)."""
    held_out = np.zeros((len(repeats), len(prompts), len(prompts[0].members)))
    for r, folds in enumerate(repeats):
        for fold, penalty in zip(folds, penalties[r], strict=True):
            training = [prompt for k, prompt in enumerate(prompts) if k not in fold]
            held_out[r, fold] = fit_weights(training, penalty=penalty).weights
    return held_out


def _measure(
    prompts: Sequence[CalibrationPrompt], members: MixtureMembers, held_out: Floats
) -> dict[Comparator, Floats]:
    """Divergences of each comparator from the field, one a prompt.

    Args:
        held_out: weights that do not depend on the prompt, shape (repeats, prompts, members).
    """
    rows: list[dict[Comparator, float]] = []
    for k, sampler in enumerate(map(PromptSampler, prompts)):
        shares = {Comparator("arm", arm): sampler.arm_shares(arm) for arm in prompts[k].arms}
        if members.puppets_of is None:
            n_arms = len(prompts[k].arms)
            shares[EQUAL] = sampler.mixture_shares(members, np.full(n_arms, 1 / n_arms))
        row = {name: sampler.divergence(side) for name, side in shares.items()}
        mixtures = [sampler.mixture_shares(members, weights) for weights in held_out[:, k]]
        row[MIXTURE] = float(np.mean([sampler.divergence(side) for side in mixtures]))
        row[FIELD_ITSELF] = sampler.divergence(sampler.other_half)
        rows.append(row)
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def _split_bits(samplers: Sequence[PromptSampler]) -> Floats:
    splits = [jensen_shannon_bits(one.reference, one.other_half) for one in samplers]
    means: Floats = np.stack(splits, axis=1).mean(axis=1)
    return means


def _join(
    values: dict[Comparator, Floats], leave_one_out: Sequence[dict[Comparator, Floats]]
) -> dict[Comparator, PromptBits]:
    return {
        name: PromptBits(of_all, np.stack([values_left[name] for values_left in leave_one_out]))
        for name, of_all in values.items()
    }

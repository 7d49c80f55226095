"""Weights that bring a mixture of answers closest to the field's: the fit and its penalty.

Owns the convex problem, its solution with a certificate, and the choice of the penalty. Promises weights
on the simplex, the same ones whatever the order of the members, and a bound on the distance of the
objective from its optimum.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fieldwork.statistics.arrays import Floats
from fieldwork.statistics.entropy import jensen_shannon_bits, relative_entropy_bits

TOLERANCE = 1e-5
"""Bits that a fit may be from its optimum."""

MAX_STEPS = 20_000
PENALTIES = (math.inf, 1.0, 0.3, 0.1, 0.03, 0.01)
"""Price of a bit of divergence from equal weights, the strongest first; infinite: equal weights."""

_SMOOTHNESS = 1 / (2 * math.log(2))
"""Bits a nat: a mixture's divergence never curves more than this times the entropy of its weights."""

_LEAST_SCALE = _SMOOTHNESS / 1024
_FLOOR = 1e-15


class FitPrompt(NamedTuple):
    """A prompt to fit on: the field's shares, shape (options,), and the members', (members, options).

    Prompts side by side, divided by their number, are one prompt whose divergence is their mean.
    """

    field: Floats
    members: Floats

    def value(self, weights: Floats) -> float:
        """Mean divergence of the mixture from the field, in bits."""
        mixture = weights @ self.members
        middle = (mixture + self.field) / 2
        divergences = (relative_entropy_bits(side, middle) for side in (mixture, self.field))
        return sum(divergences) / 2

    def gradient(self, weights: Floats) -> Floats:
        """Its gradient, shape (members,)."""
        mixture = weights @ self.members
        middle = (mixture + self.field) / 2
        # an option that no member names has no share in any gradient
        ratio = np.divide(mixture, middle, out=np.ones_like(mixture), where=mixture > 0)
        gradient: Floats = self.members @ (0.5 * np.log2(ratio))
        return gradient


class WeightFit(NamedTuple):
    """Weights of the members, their objective in bits, and how far at most it is above its optimum."""

    weights: Floats
    objective: float
    gap: float
    n_steps: int


def fit_weights(prompts: Sequence[FitPrompt], *, penalty: float = 0.0) -> WeightFit:
    """Weights that minimise the mean divergence from the field, plus `penalty` x KL(weights, equal).

    Multiplicative updates w <- w exp(-gradient / s): mirror descent on the simplex, with the entropy as
    its distance (Beck and Teboulle 2003). The divergence of a mixture is smooth relative to that entropy
    with the constant 1/(2 ln 2) bits. So no step size has to be tuned and no step goes up (Bauschke,
    Bolte and Teboulle 2017; Lu, Freund and Nesterov 2018); s is made smaller where the bound allows.
    Stops where the duality gap of Frank and Wolfe (Jaggi 2013) is at most `TOLERANCE` bits.

    Raises:
        ValueError: there is no prompt, or no member.
    """
    if not prompts or not len(prompts[0].members):
        raise ValueError("weights need a prompt and a member")
    n = len(prompts[0].members)
    equal = np.full(n, 1 / n)
    if n == 1 or math.isinf(penalty):
        return WeightFit(equal, mean_divergence(prompts, equal), 0.0, 0)
    objective = FitPrompt(
        np.concatenate([prompt.field for prompt in prompts]) / len(prompts),
        np.concatenate([prompt.members for prompt in prompts], axis=1) / len(prompts),
    )
    price = penalty / math.log(2)
    weights, scale = equal, _SMOOTHNESS
    n_steps = 0
    while True:
        gradient = objective.gradient(weights)
        slope = gradient + price * np.log(n * weights)
        gap = float(slope @ weights - slope.min())
        if gap <= TOLERANCE or n_steps == MAX_STEPS:
            break
        n_steps += 1
        weights, scale = _step(objective, weights, gradient, price=price, scale=scale)
    value = objective.value(weights) + price * float(weights @ np.log(n * weights))
    return WeightFit(weights, value, gap, n_steps)


def mean_divergence(prompts: Sequence[FitPrompt], weights: Floats) -> float:
    """Mean over prompts of the Jensen-Shannon divergence of the mixture from the field, in bits."""
    divergences = [
        jensen_shannon_bits((weights @ prompt.members)[None], prompt.field[None])[0]
        for prompt in prompts
    ]
    return float(np.mean(divergences))


def effective_number(weights: Floats) -> float:
    """How many members of equal weight would make as noisy a mixture: 1 / sum of squares (Kish 1965)."""
    return float(1 / (weights**2).sum())


def choose_penalty(prompts: Sequence[FitPrompt], folds: Sequence[Sequence[int]]) -> float:
    """The strongest penalty that is not shown to be worse than the best on held-out prompts.

    Every penalty is judged on each fold by weights fitted on the others. Of those whose mean over
    prompts is within one standard error of the lowest, the strongest is taken (the rule of Breiman et
    al. 1984, with the standard error of the differences). Folds are places in `prompts`. One fold alone
    leaves nothing to judge by, so that weights stay equal.
    """
    if len(folds) < 2:
        return math.inf
    divergences = [_held_out_divergences(prompts, folds, penalty) for penalty in PENALTIES]
    best = min(divergences, key=lambda values: float(values.mean()))
    for penalty, values in zip(PENALTIES, divergences, strict=True):
        excess = values - best
        if excess.mean() <= excess.std(ddof=1) / math.sqrt(len(excess)):
            return penalty
    raise AssertionError("unreachable: the best is not worse than itself")


def _held_out_divergences(
    prompts: Sequence[FitPrompt], folds: Sequence[Sequence[int]], penalty: float
) -> Floats:
    """Divergence of each prompt from its mixture, fold by fold."""
    divergences = []
    for fold in folds:
        training = [prompt for k, prompt in enumerate(prompts) if k not in fold]
        weights = fit_weights(training, penalty=penalty).weights
        divergences += [mean_divergence([prompts[k]], weights) for k in fold]
    return np.array(divergences)


def _step(
    objective: FitPrompt, weights: Floats, gradient: Floats, *, price: float, scale: float
) -> tuple[Floats, float]:
    """New weights, and the scale of the step: the smallest tried at which the bound holds."""
    value = objective.value(weights)
    scale = max(scale / 2, _LEAST_SCALE)
    while True:
        logs = (scale * np.log(weights) - gradient) / (scale + price)
        new = np.exp(logs - logs.max())
        new = np.maximum(new / new.sum(), _FLOOR)
        new = new / new.sum()
        bound = value + gradient @ (new - weights) + scale * float(new @ np.log(new / weights))
        if scale >= _SMOOTHNESS or objective.value(new) <= bound + 1e-14:
            return new, scale
        scale = min(2 * scale, _SMOOTHNESS)

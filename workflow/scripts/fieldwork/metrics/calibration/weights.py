"""Weights that bring a mixture of answers closest to the field's: the fit, and how strongly it is held.

Owns the convex problem, its solution with a certificate, and the choice of the penalty. Promises weights
on the simplex, the same ones whatever the order of the members, and a bound on how far the objective is
from its optimum.
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

_SMOOTH = 1 / (2 * math.log(2))
"""Bits a nat: a mixture's divergence never curves more than this times the entropy of its weights."""

_LEAST_STEP = _SMOOTH / 1024
_FLOOR = 1e-15


class Part(NamedTuple):
    """A prompt to fit on: the field's shares, shape (options,), and the members', (members, options)."""

    field: Floats
    members: Floats


class Fit(NamedTuple):
    """Weights of the members, their objective in bits, and how far at most it is above its optimum."""

    weights: Floats
    objective: float
    gap: float
    n_steps: int


class _Stack(NamedTuple):
    """All prompts side by side: the field's shares and the members', each divided by the prompts."""

    field: Floats
    members: Floats


def fit_weights(parts: Sequence[Part], *, penalty: float = 0.0) -> Fit:
    """Weights that minimise the mean divergence from the field, plus `penalty` x KL(weights, equal).

    Multiplicative updates w <- w exp(-gradient / s): mirror descent on the simplex, with the entropy as
    its distance (Beck and Teboulle 2003). The divergence of a mixture is smooth relative to that entropy
    with the constant 1/(2 ln 2) bits, so that no step size is to be tuned and no step goes up (Bauschke,
    Bolte and Teboulle 2017; Lu, Freund and Nesterov 2018); s is made smaller where the bound allows.
    Stops where the duality gap of Frank and Wolfe (Jaggi 2013) is at most `TOLERANCE` bits.

    Raises:
        ValueError: there is no prompt, or no member.
    """
    if not parts or not len(parts[0].members):
        raise ValueError("weights need a prompt and a member")
    n = len(parts[0].members)
    equal = np.full(n, 1 / n)
    stack = _stacked(parts)
    if n == 1 or math.isinf(penalty):
        return Fit(equal, mean_divergence(parts, equal), 0.0, 0)
    held = penalty / math.log(2)
    weights, scale = equal, _SMOOTH
    n_steps = 0
    while True:
        gradient = _gradient(stack, weights)
        slope = gradient + held * np.log(n * weights)
        gap = float(slope @ weights - slope.min())
        if gap <= TOLERANCE or n_steps == MAX_STEPS:
            break
        n_steps += 1
        weights, scale = _moved(stack, weights, gradient, held=held, scale=scale)
    objective = _value(stack, weights) + held * float(weights @ np.log(n * weights))
    return Fit(weights, objective, gap, n_steps)


def mean_divergence(parts: Sequence[Part], weights: Floats) -> float:
    """Mean over prompts of the Jensen-Shannon divergence of the mixture from the field, in bits."""
    found = [
        jensen_shannon_bits((weights @ part.members)[None], part.field[None])[0] for part in parts
    ]
    return float(np.mean(found))


def effective_number(weights: Floats) -> float:
    """How many members of equal weight would make as noisy a mixture: 1 / sum of squares (Kish 1965)."""
    return float(1 / (weights**2).sum())


def choose_penalty(parts: Sequence[Part], folds: Sequence[Sequence[int]]) -> float:
    """The strongest penalty that is not shown to be worse than the best on prompts held out.

    Every penalty is judged on each fold by weights fitted on the others. Of those whose mean over
    prompts is within one standard error of the lowest, the strongest is taken (the rule of Breiman et
    al. 1984, with the standard error of the differences). Folds are places in `parts`; with one of
    them there is nothing to judge by, and equal weights are kept.
    """
    if len(folds) < 2:
        return math.inf
    values = [_held_out(parts, folds, penalty) for penalty in PENALTIES]
    best = min(values, key=lambda value: float(value.mean()))
    for penalty, value in zip(PENALTIES, values, strict=True):
        worse = value - best
        if worse.mean() <= worse.std(ddof=1) / math.sqrt(len(worse)):
            return penalty
    raise AssertionError("unreachable: the best is not worse than itself")


def _held_out(parts: Sequence[Part], folds: Sequence[Sequence[int]], penalty: float) -> Floats:
    """Divergence of each prompt from its mixture, fold by fold."""
    found = []
    for fold in folds:
        kept = [part for k, part in enumerate(parts) if k not in fold]
        fitted = fit_weights(kept, penalty=penalty).weights
        found += [mean_divergence([parts[k]], fitted) for k in fold]
    return np.array(found)


def _stacked(parts: Sequence[Part]) -> _Stack:
    return _Stack(
        np.concatenate([part.field for part in parts]) / len(parts),
        np.concatenate([part.members for part in parts], axis=1) / len(parts),
    )


def _value(stack: _Stack, weights: Floats) -> float:
    mixed = weights @ stack.members
    middle = (mixed + stack.field) / 2
    return (relative_entropy_bits(mixed, middle) + relative_entropy_bits(stack.field, middle)) / 2


def _gradient(stack: _Stack, weights: Floats) -> Floats:
    mixed = weights @ stack.members
    middle = (mixed + stack.field) / 2
    # an option that no member names has no share in any gradient
    ratio = np.divide(mixed, middle, out=np.ones_like(mixed), where=mixed > 0)
    gradient: Floats = stack.members @ (0.5 * np.log2(ratio))
    return gradient


def _moved(
    stack: _Stack, weights: Floats, gradient: Floats, *, held: float, scale: float
) -> tuple[Floats, float]:
    """One step, as long as the bound it is made from is seen to hold; and the scale it was made at."""
    here = _value(stack, weights)
    scale = max(scale / 2, _LEAST_STEP)
    while True:
        logs = (scale * np.log(weights) - gradient) / (scale + held)
        new = np.exp(logs - logs.max())
        new = np.maximum(new / new.sum(), _FLOOR)
        new = new / new.sum()
        bound = here + gradient @ (new - weights) + scale * float(new @ np.log(new / weights))
        if scale >= _SMOOTH or _value(stack, new) <= bound + 1e-14:
            return new, scale
        scale = min(2 * scale, _SMOOTH)

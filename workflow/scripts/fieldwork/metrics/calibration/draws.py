"""Chance in a calibration: draws of equal size from every side, and intervals.

Owns the samples that compare arms, mixtures and the field itself with the field, and the variance that
people put into a mean over prompts. The same random orders bring all comparators of a prompt to
`n_equal` answers. So a mixture is not nearer to the field for being made of many answers.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from fieldwork.metrics.calibration.prompts import (
    N_DRAWS,
    CalibrationPrompt,
    MixtureMembers,
    SideAnswers,
)
from fieldwork.metrics.calibration.weights import effective_number
from fieldwork.statistics.arrays import Flags, Floats
from fieldwork.statistics.crossed import PeopleVariance, crossed_interval
from fieldwork.statistics.entropy import jensen_shannon_bits
from fieldwork.statistics.intervals import BoundedValue, Interval

_TIE = 1e-9
"""Differences of sums that were added up in another order are smaller than this."""


class PromptSampler:
    """Draws of `n_equal` answers to a prompt: of the field, of arms and of their mixtures.

    Shares of mentions have the shape (draws, options). The field gives two samples that share nobody; all
    comparators are compared with the `reference`.
    """

    def __init__(self, prompt: CalibrationPrompt) -> None:
        self._prompt = prompt
        self._ranks = {c: side.ranks() for c, side in prompt.arms.items()}
        ranks, n = prompt.field.ranks(), prompt.n_equal
        self.reference = _sample_shares(ranks < n, prompt.field)
        self.other_half = _sample_shares((ranks >= n) & (ranks < 2 * n), prompt.field)

    def divergence(self, shares: Floats) -> float:
        """Mean over the draws of the divergence of shares from the reference, in bits."""
        return float(jensen_shannon_bits(self.reference, shares).mean())

    def arm_shares(self, condition: str) -> Floats:
        """Shares of mentions of an arm."""
        answers = self._prompt.arms[condition]
        return _sample_shares(self._ranks[condition] < self._prompt.n_equal, answers)

    def mixture_shares(self, members: MixtureMembers, weights: Floats) -> Floats:
        """Shares of mentions of a mixture."""
        if members.puppets_of is None:
            return self._condition_shares(weights)
        units = self._prompt.arms[members.puppets_of].units
        return self._puppet_shares(members.puppets_of, members.answer_weights(units, weights))

    def _condition_shares(self, weights: Floats) -> Floats:
        """Each answer comes from the arm assigned to it."""
        n, choices = self._prompt.n_equal, self._prompt.choices
        bounds = np.cumsum(weights)[:-1]
        n_below = (choices[:, :, None] < bounds).sum(axis=1)
        counts = np.diff(n_below, axis=1, prepend=0, append=n)
        total = np.zeros((N_DRAWS, self._prompt.field.indicator.shape[1]))
        for number, (condition, answers) in enumerate(self._prompt.arms.items()):
            n_arm = counts[:, number : number + 1]
            if n_arm.any():
                total += n_arm / n * _sample_shares(self._ranks[condition] < n_arm, answers)
        return total

    def _puppet_shares(self, condition: str, weights: Floats) -> Floats:
        """Shares drawn from an arm whose answers have weights, as noisy as `n_equal` equal ones.

        A random part of the puppets is taken, with its weights: of n puppets, n_equal x n/n_eff,
        n_eff = 1/sum of squared weights, so that the part has an effective number of n_equal. With
        equal weights these are the very draws of the arm. Where n_eff is smaller all are taken: noisier
        than the rest, to the disadvantage of the weights. `weights` has one for each answer.
        """
        answers, ranks = self._prompt.arms[condition], self._ranks[condition]
        has_weight = weights > 0
        if not has_weight.any():
            # none of the weighted puppets has a readable answer here: their weights do not matter
            return self.arm_shares(condition)
        share = self._prompt.n_equal / effective_number(weights[has_weight] / weights.sum())
        order = np.argsort(np.argsort(np.where(has_weight, ranks, len(weights)), axis=1), axis=1)
        sample_weights = (order < max(1, round(share * int(has_weight.sum())))) * weights
        counts = sample_weights @ answers.indicator
        shares: Floats = counts / counts.sum(axis=1, keepdims=True)
        return shares


def _sample_shares(in_sample: Flags, answers: SideAnswers) -> Floats:
    counts = in_sample.astype(np.float64) @ answers.indicator
    shares: Floats = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    return shares


class PromptBits(NamedTuple):
    """Divergences of one comparator, or differences of two, by prompt and without each group of people.

    `values` has shape (prompts,), `leave_one_out` (groups, prompts).
    """

    values: Floats
    leave_one_out: Floats

    def less(self, other: "PromptBits", share: float = 1.0) -> "PromptBits":
        """These less a share of others of the same prompts and people."""
        return PromptBits(
            self.values - share * other.values, self.leave_one_out - share * other.leave_one_out
        )


def gain_interval(differences: Floats, leave_one_out: Floats) -> BoundedValue:
    """A mean over prompts with its interval for other people and prompts.

    The jackknife over groups gives the covariance of the prompts' differences as far as people make it.

    Args:
        differences: one a prompt, shape (prompts,).
        leave_one_out: the same without each group of people, shape (groups, prompts).
    """
    n, g, mean = len(differences), len(leave_one_out), float(differences.mean())
    if n < 2 or (np.abs(differences).max() < _TIE and np.abs(leave_one_out).max() < _TIE):
        # the same draws on both sides say nothing of chance
        return BoundedValue(mean, Interval(-math.inf, math.inf))
    deviations = leave_one_out - leave_one_out.mean(axis=0)
    covariance = (g - 1) / g * deviations.T @ deviations
    people = PeopleVariance(float(covariance.mean()), float(np.trace(covariance)) / n, g - 1)
    return BoundedValue(mean, crossed_interval(differences, people))


def ratio_interval(gains: PromptBits, whole: PromptBits) -> Interval | None:
    """Interval of the share that mean gains are of a mean whole: all shares that a t test allows.

    A share r is allowed where gains - r * whole have a mean whose interval holds 0 (Fieller 1954). None
    where the whole is not shown to be above 0, as every share could then be true, and where there are
    no gains at all.
    """
    is_bounded = gain_interval(*whole).interval.low > 0
    if not is_bounded or math.isinf(gain_interval(*gains).interval.low):
        return None

    def beyond(share: float) -> float:
        low, high = gain_interval(*gains.less(whole, share)).interval
        return max(low, -high, -1.0)

    centre = float(gains.values.mean() / whole.values.mean())
    return Interval(*(_root(beyond, centre, step) for step in (-1.0, 1.0)))


def _root(beyond: Callable[[float], float], centre: float, step: float) -> float:
    """Where a function that is negative at the centre reaches 0 in the direction of the step."""
    while beyond(centre + step) < 0:
        step *= 2
    return float(brentq(beyond, centre, centre + step))

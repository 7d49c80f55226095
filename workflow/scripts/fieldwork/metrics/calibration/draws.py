"""Chance in a calibration: draws of equal size from every side, and intervals.

Owns the samples that compare arms, mixtures and the field itself with the field, and the variance that
people put into a mean over prompts. The same random orders bring all comparators of a prompt to
`n_equal` answers. So a mixture is not nearer to the field for being made of many answers.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from fieldwork.metrics.calibration.prompts import (
    N_GROUPS,
    CalibrationPrompt,
    OptionAnswers,
    mention_shares,
)
from fieldwork.metrics.calibration.weights import effective_number
from fieldwork.statistics.arrays import Counts, Flags, Floats
from fieldwork.statistics.crossed import PeopleVariance, crossed_interval
from fieldwork.statistics.entropy import jensen_shannon_bits
from fieldwork.statistics.intervals import Interval
from fieldwork.statistics.seeds import generator

N_DRAWS = 100
_TIE = 1e-9
"""Differences of sums that were added up in another order are smaller than this."""


class OrderedAnswers(NamedTuple):
    """Answers of one side with a random order for each draw, and the group of each answer.

    `keys` has shape (draws, answers) and sorts the answers of a draw; `groups` has shape (answers,).
    """

    units: tuple[str, ...]
    indicator: Floats
    keys: Floats
    groups: Counts

    def leave_out(self, group: int) -> "OrderedAnswers":
        """The answers without those of one group."""
        stays = self.groups != group
        units = tuple(unit for unit, stay in zip(self.units, stays, strict=True) if stay)
        return OrderedAnswers(units, self.indicator[stays], self.keys[:, stays], self.groups[stays])

    def ranks(self) -> Counts:
        """Place of each answer in each order."""
        order = np.argsort(self.keys, axis=1, kind="stable")
        ranks = np.empty_like(order)
        np.put_along_axis(ranks, order, np.arange(order.shape[1])[None, :], axis=1)
        return ranks

    def shares(self) -> Floats:
        """Share of mentions over all answers."""
        return mention_shares(self.indicator)


class PromptDraws(NamedTuple):
    """A prompt ready to be drawn from.

    `choices`, shape (draws, n_equal), assigns each answer of a draw to a member of a mixture.
    """

    n_equal: int
    field: OrderedAnswers
    arms: Mapping[str, OrderedAnswers]
    choices: Floats

    def leave_out(self, group: int, *, arms: bool) -> "PromptDraws":
        """The prompt without a group of participants, and of every arm's puppets if `arms`."""
        sides = {c: side.leave_out(group) for c, side in self.arms.items()} if arms else self.arms
        return self._replace(field=self.field.leave_out(group), arms=sides)


class FieldHalves(NamedTuple):
    """Two samples of the field that share nobody: shares of mentions, shape (draws, options).

    All comparators are compared with the `reference`.
    """

    reference: Floats
    other_half: Floats

    def divergence(self, shares: Floats) -> float:
        """Mean over the draws of the divergence of shares from the reference, in bits."""
        return float(jensen_shannon_bits(self.reference, shares).mean())


def prepare_draws(
    prompts: Sequence[CalibrationPrompt], *, seed: int, names: Sequence[str]
) -> list[PromptDraws]:
    """Random orders for every side; a participant has one place in an order over all prompts."""
    people = sorted({unit for prompt in prompts for unit in prompt.field.units})
    keys = generator(seed, "calibration halves", *names).random((N_DRAWS, len(people)))
    groups = _random_groups(people, seed, [*names, "field"])
    place = {person: number for number, person in enumerate(people)}
    arm_groups: dict[str, dict[str, int]] = {}
    for condition in prompts[0].arms if prompts else ():
        units = sorted({u for prompt in prompts for u in prompt.arms[condition].units if u})
        numbers = _random_groups(units, seed, [*names, condition]).tolist()
        arm_groups[condition] = dict(zip(units, numbers, strict=True))
    draws = []
    for prompt in prompts:
        prompt_names = (*names, prompt.task, prompt.item_id)
        places = [place[unit] for unit in prompt.field.units]
        arms = {
            c: _order_answers(side, arm_groups[c], seed, (*prompt_names, c))
            for c, side in prompt.arms.items()
        }
        random = generator(seed, "calibration deal", *prompt_names)
        draws.append(
            PromptDraws(
                n_equal=prompt.n_equal,
                field=OrderedAnswers(*prompt.field, keys[:, places], groups[places]),
                arms=arms,
                choices=random.random((N_DRAWS, prompt.n_equal)),
            )
        )
    return draws


def _random_groups(units: Sequence[str], seed: int, names: Sequence[str]) -> Counts:
    order = generator(seed, "calibration groups", *names).permutation(len(units))
    groups: Counts = order % N_GROUPS
    return groups


def _order_answers(
    answers: OptionAnswers, groups: Mapping[str, int], seed: int, names: Sequence[str]
) -> OrderedAnswers:
    units, indicator = answers
    keys = generator(seed, "calibration order", *names).random((N_DRAWS, len(units)))
    # answers without a user are interchangeable
    numbers = [groups.get(unit, number % N_GROUPS) for number, unit in enumerate(units)]
    return OrderedAnswers(units, indicator, keys, np.array(numbers, dtype=np.int64))


def draw_halves(prompt: PromptDraws) -> FieldHalves:
    """`n_equal` answers of the field in each draw, and as many of other participants."""
    ranks, n = prompt.field.ranks(), prompt.n_equal
    return FieldHalves(
        _sample_shares(ranks < n, prompt.field),
        _sample_shares((ranks >= n) & (ranks < 2 * n), prompt.field),
    )


def _sample_shares(in_sample: Flags, answers: OrderedAnswers) -> Floats:
    counts = in_sample.astype(np.float64) @ answers.indicator
    shares: Floats = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    return shares


class MixtureSampler:
    """Draws of `n_equal` answers from mixtures of the arms of one prompt."""

    def __init__(self, prompt: PromptDraws) -> None:
        self._prompt = prompt
        self._ranks = {c: side.ranks() for c, side in prompt.arms.items()}

    def arm_shares(self, condition: str) -> Floats:
        """Shares of mentions of an arm, shape (draws, options)."""
        answers = self._prompt.arms[condition]
        return _sample_shares(self._ranks[condition] < self._prompt.n_equal, answers)

    def mixture_shares(self, weights: Floats) -> Floats:
        """Shares of mentions, shape (draws, options): each answer comes from the arm assigned to it."""
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

    def puppet_mixture_shares(self, condition: str, weights: Floats) -> Floats:
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


class MeanGain(NamedTuple):
    """A mean difference over prompts with its interval."""

    mean: float
    interval: Interval


def gain_interval(differences: Floats, leave_one_out: Floats) -> MeanGain:
    """Interval of a mean over prompts, for other people and prompts.

    The jackknife over groups gives the covariance of the prompts' differences as far as people make it.

    Args:
        differences: one a prompt, shape (prompts,).
        leave_one_out: the same without each group of people, shape (groups, prompts).
    """
    n, g, mean = len(differences), len(leave_one_out), float(differences.mean())
    if n < 2 or (np.abs(differences).max() < _TIE and np.abs(leave_one_out).max() < _TIE):
        # the same draws on both sides say nothing of chance
        return MeanGain(mean, Interval(-math.inf, math.inf))
    deviations = leave_one_out - leave_one_out.mean(axis=0)
    covariance = (g - 1) / g * deviations.T @ deviations
    people = PeopleVariance(float(covariance.mean()), float(np.trace(covariance)) / n, g - 1)
    return MeanGain(mean, crossed_interval(differences, people))


class PromptGains(NamedTuple):
    """Differences of two divergences by prompt, and the same without each group of people.

    `values` has shape (prompts,), `leave_one_out` (groups, prompts).
    """

    values: Floats
    leave_one_out: Floats

    def less(self, share: float, other: "PromptGains") -> "PromptGains":
        """These less a share of others of the same prompts and people."""
        return PromptGains(
            self.values - share * other.values, self.leave_one_out - share * other.leave_one_out
        )


def ratio_interval(gains: PromptGains, whole: PromptGains) -> Interval | None:
    """Interval of the share that mean gains are of a mean whole: all shares that a t test allows.

    A share r is allowed where gains - r * whole have a mean whose interval holds 0 (Fieller 1954). None
    where the whole is not shown to be above 0, as every share could then be true, and where there are
    no gains at all.
    """
    is_bounded = gain_interval(*whole).interval.low > 0
    if not is_bounded or math.isinf(gain_interval(*gains).interval.low):
        return None

    def beyond(share: float) -> float:
        low, high = gain_interval(*gains.less(share, whole)).interval
        return max(low, -high, -1.0)

    centre = float(gains.values.mean() / whole.values.mean())
    return Interval(*(_root(beyond, centre, step) for step in (-1.0, 1.0)))


def _root(beyond: Callable[[float], float], centre: float, step: float) -> float:
    """Where a function that is negative at the centre reaches 0 in the direction of the step."""
    while beyond(centre + step) < 0:
        step *= 2
    return float(brentq(beyond, centre, centre + step))

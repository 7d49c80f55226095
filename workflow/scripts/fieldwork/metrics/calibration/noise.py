"""Chance in a calibration: draws of equal size from all that is compared, and intervals.

Owns the samples by which arms, mixtures and the field itself are set beside the field, the variance of a
mean over prompts and people. All comparators of a prompt are brought to `n_equal`
answers by the same random orders, so that a mixture of many answers is not nearer for being of many.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from fieldwork.metrics.calibration.sets import GROUPS, Prompt, Side, mention_shares
from fieldwork.metrics.calibration.weights import effective_number
from fieldwork.statistics.arrays import Counts, Floats
from fieldwork.statistics.entropy import jensen_shannon_bits
from fieldwork.statistics.intervals import Interval, student_interval
from fieldwork.statistics.seeds import generator

N_DRAWS = 100
_TIE = 1e-9
"""Differences of sums that were added up in another order are smaller than this."""


class Drawn(NamedTuple):
    """Answers of one side with the random order of each draw, and the group each belongs to.

    `keys` has shape (draws, answers), `groups` (answers,).
    """

    units: tuple[str, ...]
    named: Floats
    keys: Floats
    groups: Counts

    def without(self, group: int | None) -> "Drawn":
        """The side without one of its groups."""
        if group is None:
            return self
        kept = self.groups != group
        units = tuple(unit for unit, keep in zip(self.units, kept, strict=True) if keep)
        return Drawn(units, self.named[kept], self.keys[:, kept], self.groups[kept])

    def ranks(self) -> Counts:
        """Place of each answer in each order."""
        order = np.argsort(self.keys, axis=1, kind="stable")
        ranks = np.empty_like(order)
        np.put_along_axis(ranks, order, np.arange(order.shape[1])[None, :], axis=1)
        return ranks

    def shares(self) -> Floats:
        """Share of mentions over all answers."""
        return mention_shares(self.named)


class Question(NamedTuple):
    """A prompt ready to be drawn from; `choices`, shape (draws, n_equal), deal draws to members."""

    n_equal: int
    field: Drawn
    arms: Mapping[str, Drawn]
    choices: Floats

    def without(self, group: int | None, *, arms: bool) -> "Question":
        """The prompt without a group of participants, and of every arm's puppets where asked for."""
        sides = {c: side.without(group) for c, side in self.arms.items()} if arms else self.arms
        return self._replace(field=self.field.without(group), arms=sides)


class Halves(NamedTuple):
    """Two samples of the field that share nobody: shares of mentions, shape (draws, options)."""

    judged_by: Floats
    other: Floats


def prepare(prompts: Sequence[Prompt], *, seed: int, names: Sequence[str]) -> list[Question]:
    """Random orders for every side; a participant has one place in an order over all prompts."""
    people = sorted({unit for prompt in prompts for unit in prompt.field.units})
    keys = generator(seed, "calibration halves", *names).random((N_DRAWS, len(people)))
    groups = _groups(people, seed, [*names, "field"])
    place = {person: number for number, person in enumerate(people)}
    members: dict[str, dict[str, int]] = {}
    for condition in prompts[0].arms if prompts else ():
        units = sorted({u for prompt in prompts for u in prompt.arms[condition].units if u})
        members[condition] = dict(
            zip(units, _groups(units, seed, [*names, condition]).tolist(), strict=True)
        )
    return [
        Question(
            n_equal=prompt.n_equal,
            field=Drawn(
                prompt.field.units,
                prompt.field.named,
                keys[:, [place[u] for u in prompt.field.units]],
                groups[[place[u] for u in prompt.field.units]],
            ),
            arms={
                c: _drawn(side, members[c], seed, [*names, prompt.task, prompt.item_id, c])
                for c, side in prompt.arms.items()
            },
            choices=_random(seed, "deal", names, prompt).random((N_DRAWS, prompt.n_equal)),
        )
        for prompt in prompts
    ]


def _random(seed: int, purpose: str, names: Sequence[str], prompt: Prompt) -> np.random.Generator:
    return generator(seed, f"calibration {purpose}", *names, prompt.task, prompt.item_id)


def _groups(units: Sequence[str], seed: int, names: Sequence[str]) -> Counts:
    order = generator(seed, "calibration groups", *names).permutation(len(units))
    groups: Counts = order % GROUPS
    return groups


def _drawn(side: Side, groups: Mapping[str, int], seed: int, names: Sequence[str]) -> Drawn:
    keys = generator(seed, "calibration order", *names).random((N_DRAWS, len(side.units)))
    # where nobody asks, answers are interchangeable
    own = [groups.get(unit, number % GROUPS) for number, unit in enumerate(side.units)]
    return Drawn(side.units, side.named, keys, np.array(own, dtype=np.int64))


def halves(question: Question) -> Halves:
    """`n_equal` answers of the field in each draw, and as many of other participants."""
    ranks, n = question.field.ranks(), question.n_equal
    return Halves(
        _shares(ranks < n, question.field), _shares((ranks >= n) & (ranks < 2 * n), question.field)
    )


def _shares(chosen: "np.ndarray[tuple[int, ...], np.dtype[np.bool_]]", side: Drawn) -> Floats:
    counts = chosen.astype(np.float64) @ side.named
    shares: Floats = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    return shares


class Mixer:
    """Draws of `n_equal` answers from mixtures of the arms of one prompt."""

    def __init__(self, question: Question) -> None:
        self._question = question
        self._ranks = {c: side.ranks() for c, side in question.arms.items()}

    def alone(self, condition: str) -> Floats:
        """Shares of mentions of an arm, shape (draws, options)."""
        side = self._question.arms[condition]
        return _shares(self._ranks[condition] < self._question.n_equal, side)

    def mixed(self, weights: Floats) -> Floats:
        """Shares of mentions, shape (draws, options): each answer from the arm that is dealt to it."""
        question = self._question
        bounds = np.cumsum(weights)[:-1]
        below = (question.choices[:, :, None] < bounds).sum(axis=1)
        n = question.n_equal
        counts = np.diff(below, axis=1, prepend=0, append=n)
        total = np.zeros((N_DRAWS, question.field.named.shape[1]))
        for number, (condition, side) in enumerate(question.arms.items()):
            own = counts[:, number : number + 1]
            if own.any():
                total += own / n * _shares(self._ranks[condition] < own, side)
        return total

    def mixed_puppets(self, condition: str, weights: Floats) -> Floats:
        """Shares drawn from an arm whose answers have weights, as noisy as `n_equal` equal ones.

        A random part of the puppets is taken, with its weights: of n puppets, n_equal x n/n_eff,
        n_eff = 1/sum of squared weights, so that the part has an effective number of n_equal. With
        equal weights these are the very draws of the arm. Where n_eff is smaller all are taken: noisier
        than the rest, to the disadvantage of the weights. `weights` has one for each answer.
        """
        side, ranks = self._question.arms[condition], self._ranks[condition]
        held = weights > 0
        if not held.any():
            # none of the weighted puppets has a readable answer here: nothing is known of their weights
            return self.alone(condition)
        share = self._question.n_equal / effective_number(weights[held] / weights.sum())
        order = np.argsort(np.argsort(np.where(held, ranks, len(held)), axis=1), axis=1)
        chosen = (order < max(1, round(share * int(held.sum())))) * weights
        counts = chosen @ side.named
        shares: Floats = counts / counts.sum(axis=1, keepdims=True)
        return shares


def distance(judged_by: Floats, shares: Floats) -> Floats:
    """Divergence of each draw from the field's, in bits."""
    return jensen_shannon_bits(judged_by, shares)


class Gain(NamedTuple):
    """A mean difference over prompts with its interval."""

    mean: float
    interval: Interval


def gain_interval(differences: Floats, left_out: Floats) -> Gain:
    """Interval of a mean over prompts that the same people answer: prompts and people are crossed.

    Args:
        differences: one a prompt, shape (prompts,).
        left_out: the same without each group of people, shape (groups, prompts).

    The jackknife over groups gives the covariance of the prompts' differences as far as people make it.
    Its mean over all pairs is the variance of the mean that is due to people. What prompts add is
    their own variance, less what people make prompts differ by, and never below 0 (the components of
    a two-way layout: Searle, Casella and McCulloch 1992). Student's *t* has the degrees of freedom of
    the fewer, prompts or groups.
    """
    n, g, mean = len(differences), len(left_out), float(differences.mean())
    if n < 2 or (np.abs(differences).max() < _TIE and np.abs(left_out).max() < _TIE):
        # the same draws on both sides say nothing of chance
        return Gain(mean, Interval(-math.inf, math.inf))
    apart = left_out - left_out.mean(axis=0)
    covariance = (g - 1) / g * apart.T @ apart
    of_people = float(covariance.mean())
    single = float(np.trace(covariance)) / n
    between = (n * n * of_people - n * single) / (n * (n - 1))
    of_prompts = (float(differences.var(ddof=1)) - (single - between)) / n
    error = math.sqrt(of_people + max(0.0, of_prompts))
    return Gain(mean, student_interval(mean, error, min(n, g) - 1))

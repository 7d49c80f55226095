"""The value of an item under a condition at a given number of answers, and each answer's influence on it.

Owns the measures by which items are ranked, their noise, and the reliability of the ranks. A unit is a
puppet or participant, whose answers to all items belong together, or a response without a user. Promises
that every item of a ranking has the same number of answers, because entropy and the share of the
commonest option depend on it.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fieldwork.estimates.answer_sets import ItemAnswers, Options
from fieldwork.estimates.means import PromptValue, unit_places
from fieldwork.estimates.prompts import option_moves
from fieldwork.estimates.samples import indicator_of
from fieldwork.statistics.arrays import Floats
from fieldwork.statistics.entropy import plug_in_bits
from fieldwork.statistics.equal_n import random_orders, sampled_counts
from fieldwork.statistics.rank_correlation import mean_rho
from fieldwork.statistics.seeds import generator

N_SPLITS = 200
MIN_HALF = 2
"""Answers a half needs: the entropy of one answer is the same for all items."""

_HALF = 0.5


class AnswerSample(NamedTuple):
    """Independent answers to an item: the options of each, and its puppet (empty: without a user)."""

    options: list[Options]
    puppets: list[str]
    gold: str | None

    def marks(self) -> Floats:
        """1 for each answer that is the gold letter alone."""
        return np.array([options == (self.gold,) for options in self.options], dtype=np.float64)


def read_sample(answers: ItemAnswers, gold: str | None) -> AnswerSample:
    """The first answer of each puppet, or all without puppets, in an order of their own."""
    firsts = sorted((answer.puppet, answer.options) for answer in answers.first_answers())
    return AnswerSample([options for _, options in firsts], [puppet for puppet, _ in firsts], gold)


def measure_item(
    sample: AnswerSample, measure: str, n_equal: int, random: np.random.Generator
) -> PromptValue:
    """`entropy_bits`, `top_share` or `share_correct` at `n_equal` answers.

    Entropy and top share are means over subsamples, as in `estimates`; a share correct does not
    depend on the number of answers. `top_share` comes without influences.
    """
    n = len(sample.options)
    if measure == "share_correct":
        marks = sample.marks()
        mean = marks.mean()
        return PromptValue(float(mean), (mean - marks) / max(1, n - 1), sample.puppets)
    indicator = indicator_of(sample.options)
    orders = random_orders(n, n_equal, random)
    totals = sampled_counts(orders[:, :n_equal], indicator)
    if measure == "top_share":
        top_share = float(totals.max(axis=1).mean()) / n_equal
        return PromptValue(top_share, np.zeros(n), sample.puppets)
    moves = option_moves(plug_in_bits, orders, n_equal, indicator)
    return PromptValue(float(plug_in_bits(totals).mean()), moves - moves.mean(), sample.puppets)


def influences_by_unit(values: Sequence[PromptValue]) -> Floats:
    """Influences of each unit on all items: shape (units, items), so that products give covariances.

    Scaled by the jackknife's √((n - 1) / n) of the item.
    """
    places = unit_places(values)
    influences = np.zeros((1 + max(map(max, places)), len(values)))
    for item, (value, units) in enumerate(zip(values, places, strict=True)):
        n = len(value.moves)
        influences[units, item] = ((n - 1) / n) ** 0.5 * value.moves
    return influences


class Reliability(NamedTuple):
    """Mean rank correlation of two halves, and of two sets as large as the whole; None: no halves."""

    halves: float | None
    whole: float | None


def split_half_reliability(
    samples: Mapping[str, AnswerSample], measure: str, *, seed: int, names: Sequence[str]
) -> Reliability:
    """How far the ranks of the items would come back if as many other people answered.

    Units are split at random into halves `N_SPLITS` times, and Spearman's rho of the items' values in
    both is averaged; every half of every item is brought to the same number of answers m. Spearman
    (1910) and Brown (1910) step it up to k = n / m times as many, n the fewest answers to an item:
    k r / (1 + (k - 1) r). A mean at or below 0 is left as it is.
    """
    random = generator(seed, "halves", measure, *names)
    positions = _split_positions(samples, random)
    m = min(
        int(half.sum(axis=1).min())
        for sample_positions in positions
        for half in (sample_positions < _HALF, sample_positions >= _HALF)
    )
    if m < (1 if measure == "share_correct" else MIN_HALF):
        return Reliability(None, None)
    first: list[Floats] = []
    second: list[Floats] = []
    for sample, sample_positions in zip(samples.values(), positions, strict=True):
        places = np.argsort(np.argsort(sample_positions, axis=1), axis=1)
        n = len(sample.options)
        first.append(_half_values(sample, places < m, measure))
        second.append(_half_values(sample, places >= n - m, measure))
    mean = mean_rho(np.stack(first, axis=1), np.stack(second, axis=1))
    if mean is None or mean <= 0:
        return Reliability(mean, mean)
    k = min(len(sample.options) for sample in samples.values()) / m
    return Reliability(mean, k * mean / (1 + (k - 1) * mean))


def _split_positions(
    samples: Mapping[str, AnswerSample], random: np.random.Generator
) -> list[Floats]:
    """Random positions of the answers of each sample, from 0 to 1, one row a split.

    Below `_HALF` is the first half. A puppet has one position in all samples. Positions are evenly
    spaced, so that the halves of the units are equal.
    """
    puppets = sorted({p for sample in samples.values() for p in sample.puppets if p})
    place = {puppet: number for number, puppet in enumerate(puppets)}
    puppet_positions = _random_positions(len(puppets), random)
    return [
        puppet_positions[:, [place[p] for p in sample.puppets]]
        if any(sample.puppets)
        else _random_positions(len(sample.options), random)
        for sample in samples.values()
    ]


def _random_positions(n: int, random: np.random.Generator) -> Floats:
    ranks = np.argsort(np.argsort(random.random((N_SPLITS, n)), axis=1), axis=1)
    positions: Floats = ranks / max(1, n)
    return positions


def _half_values(sample: AnswerSample, in_half: NDArray[np.bool_], measure: str) -> Floats:
    """The value of the answers in the half of each split: shape (splits,)."""
    members = in_half.astype(np.float64)
    if measure == "share_correct":
        share: Floats = members @ sample.marks() / members.sum(axis=1)
        return share
    counts = np.rint(members @ indicator_of(sample.options)).astype(np.int64)
    if measure == "top_share":
        top: Floats = counts.max(axis=1) / members.sum(axis=1)
        return top
    return plug_in_bits(counts)

"""The value of an item under a condition at so many answers, with what each answer does to it.

Owns what items are ranked by, its noise, and the reliability of the ranks. A unit is a puppet or
participant, whose answers to all items move together, or a response where nobody asks. Promises that
every item of a ranking is at one number of answers: entropy and the commonest option's share depend
on it.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fieldwork.metrics.agreement.ordering import mean_rho
from fieldwork.metrics.answer_sets import ItemAnswers, Options, indicator_of
from fieldwork.metrics.heterogeneity import influences
from fieldwork.statistics.arrays import Floats
from fieldwork.statistics.entropy import plug_in_bits
from fieldwork.statistics.equal_n import random_orders, sampled_counts
from fieldwork.statistics.seeds import generator

N_SPLITS = 200
MIN_HALF = 2
"""Answers a half needs: the entropy of one answer is the same for all items."""

_HALF = 0.5


class Sample(NamedTuple):
    """Independent answers to an item: the options of each, and who gave it (empty: nobody)."""

    options: list[Options]
    puppets: list[str]
    gold: str | None

    def marks(self) -> Floats:
        """1 for each answer that is the gold letter alone."""
        return np.array([options == (self.gold,) for options in self.options], dtype=np.float64)


class Value(NamedTuple):
    """A value and how far leaving out each answer moves it, less its mean: shape (answers,)."""

    value: float
    moved: Floats
    puppets: list[str]


def read_sample(answers: ItemAnswers, gold: str | None) -> Sample:
    """The first answer of each puppet, or all where nobody asks, in an order of their own."""
    firsts = sorted((answer.puppet, answer.options) for answer in answers.first_answers())
    return Sample([options for _, options in firsts], [puppet for puppet, _ in firsts], gold)


def value_of(sample: Sample, measure: str, n_equal: int, random: np.random.Generator) -> Value:
    """`entropy_bits`, `top_share` or `share_correct` at `n_equal` answers.

    Entropy and top share are means over subsamples, as in `heterogeneity`; a share correct does not
    depend on the number of answers. `top_share` comes without moves.
    """
    n = len(sample.options)
    if measure == "share_correct":
        marks = sample.marks()
        return Value(float(marks.mean()), (marks.mean() - marks) / max(1, n - 1), sample.puppets)
    indicator = indicator_of(sample.options)
    orders = random_orders(n, n_equal, random)
    totals = sampled_counts(orders[:, :n_equal], indicator)
    if measure == "top_share":
        return Value(float(totals.max(axis=1).mean()) / n_equal, np.zeros(n), sample.puppets)
    moved = influences(orders, n_equal, indicator)[:, 1]
    return Value(float(plug_in_bits(totals).mean()), moved - moved.mean(), sample.puppets)


def by_unit(values: Sequence[Value]) -> Floats:
    """Moves of all items by each unit: shape (units, items), so that products give covariances.

    Scaled by the jackknife's √((n - 1) / n) of the item.
    """
    rows: dict[tuple[str, int, int], Floats] = {}
    for number, value in enumerate(values):
        n = len(value.moved)
        scale = ((n - 1) / n) ** 0.5
        for place, (puppet, moved) in enumerate(zip(value.puppets, value.moved, strict=True)):
            key = (puppet, -1, -1) if puppet else ("", number, place)
            rows.setdefault(key, np.zeros(len(values)))[number] += scale * moved
    return np.array(list(rows.values()))


class Reliability(NamedTuple):
    """Mean rank correlation of two halves, and what it says of all answers; None: no halves."""

    halves: float | None
    whole: float | None


def reliability(
    samples: Mapping[str, Sample], measure: str, *, seed: int, names: Sequence[str]
) -> Reliability:
    """How far the ranks of the items would come back if as many others were asked.

    Units are split at random into halves `N_SPLITS` times, and Spearman's rho of the items' values in
    both is averaged; every half of every item is brought to the same number of answers m. Spearman
    (1910) and Brown (1910) step it up to k = n / m times as many, n the fewest answers to an item:
    k r / (1 + (k - 1) r). A mean at or below 0 is left as it is.
    """
    random = generator(seed, "halves", measure, *names)
    numbers = _numbers(samples, random)
    m = min(int(side.sum(axis=1).min()) for own in numbers for side in (own < _HALF, own >= _HALF))
    if m < (1 if measure == "share_correct" else MIN_HALF):
        return Reliability(None, None)
    halves: list[list[Floats]] = [[], []]
    for sample, own in zip(samples.values(), numbers, strict=True):
        places = np.argsort(np.argsort(own, axis=1), axis=1)
        for side, taken in zip(halves, (places < m, places >= own.shape[1] - m), strict=True):
            side.append(_of_half(sample, taken, measure))
    mean = mean_rho(*(np.stack(side, axis=1) for side in halves))
    if mean is None or mean <= 0:
        return Reliability(mean, mean)
    k = min(len(sample.options) for sample in samples.values()) / m
    return Reliability(mean, k * mean / (1 + (k - 1) * mean))


def _numbers(samples: Mapping[str, Sample], random: np.random.Generator) -> list[Floats]:
    """Numbers of the answers of each sample, one row a split; a puppet has one number everywhere.

    Below `_HALF` is the first half. Whole ranks, so that the halves of the units are equal.
    """
    puppets = sorted({p for sample in samples.values() for p in sample.puppets if p})
    place = {puppet: number for number, puppet in enumerate(puppets)}
    own = _ranked(len(puppets), random)
    return [
        own[:, [place[p] for p in sample.puppets]]
        if any(sample.puppets)
        else _ranked(len(sample.options), random)
        for sample in samples.values()
    ]


def _ranked(n: int, random: np.random.Generator) -> Floats:
    ranked: Floats = np.argsort(np.argsort(random.random((N_SPLITS, n)), axis=1), axis=1) / max(
        1, n
    )
    return ranked


def _of_half(sample: Sample, taken: NDArray[np.bool_], measure: str) -> Floats:
    """The value of the answers taken: shape (splits,)."""
    chosen = taken.astype(np.float64)
    if measure == "share_correct":
        share: Floats = chosen @ sample.marks() / chosen.sum(axis=1)
        return share
    counts = np.rint(chosen @ indicator_of(sample.options)).astype(np.int64)
    if measure == "top_share":
        top: Floats = counts.max(axis=1) / chosen.sum(axis=1)
        return top
    return plug_in_bits(counts)

"""Probabilities of letters that answers state: their means over users, and differences of two sides.

A letter that is drawn is one draw of these, so what is left of chance is which users are asked, and
whether a server states the same twice. Where a side is without users and states the same twice or more,
nothing of it is left to chance.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fieldwork.estimates.answer_sets import ItemAnswers, StatedShares
from fieldwork.estimates.means import Mean, MeanDifference, difference_of_means, mean_of_numbers
from fieldwork.estimates.pairs import Pair
from fieldwork.estimates.samples import NumberSample
from fieldwork.statistics.arrays import Indices
from fieldwork.statistics.intervals import (
    BoundedValue,
    Interval,
    difference_interval,
    wilson_interval,
)

LEAST_SHARE = 0.01
"""A letter is compared where a side gives it at least so often, and a side others at least so often.

Below that probabilities differ for sure and answers hardly ever.
"""


class LetterDifference(NamedTuple):
    """The shares of a letter on two sides, and their difference with its test."""

    first: Mean
    second: Mean
    of_both: MeanDifference

    @property
    def is_compared(self) -> bool:
        """Whether the letter is neither too rare on both sides to be compared, nor too sure."""
        shares = self.first.value, self.second.value
        return max(shares) >= LEAST_SHARE and 1 - min(shares) >= LEAST_SHARE

    def interval(self, rarest_users: float) -> Interval | None:
        """Of the difference; with few users that of as many drawn answers, which is wider."""
        if self.of_both.interval:
            return self.of_both.interval.clip(-1.0, 1.0)
        sides = [share_interval(side, rarest_users) for side in (self.first, self.second)]
        if sides[0] is None or sides[1] is None:
            return None
        first, second = (
            BoundedValue(side.value, interval)
            for side, interval in zip((self.first, self.second), sides, strict=True)
            if interval
        )
        return difference_interval(first, [second]).clip(-1.0, 1.0)


def stated_sides(
    pair: Pair[str, ItemAnswers],
) -> tuple[StatedShares, StatedShares] | None:
    """Both sides' probabilities; None where an answer of a side states none."""
    first = pair.first.stated_shares()
    second = pair.second.stated_shares() if first else None
    return (first, second) if first and second else None


def share_mean(letter_shares: StatedShares, letter: int) -> Mean:
    """The mean share of a letter, by its place."""
    values = letter_shares.shares[:, letter]
    # a letter that is not listed may have all that is left; a listed one then loses its part of that
    slack = letter_shares.unlisted_share * np.where(values > 0, values, 1.0)
    units: Indices = np.arange(len(values), dtype=np.int64)
    has_users = letter_shares.has_users
    sample = NumberSample(
        values, np.zeros_like(units), units, [""], has_users, 0, None, None, 0, float(slack.mean())
    )
    mean = mean_of_numbers(sample)
    assert mean
    return mean


def share_interval(mean: Mean, rarest_users: float) -> Interval | None:
    """Of a mean share; with few users that of as many drawn answers, which is wider.

    A number between 0 and 1 varies no more than a draw with that chance. None for a single call without a
    user, which says nothing of the next.
    """
    interval = mean.interval(rarest_users)
    if interval is None and mean.n_units > 1:
        n = mean.n_units
        interval = wilson_interval(min(max(mean.value, 0.0), 1.0) * n, n).widen(mean.slack)
    return interval.clip(0.0, 1.0) if interval else None


def letter_differences(
    first: StatedShares, second: StatedShares, rarest_users: float
) -> list[LetterDifference]:
    """Every letter of an item on two sides, in alphabetical order.

    The p-value of a difference is at least the chance that the users asked are not those who make up for
    it: `chance_of_unseen`.
    """
    differences = []
    for letter in range(first.shares.shape[1]):
        sides = share_mean(first, letter), share_mean(second, letter)
        of_both = difference_of_means(*sides, rarest_users)
        if of_both.p_value is not None and first.has_users:
            slack = min(sides[0].slack + sides[1].slack, abs(of_both.value))
            nearer = sides[0].value - math.copysign(slack, of_both.value)
            chance = chance_of_unseen(nearer, sides[1].value, len(first.users))
            of_both = of_both._replace(p_value=max(of_both.p_value, chance))
        differences.append(LetterDifference(*sides, of_both))
    return differences


def chance_of_unseen(share: float, other: float, n_users: int) -> float:
    """The chance that so many users are all of those who leave a mean share where it is.

    Users who are sure of a letter, or sure of others, may be so rare that none was asked. A part e of
    them would bring the share to the other one, so that nothing differs: with e = 1 - other / share of
    those who never give it, or 1 - (1 - other) / (1 - share) of those who always do. They are missed with
    a chance of (1 - e) to the power of the users. Few numbers between 0 and 1 can say no more.
    """
    if share <= other:
        share, other = 1 - share, 1 - other
    return float((min(max(other, 0.0), 1.0) / share) ** n_users) if share > 0 else 1.0


def p_of_letters(differences: Sequence[LetterDifference]) -> float | None:
    """That no letter differs: the least p-value times the letters compared (Bonferroni).

    Of two letters one test says all; where none is compared, both sides are sure of one. None where a
    letter has no test.
    """
    if not any(letter.is_compared for letter in differences):
        return 1.0
    p_values = [letter.of_both.p_value for letter in differences if letter.is_compared]
    p_of_tests = [p for p in p_values if p is not None]
    if len(p_of_tests) < len(p_values):
        return None
    return min(1.0, min(p_of_tests) * (len(p_of_tests) if len(p_of_tests) > 2 else 1))

"""Means over prompts: their intervals, and differences of two of them.

Owns the one estimator of measures: the value of each prompt, how far leaving out each user moves the mean
over prompts (an answer, where there are no users), its interval, and the test of a difference. A user is
left out with all answers. Each mean has two intervals: for these very prompts, as the test, and for
prompts like these, where the prompts are a sample too.
"""

import math
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from fieldwork.estimates.answer_sets import ROUNDING
from fieldwork.estimates.samples import NumberSample
from fieldwork.statistics.arrays import Floats, Indices
from fieldwork.statistics.crossed import PeopleVariance, crossed_interval
from fieldwork.statistics.delete_many import widening
from fieldwork.statistics.intervals import (
    CONFIDENCE,
    MIN_ALIKE,
    NO_ERROR,
    BoundedValue,
    Interval,
    StudentTest,
    difference_interval,
    p_value_with_interval,
    student_test,
    welch_freedom,
)
from fieldwork.statistics.permutation import (
    p_value_of_first,
    require_permutations,
    unit_splits,
    welch_statistic,
)
from fieldwork.statistics.user_intervals import (
    MIN_UNITS,
    mean_difference_interval,
    unit_interval,
)

LEAST_MOVERS = 6
"""Units that have to differ from the others for an interval beside a side whose answers are all alike."""

_NOTHING = 1e-9
"""Errors below this are rounding."""


class PromptValue(NamedTuple):
    """The value of a prompt under one condition, and how far each answer moves it.

    Attributes:
        moves: how far leaving the answer out moves the value, less its mean; shape (answers,).
        users: in the order of `moves`, empty texts without users.
        deviations: of the value over samples of a third of the users or answers, shape (samples,); None
            where the moves alone tell its error.
        is_stated: whether the value is made of probabilities that answers state.
    """

    value: float
    moves: Floats
    users: Sequence[str]
    deviations: Floats | None = None
    is_stated: bool = False


class Mean(NamedTuple):
    """A mean over prompts.

    Attributes:
        values: of the prompts, in the order in which they were given.
        moves: how far leaving out each unit moves the mean, shape (units,): a user, or else an answer.
            They are as much wider as samples of a third of the units show them to be too narrow.
        freedom: degrees of freedom of the error.
        n_units: users; without users the fewest answers to a prompt.
        prompt_variance: of a single prompt's value, mean over the prompts.
        is_stated: whether the numbers are probabilities that a model states, and no draws.
        slack: how far the mean may lie on either side, as answers do not list all letters.
        hides_error: whether leaving out one unit never moves it, and leaving out many does: as with an
            entropy of crowds that weigh up.
    """

    values: Floats
    moves: Floats
    freedom: float
    has_users: bool
    n_units: int
    prompt_variance: float
    is_stated: bool = False
    slack: float = 0.0
    hides_error: bool = False

    @property
    def value(self) -> float:
        """The mean; the same for every order of the prompts."""
        return math.fsum(self.values.tolist()) / len(self.values)

    @property
    def variance(self) -> float:
        """The jackknife's."""
        deviations = self.moves - self.moves.mean()
        return float((deviations**2).sum()) * self.freedom / len(self.moves)

    @property
    def is_exact(self) -> bool:
        """Whether nothing is left to chance: stated without a user, and twice or more the same."""
        return self.is_stated and not self.has_users and self.n_units > 1 and not self.varies

    @property
    def varies(self) -> bool:
        """Whether leaving out one unit moves the mean otherwise than leaving out another."""
        return self.variance > NO_ERROR**2

    @property
    def is_settled(self) -> bool:
        """Whether so many answers never varied that they are taken to be always alike."""
        return self.is_exact or (not self.varies and len(self.moves) >= MIN_ALIKE)

    @property
    def n_movers(self) -> int:
        """Units that differ from the rest."""
        return int((np.abs(self.moves - np.median(self.moves)) > _NOTHING).sum())

    def interval(self, rarest_users: float, confidence: float = CONFIDENCE) -> Interval | None:
        """Empirical likelihood over users; without users Student's t over answers.

        None with too few users, or where leaving out a unit never changes the mean; the value itself
        where it is exact. It is as much wider as letters leave open that are not listed.

        Args:
            rarest_users: share of users of the rarest kind to cover.
        """
        if self.is_exact:
            interval: Interval | None = Interval(self.value, self.value)
        else:
            interval = unit_interval(
                self.value,
                self.moves,
                rarest_users=rarest_users if self.has_users else None,
                freedom=self.freedom,
                confidence=confidence,
            )
        return interval and interval.widen(self.slack)


class MeanDifference(NamedTuple):
    """A difference of two means; the interval is None where there is none, and so is the p-value.

    Attributes:
        n_permutations: random ones behind the p-value, 0 where all were listed; None of another test.
    """

    value: float
    interval: Interval | None = None
    p_value: float | None = None
    n_permutations: int | None = None


def mean_over(prompts: Sequence[PromptValue]) -> Mean:
    """The mean over one or more prompts."""
    units, has_users = unit_places(prompts), any(any(prompt.users) for prompt in prompts)
    n_units = 1 + max(max(places) for places in units)
    moves = np.zeros(n_units)
    for prompt, places in zip(prompts, units, strict=True):
        # a user has one first answer to a prompt, so that no place stands twice
        moves[places] += prompt.moves / len(prompts)
    # answers of one prompt, or users, around their mean: one degree of freedom goes with each mean
    freedom = n_units - (1 if has_users else len(prompts))
    part = freedom / n_units
    squares = math.fsum(float((prompt.moves**2).sum()) for prompt in prompts) / len(prompts)
    deviations = [prompt.deviations for prompt in prompts if prompt.deviations is not None]
    hides_error = False
    if deviations:
        of_mean, variance = np.mean(deviations, axis=0), float((moves**2).sum()) * part
        moves *= widening(of_mean, variance)
        hides_error = variance <= NO_ERROR**2 < float(of_mean.var())
    return Mean(
        values=np.array([prompt.value for prompt in prompts]),
        moves=moves,
        freedom=float(freedom),
        has_users=has_users,
        n_units=n_units if has_users else min(len(prompt.users) for prompt in prompts),
        prompt_variance=squares * part,
        is_stated=all(prompt.is_stated for prompt in prompts),
        hides_error=hides_error,
    )


def unit_places(prompts: Sequence[PromptValue]) -> list[list[int]]:
    """The unit of each answer of each prompt: a user, or an answer without one."""
    units: dict[tuple[str, int, int], int] = {}
    return [
        [
            units.setdefault((user, -1, -1) if user else ("", number, place), len(units))
            for place, user in enumerate(prompt.users)
        ]
        for number, prompt in enumerate(prompts)
    ]


def mean_of_numbers(numbers: NumberSample) -> Mean | None:
    """The mean over prompts of the means of their answers; None without an answer.

    A prompt's mean without a unit is that of its other answers. A prompt with one answer has none, so it
    moves nothing and takes a degree of freedom with it; an arm of such prompts has no interval.
    """
    if not len(numbers.values):
        return None
    items: Indices = numbers.items
    counts = np.bincount(items)
    means = np.bincount(items, weights=numbers.values) / counts
    n_others = np.maximum(counts[items] - 1, 1)
    moves = (means[items] - numbers.values) / n_others
    unit_moves: Floats = np.bincount(numbers.units, weights=moves / len(counts)).astype(float)
    n_units, has_users = len(unit_moves), numbers.has_users
    freedom = n_units - (1 if has_users else len(counts))
    return Mean(
        values=means,
        moves=unit_moves,
        freedom=float(freedom),
        has_users=has_users,
        n_units=n_units if has_users else int(counts.min()),
        prompt_variance=math.fsum((moves**2).tolist()) / len(counts) * freedom / n_units,
        is_stated=numbers.n_unstated == 0,
        slack=numbers.slack,
    )


def mean_test(first: Mean, second: Mean) -> StudentTest | None:
    """Student's t of a difference of two means, without the interval over users.

    None where leaving out a unit of one side never changes its mean, unless it is of `MIN_ALIKE` answers
    and the other side varies.
    """
    sides = (first, second)
    return student_test(
        first.value - second.value,
        [side.variance for side in sides],
        [max(side.freedom, 1) if side.is_exact else side.freedom for side in sides],
        [MIN_ALIKE if side.is_exact else len(side.moves) for side in sides],
    )


def difference_of_means(first: Mean, second: Mean, rarest_users: float) -> MeanDifference:
    """The first mean less the second, with the test that they are equal.

    With users the interval is made of those of both sides (MOVER: Zou and Donner 2008), and the p-value
    is the larger of Student's t and the interval's; without users both are Welch's (1947). Where answers
    do not list all letters, the test is that of the least difference that they leave possible.

    Args:
        rarest_users: share of users of the rarest kind to cover.
    """
    slack = first.slack + second.slack
    if not slack:
        return _difference_as_stated(first, second, rarest_users)
    first, second = (side._replace(slack=0.0) for side in (first, second))
    difference = _difference_as_stated(first, second, rarest_users)
    p_value = difference.p_value
    if p_value is not None and abs(difference.value) <= slack:
        p_value = 1.0
    elif p_value is not None:
        nearer = first._replace(values=first.values - math.copysign(slack, difference.value))
        p_value = _difference_as_stated(nearer, second, rarest_users).p_value
    interval = difference.interval and difference.interval.widen(slack)
    return difference._replace(interval=interval, p_value=p_value)


def _difference_as_stated(first: Mean, second: Mean, rarest_users: float) -> MeanDifference:
    value, test = first.value - second.value, mean_test(first, second)
    is_stated = first.is_stated and second.is_stated
    if is_stated and (test is None or abs(value) <= ROUNDING):
        return _difference_without_error(value, first, second)
    if test is None:
        return MeanDifference(value)
    if not (first.has_users or second.has_users):
        return MeanDifference(value, test.interval, test.p_value)
    interval_at = partial(_difference_interval, (first, second), rarest_users)
    p_value = p_value_with_interval(test.p_value, interval_at)
    return MeanDifference(value, interval_at(CONFIDENCE), p_value)


def _difference_without_error(value: float, first: Mean, second: Mean) -> MeanDifference:
    """Of stated probabilities that are alike but for rounding, or vary on neither side.

    Two exact sides differ or do not. Users who all differ alike from an exact side are tested by their
    signs, unless leaving one out hides its error; anything else has no test.
    """
    is_alike = abs(value) <= ROUNDING
    if first.is_exact and second.is_exact:
        return MeanDifference(value, Interval(value, value), float(is_alike))
    units = [side for side in (first, second) if not side.is_exact]
    if any(len(side.moves) < MIN_UNITS for side in units):
        return MeanDifference(value)
    if is_alike:
        return MeanDifference(value, None, 1.0)
    if len(units) > 1 or not units[0].has_users or units[0].hides_error:
        return MeanDifference(value)
    return MeanDifference(value, None, 2.0 ** (1 - len(units[0].moves)))


def _difference_interval(
    sides: tuple[Mean, Mean], rarest_users: float, confidence: float
) -> Interval | None:
    if any(side.is_settled for side in sides) and (
        max(side.n_movers for side in sides) < LEAST_MOVERS
    ):
        return None
    bounded_values = []
    for side in sides:
        interval = side.interval(rarest_users, confidence)
        if interval is None and side.is_settled:
            interval = Interval(side.value, side.value)
        if interval is None:
            return None
        bounded_values.append(BoundedValue(side.value, interval))
    return difference_interval(bounded_values[0], bounded_values[1:])


def permuted_difference(
    samples: Sequence[NumberSample],
    *,
    rarest_users: float,
    n_permutations: int,
    random: np.random.Generator,
) -> MeanDifference:
    """The first mean less the second, of units that are a number each, as runs are.

    A unit is one draw: an arm whose contexts change nothing is exchangeable with its reference. So the
    units are dealt anew, by Welch's statistic (Janssen 1997); with users the p-value is at least that of
    the interval. One unit on a side has no test.

    Raises:
        StudyError: no permutations.
    """
    require_permutations(n_permutations)
    first, second = (sample.values for sample in samples)
    difference = float(first.mean() - second.mean())
    if min(len(first), len(second)) < MIN_UNITS:
        return MeanDifference(difference)
    splits = unit_splits(len(first), len(second), n_permutations=n_permutations, random=random)
    p_value = p_value_of_first(welch_statistic(np.concatenate([first, second]), splits))
    rarest = [rarest_users if sample.has_users else None for sample in samples]
    interval_at = partial(
        mean_difference_interval, first.tolist(), second.tolist(), (rarest[0], rarest[1])
    )
    if any(sample.has_users for sample in samples):
        p_value = p_value_with_interval(p_value, interval_at)
    return MeanDifference(difference, interval_at(CONFIDENCE), p_value, splits.n_drawn)


def other_prompts_interval(first: Mean, second: Mean | None = None) -> Interval:
    """Of a mean, or of the difference of two, with users and prompts drawn anew: two or more prompts."""
    sides = [first] if second is None else [first, second]
    variances = [side.variance for side in sides]
    people = PeopleVariance(
        of_mean=math.fsum(variances),
        of_prompt=math.fsum(side.prompt_variance for side in sides),
        freedom=welch_freedom(variances, [side.freedom for side in sides]),
    )
    values = first.values if second is None else first.values - second.values
    return crossed_interval(values, people)

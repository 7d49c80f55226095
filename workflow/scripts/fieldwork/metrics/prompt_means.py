"""Heterogeneity of a task as a whole: means over its prompts, and their difference from the baseline's.

Owns the mean entropy and top-5 share over the prompts that a condition and the baseline both answer,
their intervals and the test of the difference. A puppet answers several prompts and is left out with
all its answers; without users every answer is a draw of its own. Each mean has two intervals: for
these very prompts, as the test, and for prompts like these, where the prompts are a sample too.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd

from fieldwork.metrics.answer_sets import (
    Arm,
    ItemAnswers,
    ItemName,
    equal_sizes,
    indicator_of,
    read_list_answers,
)
from fieldwork.metrics.heterogeneity import influences, rest_deviations, top5_share
from fieldwork.records.metrics import PromptMean
from fieldwork.statistics.arrays import Counts, Floats
from fieldwork.statistics.crossed import PeopleVariance, crossed_interval
from fieldwork.statistics.delete_many import third_samples, widening
from fieldwork.statistics.entropy import plug_in_bits
from fieldwork.statistics.equal_n import random_orders, sampled_counts
from fieldwork.statistics.families import correct_rows
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
from fieldwork.statistics.seeds import generator
from fieldwork.statistics.user_intervals import (
    RAREST_PROMPTS,
    RAREST_USERS,
    too_few_prompts,
    too_few_users,
    unit_interval,
)

METRICS = ("one_minus_top5_share", "entropy_bits")
LEAST_MOVERS = 6
"""Units that have to differ from the others for an interval beside a side whose answers are all alike."""

_NOTHING = 1e-9
"""Errors below this are rounding."""


class PromptValues(NamedTuple):
    """A prompt's two metrics under one condition, and how far each answer moves them.

    `values` has shape (2,), `moves` (answers, 2): how far leaving the answer out moves the metrics,
    less its mean. `puppets` are in the order of `moves`, empty texts without users. `deviations`, shape
    (samples, 2), are those of the metrics over samples of a third of the users or answers; None where
    the moves alone tell their errors.
    """

    values: Floats
    moves: Floats
    puppets: list[str]
    deviations: Floats | None = None


class Means(NamedTuple):
    """Means over prompts of the two `METRICS`, variances and degrees of freedom, each of shape (2,).

    `prompt_variances` are those of a single prompt's value, mean over the prompts; `size` counts users,
    or without users all answers. The error of a metric is that of the moves times its `widening`.
    """

    values: Floats
    variances: Floats
    freedom: Floats
    prompt_variances: Floats
    size: int
    widening: Floats

    def is_settled(self, place: int) -> bool:
        """Whether so many answers never varied that they are taken to be always alike."""
        return not self.variances[place] > NO_ERROR**2 and self.size >= MIN_ALIKE


class DifferenceOfMeans(NamedTuple):
    """The interval of a difference of two means, and the two-sided p-value that it is 0."""

    interval: Interval | None
    p_value: float


def measure_prompt_means(
    answers: pd.DataFrame,
    *,
    baseline: str,
    seed: int,
    rarest_users: float = RAREST_USERS,
    rarest_prompts: float = RAREST_PROMPTS,
) -> list[PromptMean]:
    """Two metrics for each model, task and condition with list items, the baseline's own included.

    Every prompt is at the smallest number of independent readable answers among the conditions that
    have any, as in `heterogeneity`. P-values are corrected over the conditions of a task, for each
    metric by itself. In order of model, task, condition and metric; empty input gives no rows.

    Args:
        rarest_users: share of users of the rarest kind that intervals cover.
        rarest_prompts: share of prompts of the rarest kind that intervals for prompts like these cover.
    """
    arms = read_list_answers(answers)
    sizes = equal_sizes(arms)
    prompts = _prompts(arms, sizes, seed)
    rows: list[PromptMean] = []
    for arm in arms:
        offline = prompts.get(arm._replace(condition=baseline), {})
        n_equal = min((sizes[arm.item(i)] for i in prompts[arm] if i in offline), default=0)
        rows += _rows(arm, prompts[arm], offline, n_equal, baseline, rarest_users, rarest_prompts)
    rows = correct_rows(rows, lambda row: (row.model, row.task, row.metric))
    return sorted(rows, key=lambda r: (r.model, r.task, r.condition, r.metric))


def measure_prompts(answers: pd.DataFrame, *, seed: int) -> dict[Arm, dict[str, PromptValues]]:
    """The two metrics of every prompt with readable list answers, by model, task and condition.

    At the sizes of `measure_prompt_means`, and so with its values.
    """
    arms = read_list_answers(answers)
    return _prompts(arms, equal_sizes(arms), seed)


def _prompts(
    arms: Mapping[Arm, Mapping[str, ItemAnswers]], sizes: Mapping[ItemName, int], seed: int
) -> dict[Arm, dict[str, PromptValues]]:
    prompts: dict[Arm, dict[str, PromptValues]] = {}
    for arm, items in arms.items():
        samples = _Samples(arm, items, seed)
        prompts[arm] = {
            item: _prompt(arm, item, item_answers, sizes[arm.item(item)], seed, samples)
            for item, item_answers in items.items()
            if item_answers.answers
        }
    return prompts


class _Samples:
    """Samples of a third of an arm's users, the same for all prompts, or else of a prompt's answers."""

    def __init__(self, arm: Arm, items: Mapping[str, ItemAnswers], seed: int) -> None:
        names = {answer.puppet for answers in items.values() for answer in answers.answers}
        self._places = {puppet: place for place, puppet in enumerate(sorted(names - {""}))}
        self._random = generator(seed, "thirds", arm.model, arm.task, arm.condition)
        self._of_users = third_samples(len(self._places), self._random)

    def of(self, puppets: Sequence[str]) -> Counts:
        """Which answers are in each sample: 0 and 1 of shape (samples, answers)."""
        if not self._places:
            return third_samples(len(puppets), self._random)
        return self._of_users[:, [self._places[puppet] for puppet in puppets]]


def _prompt(
    arm: Arm, item: str, answers: ItemAnswers, n_equal: int, seed: int, samples: _Samples
) -> PromptValues:
    firsts = sorted((answer.options, answer.puppet) for answer in answers.first_answers())
    indicator = indicator_of([options for options, _ in firsts])
    names = (arm.model, arm.task, arm.condition, item)
    # the random numbers of `heterogeneity`, so that the mean is that of its table
    orders = random_orders(len(indicator), n_equal, generator(seed, "subsample", *names))
    totals = sampled_counts(orders[:, :n_equal], indicator)
    values = np.array([1 - top5_share(totals).mean(), plug_in_bits(totals).mean()])
    moves = influences(orders, n_equal, indicator)
    puppets = [puppet for _, puppet in firsts]
    deviations = rest_deviations(samples.of(puppets), indicator)
    return PromptValues(values, moves - moves.mean(axis=0), puppets, deviations)


def _rows(
    arm: Arm,
    prompts: Mapping[str, PromptValues],
    offline: Mapping[str, PromptValues],
    n_equal: int,
    baseline: str,
    rarest_users: float,
    rarest_prompts: float,
) -> Iterator[PromptMean]:
    items = [item for item in prompts if item in offline]
    sides = [[side[item] for item in items] for side in (prompts, offline)]
    means = (mean_over(sides[0]), mean_over(sides[1])) if items else None
    is_compared = means is not None and arm.condition != baseline
    for place, metric in enumerate(METRICS):
        mean = mean_test(means[0], None, place) if means else None
        interval = mean_interval(sides[0], means[0], place, rarest_users) if means else None
        test = None
        if means and is_compared:
            test = difference_of_means(sides, means, place, rarest_users)
        difference = test.interval if test else None
        prompts_reason = _no_crossed_interval(len(items), mean, interval, rarest_prompts)
        mean_anew = difference_anew = None
        if means and not prompts_reason:
            mean_anew = _crossed_interval(sides[:1], means[:1], place)
            difference_anew = _crossed_interval(sides, means, place) if difference else None
        n_higher = sum(
            bool(a.values[place] > b.values[place] + _NOTHING) for a, b in zip(*sides, strict=True)
        )
        yield PromptMean(
            model=arm.model,
            task=arm.task,
            condition=arm.condition,
            baseline=baseline,
            metric=metric,
            mean=float(means[0].values[place]) if means else None,
            ci_low=interval.low if interval else None,
            ci_high=interval.high if interval else None,
            difference=_difference(*means, place) if means and is_compared else None,
            difference_low=difference.low if difference else None,
            difference_high=difference.high if difference else None,
            p_value=test.p_value if test else None,
            p_holm=None,
            prompts_low=mean_anew.low if mean_anew else None,
            prompts_high=mean_anew.high if mean_anew else None,
            prompts_difference_low=difference_anew.low if difference_anew else None,
            prompts_difference_high=difference_anew.high if difference_anew else None,
            prompts_reason=prompts_reason,
            n_higher=n_higher if is_compared else None,
            n_items=len(items),
            n_equal=n_equal,
            n_units=count_units(sides[0]),
            n_units_baseline=count_units(sides[1]),
            unit="puppet" if has_users(sides[0]) else "response",
            reason=_reason(sides[0], mean, test, rarest_users, is_compared=is_compared)
            if items
            else _no_mean(prompts, baseline),
        )


def _no_mean(prompts: Mapping[str, PromptValues], baseline: str) -> str:
    if not prompts:
        return "no answer gives an option"
    return f"no prompt is answered both here and under the baseline condition {baseline}"


def _reason(
    prompts: Sequence[PromptValues],
    mean: StudentTest | None,
    test: DifferenceOfMeans | None,
    rarest_users: float,
    *,
    is_compared: bool,
) -> str | None:
    if mean is None and test is None:
        return "no interval and no test: leaving out an answer never changes the value"
    reasons = [too_few_users(count_units(prompts), rarest_users) if has_users(prompts) else None]
    if not is_compared:
        reasons.append("the baseline is not compared with itself")
    elif test is None:
        reasons.append(
            "no test: leaving out an answer of the baseline never changes the value, and fewer than "
            f"{MIN_ALIKE} answers may be alike by chance"
        )
    elif test.interval is None and not any(reasons):
        reasons.append(
            "no interval of the difference: one side is always alike, and on the other fewer than "
            f"{LEAST_MOVERS} differ from the rest"
        )
    return "; ".join(filter(None, reasons)) or None


def _no_crossed_interval(
    n_items: int, mean: StudentTest | None, interval: Interval | None, rarest_prompts: float
) -> str | None:
    reason = too_few_prompts(n_items, rarest_prompts) if mean else None
    if reason is None and interval is None:
        return "no interval for prompts like these: there is none for these"
    return reason


def _difference(mean: Means, other: Means, place: int) -> float:
    return float(mean.values[place] - other.values[place])


def has_users(prompts: Sequence[PromptValues]) -> bool:
    """Whether users gave the answers."""
    return any(any(prompt.puppets) for prompt in prompts)


def count_units(prompts: Sequence[PromptValues]) -> int:
    """Users behind the answers; without users the fewest answers to a prompt."""
    puppets = {puppet for prompt in prompts for puppet in prompt.puppets} - {""}
    return len(puppets) or min((len(prompt.puppets) for prompt in prompts), default=0)


def mean_over(prompts: Sequence[PromptValues]) -> Means:
    """Means over prompts, and the jackknife's variances of them over whole puppets."""
    sums = _cluster_moves(prompts)
    # answers of one prompt, or puppets, around their mean: one degree of freedom goes with each mean
    freedom = len(sums) - (1 if has_users(prompts) else len(prompts))
    part = freedom / len(sums)
    squares = np.sum([(prompt.moves**2).sum(axis=0) for prompt in prompts], axis=0) / len(prompts)
    values = np.mean([prompt.values for prompt in prompts], axis=0)
    variances = (sums**2).sum(axis=0) * part
    factors = np.array([_widening(prompts, place, float(variances[place])) for place in (0, 1)])
    return Means(
        values,
        variances * factors**2,
        np.full(2, float(freedom)),
        squares * part,
        len(sums),
        factors,
    )


def _widening(prompts: Sequence[PromptValues], place: int, variance: float) -> float:
    deviations = [p.deviations[:, place] for p in prompts if p.deviations is not None]
    return widening(np.mean(deviations, axis=0), variance) if deviations else 1.0


def _cluster_moves(prompts: Sequence[PromptValues]) -> Floats:
    """How far leaving out each puppet moves the means, or each answer without a user: (clusters, 2)."""
    clusters: dict[tuple[str, int, int], int] = {}
    places = [
        [
            clusters.setdefault((puppet, -1, -1) if puppet else ("", number, place), len(clusters))
            for place, puppet in enumerate(prompt.puppets)
        ]
        for number, prompt in enumerate(prompts)
    ]
    sums = np.zeros((len(clusters), 2))
    for prompt, rows in zip(prompts, places, strict=True):
        # a puppet has one first answer to a prompt, so that no row stands twice
        sums[rows] += prompt.moves / len(prompts)
    return sums


def mean_interval(
    prompts: Sequence[PromptValues],
    mean: Means,
    place: int,
    rarest_users: float,
    confidence: float = CONFIDENCE,
) -> Interval | None:
    """Of the mean of one of the two metrics, by its place in `METRICS`.

    Empirical likelihood over users; without users Student's t over answers. None with too few users, or
    where leaving out a unit never changes the mean.

    Args:
        mean: of these prompts.
        rarest_users: share of users of the rarest kind to cover.
    """
    return unit_interval(
        float(mean.values[place]),
        _cluster_moves(prompts)[:, place] * mean.widening[place],
        rarest_users=rarest_users if has_users(prompts) else None,
        freedom=float(mean.freedom[place]),
        confidence=confidence,
    )


def difference_of_means(
    sides: Sequence[Sequence[PromptValues]],
    means: tuple[Means, Means],
    place: int,
    rarest_users: float,
) -> DifferenceOfMeans | None:
    """The difference of two means of one of the two metrics, by its place in `METRICS`.

    With users the interval is made of those of both sides, and the p-value is the larger of Student's t
    and the interval's; without users both are Welch's. None where leaving out a unit of one side never
    changes its mean, unless it is of `MIN_ALIKE` answers and the other side varies.
    """
    test = mean_test(*means, place)
    if test is None or not any(map(has_users, sides)):
        return test and DifferenceOfMeans(test.interval, test.p_value)
    interval_at = partial(_difference_interval, sides, means, place, rarest_users)
    p_value = p_value_with_interval(test.p_value, interval_at)
    return DifferenceOfMeans(interval_at(CONFIDENCE), p_value)


def _difference_interval(
    sides: Sequence[Sequence[PromptValues]],
    means: tuple[Means, Means],
    place: int,
    rarest_users: float,
    confidence: float,
) -> Interval | None:
    if _is_carried_by_few(sides, means, place):
        return None
    bounded_values = []
    for side, mean in zip(sides, means, strict=True):
        value = float(mean.values[place])
        interval = mean_interval(side, mean, place, rarest_users, confidence)
        if interval is None and mean.is_settled(place):
            interval = Interval(value, value)
        if interval is None:
            return None
        bounded_values.append(BoundedValue(value, interval))
    return difference_interval(bounded_values[0], bounded_values[1:])


def _is_carried_by_few(
    sides: Sequence[Sequence[PromptValues]], means: Sequence[Means], place: int
) -> bool:
    """Whether hardly any unit varies, beside a side that never does: too few for an interval."""
    if not any(mean.is_settled(place) for mean in means):
        return False
    moves = [_cluster_moves(side)[:, place] for side in sides]
    return max(int((np.abs(m - np.median(m)) > _NOTHING).sum()) for m in moves) < LEAST_MOVERS


def mean_test(mean: Means, other: Means | None, place: int) -> StudentTest | None:
    """Student's t of a mean of one of the two metrics, or of its difference from another mean.

    None where leaving out a unit of one side never changes its mean, unless it is of `MIN_ALIKE` answers
    and the other side varies.
    """
    sides = [mean] if other is None else [mean, other]
    value = float(mean.values[place] - (other.values[place] if other else 0.0))
    return student_test(
        value,
        [float(side.variances[place]) for side in sides],
        [float(side.freedom[place]) for side in sides],
        [side.size for side in sides],
    )


def _crossed_interval(
    sides: Sequence[Sequence[PromptValues]], means: Sequence[Means], place: int
) -> Interval:
    """Of a mean, or of the difference of two, with people and prompts drawn anew."""
    values = [np.array([float(prompt.values[place]) for prompt in side]) for side in sides]
    variances = [float(mean.variances[place]) for mean in means]
    people = PeopleVariance(
        of_mean=math.fsum(variances),
        of_prompt=math.fsum(float(mean.prompt_variances[place]) for mean in means),
        freedom=welch_freedom(variances, [float(mean.freedom[place]) for mean in means]),
    )
    return crossed_interval(values[0] - values[1] if len(values) > 1 else values[0], people)

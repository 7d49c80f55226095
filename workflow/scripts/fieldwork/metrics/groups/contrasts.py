"""A group of participants compared with the mean of the other groups: the difference and its interval.

Owns how values of groups, each with its own error, become one difference. Groups share no participant,
so that errors add up. Each of the other groups counts alike in their mean.
"""

import math
from collections.abc import Collection, Mapping
from typing import NamedTuple

from fieldwork.metrics.groups.table import GroupAnswers, as_lists, drop_small_groups
from fieldwork.metrics.prompt_means import METRICS, Means, mean_over, measure_prompts
from fieldwork.statistics.intervals import (
    Interval,
    ShareCount,
    newcombe_interval,
    student_interval,
    welch_freedom,
)

_NOTHING = 1e-9
"""Errors below this are rounding."""


class GroupValue(NamedTuple):
    """A value of a group, its variance, and the degrees of freedom of that."""

    value: float
    variance: float
    freedom: float


class GroupContrast(NamedTuple):
    """Value of the group, mean of the other groups' values, interval of their difference."""

    value: float
    others_mean: float
    interval: Interval | None


def contrast_values(values: Mapping[str, GroupValue], group: str) -> GroupContrast:
    """Student's t with the degrees of freedom of Satterthwaite 1946; of two groups Welch's.

    No interval where the group, or all others, have no error: that would say that nothing is uncertain.
    """
    first = values[group]
    rest = [value for name, value in values.items() if name != group]
    others_mean = math.fsum(value.value for value in rest) / len(rest)
    parts = [first, *(v._replace(variance=v.variance / len(rest) ** 2) for v in rest)]
    other_variance = math.fsum(part.variance for part in parts[1:])
    if min(first.variance, other_variance) <= _NOTHING**2 or any(p.freedom < 1 for p in parts):
        return GroupContrast(first.value, others_mean, None)
    error = math.sqrt(first.variance + other_variance)
    freedom = welch_freedom([p.variance for p in parts], [p.freedom for p in parts])
    interval = student_interval(first.value - others_mean, error, freedom)
    return GroupContrast(first.value, others_mean, interval)


def contrast_shares(counts: Mapping[str, tuple[int, int]], group: str) -> GroupContrast:
    """Interval from Wilson's of each share (MOVER: Zou and Donner 2008); of two groups Newcombe's.

    Args:
        counts: marked answers and all answers by group, at least one of these.
    """
    first = ShareCount(*counts[group])
    rest = [ShareCount(*count) for name, count in counts.items() if name != group]
    others_mean = math.fsum(count.share for count in rest) / len(rest)
    return GroupContrast(first.share, others_mean, newcombe_interval(first, rest))


def heterogeneity_values(
    answers: GroupAnswers, shared_items: Collection[str], *, seed: int
) -> dict[tuple[str | None, str], dict[str, GroupValue]]:
    """Entropy and top-5 share of each group, by item (None: mean over the shared items) and metric.

    All groups with enough answers to an item are at one n there: the values of the table `groups`.
    """
    large = drop_small_groups(answers)
    values: dict[tuple[str | None, str], dict[str, GroupValue]] = {}
    by_group = measure_prompts(as_lists(large, large.answers["group"]), seed=seed)
    for arm, prompts in by_group.items():
        means: dict[str | None, Means] = {
            item: mean_over([prompt]) for item, prompt in prompts.items()
        }
        if shared_items:
            means[None] = mean_over([p for item, p in prompts.items() if item in shared_items])
        for item, mean in means.items():
            for place, metric in enumerate(METRICS):
                value = GroupValue(
                    float(mean.values[place]),
                    float(mean.variances[place]),
                    float(mean.freedom[place]),
                )
                values.setdefault((item, metric), {})[arm.condition] = value
    return values

"""A group of participants beside the mean of the other groups: the difference and its interval.

Owns how values of groups, each with its own error, become one difference. Groups share no participant,
so that errors add up; each of the others counts alike, by its part in their mean.
"""

import math
from collections.abc import Collection, Mapping
from typing import NamedTuple

from fieldwork.metrics.groups.table import Block, as_lists, enough
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


class Estimate(NamedTuple):
    """A value of a group, its variance, and the degrees of freedom of that."""

    value: float
    variance: float
    freedom: float


class Compared(NamedTuple):
    """Value of the group, mean of those of the others, interval of their difference."""

    value: float
    other: float
    interval: Interval | None


def contrast(of_groups: Mapping[str, Estimate], group: str) -> Compared:
    """Student's t with the degrees of freedom of Satterthwaite 1946; of two groups Welch's.

    No interval where the group, or all others, have no error: that would say that nothing is uncertain.
    """
    own = of_groups[group]
    others = [one for name, one in of_groups.items() if name != group]
    value = math.fsum(one.value for one in others) / len(others)
    parts = [own, *(one._replace(variance=one.variance / len(others) ** 2) for one in others)]
    beside = math.fsum(one.variance for one in parts[1:])
    if min(own.variance, beside) <= _NOTHING**2 or any(one.freedom < 1 for one in parts):
        return Compared(own.value, value, None)
    freedom = welch_freedom([one.variance for one in parts], [one.freedom for one in parts])
    error = math.sqrt(own.variance + beside)
    return Compared(own.value, value, student_interval(own.value - value, error, freedom))


def contrast_of_shares(counts: Mapping[str, tuple[int, int]], group: str) -> Compared:
    """Interval from Wilson's of each share (MOVER: Zou and Donner 2008); of two groups Newcombe's.

    Args:
        counts: marked answers and all answers by group, at least one of these.
    """
    own = ShareCount(*counts[group])
    others = [ShareCount(*count) for name, count in counts.items() if name != group]
    value = math.fsum(other.share for other in others) / len(others)
    return Compared(own.share, value, newcombe_interval(own, others))


def varied_estimates(
    block: Block, shared: Collection[str], *, seed: int
) -> dict[tuple[str | None, str], dict[str, Estimate]]:
    """Entropy and top-5 share of each group, by item (None: the mean over `shared`) and metric.

    All groups with answers enough to an item are at one n there: the values of the table `groups`.
    """
    kept = enough(block)
    found: dict[tuple[str | None, str], dict[str, Estimate]] = {}
    for arm, prompts in measure_prompts(as_lists(kept, kept.answers["group"]), seed=seed).items():
        means: dict[str | None, Means] = {item: mean_over([one]) for item, one in prompts.items()}
        if shared:
            means[None] = mean_over([one for item, one in prompts.items() if item in shared])
        for item, mean in means.items():
            for place, metric in enumerate(METRICS):
                estimate = Estimate(*(float(part[place]) for part in mean))
                found.setdefault((item, metric), {})[arm.condition] = estimate
    return found

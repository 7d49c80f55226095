"""A group of participants compared with the mean of the other groups: the difference and its interval.

Owns how values of groups, each with its own error, become one difference. Groups share no participant,
so that errors add up. Each of the other groups counts alike in their mean.
"""

import math
from collections.abc import Collection, Mapping
from typing import NamedTuple

from fieldwork.estimates.means import PromptValue, mean_over
from fieldwork.estimates.prompts import equal_sizes, prompt_values
from fieldwork.estimates.quantity import Quantity
from fieldwork.estimates.samples import option_samples
from fieldwork.measures.lists import QUESTION
from fieldwork.metrics.groups.table import GroupAnswers, as_lists, drop_small_groups
from fieldwork.statistics.intervals import (
    Interval,
    ShareCount,
    difference_interval,
    newcombe_interval,
)


class GroupContrast(NamedTuple):
    """Value of the group, mean of the other groups' values, interval of their difference."""

    value: float
    others_mean: float
    interval: Interval | None


def contrast_values(values: Mapping[str, Quantity], group: str) -> GroupContrast:
    """The contrast from the interval of each group; without one of these it has none."""
    first = values[group]
    rest = [value for name, value in values.items() if name != group]
    others_mean = math.fsum(value.value or 0.0 for value in rest) / len(rest)
    bounded_values = [value.bounded_value for value in (first, *rest) if value.bounded_value]
    interval = None
    if len(bounded_values) == len(values):
        interval = difference_interval(bounded_values[0], bounded_values[1:])
    return GroupContrast(first.value or 0.0, others_mean, interval)


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
    answers: GroupAnswers, shared_items: Collection[str], *, seed: int, rarest_users: float
) -> dict[tuple[str | None, str], dict[str, Quantity]]:
    """Entropy and top-5 share of each group, by item (None: mean over the shared items) and metric.

    All groups with enough answers to an item are at one n there: the values of the table `groups`.
    """
    large = drop_small_groups(answers)
    measures = [measure for measure in QUESTION.measures if measure.is_tested]
    arms = option_samples(as_lists(large, large.answers["group"]))
    sizes = equal_sizes(arms)
    values: dict[tuple[str | None, str], dict[str, Quantity]] = {}
    for arm, items in arms.items():
        for metric, prompts in prompt_values(arm, items, measures, sizes, seed).items():
            samples: dict[str | None, list[PromptValue]] = {
                item: [prompt] for item, prompt in prompts.items()
            }
            if shared_items:
                samples[None] = [p for item, p in prompts.items() if item in shared_items]
            for item, sample in samples.items():
                mean = mean_over(sample)
                value = Quantity(mean.value, mean.interval(rarest_users))
                values.setdefault((item, metric), {})[arm.condition] = value
    return values

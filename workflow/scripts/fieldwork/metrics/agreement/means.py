"""How varied answers under each condition are, over all prompts of a task, beside the field's.

Owns the difference of two metrics of heterogeneity from the field's, its interval, the test that there is
one, and the test that it lies within a margin. Means and errors are those of `prompt_means`: a puppet or
a participant is left out with all its answers, prompts are not resampled.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import pandas as pd
from scipy.stats import t as student

from fieldwork.metrics.answer_sets import Arm, equal_sizes, read_list_answers
from fieldwork.metrics.prompt_means import (
    METRICS,
    Means,
    PromptValues,
    mean_over,
    measure_prompts,
)
from fieldwork.records.field import FIELD, FieldHeterogeneity
from fieldwork.statistics.families import correct_rows
from fieldwork.statistics.intervals import Interval, student_interval, welch_freedom

_NOTHING = 1e-9
"""Errors below this are rounding."""

Prompts = Mapping[str, PromptValues]
"""The metrics of each prompt of a task under one condition."""


class Difference(NamedTuple):
    """A condition's mean less the field's, with its standard error and Welch's degrees of freedom."""

    value: float
    error: float
    freedom: float

    @property
    def interval(self) -> Interval:
        """95 %, Student's t."""
        return student_interval(self.value, self.error, self.freedom)

    @property
    def p_value(self) -> float:
        """Two-sided, that it is 0."""
        return float(2 * student.sf(abs(self.value) / self.error, self.freedom))

    def p_equivalence(self, margin: float) -> float:
        """That it is beyond `margin` on either side: two one-sided tests (Schuirmann 1987)."""
        return float(student.sf((margin - abs(self.value)) / self.error, self.freedom))


def measure_field_heterogeneity(
    answers: pd.DataFrame, *, margins: Mapping[str, float], seed: int
) -> list[FieldHeterogeneity]:
    """Two metrics for each model, task and condition with list items, but the field's own.

    P-values are corrected over the conditions of a task, for each metric by itself. In order of model,
    task, condition and metric; without answers of the field there are no rows.

    Args:
        margins: by metric, differences that count as none; a metric may have none.
    """
    sizes = equal_sizes(read_list_answers(answers))
    by_arm = measure_prompts(answers, seed=seed)
    rows: list[FieldHeterogeneity] = []
    for arm, prompts in by_arm.items():
        field = by_arm.get(arm._replace(condition=FIELD))
        if arm.condition != FIELD and field:
            items = [item for item in prompts if item in field]
            n_equal = min((sizes[arm.item(item)] for item in items), default=0)
            rows += _rows(arm, prompts, field, items, n_equal, margins)
    rows = correct_rows(rows, lambda row: (row.model, row.task, row.metric))
    return sorted(rows, key=lambda r: (r.model, r.task, r.condition, r.metric))


def _rows(
    arm: Arm,
    prompts: Prompts,
    field: Prompts,
    items: Sequence[str],
    n_equal: int,
    margins: Mapping[str, float],
) -> Iterator[FieldHeterogeneity]:
    sides = [[side[item] for item in items] for side in (prompts, field)]
    means = (mean_over(sides[0]), mean_over(sides[1])) if items else None
    for place, metric in enumerate(METRICS):
        difference = difference_of(*means, place) if means else None
        margin = margins.get(metric)
        yield FieldHeterogeneity(
            model=arm.model,
            task=arm.task,
            condition=arm.condition,
            metric=metric,
            mean=float(means[0].values[place]) if means else None,
            field_mean=float(means[1].values[place]) if means else None,
            difference=float(means[0].values[place] - means[1].values[place]) if means else None,
            difference_low=difference.interval.low if difference else None,
            difference_high=difference.interval.high if difference else None,
            p_value=difference.p_value if difference else None,
            p_holm=None,
            margin=margin,
            p_equivalence=_p_equivalence(difference, margin),
            n_items=len(items),
            n_equal=n_equal,
            n_units=_n_units(sides[0]),
            n_field=_n_units(sides[1]),
            reason=_reason(prompts, items, difference, margin),
        )


def difference_of(condition: Means, field: Means, place: int) -> Difference | None:
    """The difference of one of the two metrics, by its place in `METRICS`.

    None where leaving out an answer of one side never changes its mean: that would say that nothing is
    uncertain.
    """
    variances = [float(side.variances[place]) for side in (condition, field)]
    freedoms = [float(side.freedom[place]) for side in (condition, field)]
    if not min(variances) > _NOTHING**2 or min(freedoms) < 1:
        return None
    return Difference(
        float(condition.values[place] - field.values[place]),
        math.sqrt(math.fsum(variances)),
        welch_freedom(variances, freedoms),
    )


def _p_equivalence(difference: Difference | None, margin: float | None) -> float | None:
    return None if difference is None or margin is None else difference.p_equivalence(margin)


def _n_units(prompts: Sequence[PromptValues]) -> int:
    puppets = {puppet for prompt in prompts for puppet in prompt.puppets} - {""}
    return len(puppets) or min((len(prompt.puppets) for prompt in prompts), default=0)


def _reason(
    prompts: Prompts, items: Sequence[str], difference: Difference | None, margin: float | None
) -> str | None:
    if not prompts:
        return "no answer gives an option"
    if not items:
        return "no prompt is answered both here and in the field"
    if difference is None:
        return "no interval and no test: leaving out an answer of a side never changes its value"
    if margin is None:
        return "no test of equivalence: no margin is set for this metric"
    return None

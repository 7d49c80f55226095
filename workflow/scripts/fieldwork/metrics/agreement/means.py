"""How varied answers under each condition are, over all prompts of a task, beside the field's.

Owns the difference of two metrics of heterogeneity from the field's, its interval and the test that there
is one. Means and errors are those of `prompt_means`: a puppet or a participant is left out with all its
answers, prompts are not resampled.
"""

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from fieldwork.metrics.answer_sets import Arm, equal_sizes, read_list_answers
from fieldwork.metrics.prompt_means import (
    METRICS,
    DifferenceOfMeans,
    PromptValues,
    count_units,
    difference_of_means,
    has_users,
    mean_over,
    measure_prompts,
)
from fieldwork.records.field import FIELD, FieldHeterogeneity
from fieldwork.statistics.families import correct_rows
from fieldwork.statistics.user_intervals import RAREST_USERS, too_few_users

Prompts = Mapping[str, PromptValues]
"""The metrics of each prompt of a task under one condition."""


def measure_field_heterogeneity(
    answers: pd.DataFrame, *, seed: int, rarest_users: float = RAREST_USERS
) -> list[FieldHeterogeneity]:
    """Two metrics for each model, task and condition with list items, but the field's own.

    P-values are corrected over the conditions of a task, for each metric by itself. In order of model,
    task, condition and metric; without answers of the field there are no rows.

    Args:
        rarest_users: share of users of the rarest kind that intervals cover.
    """
    sizes = equal_sizes(read_list_answers(answers))
    by_arm = measure_prompts(answers, seed=seed)
    rows: list[FieldHeterogeneity] = []
    for arm, prompts in by_arm.items():
        field = by_arm.get(arm._replace(condition=FIELD))
        if arm.condition != FIELD and field:
            items = [item for item in prompts if item in field]
            n_equal = min((sizes[arm.item(item)] for item in items), default=0)
            rows += _rows(arm, prompts, field, items, n_equal, rarest_users)
    rows = correct_rows(rows, lambda row: (row.model, row.task, row.metric))
    return sorted(rows, key=lambda r: (r.model, r.task, r.condition, r.metric))


def _rows(
    arm: Arm,
    prompts: Prompts,
    field: Prompts,
    items: Sequence[str],
    n_equal: int,
    rarest_users: float,
) -> Iterator[FieldHeterogeneity]:
    sides = [[side[item] for item in items] for side in (prompts, field)]
    means = (mean_over(sides[0]), mean_over(sides[1])) if items else None
    for place, metric in enumerate(METRICS):
        test = difference_of_means(sides, means, place, rarest_users) if means else None
        interval = test.interval if test else None
        yield FieldHeterogeneity(
            model=arm.model,
            task=arm.task,
            condition=arm.condition,
            metric=metric,
            mean=float(means[0].values[place]) if means else None,
            field_mean=float(means[1].values[place]) if means else None,
            difference=float(means[0].values[place] - means[1].values[place]) if means else None,
            difference_low=interval.low if interval else None,
            difference_high=interval.high if interval else None,
            p_value=test.p_value if test else None,
            p_holm=None,
            n_items=len(items),
            n_equal=n_equal,
            n_units=count_units(sides[0]),
            n_field=count_units(sides[1]),
            reason=_reason(prompts, sides, test, rarest_users),
        )


def _reason(
    prompts: Prompts,
    sides: Sequence[Sequence[PromptValues]],
    test: DifferenceOfMeans | None,
    rarest_users: float,
) -> str | None:
    if not prompts:
        return "no answer gives an option"
    if not sides[0]:
        return "no prompt is answered both here and in the field"
    if test is None:
        return "no interval and no test: leaving out an answer of a side never changes its value"
    n_users = [count_units(side) for side in sides if has_users(side)]
    return too_few_users(min(n_users), rarest_users, "answer on a side") if n_users else None

"""How much of the variance of answers lies between contexts, and how much comes from asking again.

Owns the split of the variance of answers into prompt, puppet and rerun, and `share_who`, the share
of the variance within a prompt that lies between puppets, each a user with one context. Answers are
indicator vectors over the options; half the squared distance of two of them is the number of options
in which they differ. All components are unbiased means over pairs of answers, so that unequal numbers
of answers move none.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from fieldwork.estimates.answer_sets import (
    Arm,
    ItemAnswers,
    count_unread,
    has_readable_answer,
)
from fieldwork.metrics.components import (
    AnswerLayout,
    Components,
    lay_out,
    leave_one_out,
    permuted_rerun,
    prompt_variance,
    split,
    split_items,
)
from fieldwork.metrics.ordered_answers import read_ordered_answers
from fieldwork.records.field import FIELD
from fieldwork.records.metrics import VarianceShare
from fieldwork.statistics.arrays import Floats
from fieldwork.statistics.families import correct_rows
from fieldwork.statistics.intervals import Interval
from fieldwork.statistics.permutation import random_p_value, require_permutations
from fieldwork.statistics.seeds import generator
from fieldwork.statistics.user_intervals import RAREST_USERS, too_few_users, variance_share_interval

UNIT = "puppet"
NO_SPREAD = "no interval: without one of the puppets, no differences or none between reruns remain"


class _WhoSettings(NamedTuple):
    n_permutations: int
    seed: int
    rarest_users: float


class _WhoShare(NamedTuple):
    """The share of the variance that comes from who asks, or why there is none."""

    value: float | None
    interval: Interval | None
    p_value: float | None
    reason: str | None


def measure_variance(
    answers: pd.DataFrame,
    *,
    baseline: str,
    n_permutations: int,
    seed: int,
    rarest_users: float = RAREST_USERS,
) -> list[VarianceShare]:
    """One row for each model, task, kind of item and condition, in this order.

    `share_who` is NULL, with a reason, where puppets do not answer an item more than once: rerun
    noise is then not known under the puppets' own contexts.

    P-values are corrected over the conditions of a model, task and kind of item.

    Args:
        rarest_users: share of users of the rarest kind that intervals cover.

    Raises:
        StudyError: no permutations.
    """
    require_permutations(n_permutations)
    settings = _WhoSettings(n_permutations, seed, rarest_users)
    arms = read_ordered_answers(answers)
    rows = []
    for arm, items in arms.items():
        layout = lay_out(items)
        components = split(layout)
        share = _who_share(arm, items, layout, components, settings)
        offline = arms.get(arm._replace(condition=baseline), {})
        rows.append(_row(arm, items, offline, layout, components, share, n_permutations))
    rows = correct_rows(rows, lambda row: (row.model, row.task, row.kind))
    return sorted(rows, key=lambda r: (r.model, r.task, r.kind, r.condition))


def _row(
    arm: Arm,
    items: Mapping[str, ItemAnswers],
    offline: Mapping[str, ItemAnswers],
    layout: AnswerLayout,
    components: Components,
    share: _WhoShare,
    n_permutations: int,
) -> VarianceShare:
    puppets = {answer.puppet for answers in items.values() for answer in answers.answers} - {""}
    return VarianceShare(
        model=arm.model,
        task=arm.task,
        condition=arm.condition,
        kind=arm.kind,
        share_who=share.value,
        ci_low=share.interval.low if share.interval else None,
        ci_high=share.interval.high if share.interval else None,
        p_value=share.p_value,
        p_holm=None,
        n_permutations=n_permutations if share.p_value is not None else None,
        var_prompt=_none_if_nan(prompt_variance(layout)),
        var_who=_none_if_nan(components.var_answers - components.var_rerun),
        var_rerun=_none_if_nan(components.var_rerun),
        var_answers=_none_if_nan(components.var_answers),
        over_baseline=_over_baseline(items, offline),
        n_items=len(layout.items),
        n_puppets=len(puppets),
        n_repeated=layout.n_repeated,
        n_responses=len(layout.answer_cell),
        n_unread=count_unread(items),
        unit=UNIT,
        reason=share.reason,
    )


def _none_if_nan(value: float) -> float | None:
    return None if math.isnan(value) else value


def _who_share(
    arm: Arm,
    items: Mapping[str, ItemAnswers],
    layout: AnswerLayout,
    components: Components,
    settings: _WhoSettings,
) -> _WhoShare:
    reason = _no_share(arm, items, layout, components)
    if reason:
        return _WhoShare(None, None, None, reason)
    value = 1 - components.var_rerun / components.var_answers
    interval = None
    # without reruns of a rare user the variance of reruns misses it, too
    n_repeating = len(set(layout.cell_puppet[layout.cell_n > 1].tolist()))
    reason = too_few_users(n_repeating, settings.rarest_users, "answer an item twice")
    if reason is None:
        # the variance of reruns comes from puppets alone who answer an item twice
        interval = variance_share_interval(value, _left_out(layout), n_repeating - 1)
        reason = None if interval else NO_SPREAD
    random = generator(settings.seed, "who", *arm.names)
    n_permutations = settings.n_permutations
    reruns = permuted_rerun(layout, n_permutations=n_permutations, random=random)
    # equal sums in another order differ in their last bits; a tie counts against the effect
    n_hits = int((reruns <= components.var_rerun + 1e-12).sum())
    return _WhoShare(value, interval, random_p_value(n_hits, n_permutations), reason)


def _left_out(layout: AnswerLayout) -> Floats:
    """var_rerun / var_answers without each puppet, NaN where there is none: shape (puppets,)."""
    var_rerun, var_answers = leave_one_out(layout)
    ratios = np.full(len(var_rerun), np.nan)
    np.divide(var_rerun, var_answers, out=ratios, where=var_answers > 0)
    return ratios


def _no_share(
    arm: Arm, items: Mapping[str, ItemAnswers], layout: AnswerLayout, components: Components
) -> str | None:
    if not len(layout.answer_cell) or not has_readable_answer(items):
        return f"none of {count_unread(items)} answers can be read"
    if not layout.has_puppets:
        return "this condition has no users: all variance within a prompt comes from reruns"
    if math.isnan(components.var_answers):
        return "no item is answered by two puppets"
    if layout.n_repeated == 0 and arm.condition == FIELD:
        return (
            "no participant answers a prompt twice, so users and reruns cannot be told apart; ask "
            "some of them to answer some prompts again in a new conversation"
        )
    if layout.n_repeated == 0:
        return (
            f"no puppet answers an item twice, so users and reruns cannot be told apart; set "
            f"replicates: 2 for the condition {arm.condition} in the config"
        )
    if math.isnan(components.var_rerun):
        return "no item is answered by two puppets of whom one answers it twice"
    if components.var_answers <= 0:
        return "all answers to an item are the same: there is no variance to share out"
    return None


def _over_baseline(
    items: Mapping[str, ItemAnswers], offline: Mapping[str, ItemAnswers]
) -> float | None:
    """1 - (variance of the baseline's reruns) / (variance of the answers), over shared items."""
    layout, offline_layout = lay_out(items), lay_out(offline)
    answers = dict(zip(layout.items, split_items(layout).var_answers, strict=True))
    reruns = dict(zip(offline_layout.items, split_items(offline_layout).var_rerun, strict=True))
    pairs = np.array(
        [
            (reruns[item], answers[item])
            for item in answers
            if item in reruns and math.isfinite(reruns[item]) and math.isfinite(answers[item])
        ]
    )
    if not len(pairs) or pairs[:, 1].sum() <= 0:
        return None
    return float(1 - pairs[:, 0].sum() / pairs[:, 1].sum())

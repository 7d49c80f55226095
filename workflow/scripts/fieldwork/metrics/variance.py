"""How much of the variance of answers comes from who asks, and how much from asking again.

Owns the split of the variance of answers into prompt, puppet and rerun, and `share_who`, the share
of the variance within a prompt that lies between puppets. Answers are indicator vectors over the
options; half the squared distance of two of them is the number of options in which they differ. All
components are unbiased means over pairs of answers, so that unequal numbers of answers move none.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from fieldwork.errors import StudyError
from fieldwork.metrics.answer_sets import (
    Arm,
    ItemAnswers,
    count_unread,
    read_answer_sets,
    says_nothing,
)
from fieldwork.metrics.components import (
    Components,
    Layout,
    Spread,
    lay_out,
    leave_one_out,
    permuted_rerun,
    prompt_variance,
    split,
    split_items,
)
from fieldwork.metrics.permutation import holm
from fieldwork.metrics.resampling import Floats, Interval, generator, student_quantile
from fieldwork.records.field import FIELD
from fieldwork.records.metrics import VarianceShare

UNIT = "puppet"
MIN_PUPPETS = 3
NO_SPREAD = "no interval: without some puppet no differences, or none between reruns, are left"


class _Plan(NamedTuple):
    baseline: str
    n_permutations: int
    seed: int
    confidence: float


class _Share(NamedTuple):
    """The headline number of an arm, or why there is none."""

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
    confidence: float = 0.95,
) -> list[VarianceShare]:
    """One row for each model, task, kind of item and condition, in this order.

    `share_who` is NULL, with a reason, where puppets do not answer an item more than once: rerun
    noise is then not known under the puppets' own contexts.

    Raises:
        StudyError: no permutations, or a confidence that is no share.
    """
    plan = _Plan(baseline, n_permutations, seed, confidence)
    _check(plan)
    arms = read_answer_sets(answers)
    rows = [
        _measure(arm, items, arms.get(arm._replace(condition=baseline), {}), plan)
        for arm, items in arms.items()
    ]
    return sorted(_corrected(rows), key=lambda r: (r.model, r.task, r.kind, r.condition))


def _corrected(rows: Sequence[VarianceShare]) -> list[VarianceShare]:
    """Holm's correction over the conditions of a model, task and kind of item."""
    done = [row for row in rows if row.p_value is None]
    families: dict[tuple[str, str, str], list[VarianceShare]] = {}
    for row in rows:
        if row.p_value is not None:
            families.setdefault((row.model, row.task, row.kind), []).append(row)
    for family in families.values():
        corrected = holm([row.p_value for row in family if row.p_value is not None])
        done += [replace(row, p_holm=p) for row, p in zip(family, corrected, strict=True)]
    return done


def _check(plan: _Plan) -> None:
    if plan.n_permutations < 1:
        raise StudyError(
            f"metrics.permutations is {plan.n_permutations}: a test needs at least 1; raise it"
        )
    if not 0 < plan.confidence < 1:
        raise StudyError(
            f"confidence is {plan.confidence}: give a share between 0 and 1, like 0.95"
        )


def _measure(
    arm: Arm, items: Mapping[str, ItemAnswers], offline: Mapping[str, ItemAnswers], plan: _Plan
) -> VarianceShare:
    layout = lay_out(items)
    parts = split(layout)
    share = _share(arm, items, layout, parts, plan)
    who = parts.between - parts.rerun
    asked = {answer.puppet for answers in items.values() for answer in answers.given} - {""}
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
        var_prompt=_known(prompt_variance(layout)),
        var_who=_known(who),
        var_rerun=_known(parts.rerun),
        var_answers=_known(parts.between),
        over_baseline=_over_baseline(items, offline),
        n_items=len(layout.items),
        n_puppets=len(asked),
        n_repeated=layout.n_repeated,
        n_responses=len(layout.answer_cell),
        n_unread=count_unread(items),
        unit=UNIT,
        reason=share.reason,
    )


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _share(
    arm: Arm, items: Mapping[str, ItemAnswers], layout: Layout, parts: Components, plan: _Plan
) -> _Share:
    missing = _why_none(arm, items, layout, parts)
    if missing:
        return _Share(None, None, None, missing)
    value = 1 - parts.rerun / parts.between
    interval, reason = None, None
    repeating = len(set(layout.cell_puppet[layout.cell_n > 1].tolist()))
    if layout.n_puppets < MIN_PUPPETS:
        reason = f"no interval: {layout.n_puppets} puppets, an interval needs {MIN_PUPPETS}"
    elif repeating < MIN_PUPPETS:
        reason = f"no interval: {repeating} puppets answer twice, an interval needs {MIN_PUPPETS}"
    else:
        interval = _interval(value, leave_one_out(layout), repeating - 1, plan.confidence)
        reason = None if interval else NO_SPREAD
    random = generator(plan.seed, "who", *arm)
    drawn = permuted_rerun(layout, n_permutations=plan.n_permutations, random=random)
    # equal sums in another order differ in their last bits; a tie counts against the effect
    hits = int((drawn <= parts.rerun + 1e-12).sum())
    return _Share(value, interval, (hits + 1) / (plan.n_permutations + 1), reason)


def _why_none(
    arm: Arm, items: Mapping[str, ItemAnswers], layout: Layout, parts: Components
) -> str | None:
    if not len(layout.answer_cell) or says_nothing(items):
        return f"none of {count_unread(items)} answers can be read"
    if not layout.has_puppets:
        return "nobody asks under this condition: all variance within a prompt is rerun"
    if math.isnan(parts.between):
        return "no item is answered by two puppets"
    if layout.n_repeated == 0 and arm.condition == FIELD:
        return (
            "no participant answers a prompt twice, so who asks and asking again cannot be told "
            "apart; ask some of them to answer some prompts again in a new conversation"
        )
    if layout.n_repeated == 0:
        return (
            f"no puppet answers an item twice, so who asks and rerun cannot be told apart; "
            f"have {arm.condition} asked again (replicates: 2 under conditions in the config)"
        )
    if math.isnan(parts.rerun):
        return "no item is answered by two puppets of whom one answers it twice"
    if parts.between <= 0:
        return "all answers to an item are the same: there is no variance to share out"
    return None


def _interval(value: float, left_out: Spread, freedom: int, confidence: float) -> Interval | None:
    """Jackknife over puppets on the scale log(rerun / between), with Student's t.

    Arvesen and Schmitz 1970. `freedom` is the number of puppets who answer an item twice, less 1: the
    variance of reruns is known from these alone. Widened where needed to hold the estimate. None where
    the logarithm of some leave-one-out value does not exist, or none differs.
    """
    rerun, between = left_out
    if not (np.all(rerun > 0) and np.all(between > 0)):
        return None
    logs: Floats = np.log(rerun / between)
    n = len(logs)
    pseudo = n * math.log1p(-value) - (n - 1) * logs
    error = float(pseudo.std(ddof=1)) / math.sqrt(n)
    if not error > 0:
        return None
    half = student_quantile(freedom, confidence) * error
    centre = float(pseudo.mean())
    low, high = -math.expm1(centre + half), -math.expm1(centre - half)
    return Interval(min(low, value), max(high, value))


def _over_baseline(
    items: Mapping[str, ItemAnswers], offline: Mapping[str, ItemAnswers]
) -> float | None:
    """1 - (variance of the baseline's reruns) / (variance of the answers), over shared items."""
    here, there = lay_out(items), lay_out(offline)
    answers = dict(zip(here.items, split_items(here).between, strict=True))
    reruns = dict(zip(there.items, split_items(there).rerun, strict=True))
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

"""Tests between the conditions of a study: trends within puppets, and differences between two conditions.

Owns the tests over arms: Student's t and the interval over users, both of leaving out each puppet with
all its answers, so that a test of one measure holds where the arms differ in another. Promises that
each value is the one that another metric defines: `share_who` and `var_answers` as in `variance`,
`em_strict` as in `accuracy`.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd

from fieldwork.estimates.answer_sets import Arm, ItemAnswers, read_answer_sets
from fieldwork.estimates.quantity import Quantity
from fieldwork.metrics.arms.values import (
    MEASURES,
    ArmCells,
    BaselineVariance,
    all_cells,
    arm_values,
    baseline_variance,
    build_cells,
    leave_out_cells,
    leave_out_puppets,
)
from fieldwork.records.arms import ArmTest
from fieldwork.statistics.arrays import Floats
from fieldwork.statistics.families import correct_rows
from fieldwork.statistics.intervals import (
    CONFIDENCE,
    BoundedValue,
    Interval,
    difference_interval,
    jackknife_variance,
    p_value_with_interval,
    student_interval,
    student_test,
)
from fieldwork.statistics.user_intervals import RAREST_USERS, too_few_users, unit_interval

MIN_PUPPETS = 3


class StudyArm(NamedTuple):
    """A condition of the figure of arms; `n_conversations` is what it asks for, None for profiles."""

    condition: str
    n_conversations: int | None


class _ArmTestSettings(NamedTuple):
    arms: Sequence[StudyArm]
    is_trend: bool
    baseline: str
    rarest_users: float


class _Side(NamedTuple):
    """An independent part of a contrast: its value, how leaving out each puppet moves it, its freedom."""

    value: float
    moves: Floats
    freedom: float


AnswersByArm = Mapping[Arm, Mapping[str, ItemAnswers]]
Scores = Mapping[tuple[str, str, str, str], float]
"""Mean score by model, task, condition and puppet."""


def measure_arm_tests(
    answers: pd.DataFrame,
    runs: pd.DataFrame,
    *,
    arms: Sequence[StudyArm],
    trend: bool,
    baseline: str,
    rarest_users: float = RAREST_USERS,
) -> list[ArmTest]:
    """Tests between the arms that have puppets, for each model, task and kind of item.

    Args:
        runs: rows of `accuracy_runs`.
        arms: in the order of the figure.
        trend: test one trend over the arms by `n_conversations`, not a difference for each pair.
        rarest_users: share of users of the rarest kind that intervals cover.
    """
    settings = _ArmTestSettings(arms, trend, baseline, rarest_users)
    by_arm = read_answer_sets(answers)
    scores = _puppet_scores(runs)
    rows: list[ArmTest] = []
    for family in sorted({arm._replace(condition=baseline) for arm in by_arm}):
        tests = list(_test_family(family, by_arm, scores, settings))
        rows += correct_rows(tests, lambda row: row.measure)
    return rows


def _puppet_scores(runs: pd.DataFrame) -> Scores:
    """Mean `em_strict` of a puppet's complete runs."""
    if runs.empty:
        return {}
    n_items = runs.groupby(["model", "task"])["n_items"].transform("max")
    complete = runs[(runs["n_items"] == n_items) & runs["puppet_id"].notna()]
    groups = complete.groupby(["model", "task", "condition", "puppet_id"])["em_strict"]
    return {
        (str(model), str(task), str(condition), str(puppet)): math.fsum(values) / len(values)
        for (model, task, condition, puppet), values in groups
    }


def _test_family(
    family: Arm, by_arm: AnswersByArm, scores: Scores, settings: _ArmTestSettings
) -> Iterator[ArmTest]:
    """The tests of a model's answers to one kind of item of a task, which are corrected together."""
    answers = {a: by_arm.get(family._replace(condition=a.condition), {}) for a in settings.arms}
    puppets = {
        arm: sorted({a.puppet for of_item in items.values() for a in of_item.answers} - {""})
        for arm, items in answers.items()
    }
    with_puppets = [arm for arm in settings.arms if puppets[arm]]
    arm_groups = [with_puppets] if settings.is_trend else map(list, combinations(with_puppets, 2))
    for arms in arm_groups if len(with_puppets) > 1 else ():
        shared_puppets = sorted(set.intersection(*(set(puppets[arm]) for arm in arms)))
        is_paired = settings.is_trend or all(puppets[arm] == puppets[arms[0]] for arm in arms)
        members = [shared_puppets if is_paired else puppets[arm] for arm in arms]
        arm_scores = [
            {
                name: scores[key]
                for name in names
                if (key := (family.model, family.task, arm.condition, name)) in scores
            }
            for arm, names in zip(arms, members, strict=True)
        ]
        baseline = by_arm.get(family, {})
        cells = build_cells([answers[arm] for arm in arms], members, baseline, arm_scores)
        yield from _test_arms(family, arms, cells, settings, is_paired=is_paired)


def _test_arms(
    family: Arm,
    arms: Sequence[StudyArm],
    cells: ArmCells,
    settings: _ArmTestSettings,
    *,
    is_paired: bool,
) -> Iterator[ArmTest]:
    weights = _slope_weights(arms) if settings.is_trend else np.array([1.0, -1.0])
    leave_out = leave_out_puppets if is_paired else leave_out_cells
    samples = np.concatenate([all_cells(cells.n_puppets)[None], leave_out(cells.n_puppets)])
    values = arm_values(cells, samples)
    for measure in MEASURES:
        contrast = _contrast(
            cells, measure, values[measure], weights, settings.rarest_users, is_paired=is_paired
        )
        yield ArmTest(
            model=family.model,
            task=family.task,
            kind=family.kind,
            measure=measure,
            test="trend" if settings.is_trend else "difference",
            condition=arms[0].condition,
            other=arms[-1].condition,
            **contrast.columns(),
            p_value=contrast.p_value,
            p_holm=None,
            n_puppets=cells.n_puppets[0],
            n_puppets_other=cells.n_puppets[-1],
            n_items=len(cells.items),
            unit="within puppet" if is_paired else "puppet",
            reason=contrast.reason,
        )


def _slope_weights(arms: Sequence[StudyArm]) -> Floats:
    """Weights of the least-squares slope on the rank of the number of conversations asked for."""
    numbers = [arm.n_conversations or 0 for arm in arms]
    ranks = np.array([sorted(set(numbers)).index(n) for n in numbers], dtype=np.float64)
    deviations = ranks - ranks.mean()
    square = float((deviations**2).sum())
    weights: Floats = deviations / square if square else np.full(len(ranks), np.nan)
    return weights


def _contrast(
    cells: ArmCells,
    measure: str,
    values: Floats,
    weights: Floats,
    rarest_users: float,
    *,
    is_paired: bool,
) -> Quantity:
    """The weighted sum of arms: `values` has shape (1 + left out, arms), the whole first.

    Student's t, and the interval over users where there are enough. Within puppets a puppet is left out
    of all arms at once. Else arms are independent, and their errors add up (Welch). Distances have the
    error of the baseline's answers as well.
    """
    value, n_carriers = float(values[0] @ weights), cells.n_carriers(measure)
    if not math.isfinite(value):
        return Quantity(reason=_missing_reason(measure, cells, weights))
    baseline = BaselineVariance(0.0, 0)
    if measure == "from_baseline":
        baseline = baseline_variance(cells, weights)
    sides, test = _sides(cells, values, weights, n_carriers, is_paired=is_paired), None
    if np.isfinite(values).all() and min(cells.n_puppets) >= MIN_PUPPETS:
        errors = [(float(jackknife_variance(side.moves)), side.freedom) for side in sides]
        errors += [baseline] if baseline.value > 0 else []
        variances, freedoms = zip(*errors, strict=True)
        test = student_test(value, variances, freedoms)
    if test is None:
        return Quantity(value, reason=_no_test(measure, cells))
    if shortage := too_few_users(min(n_carriers), rarest_users):
        return Quantity(value, None, test.p_value, shortage)
    interval_at = partial(_interval, value, sides, baseline, rarest_users)
    p_value = p_value_with_interval(test.p_value, interval_at)
    return Quantity(value, interval_at(CONFIDENCE), p_value)


def _sides(
    cells: ArmCells,
    values: Floats,
    weights: Floats,
    n_carriers: Sequence[int],
    *,
    is_paired: bool,
) -> list[_Side]:
    if is_paired:
        contrasts = values @ weights
        return [_Side(float(contrasts[0]), contrasts[1:] - contrasts[0], min(n_carriers) - 1.0)]
    parts = np.split(values[1:], np.cumsum(cells.n_puppets)[:-1])
    return [
        _Side(float(values[0, k]), part[:, k] - values[0, k], n - 1.0)
        for k, (part, n) in enumerate(zip(parts, n_carriers, strict=True))
    ]


def _interval(
    value: float,
    sides: Sequence[_Side],
    baseline: BaselineVariance,
    rarest_users: float,
    confidence: float,
) -> Interval | None:
    """Empirical likelihood over puppets.

    Of independent arms, and of the baseline's answers, the reaches of the intervals add in squares.
    """
    intervals = [
        unit_interval(
            side.value,
            side.moves,
            rarest_users=rarest_users,
            freedom=side.freedom,
            confidence=confidence,
        )
        for side in sides
    ]
    first, *rest = [
        BoundedValue(side.value, interval) if interval else None
        for side, interval in zip(sides, intervals, strict=True)
    ]
    others_values = [other for other in rest if other]
    if first is None or len(others_values) < len(rest):
        return None
    interval = difference_interval(first, others_values) if others_values else first.interval
    if not baseline.value > 0:
        return interval
    reach = student_interval(0.0, math.sqrt(baseline.value), baseline.freedom, confidence)
    return difference_interval(BoundedValue(value, interval), [BoundedValue(0.0, reach)])


def _no_test(measure: str, cells: ArmCells) -> str:
    n_puppets = min(cells.n_puppets)
    if n_puppets < MIN_PUPPETS:
        noun = "puppet" if n_puppets == 1 else "puppets"
        return f"no test: a condition has {n_puppets} {noun}; a test needs {MIN_PUPPETS}"
    if measure == "share_who" and min(cells.n_carriers(measure)) < 2:
        return "no test: under one condition a single puppet answers twice"
    return (
        "no test: without one of the puppets a condition has no value, or leaving out a puppet "
        "never changes it"
    )


def _missing_reason(measure: str, cells: ArmCells, weights: Floats) -> str:
    n_puppets = min(cells.n_puppets)
    if np.isnan(weights).any():
        return "all conditions ask for the same number of conversations"
    if n_puppets < 2:
        noun = "puppet answers" if n_puppets == 1 else "puppets answer"
        return f"{n_puppets} {noun} under all conditions; a test needs {MIN_PUPPETS}"
    if not cells.items:
        return "no item has an answer under all conditions"
    if measure == "from_baseline":
        return "no item has two answers of the baseline"
    if measure == "em_strict":
        return "no run with gold letters answers all items"
    if measure == "share_who" and not min(cells.n_carriers(measure)):
        return "no puppet answers an item twice (replicates: 2 under conditions in the config)"
    return "all answers to an item are the same, so there is no variance"

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
from fieldwork.metrics.arms.values import (
    MEASURES,
    ArmCells,
    all_cells,
    arm_values,
    baseline_variance,
    build_cells,
    leave_out_cells,
    leave_out_puppets,
)
from fieldwork.records.arms import ArmTest
from fieldwork.records.tasks import ItemKind
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


class _TestFamily(NamedTuple):
    """Answers whose tests are corrected together."""

    model: str
    task: str
    kind: ItemKind


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
    for family in sorted({_TestFamily(arm.model, arm.task, arm.kind) for arm in by_arm}):
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


def _puppets(items: Mapping[str, ItemAnswers]) -> list[str]:
    return sorted({a.puppet for answers in items.values() for a in answers.answers} - {""})


def _test_family(
    family: _TestFamily, by_arm: AnswersByArm, scores: Scores, settings: _ArmTestSettings
) -> Iterator[ArmTest]:
    answers = {arm: by_arm.get(Arm(*family, arm.condition), {}) for arm in settings.arms}
    baseline = by_arm.get(Arm(*family, settings.baseline), {})
    puppets = {arm: names for arm in settings.arms if (names := _puppets(answers[arm]))}
    if len(puppets) < 2:
        return
    arm_groups = [[*puppets]] if settings.is_trend else [list(p) for p in combinations(puppets, 2)]
    for arms in arm_groups:
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
        cells = build_cells([answers[arm] for arm in arms], members, baseline, arm_scores)
        yield from _test_arms(family, arms, cells, settings, is_paired=is_paired)


def _test_arms(
    family: _TestFamily,
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
        contrast = float(values[measure][0] @ weights)
        p_value = _p_value(cells, measure, values[measure], weights, is_paired=is_paired)
        interval = shortage = None
        if p_value is not None:
            shortage = too_few_users(min(cells.n_carriers(measure)), settings.rarest_users)
        if p_value is not None and shortage is None:
            interval_at = partial(
                _interval,
                cells,
                measure,
                values[measure],
                weights,
                settings.rarest_users,
                is_paired,
            )
            interval = interval_at(CONFIDENCE)
            p_value = p_value_with_interval(p_value, interval_at)
        has_value = math.isfinite(contrast)
        yield ArmTest(
            model=family.model,
            task=family.task,
            kind=family.kind,
            measure=measure,
            test="trend" if settings.is_trend else "difference",
            condition=arms[0].condition,
            other=arms[-1].condition,
            estimate=contrast if has_value else None,
            ci_low=interval.low if interval else None,
            ci_high=interval.high if interval else None,
            p_value=p_value,
            p_holm=None,
            n_puppets=cells.n_puppets[0],
            n_puppets_other=cells.n_puppets[-1],
            n_items=len(cells.items),
            unit="within puppet" if is_paired else "puppet",
            reason=shortage
            if p_value is not None
            else _no_test(measure, cells, weights, has_value=has_value),
        )


def _slope_weights(arms: Sequence[StudyArm]) -> Floats:
    """Weights of the least-squares slope on the rank of the number of conversations asked for."""
    numbers = [arm.n_conversations or 0 for arm in arms]
    ranks = np.array([sorted(set(numbers)).index(n) for n in numbers], dtype=np.float64)
    deviations = ranks - ranks.mean()
    square = float((deviations**2).sum())
    weights: Floats = deviations / square if square else np.full(len(ranks), np.nan)
    return weights


def _p_value(
    cells: ArmCells, measure: str, values: Floats, weights: Floats, *, is_paired: bool
) -> float | None:
    """Student's t of the weighted sum of arms: `values` has shape (1 + left out, arms), the whole first.

    Within puppets a puppet is left out of all arms at once. Else arms are independent, and their errors
    add up (Welch). Distances have the error of the baseline's answers as well.
    """
    if not np.isfinite(values).all() or min(cells.n_puppets) < MIN_PUPPETS:
        return None
    n_carriers = cells.n_carriers(measure)
    if is_paired:
        variances = [float(jackknife_variance(values[1:] @ weights))]
        freedoms = [min(n_carriers) - 1.0]
    else:
        parts = np.split(values[1:], np.cumsum(cells.n_puppets)[:-1])
        variances = [
            float(weight**2 * jackknife_variance(part[:, k]))
            for k, (part, weight) in enumerate(zip(parts, weights, strict=True))
        ]
        freedoms = [n - 1.0 for n in n_carriers]
    if measure == "from_baseline":
        baseline = baseline_variance(cells, weights)
        if baseline.value > 0:
            variances, freedoms = [*variances, baseline.value], [*freedoms, baseline.freedom]
    test = student_test(float(values[0] @ weights), variances, freedoms)
    return test.p_value if test else None


def _interval(
    cells: ArmCells,
    measure: str,
    values: Floats,
    weights: Floats,
    rarest_users: float,
    is_paired: bool,
    confidence: float,
) -> Interval | None:
    """Empirical likelihood over puppets.

    Of independent arms, and of the baseline's answers, the reaches of the intervals add in squares.
    """
    n_carriers = cells.n_carriers(measure)
    over_users = partial(unit_interval, rarest_users=rarest_users, confidence=confidence)
    contrast = float(values[0] @ weights)
    if is_paired:
        moves = values[1:] @ weights - contrast
        interval = over_users(contrast, moves, freedom=min(n_carriers) - 1.0)
    else:
        parts = np.split(values[1:], np.cumsum(cells.n_puppets)[:-1])
        arms = []
        for k, (part, n) in enumerate(zip(parts, n_carriers, strict=True)):
            value = float(values[0, k])
            moves = part[:, k] - value
            interval = over_users(value, moves, freedom=n - 1.0)
            arms += [BoundedValue(value, interval)] if interval else []
        interval = difference_interval(arms[0], arms[1:]) if len(arms) == len(parts) else None
    baseline = baseline_variance(cells, weights)
    if interval is None or measure != "from_baseline" or not baseline.value > 0:
        return interval
    reach = student_interval(0.0, math.sqrt(baseline.value), baseline.freedom, confidence)
    return difference_interval(BoundedValue(contrast, interval), [BoundedValue(0.0, reach)])


def _no_test(measure: str, cells: ArmCells, weights: Floats, *, has_value: bool) -> str:
    if not has_value:
        return _missing_reason(measure, cells, weights)
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

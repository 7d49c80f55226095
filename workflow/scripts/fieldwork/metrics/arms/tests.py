"""Tests between the conditions of a study: trends within puppets, and differences between two conditions.

Owns the permutation tests over arms. A test exchanges a puppet's whole set of answers under one
condition, so that answers of one puppet stay together. Promises that each value is the one that another
metric defines: `share_who` and `var_answers` as in `variance`, `em_strict` as in `accuracy`.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd

from fieldwork.metrics.answer_sets import Arm, ItemAnswers, read_answer_sets
from fieldwork.metrics.arms.values import MEASURES, ArmCells, arm_values, build_cells
from fieldwork.records.metrics import ArmTest
from fieldwork.records.tasks import ItemKind
from fieldwork.statistics.arrays import Floats, Indices
from fieldwork.statistics.families import correct_rows
from fieldwork.statistics.permutation import TIE, random_p_value, require_permutations
from fieldwork.statistics.seeds import generator


class StudyArm(NamedTuple):
    """A condition of the figure of arms; `n_conversations` is what it asks for, None for profiles."""

    condition: str
    n_conversations: int | None


class _ArmTestSettings(NamedTuple):
    arms: Sequence[StudyArm]
    is_trend: bool
    baseline: str
    n_permutations: int
    seed: int


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
    n_permutations: int,
    seed: int,
) -> list[ArmTest]:
    """Tests between the arms that have puppets, for each model, task and kind of item.

    Args:
        runs: rows of `accuracy_runs`.
        arms: in the order of the figure.
        trend: test one trend over the arms by `n_conversations`, not a difference for each pair.

    Raises:
        StudyError: no permutations.
    """
    require_permutations(n_permutations)
    settings = _ArmTestSettings(arms, trend, baseline, n_permutations, seed)
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
    sizes, n = cells.n_puppets, settings.n_permutations
    weights = _slope_weights(arms) if settings.is_trend else np.array([1.0, -1.0])
    statistics: dict[str, Floats] = {}
    if min(sizes) >= 2:
        random = generator(settings.seed, "arms", *family, *(arm.condition for arm in arms))
        permute = permute_within_puppets if is_paired else permute_between_puppets
        assignments = np.concatenate([observed_assignment(sizes), permute(sizes, n, random)])
        statistics = {
            measure: values @ weights for measure, values in arm_values(cells, assignments).items()
        }
    for measure in MEASURES:
        values = statistics.get(measure, np.array([math.nan]))
        has_value = bool(np.isfinite(values[0]))
        yield ArmTest(
            model=family.model,
            task=family.task,
            kind=family.kind,
            measure=measure,
            test="trend" if settings.is_trend else "difference",
            condition=arms[0].condition,
            other=arms[-1].condition,
            estimate=float(values[0]) if has_value else None,
            p_value=_two_sided_p_value(values) if has_value else None,
            p_holm=None,
            n_permutations=n if has_value else None,
            n_puppets=sizes[0],
            n_puppets_other=sizes[-1],
            n_items=len(cells.items),
            unit="within puppet" if is_paired else "puppet",
            reason=None if has_value else _missing_reason(measure, cells, weights),
        )


def _slope_weights(arms: Sequence[StudyArm]) -> Floats:
    """Weights of the least-squares slope on the rank of the number of conversations asked for."""
    numbers = [arm.n_conversations or 0 for arm in arms]
    ranks = np.array([sorted(set(numbers)).index(n) for n in numbers], dtype=np.float64)
    deviations = ranks - ranks.mean()
    square = float((deviations**2).sum())
    weights: Floats = deviations / square if square else np.full(len(ranks), np.nan)
    return weights


def observed_assignment(sizes: Sequence[int]) -> Floats:
    """Each puppet in its own arm, shape (1, arms, puppets of all arms)."""
    return _indicate_arms(np.repeat(np.arange(len(sizes)), sizes)[None], len(sizes))


def permute_within_puppets(sizes: Sequence[int], n: int, random: np.random.Generator) -> Floats:
    """Each puppet's answers permuted over the arms, shape (n, arms, puppets of all arms)."""
    arms, puppets = len(sizes), sizes[0]
    order = random.permuted(np.tile(np.arange(arms), (n, puppets, 1)), axis=2)
    return _indicate_arms(order.transpose(0, 2, 1).reshape(n, arms * puppets), arms)


def permute_between_puppets(sizes: Sequence[int], n: int, random: np.random.Generator) -> Floats:
    """Whole puppets permuted over the arms, shape (n, arms, puppets of all arms)."""
    arm_of = np.repeat(np.arange(len(sizes)), sizes)
    return _indicate_arms(random.permuted(np.tile(arm_of, (n, 1)), axis=1), len(sizes))


def _indicate_arms(arm_of: Indices, n_arms: int) -> Floats:
    """1 where a cell is in an arm: from arms by cell, (n, cells), to (n, arms, cells)."""
    indicator: Floats = (arm_of[:, None, :] == np.arange(n_arms)[:, None]).astype(np.float64)
    return indicator


def _two_sided_p_value(values: Floats) -> float:
    """(hits + 1) / (permutations + 1); the first value is the observed one."""
    # a permutation without a value counts against the effect
    is_miss = np.abs(values[1:]) < abs(float(values[0])) - TIE
    return random_p_value(int((~is_miss).sum()), len(values) - 1)


def _missing_reason(measure: str, cells: ArmCells, weights: Floats) -> str:
    n_puppets = min(cells.n_puppets)
    if np.isnan(weights).any():
        return "all conditions ask for the same number of conversations"
    if n_puppets < 2:
        noun = "puppet answers" if n_puppets == 1 else "puppets answer"
        return f"{n_puppets} {noun} under all conditions; a test needs 2"
    if not cells.items:
        return "no item has an answer under all conditions"
    if measure == "from_baseline":
        return "no item has two answers of the baseline"
    if measure == "em_strict":
        return "no run with gold letters answers all items"
    if measure == "share_who" and not cells.n_repeated:
        return "no puppet answers an item twice (replicates: 2 under conditions in the config)"
    return "all answers to an item are the same, so there is no variance"

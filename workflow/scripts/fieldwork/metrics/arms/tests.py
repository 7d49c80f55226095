"""Whether conditions set side by side differ: trends within puppets, and differences between two.

Owns the permutation tests over arms. What is exchanged is a puppet's whole set of answers under one
condition, so that answers of one puppet stay together. Promises that each value is the one the other
metrics define: `share_who` and `var_answers` as in `variance`, `em_strict` as in `accuracy`.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd

from fieldwork.metrics.answer_sets import Arm, ItemAnswers, read_answer_sets
from fieldwork.metrics.arms.values import MEASURES, Cells, arm_values, cells_of
from fieldwork.records.metrics import ArmTest
from fieldwork.records.tasks import ItemKind
from fieldwork.statistics.arrays import Floats
from fieldwork.statistics.families import correct_rows
from fieldwork.statistics.permutation import TIE, random_p_value, require_permutations
from fieldwork.statistics.seeds import generator


class ArmOfStudy(NamedTuple):
    """A condition of the figure of arms; `asked` is the number of conversations, None for profiles."""

    condition: str
    asked: int | None


class _Plan(NamedTuple):
    arms: Sequence[ArmOfStudy]
    baseline: str
    n_permutations: int
    seed: int


class _Name(NamedTuple):
    model: str
    task: str
    kind: ItemKind


Answers = Mapping[Arm, Mapping[str, ItemAnswers]]
Scores = Mapping[tuple[str, str, str, str], float]


def measure_arm_tests(
    answers: pd.DataFrame,
    runs: pd.DataFrame,
    *,
    arms: Sequence[ArmOfStudy],
    trend: bool,
    baseline: str,
    n_permutations: int,
    seed: int,
) -> list[ArmTest]:
    """Tests between the arms in which somebody asks, for each model, task and kind of item.

    Args:
        runs: rows of `accuracy_runs`.
        arms: in the order of the figure.
        trend: one trend over the arms by `asked`, and not a difference for each pair.

    Raises:
        StudyError: no permutations.
    """
    require_permutations(n_permutations)
    plan = _Plan(arms, baseline, n_permutations, seed)
    given = read_answer_sets(answers)
    scores = _scores(runs)
    rows: list[ArmTest] = []
    for name in sorted({_Name(arm.model, arm.task, arm.kind) for arm in given}):
        asked = [a for a in arms if _puppets(given.get(Arm(*name, a.condition), {}))]
        tests = list(_tests(name, given, scores, asked, plan, trend=trend))
        rows += correct_rows(tests, lambda row: row.measure)
    return rows


def _scores(runs: pd.DataFrame) -> dict[tuple[str, str, str, str], float]:
    """Mean `em_strict` of a puppet's complete runs, by model, task, condition and puppet."""
    if runs.empty:
        return {}
    full = runs.groupby(["model", "task"])["n_items"].transform("max")
    whole = runs[(runs["n_items"] == full) & runs["puppet_id"].notna()]
    grouped = whole.groupby(["model", "task", "condition", "puppet_id"])["em_strict"]
    return {
        (str(model), str(task), str(condition), str(puppet)): math.fsum(of) / len(of)
        for (model, task, condition, puppet), of in grouped
    }


def _puppets(items: Mapping[str, ItemAnswers]) -> list[str]:
    return sorted({a.puppet for answers in items.values() for a in answers.answers} - {""})


def _tests(
    name: _Name,
    given: Answers,
    scores: Scores,
    asked: Sequence[ArmOfStudy],
    plan: _Plan,
    *,
    trend: bool,
) -> Iterator[ArmTest]:
    groups = [asked] if trend else [list(pair) for pair in combinations(asked, 2)]
    offline = given.get(Arm(*name, plan.baseline), {})
    for group in groups:
        if len(group) < 2:
            continue
        members = [given[Arm(*name, arm.condition)] for arm in group]
        puppets = [_puppets(items) for items in members]
        shared = sorted(set.intersection(*(set(found) for found in puppets)))
        paired = trend or all(found == puppets[0] for found in puppets)
        taken = [shared] * len(group) if paired else puppets
        known = [
            {p: s for p in found if (s := scores.get((*name[:2], arm.condition, p))) is not None}
            for arm, found in zip(group, taken, strict=True)
        ]
        cells = cells_of(members, taken, offline, known)
        yield from _test_group(name, group, cells, plan, trend=trend, paired=paired)


def _test_group(
    name: _Name,
    group: Sequence[ArmOfStudy],
    cells: Cells,
    plan: _Plan,
    *,
    trend: bool,
    paired: bool,
) -> Iterator[ArmTest]:
    first, last = group[0].condition, group[-1].condition
    sizes = cells.n_puppets
    random = generator(plan.seed, "arms", *name, *(arm.condition for arm in group))
    weights = _slope([arm.asked or 0 for arm in group]) if trend else np.array([1.0, -1.0])
    found: dict[str, Floats] = {}
    if min(sizes) >= 2:
        deal = dealt_within if paired else dealt_between
        found = {
            measure: values @ weights
            for measure, values in arm_values(
                cells, np.concatenate([own_arms(sizes), deal(sizes, plan.n_permutations, random)])
            ).items()
        }
    for measure in MEASURES:
        values = found.get(measure, np.array([math.nan]))
        known = bool(np.isfinite(values[0]))
        yield ArmTest(
            model=name.model,
            task=name.task,
            kind=name.kind,
            measure=measure,
            test="trend" if trend else "difference",
            condition=first,
            other=last,
            estimate=float(values[0]) if known else None,
            p_value=_two_sided(values) if known else None,
            p_holm=None,
            n_permutations=plan.n_permutations if known else None,
            n_puppets=sizes[0],
            n_puppets_other=sizes[-1],
            n_items=len(cells.items),
            unit="within puppet" if paired else "puppet",
            reason=None if known else _why_none(measure, cells, weights),
        )


def _slope(asked: Sequence[int]) -> Floats:
    """Weights of the least-squares slope on the rank of the number asked for."""
    ranks = np.array([sorted(set(asked)).index(n) for n in asked], dtype=np.float64)
    centred = ranks - ranks.mean()
    square = float((centred**2).sum())
    weights: Floats = centred / square if square else np.full(len(ranks), np.nan)
    return weights


def own_arms(sizes: Sequence[int]) -> Floats:
    """Each puppet in its own arm, shape (1, arms, puppets of all arms)."""
    owner = np.repeat(np.arange(len(sizes)), sizes)
    own: Floats = (owner[None, :] == np.arange(len(sizes))[:, None]).astype(np.float64)
    return own[None]


def dealt_within(sizes: Sequence[int], n: int, random: np.random.Generator) -> Floats:
    """Each puppet's answers dealt anew to the arms, shape (n, arms, puppets of all arms)."""
    arms, puppets = len(sizes), sizes[0]
    order = random.permuted(np.tile(np.arange(arms), (n, puppets, 1)), axis=2)
    to = order.transpose(0, 2, 1).reshape(n, 1, arms * puppets)
    dealt: Floats = (to == np.arange(arms)[None, :, None]).astype(np.float64)
    return dealt


def dealt_between(sizes: Sequence[int], n: int, random: np.random.Generator) -> Floats:
    """Whole puppets dealt anew to the arms, shape (n, arms, puppets of all arms)."""
    owner = np.repeat(np.arange(len(sizes)), sizes)
    to = random.permuted(np.tile(owner, (n, 1)), axis=1)[:, None, :]
    dealt: Floats = (to == np.arange(len(sizes))[None, :, None]).astype(np.float64)
    return dealt


def _two_sided(values: Floats) -> float:
    """(hits + 1) / (permutations + 1); the first value is the observed one."""
    # a permutation without a value counts against the effect
    missed = np.abs(values[1:]) < abs(float(values[0])) - TIE
    return random_p_value(int((~missed).sum()), len(values) - 1)


def _why_none(measure: str, cells: Cells, weights: Floats) -> str:
    if np.isnan(weights).any():
        return "all conditions ask for the same number of conversations"
    if min(cells.n_puppets) < 2:
        return f"{min(cells.n_puppets)} puppets answer under all conditions, a test needs 2"
    if not cells.items:
        return "no item has an answer under all conditions"
    if measure == "from_baseline":
        return "the baseline does not answer one of these items twice"
    if measure == "em_strict":
        return "no run with gold letters answers all items"
    if measure == "share_who" and not cells.n_repeated:
        return "no puppet answers an item twice (replicates: 2 under conditions in the config)"
    return "all answers to an item are the same: there is no variance to share out"

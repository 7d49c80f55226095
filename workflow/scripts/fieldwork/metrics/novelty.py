"""Which letters a condition gives that the baseline never gave, beside what fresh reruns alone give.

Owns the share of choice items with a new letter, its interval, and its excess over a control arm of
further offline reruns, with a test. Letters are the flexible reading; responses that failed are no
data. A unit is a puppet, with its first answer to each item, or a rerun; unreadable letters are not new.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fieldwork.errors import StudyError
from fieldwork.metrics.distributions import choice_answers, text_or_none
from fieldwork.records.metrics import Novelty
from fieldwork.statistics.arrays import Floats
from fieldwork.statistics.families import holm
from fieldwork.statistics.intervals import Interval, student_quantile, wilson_interval
from fieldwork.statistics.permutation import p_value_of_first, unit_splits
from fieldwork.statistics.richness import rarefaction_table
from fieldwork.statistics.seeds import generator

_Givers = dict[str, set[str]]
"""Who gave each letter; empty text where nobody asks."""

_Letters = dict[str, dict[str, str | None]]
"""A unit's letter by item; None where it cannot be read."""

_NOTHING = 1e-12
_NONE: Mapping[str, Any] = {
    "n_equal": None, "n_items_equal": None, "share_equal": None, "control_share": None,
    "excess": None, "excess_low": None, "excess_high": None, "p_value": None, "p_holm": None,
    "n_permutations": None,
}  # fmt: skip


class _Arm(NamedTuple):
    model: str
    task: str
    condition: str


class _Plan(NamedTuple):
    baseline: str
    control: str | None
    n_permutations: int
    seed: int


class _Answers(NamedTuple):
    """All letters of an arm by item, and the letters that stand for its units."""

    givers: dict[str, _Givers]
    units: _Letters


class Sides(NamedTuple):
    """Which units give a new letter to which items: shape (units, items), 0 and 1."""

    here: Floats
    control: Floats

    @property
    def n_equal(self) -> int:
        """Units both sides are brought to."""
        return min(len(self.here), len(self.control))


def measure_novelty(
    answers: pd.DataFrame,
    *,
    baseline: str,
    control: str | None = None,
    n_permutations: int = 1999,
    seed: int = 0,
) -> list[Novelty]:
    """Share of items with a readable letter that is absent from the baseline's letters.

    One row for each model, task and condition other than the baseline. Items without a readable
    letter on either side are left out of the denominator. `control` names a condition of fresh
    offline reruns; without one there is no excess. P-values are corrected over the conditions of a
    model and task.

    Raises:
        StudyError: no permutations.
    """
    if n_permutations < 1:
        raise StudyError(
            f"metrics.permutations is {n_permutations}: a test needs at least 1; raise it"
        )
    plan = _Plan(baseline, control, n_permutations, seed)
    arms = _read(answers)
    rows = [
        replace(_novelty(arm, arms[arm], offline, plan), **_beside_control(arm, arms, plan))
        for arm in sorted(arms)
        if arm.condition != baseline
        for offline in [arms.get(arm._replace(condition=baseline))]
    ]
    return _corrected([_with_reason(row, plan) for row in rows])


def _read(answers: pd.DataFrame) -> dict[_Arm, _Answers]:
    arms: dict[_Arm, _Answers] = {}
    given = choice_answers(answers, "letter", "puppet_id", "replicate")
    # of a puppet's answers to an item the first stands for it
    for row in given.sort_values("replicate", kind="stable").itertuples(index=False, name=None):
        arm = arms.setdefault(_Arm(row[0], row[1], row[2]), _Answers({}, {}))
        item, letter, puppet = row[3], text_or_none(row[4]), text_or_none(row[5])
        if letter is not None:
            arm.givers.setdefault(item, {}).setdefault(letter, set()).add(puppet or "")
        unit = puppet if puppet else f"rerun {row[6]}"
        arm.units.setdefault(unit, {}).setdefault(item, letter)
    return arms


def _novelty(arm: _Arm, answers: _Answers, offline: _Answers | None, plan: _Plan) -> Novelty:
    given, known = answers.givers, offline.givers if offline else {}
    shared = [item for item in given if item in known]
    givers = [[given[item][x] for x in given[item].keys() - known[item].keys()] for item in shared]
    puppets = {who for item in given.values() for of in item.values() for who in of} - {""}
    interval = _novelty_interval(givers, sorted(puppets)) if shared else None
    n_novel = sum(1 for of in givers if of)
    return Novelty(
        model=arm.model,
        task=arm.task,
        condition=arm.condition,
        baseline=plan.baseline,
        n_items=len(shared),
        n_novel=n_novel,
        share=n_novel / len(shared) if shared else None,
        ci_low=interval.low if interval else None,
        ci_high=interval.high if interval else None,
        control=plan.control,
        **_NONE,
        reason=None if shared else _no_novelty(plan.baseline, offline),
    )


def _novelty_interval(givers: Sequence[Sequence[set[str]]], puppets: Sequence[str]) -> Interval:
    """The wider reach of Wilson's interval over items and the jackknife over puppets.

    `givers` holds, for each item, who gave each of its new letters. Puppets answer all items, so
    that the items are not independent draws.
    """
    n_items, n_novel = len(givers), sum(1 for of in givers if of)
    wilson = wilson_interval(n_novel, n_items)
    if len(puppets) < 2:
        return wilson
    lost = Counter(next(iter(who)) for of in givers if len(who := set().union(*of)) == 1 and of)
    losses = [lost[puppet] / n_items for puppet in puppets]
    mean = math.fsum(losses) / len(losses)
    squares = math.fsum((loss - mean) ** 2 for loss in losses)
    error = math.sqrt((len(puppets) - 1) / len(puppets) * squares)
    share, half = n_novel / n_items, student_quantile(len(puppets) - 1) * error
    return Interval(
        max(0.0, min(wilson.low, share - half)), min(1.0, max(wilson.high, share + half))
    )


def _no_novelty(baseline: str, offline: _Answers | None) -> str:
    if offline is None:
        return f"there are no answers under the baseline condition {baseline}"
    return f"no item has a readable letter both here and under the baseline condition {baseline}"


def _beside_control(arm: _Arm, arms: Mapping[_Arm, _Answers], plan: _Plan) -> Mapping[str, Any]:
    offline = arms.get(arm._replace(condition=plan.baseline))
    control = arms.get(arm._replace(condition=plan.control)) if plan.control else None
    if offline is None or control is None:
        return _NONE
    trio = [arms[arm], control, offline]
    items = sorted(set.intersection(*(set(answers.givers) for answers in trio)))
    if not items:
        return _NONE
    known = {item: set(offline.givers[item]) for item in items}
    sides = Sides(_new(arms[arm].units, known), _new(control.units, known))
    m = sides.n_equal
    here, there = (_expected(side, m) for side in sides)
    told: dict[str, Any] = {
        **_NONE,
        "n_equal": m,
        "n_items_equal": len(items),
        "share_equal": here,
        "control_share": there,
    }
    if arm.condition == plan.control:
        return told
    interval = excess_interval(sides)
    splits = unit_splits(
        *map(len, sides),
        n_permutations=plan.n_permutations,
        random=generator(plan.seed, "novelty", *arm),
    )
    return told | {
        "excess": here - there,
        "excess_low": interval.low if interval else None,
        "excess_high": interval.high if interval else None,
        "p_value": p_value_of_first(excess_of_splits(sides, splits.first)),
        "n_permutations": splits.n_drawn,
    }


def _new(units: _Letters, known: Mapping[str, set[str]]) -> Floats:
    return np.array(
        [
            [
                (letter := given.get(item)) is not None and letter not in known[item]
                for item in known
            ]
            for _, given in sorted(units.items())
        ],
        dtype=np.float64,
    )


def _expected(new: Floats, size: int) -> float:
    """Expected share of items to which `size` of the units give a new letter, over all choices."""
    return float(_chances(len(new), size)[new.sum(axis=0).astype(np.int64)].mean())


def _chances(units: int, size: int) -> Floats:
    """Chance that one of `size` units is among the k that give a new letter: k = 0..units."""
    return rarefaction_table(units, size)


def excess_of_splits(sides: Sides, first: NDArray[np.bool_]) -> Floats:
    """The excess with units dealt anew, at the same numbers: `first` has shape (splits, units)."""
    pooled = np.concatenate(sides)
    counts = first.astype(np.float64) @ pooled
    dealt = (counts, pooled.sum(axis=0) - counts)
    shares = [
        _chances(len(side), sides.n_equal)[count.astype(np.int64)].mean(axis=1)
        for side, count in zip(sides, dealt, strict=True)
    ]
    excess: Floats = shares[0] - shares[1]
    return excess


def excess_interval(sides: Sides) -> Interval | None:
    """Jackknife over the units of both sides, items fixed; Student's t with Satterthwaite's freedom.

    None with fewer than two units on a side, or where none makes a difference.
    """
    if min(len(side) for side in sides) < 2:
        return None
    m = sides.n_equal
    parts = [_jackknife_square(side, m) for side in sides]
    if sum(parts) < _NOTHING**2:
        return None
    freedom = sum(parts) ** 2 / sum(
        part**2 / (len(side) - 1) for part, side in zip(parts, sides, strict=True)
    )
    excess = _expected(sides.here, m) - _expected(sides.control, m)
    half = student_quantile(freedom) * math.sqrt(sum(parts))
    return Interval(max(-1.0, excess - half), min(1.0, excess + half))


def _jackknife_square(new: Floats, size: int) -> float:
    """Squared standard error of `_expected`: (n - 1) / n * the squares of the leave-one-outs."""
    n = len(new)
    left = (new.sum(axis=0) - new).astype(np.int64)
    shares = _chances(n - 1, min(size, n - 1))[left].mean(axis=1)
    return float((n - 1) / n * ((shares - shares.mean()) ** 2).sum())


def _with_reason(row: Novelty, plan: _Plan) -> Novelty:
    if row.share is None:
        return row
    why = None
    if plan.control is None:
        why = f"no excess: no selected condition has `after: {plan.baseline}`"
    elif row.condition == plan.control:
        why = "no excess: this is the control"
    elif row.control_share is None:
        why = f"no excess: the control {plan.control} shares no readable item"
    elif row.excess_low is None:
        why = "no interval of the excess: there are no two units a side, or none makes a difference"
    return replace(row, reason=why)


def _corrected(rows: Sequence[Novelty]) -> list[Novelty]:
    """Holm's correction over the conditions of a model and task."""
    done: list[Novelty] = []
    for key in sorted({(row.model, row.task) for row in rows}):
        family = [row for row in rows if (row.model, row.task) == key]
        tested = [row for row in family if row.p_value is not None]
        corrected = holm([row.p_value for row in tested if row.p_value is not None])
        done += [replace(row, p_holm=p) for row, p in zip(tested, corrected, strict=True)]
        done += [row for row in family if row.p_value is None]
    return sorted(done, key=lambda row: (row.model, row.task, row.condition))

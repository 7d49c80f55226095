"""Letters that a condition gives and the baseline never gave, beside those of as many fresh reruns.

Owns the share of choice items with a new letter at equal numbers of users and reruns, its interval,
and its excess over a control arm of further offline reruns, with a test. Letters are the flexible
reading; responses that failed are no data. A unit is a puppet, with its first answer to each item, or
a rerun; unreadable letters are not new.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from fieldwork.metrics.distributions import ChoiceArm, choice_answers, text_or_none
from fieldwork.records.metrics import Novelty
from fieldwork.statistics.arrays import Flags, Floats
from fieldwork.statistics.families import correct_rows
from fieldwork.statistics.intervals import (
    BoundedValue,
    Interval,
    difference_interval,
    jackknife_variance,
    student_interval,
    student_quantile,
    welch_freedom,
    wilson_interval,
)
from fieldwork.statistics.permutation import p_value_of_first, require_permutations, unit_splits
from fieldwork.statistics.richness import rarefaction_table
from fieldwork.statistics.seeds import generator
from fieldwork.statistics.user_intervals import (
    RAREST_USERS,
    item_share_interval,
    too_few_users,
    unit_interval,
)

_UnitLetters = dict[str, dict[str, str | None]]
"""A unit's letter by item; None where it cannot be read."""

_NOTHING = 1e-12
_NO_SHARE: Mapping[str, Any] = dict.fromkeys(
    (
        *("n_equal", "n_baseline", "share", "ci_low", "ci_high", "share_all", "control_share"),
        *("excess", "excess_low", "excess_high", "p_value", "p_holm", "n_permutations", "reason"),
    )
)


class _NoveltySettings(NamedTuple):
    baseline: str
    control: str | None
    n_permutations: int
    seed: int
    rarest_users: float


class _ArmLetters(NamedTuple):
    """All readable letters of an arm by item, and the letters that stand for its units."""

    letters: dict[str, set[str]]
    units: _UnitLetters
    puppets: set[str]


class _Trio(NamedTuple):
    """The arms of one row, and the items that all of them answer."""

    items: list[str]
    condition: _ArmLetters
    baseline: _ArmLetters
    control: _ArmLetters | None

    @property
    def n_equal(self) -> int:
        """The fewest units of an arm, to which all are brought."""
        arms = (self.condition, self.baseline, self.control)
        return min(len(arm.units) for arm in arms if arm)

    def new_letters(self, arm: _ArmLetters) -> Floats:
        """Whether each unit of an arm gives each item a new letter: shape (units, items), 0 and 1."""
        return np.array(
            [
                [self._is_new(item, letters.get(item)) for item in self.items]
                for _, letters in sorted(arm.units.items())
            ],
            dtype=np.float64,
        )

    def _is_new(self, item: str, letter: str | None) -> bool:
        return letter is not None and letter not in self.baseline.letters[item]


class NewLetters(NamedTuple):
    """Which units give a new letter to which items: shape (units, items), 0 and 1.

    Both sides are brought to `n_equal` units.
    """

    condition: Floats
    control: Floats
    n_equal: int


def measure_novelty(
    answers: pd.DataFrame,
    *,
    baseline: str,
    control: str | None = None,
    n_permutations: int = 1999,
    seed: int = 0,
    rarest_users: float = RAREST_USERS,
) -> list[Novelty]:
    """Share of items with a readable letter that is absent from the baseline's letters.

    One row for each model, task and condition other than the baseline. `control` names a condition of
    further offline reruns; without one there is no excess. Items are those with a readable letter
    here, in the baseline and in the control, where there is one. Units are brought to the fewest of
    the three. P-values are corrected over the conditions of a model and task.

    Args:
        rarest_users: share of users of the rarest kind that intervals cover.

    Raises:
        StudyError: no permutations.
    """
    require_permutations(n_permutations)
    settings = _NoveltySettings(baseline, control, n_permutations, seed, rarest_users)
    arms = _read_letters(answers)
    rows = [_novelty(arm, arms, settings) for arm in sorted(arms) if arm.condition != baseline]
    return correct_rows(rows, lambda row: (row.model, row.task))


def _read_letters(answers: pd.DataFrame) -> dict[ChoiceArm, _ArmLetters]:
    arms: dict[ChoiceArm, _ArmLetters] = {}
    choices = choice_answers(answers, "letter", "puppet_id", "replicate")
    # of a puppet's answers to an item the first stands for it
    choices = choices.sort_values("replicate", kind="stable")
    for row in choices.itertuples(index=False, name=None):
        arm_letters = arms.setdefault(ChoiceArm(row[0], row[1], row[2]), _ArmLetters({}, {}, set()))
        item, letter, puppet = row[3], text_or_none(row[4]), text_or_none(row[5])
        if letter is not None:
            arm_letters.letters.setdefault(item, set()).add(letter)
        if puppet:
            arm_letters.puppets.add(puppet)
        unit = puppet if puppet else f"rerun {row[6]}"
        arm_letters.units.setdefault(unit, {}).setdefault(item, letter)
    return arms


def _novelty(
    arm: ChoiceArm, arms: Mapping[ChoiceArm, _ArmLetters], settings: _NoveltySettings
) -> Novelty:
    row = Novelty(
        model=arm.model,
        task=arm.task,
        condition=arm.condition,
        baseline=settings.baseline,
        control=settings.control,
        n_items=0,
        **_NO_SHARE,
    )
    offline = arms.get(arm._replace(condition=settings.baseline))
    if offline is None:
        reason = f"there are no answers under the baseline condition {settings.baseline}"
        return replace(row, reason=reason)
    control = arms.get(arm._replace(condition=settings.control)) if settings.control else None
    items = _shared_items(arms[arm], offline, control)
    if not items:
        control, items = None, _shared_items(arms[arm], offline)
    if not items:
        reason = f"no item has a readable letter both here and under {settings.baseline}"
        return replace(row, reason=reason)
    columns = _columns(arm, _Trio(items, arms[arm], offline, control), settings)
    row = replace(row, n_items=len(items), **columns)
    n_users = len(arms[arm].puppets)
    shortage = too_few_users(n_users, settings.rarest_users) if n_users else None
    reasons = [shortage, _no_excess(row, has_users=n_users > 0)]
    return replace(row, reason="; ".join(filter(None, reasons)) or None)


def _shared_items(*arms: _ArmLetters | None) -> list[str]:
    """Items with a readable letter in all arms; an arm that is None is left out."""
    return sorted(set.intersection(*(set(arm.letters) for arm in arms if arm)))


def _columns(arm: ChoiceArm, trio: _Trio, settings: _NoveltySettings) -> dict[str, Any]:
    new = trio.new_letters(trio.condition)
    rarest = settings.rarest_users if trio.condition.puppets else None
    interval = share_interval(new, trio.n_equal, rarest_users=rarest)
    n_new = sum(bool(trio.condition.letters[i] - trio.baseline.letters[i]) for i in trio.items)
    columns: dict[str, Any] = {
        "n_equal": trio.n_equal,
        "n_baseline": len(trio.baseline.units),
        "share": expected_share(new, trio.n_equal),
        "ci_low": interval.low if interval else None,
        "ci_high": interval.high if interval else None,
        "share_all": n_new / len(trio.items),
    }
    if trio.control is None:
        return columns
    sides = NewLetters(new, trio.new_letters(trio.control), trio.n_equal)
    columns["control_share"] = expected_share(sides.control, sides.n_equal)
    if arm.condition == settings.control:
        return columns
    interval = excess_interval(sides, rarest_users=rarest)
    random = generator(settings.seed, "novelty", *arm)
    return columns | {
        "excess_low": interval.low if interval else None,
        "excess_high": interval.high if interval else None,
        **_excess_columns(sides, settings.n_permutations, random),
    }


def _excess_columns(
    sides: NewLetters, n_permutations: int, random: np.random.Generator
) -> dict[str, Any]:
    splits = unit_splits(
        len(sides.condition), len(sides.control), n_permutations=n_permutations, random=random
    )
    excess = excess_of_splits(sides, splits.first)
    return {
        "excess": float(excess[0]),
        "p_value": p_value_of_first(excess),
        "n_permutations": splits.n_drawn,
    }


def _no_excess(row: Novelty, *, has_users: bool) -> str | None:
    if row.control is None:
        return f"no excess: no selected condition has `after: {row.baseline}`"
    if row.condition == row.control:
        return "no excess: this is the control"
    if row.control_share is None:
        return f"no excess: the control {row.control} shares no readable item"
    # too few users is said already
    if row.excess_low is None and not (has_users and row.ci_low is None):
        return (
            "no interval of the excess: there are no two units a side, or none makes a difference"
        )
    return None


def expected_share(new_letters: Floats, size: int) -> float:
    """Expected share of items to which `size` of the units give a new letter, over all choices."""
    counts = new_letters.sum(axis=0).astype(np.int64)
    return float(rarefaction_table(len(new_letters), size)[counts].mean())


def share_interval(
    new_letters: Floats, size: int, *, rarest_users: float | None
) -> Interval | None:
    """Interval of `expected_share`; None with too few users.

    Units answer all items, so that the items are not independent draws: users make them fewer. Without
    users, where `rarest_users` is None, it is the wider reach of Wilson's over items and the jackknife
    over units.
    """
    n_units, n_items = new_letters.shape
    share = expected_share(new_letters, size)
    if rarest_users is not None:
        if too_few_users(n_units, rarest_users):
            return None
        return item_share_interval(_losses(new_letters, size), share)
    wilson = wilson_interval(share * n_items, n_items)
    if n_units < 2:
        return wilson
    losses = _losses(new_letters, size).mean(axis=1)
    half = student_quantile(n_units - 1) * math.sqrt(float(jackknife_variance(losses)))
    return Interval(
        max(0.0, min(wilson.low, share - half)), min(1.0, max(wilson.high, share + half))
    )


def excess_of_splits(sides: NewLetters, first: Flags) -> Floats:
    """The excess with units dealt at random, at the same numbers: `first` has shape (splits, units)."""
    units = np.concatenate([sides.condition, sides.control])
    counts = first.astype(np.float64) @ units
    shares = [
        rarefaction_table(len(side), sides.n_equal)[count.astype(np.int64)].mean(axis=1)
        for side, count in (
            (sides.condition, counts),
            (sides.control, units.sum(axis=0) - counts),
        )
    ]
    excess: Floats = shares[0] - shares[1]
    return excess


def excess_interval(sides: NewLetters, *, rarest_users: float | None) -> Interval | None:
    """Jackknife over the units of both sides, items fixed; the condition's units may be users.

    Student's t with Satterthwaite's freedom, or from the intervals of both sides with users. None with
    too few users or fewer than two units on a side, or where no unit makes a difference.
    """
    units = [sides.condition, sides.control]
    if min(map(len, units)) < 2:
        return None
    if rarest_users is not None and too_few_users(len(sides.condition), rarest_users):
        return None
    moves = [-_losses(side, sides.n_equal).mean(axis=1) for side in units]
    variances = [float(jackknife_variance(side)) for side in moves]
    if sum(variances) < _NOTHING**2:
        return None
    shares = [expected_share(side, sides.n_equal) for side in units]
    if rarest_users is not None:
        side, control = (
            BoundedValue(
                share,
                unit_interval(share, side_moves, rarest_users=rarest) or Interval(share, share),
            )
            for share, side_moves, rarest in zip(shares, moves, (rarest_users, None), strict=True)
        )
        interval = difference_interval(side, [control])
    else:
        freedom = welch_freedom(variances, [len(side) - 1 for side in units])
        interval = student_interval(shares[0] - shares[1], math.sqrt(sum(variances)), freedom)
    return interval.clip(-1.0, 1.0)


def _losses(new_letters: Floats, size: int) -> Floats:
    """How far each item's chance in `expected_share` falls without each unit: shape (units, items)."""
    n_rest = len(new_letters) - 1
    counts = new_letters.sum(axis=0)
    chances = rarefaction_table(len(new_letters), size)[counts.astype(np.int64)]
    rest = rarefaction_table(n_rest, min(size, n_rest))
    losses: Floats = chances - rest[(counts - new_letters).astype(np.int64)]
    return losses

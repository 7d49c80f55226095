"""Letters that a condition gives and the baseline never gave, beside those of further reruns alone.

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

from fieldwork.metrics.distributions import ChoiceArm, choice_answers, text_or_none
from fieldwork.records.metrics import Novelty
from fieldwork.statistics.arrays import Flags, Floats
from fieldwork.statistics.families import correct_rows
from fieldwork.statistics.intervals import (
    Interval,
    jackknife_variance,
    student_interval,
    student_quantile,
    welch_freedom,
    wilson_interval,
)
from fieldwork.statistics.permutation import p_value_of_first, require_permutations, unit_splits
from fieldwork.statistics.richness import rarefaction_table
from fieldwork.statistics.seeds import generator

_Givers = dict[str, set[str]]
"""Puppets that give each letter; an empty text without a user."""

_UnitLetters = dict[str, dict[str, str | None]]
"""A unit's letter by item; None where it cannot be read."""

_NOTHING = 1e-12
_NO_EXCESS: Mapping[str, Any] = {
    "n_equal": None, "n_items_equal": None, "share_equal": None, "control_share": None,
    "excess": None, "excess_low": None, "excess_high": None, "p_value": None, "p_holm": None,
    "n_permutations": None,
}  # fmt: skip


class _NoveltySettings(NamedTuple):
    baseline: str
    control: str | None
    n_permutations: int
    seed: int


class _ArmLetters(NamedTuple):
    """All letters of an arm by item, and the letters that stand for its units."""

    givers: dict[str, _Givers]
    units: _UnitLetters


class NewLetters(NamedTuple):
    """Which units give a new letter to which items: shape (units, items), 0 and 1."""

    condition: Floats
    control: Floats

    @property
    def n_equal(self) -> int:
        """Units both sides are brought to."""
        return min(len(self.condition), len(self.control))


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
    letter on either side are left out of the denominator. `control` names a condition of further
    offline reruns; without one there is no excess. P-values are corrected over the conditions of a
    model and task.

    Raises:
        StudyError: no permutations.
    """
    require_permutations(n_permutations)
    settings = _NoveltySettings(baseline, control, n_permutations, seed)
    arms = _read_letters(answers)
    rows = []
    for arm in sorted(arms):
        if arm.condition != baseline:
            offline = arms.get(arm._replace(condition=baseline))
            row = _novelty(arm, arms[arm], offline, settings)
            rows.append(replace(row, **_beside_control(arm, arms, settings)))
    rows = [_with_reason(row, settings) for row in rows]
    return correct_rows(rows, lambda row: (row.model, row.task))


def _read_letters(answers: pd.DataFrame) -> dict[ChoiceArm, _ArmLetters]:
    arms: dict[ChoiceArm, _ArmLetters] = {}
    choices = choice_answers(answers, "letter", "puppet_id", "replicate")
    # of a puppet's answers to an item the first stands for it
    choices = choices.sort_values("replicate", kind="stable")
    for row in choices.itertuples(index=False, name=None):
        letters = arms.setdefault(ChoiceArm(row[0], row[1], row[2]), _ArmLetters({}, {}))
        item, letter, puppet = row[3], text_or_none(row[4]), text_or_none(row[5])
        if letter is not None:
            letters.givers.setdefault(item, {}).setdefault(letter, set()).add(puppet or "")
        unit = puppet if puppet else f"rerun {row[6]}"
        letters.units.setdefault(unit, {}).setdefault(item, letter)
    return arms


def _novelty(
    arm: ChoiceArm, letters: _ArmLetters, offline: _ArmLetters | None, settings: _NoveltySettings
) -> Novelty:
    givers, offline_givers = letters.givers, offline.givers if offline else {}
    items = [item for item in givers if item in offline_givers]
    new_givers = [
        [givers[item][letter] for letter in givers[item].keys() - offline_givers[item].keys()]
        for item in items
    ]
    puppets = {p for item in givers.values() for names in item.values() for p in names} - {""}
    interval = _novelty_interval(new_givers, sorted(puppets)) if items else None
    n_novel = sum(1 for letter_givers in new_givers if letter_givers)
    return Novelty(
        model=arm.model,
        task=arm.task,
        condition=arm.condition,
        baseline=settings.baseline,
        n_items=len(items),
        n_novel=n_novel,
        share=n_novel / len(items) if items else None,
        ci_low=interval.low if interval else None,
        ci_high=interval.high if interval else None,
        control=settings.control,
        **_NO_EXCESS,
        reason=None if items else _no_novelty(settings.baseline, offline),
    )


def _novelty_interval(givers: Sequence[Sequence[set[str]]], puppets: Sequence[str]) -> Interval:
    """The wider reach of Wilson's interval over items and the jackknife over puppets.

    `givers` holds, for each item, the puppets that give each of its new letters. Puppets answer all
    items, so that the items are not independent draws.
    """
    n_items, n_novel = len(givers), sum(1 for letter_givers in givers if letter_givers)
    wilson = wilson_interval(n_novel, n_items)
    if len(puppets) < 2:
        return wilson
    # an item with a single giver is no longer novel without it
    single_givers = [names for item in givers if len(names := set[str]().union(*item)) == 1]
    n_losses = Counter(next(iter(names)) for names in single_givers)
    losses = [n_losses[puppet] / n_items for puppet in puppets]
    mean = math.fsum(losses) / len(losses)
    squares = math.fsum((loss - mean) ** 2 for loss in losses)
    error = math.sqrt((len(puppets) - 1) / len(puppets) * squares)
    share, half = n_novel / n_items, student_quantile(len(puppets) - 1) * error
    return Interval(
        max(0.0, min(wilson.low, share - half)), min(1.0, max(wilson.high, share + half))
    )


def _no_novelty(baseline: str, offline: _ArmLetters | None) -> str:
    if offline is None:
        return f"there are no answers under the baseline condition {baseline}"
    return f"no item has a readable letter both here and under the baseline condition {baseline}"


def _beside_control(
    arm: ChoiceArm, arms: Mapping[ChoiceArm, _ArmLetters], settings: _NoveltySettings
) -> Mapping[str, Any]:
    offline = arms.get(arm._replace(condition=settings.baseline))
    control = arms.get(arm._replace(condition=settings.control)) if settings.control else None
    if offline is None or control is None:
        return _NO_EXCESS
    trio = [arms[arm], control, offline]
    items = sorted(set.intersection(*(set(letters.givers) for letters in trio)))
    if not items:
        return _NO_EXCESS
    baseline_letters = {item: set(offline.givers[item]) for item in items}
    sides = NewLetters(
        _new_letters(arms[arm].units, baseline_letters),
        _new_letters(control.units, baseline_letters),
    )
    n_equal = sides.n_equal
    share, control_share = (_expected_share(side, n_equal) for side in sides)
    columns: dict[str, Any] = {
        **_NO_EXCESS,
        "n_equal": n_equal,
        "n_items_equal": len(items),
        "share_equal": share,
        "control_share": control_share,
    }
    if arm.condition == settings.control:
        return columns
    interval = excess_interval(sides)
    splits = unit_splits(
        *map(len, sides),
        n_permutations=settings.n_permutations,
        random=generator(settings.seed, "novelty", *arm),
    )
    return columns | {
        "excess": share - control_share,
        "excess_low": interval.low if interval else None,
        "excess_high": interval.high if interval else None,
        "p_value": p_value_of_first(excess_of_splits(sides, splits.first)),
        "n_permutations": splits.n_drawn,
    }


def _new_letters(units: _UnitLetters, baseline_letters: Mapping[str, set[str]]) -> Floats:
    def is_new(item: str, letter: str | None) -> bool:
        return letter is not None and letter not in baseline_letters[item]

    return np.array(
        [
            [is_new(item, letters.get(item)) for item in baseline_letters]
            for _, letters in sorted(units.items())
        ],
        dtype=np.float64,
    )


def _expected_share(new_letters: Floats, size: int) -> float:
    """Expected share of items to which `size` of the units give a new letter, over all choices."""
    counts = new_letters.sum(axis=0).astype(np.int64)
    return float(rarefaction_table(len(new_letters), size)[counts].mean())


def excess_of_splits(sides: NewLetters, first: Flags) -> Floats:
    """The excess with units dealt at random, at the same numbers: `first` has shape (splits, units)."""
    units = np.concatenate(sides)
    counts = first.astype(np.float64) @ units
    shares = [
        rarefaction_table(len(side), sides.n_equal)[count.astype(np.int64)].mean(axis=1)
        for side, count in zip(sides, (counts, units.sum(axis=0) - counts), strict=True)
    ]
    excess: Floats = shares[0] - shares[1]
    return excess


def excess_interval(sides: NewLetters) -> Interval | None:
    """Jackknife over the units of both sides, items fixed; Student's t with Satterthwaite's freedom.

    None with fewer than two units on a side, or where none makes a difference.
    """
    if min(map(len, sides)) < 2:
        return None
    variances = [_variance(side, sides.n_equal) for side in sides]
    if sum(variances) < _NOTHING**2:
        return None
    freedom = welch_freedom(variances, [len(side) - 1 for side in sides])
    shares = [_expected_share(side, sides.n_equal) for side in sides]
    low, high = student_interval(shares[0] - shares[1], math.sqrt(sum(variances)), freedom)
    return Interval(max(-1.0, low), min(1.0, high))


def _variance(new_letters: Floats, size: int) -> float:
    """The jackknife's variance of `_expected_share` over units."""
    n_rest = len(new_letters) - 1
    counts = (new_letters.sum(axis=0) - new_letters).astype(np.int64)
    shares = rarefaction_table(n_rest, min(size, n_rest))[counts].mean(axis=1)
    return float(jackknife_variance(shares))


def _with_reason(row: Novelty, settings: _NoveltySettings) -> Novelty:
    if row.share is None:
        return row
    reason = None
    if settings.control is None:
        reason = f"no excess: no selected condition has `after: {settings.baseline}`"
    elif row.condition == settings.control:
        reason = "no excess: this is the control"
    elif row.control_share is None:
        reason = f"no excess: the control {settings.control} shares no readable item"
    elif row.excess_low is None:
        reason = (
            "no interval of the excess: there are no two units a side, or none makes a difference"
        )
    return replace(row, reason=reason)

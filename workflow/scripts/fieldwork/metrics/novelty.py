"""Letters that a condition gives and the baseline never gave, beside those of as many fresh reruns.

Owns the share of choice items with a new letter at equal numbers of users and reruns, its interval,
and its excess over a control arm of further offline reruns, with a test. Letters are the flexible
reading; responses that failed are no data. A unit is a puppet, with its first answer to each item, or
a rerun; unreadable letters are not new. Where all answers state the probabilities of letters, the share
is the one to expect over all draws, at the same numbers of users and reruns.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from fieldwork.estimates.answer_sets import Arm, StatedShares, read_answer_sets
from fieldwork.estimates.means import difference_of_means, mean_of_numbers
from fieldwork.estimates.quantity import Quantity
from fieldwork.estimates.reasons import ASKED_ONCE, join_reasons
from fieldwork.estimates.samples import NumberSample
from fieldwork.metrics.distributions import choice_answers
from fieldwork.records.metrics import Novelty
from fieldwork.statistics.arrays import Flags, Floats
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
from fieldwork.statistics.new_letters import MOST_LETTERS, new_answer_chances, new_letter_chance
from fieldwork.statistics.permutation import p_value_of_first, require_permutations, unit_splits
from fieldwork.statistics.richness import rarefaction_table
from fieldwork.statistics.seeds import generator
from fieldwork.statistics.user_intervals import (
    RAREST_USERS,
    item_share_interval,
    too_few_users,
    unit_interval,
)

NO_INTERVAL = (
    "no interval: a letter is new once a single user gives it, so few users decide it, and an interval "
    "over users covered as little as 87 % in simulations"
)
_NOTHING = 1e-12
_NO_SHARE: Mapping[str, Any] = dict.fromkeys(
    (
        *("n_equal", "n_baseline", "share", "ci_low", "ci_high", "share_all", "control_share"),
        *("excess", "excess_low", "excess_high", "p_value", "n_permutations", "reason"),
    )
)


class _ArmLetters(NamedTuple):
    """The letters of an arm.

    Attributes:
        letters: all readable ones, by item.
        units: the letters that stand for each unit, of shape (units, items); NULL where none can be read.
        n_users: puppets; 0 without users.
    """

    letters: dict[str, set[str]]
    units: pd.DataFrame
    n_users: int

    def new_letters(self, baseline: "_ArmLetters", items: Sequence[str]) -> Floats:
        """Whether each unit gives each item a letter that is new: shape (units, items), 0 and 1."""
        is_known = self.units[items].isin({i: [*baseline.letters[i]] for i in items})
        new: Floats = (self.units[items].notna() & ~is_known).to_numpy(dtype=np.float64)
        return new


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
    reruns: Mapping[str, int] = MappingProxyType({}),
) -> list[Novelty]:
    """Share of items with a readable letter that is absent from the baseline's letters.

    One row for each model, task and condition other than the baseline. `control` names a condition of
    further offline reruns; without one there is no excess. Items are those with a readable letter
    here, in the baseline and in the control, where there is one. Units are brought to the fewest of
    the three.

    Args:
        rarest_users: share of users of the rarest kind that intervals cover.
        reruns: that each task is meant to have without a user; by probabilities, of which fewer calls are
            enough, letters are new that so many would not give.

    Raises:
        StudyError: no permutations.
    """
    require_permutations(n_permutations)
    arms = _read_letters(answers)
    letter_shares = _read_probabilities(answers)
    rows = []
    for arm, letters in sorted(arms.items(), key=lambda entry: entry[0]):
        if arm.condition == baseline:
            continue
        row = Novelty(
            **arm.columns,
            baseline=baseline,
            control=control,
            n_items=0,
            is_stated=False,
            **_NO_SHARE,
        )
        offline, fresh = (arms.get(arm._replace(condition=c or "")) for c in (baseline, control))
        random = generator(seed, "novelty", *arm.columns.values())
        rarest = rarest_users if letters.n_users else None
        row = _novelty(row, letters, offline, fresh, n_permutations, random, rarest)
        sides = [letter_shares.get(arm._replace(condition=c)) for c in (arm.condition, baseline)]
        control_shares = (
            letter_shares.get(arm._replace(condition=row.control)) if row.control else None
        )
        if sides[0] and sides[1] and row.n_equal and (control_shares or row.control_share is None):
            row = _at_equal_n(row, sides[0], reruns.get(arm.task, 0))
            row = _expected_novelty(row, sides[0], sides[1], control_shares, rarest_users)
        rows.append(row)
    return rows


ArmShares = Mapping[str, StatedShares]
"""What an arm's answers state of each item."""


def _read_probabilities(answers: pd.DataFrame) -> dict[Arm, ArmShares]:
    """The arms of which all answers to choices state probabilities, of few enough letters."""
    letter_shares: dict[Arm, ArmShares] = {}
    for arm, items in read_answer_sets(answers).items():
        shares = {item: of_item.stated_shares() for item, of_item in items.items()}
        of_items = {
            item: s for item, s in shares.items() if s and s.shares.shape[1] <= MOST_LETTERS
        }
        if arm.kind == "choice" and len(of_items) == len(items):
            letter_shares[arm._replace(kind=None)] = of_items
    return letter_shares


def _at_equal_n(row: Novelty, users: ArmShares, n_reruns: int) -> Novelty:
    """The row with as many reruns as there are meant to be, and as many users."""
    n_reruns = max(n_reruns, row.n_baseline or 0)
    n_users = min(
        (len(letter_shares.users) for letter_shares in users.values() if letter_shares.has_users),
        default=n_reruns,
    )
    return replace(row, n_baseline=n_reruns, n_equal=min(n_users, n_reruns))


def _expected_novelty(
    row: Novelty,
    users: ArmShares,
    offline: ArmShares,
    control: ArmShares | None,
    rarest_users: float,
) -> Novelty:
    """The row with the shares to expect over all draws, of as many users and reruns as it has.

    No interval of such a share was reliable. The test is of one answer: that a user's is new no more
    often than a rerun's.
    """
    items = sorted(set.intersection(*(set(side) for side in (users, offline, control) if side)))
    n_equal, n_baseline = row.n_equal or 0, row.n_baseline or 0
    share = _expected_share(users, offline, items, n_equal, n_baseline)
    row = replace(
        row,
        n_items=len(items),
        **Quantity(share).columns("share"),
        is_stated=True,
        reason=NO_INTERVAL,
    )
    if not control:
        return row
    control_share = _expected_share(control, offline, items, n_equal, n_baseline)
    row = replace(row, control_share=control_share)
    if row.condition == row.control:
        return row
    sides = [_new_answers(side, offline, items, n_baseline) for side in (users, control)]
    means = [mean_of_numbers(side) for side in sides]
    p_value = None
    if means[0] and means[1]:
        p_value = difference_of_means(means[0], means[1], rarest_users).p_value
    is_more = share > control_share
    return replace(
        row,
        **Quantity(share - control_share).columns("excess", "excess_low", "excess_high"),
        p_value=p_value if p_value is None else (p_value / 2 if is_more else 1 - p_value / 2),
        n_permutations=None,
        reason=join_reasons(NO_INTERVAL, ASKED_ONCE if p_value is None else None),
    )


def _expected_share(
    side: ArmShares, offline: ArmShares, items: Sequence[str], n_equal: int, n_baseline: int
) -> float:
    chances = []
    for item in items:
        shares, reruns = side[item].shares, offline[item].shares.mean(axis=0)
        if not side[item].has_users:
            shares = np.repeat(shares.mean(axis=0)[None], n_equal, axis=0)
        chances.append(new_letter_chance(shares, reruns, n_baseline, min(n_equal, len(shares))))
    return math.fsum(chances) / len(chances)


def _new_answers(
    side: ArmShares, offline: ArmShares, items: Sequence[str], n_baseline: int
) -> NumberSample:
    """The chance that each unit's answer to each item is new."""
    users = sorted({user for item in items for user in side[item].users})
    values: list[float] = []
    slacks: list[float] = []
    places: list[int] = []
    units: list[int] = []
    for place, item in enumerate(items):
        letter_shares = side[item]
        reruns = offline[item].shares.mean(axis=0)
        values += new_answer_chances(letter_shares.shares, reruns, n_baseline).tolist()
        slacks += _slack_of_chances(letter_shares, offline[item], n_baseline).tolist()
        places += [place] * len(letter_shares.users)
        # calls without users are each their own
        units += [
            users.index(u) if u else len(units) + k for k, u in enumerate(letter_shares.users)
        ]
    numbers = np.unique(units, return_inverse=True)[1].astype(np.int64)
    return NumberSample(
        np.array(values), np.array(places, dtype=np.int64), numbers, [*items], any(users), 0, None,
        n_unstated=0, slack=float(np.mean(slacks)),
    )  # fmt: skip


def _slack_of_chances(side: StatedShares, offline: StatedShares, n_baseline: int) -> Floats:
    """How far each unit's chance of a new answer may be off, as answers do not list all letters.

    By what they leave out themselves, and by letters that seem new as the baseline does not list them.
    """
    reruns, rest = offline.shares.mean(axis=0), float(offline.unlisted_share.mean())
    seems_new = side.shares[:, reruns == 0].sum(axis=1)
    slack: Floats = side.unlisted_share + seems_new * (1 - (1 - rest) ** n_baseline)
    return slack


def _read_letters(answers: pd.DataFrame) -> dict[Arm, _ArmLetters]:
    choices = choice_answers(answers, "letter", "puppet_id", "replicate")
    # of a puppet's answers to an item the first stands for it
    choices = choices.sort_values("replicate", kind="stable")
    reruns = "rerun " + choices["replicate"].astype(str)
    choices = choices.assign(unit=choices["puppet_id"].fillna(reruns))
    arms = {}
    for names, rows in choices.groupby(["model", "task", "condition"]):
        readable = rows.dropna(subset="letter").groupby("item_id")["letter"]
        firsts = rows.drop_duplicates(["unit", "item_id"])
        units = firsts.pivot(index="unit", columns="item_id", values="letter")
        letters = {str(item): {*of_item} for item, of_item in readable}
        arms[Arm.of(*map(str, names))] = _ArmLetters(letters, units, rows["puppet_id"].nunique())
    return arms


def _novelty(
    row: Novelty,
    letters: _ArmLetters,
    offline: _ArmLetters | None,
    control: _ArmLetters | None,
    n_permutations: int,
    random: np.random.Generator,
    rarest_users: float | None,
) -> Novelty:
    if offline is None:
        reason = f"there are no answers under the baseline condition {row.baseline}"
        return replace(row, reason=reason)
    items = _shared_items(letters, offline, control)
    if not items:
        control, items = None, _shared_items(letters, offline)
    if not items:
        reason = f"no item has a readable letter both here and under {row.baseline}"
        return replace(row, reason=reason)
    n_equal = min(len(arm.units) for arm in (letters, offline, control) if arm)
    new = letters.new_letters(offline, items)
    interval = share_interval(new, n_equal, rarest_users=rarest_users)
    row = replace(
        row,
        n_items=len(items),
        n_equal=n_equal,
        n_baseline=len(offline.units),
        **Quantity(expected_share(new, n_equal), interval).columns("share"),
        share_all=sum(bool(letters.letters[i] - offline.letters[i]) for i in items) / len(items),
    )
    if control:
        sides = NewLetters(new, control.new_letters(offline, items), n_equal)
        row = replace(row, control_share=expected_share(sides.control, n_equal))
        if row.condition != row.control:
            row = _with_excess(row, sides, n_permutations, random, rarest_users)
    shortage = None
    if rarest_users is not None:
        shortage = too_few_users(letters.n_users, rarest_users)
    reasons = [shortage, _no_excess(row, has_users=letters.n_users > 0)]
    return replace(row, reason="; ".join(filter(None, reasons)) or None)


def _shared_items(*arms: _ArmLetters | None) -> list[str]:
    """Items with a readable letter in all arms; an arm that is None is left out."""
    return sorted(set.intersection(*(set(arm.letters) for arm in arms if arm)))


def _with_excess(
    row: Novelty,
    sides: NewLetters,
    n_permutations: int,
    random: np.random.Generator,
    rarest_users: float | None,
) -> Novelty:
    interval = excess_interval(sides, rarest_users=rarest_users)
    sizes = len(sides.condition), len(sides.control)
    splits = unit_splits(*sizes, n_permutations=n_permutations, random=random)
    excess = excess_of_splits(sides, splits.first)
    return replace(
        row,
        **Quantity(float(excess[0]), interval).columns("excess", "excess_low", "excess_high"),
        p_value=p_value_of_first(excess),
        n_permutations=splits.n_drawn,
    )


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

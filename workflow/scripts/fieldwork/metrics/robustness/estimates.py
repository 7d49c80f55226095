"""Means over items of what each of them gives, with intervals for items, and users, like these.

Owns how one number a cell becomes an estimate: the mean over an item's users, then over items.
"""

import math
from collections.abc import Mapping
from typing import Literal, NamedTuple

import numpy as np

from fieldwork.metrics.robustness.pairs import Cell, RobustnessSettings
from fieldwork.statistics.arrays import Floats
from fieldwork.statistics.crossed import crossed_interval, people_variance
from fieldwork.statistics.intervals import NO_ERROR, Interval, student_interval, wilson_interval
from fieldwork.statistics.paired import added_items, paired_interval
from fieldwork.statistics.user_intervals import too_few_prompts, too_few_users

Form = Literal["share", "share_difference", "value", "value_difference"]
"""What an item gives: a share of answers, any number from 0 to 1, or the difference of two of these."""

_RANGES: Mapping[Form, Interval] = {
    "share": Interval(0.0, 1.0),
    "share_difference": Interval(-1.0, 1.0),
    "value": Interval(0.0, 1.0),
    "value_difference": Interval(-1.0, 1.0),
}


class CellTable(NamedTuple):
    """One number a cell: shape (users, items), NaN where a user has none; one row without users."""

    values: Floats
    has_users: bool

    @property
    def items(self) -> Floats:
        """Means over users, shape (items,)."""
        means: Floats = np.nanmean(self.values, axis=0)
        return means

    @property
    def users(self) -> Floats:
        """Means over the items that each user answers, shape (users,)."""
        means: Floats = np.nanmean(self.values, axis=1)
        return means

    @property
    def mean(self) -> float:
        """The mean over items."""
        return math.fsum(self.items.tolist()) / len(self.items)

    @property
    def units(self) -> Floats:
        """Means of the units, shape (units,)."""
        return self.users if self.has_users else self.items

    def minus(self, other: "CellTable") -> "CellTable":
        """The differences from other numbers of the same cells."""
        return CellTable(self.values - other.values, self.has_users)


class BoundedMean(NamedTuple):
    """A mean over items, its interval, and why there is none."""

    value: float
    interval: Interval | None
    reason: str | None


def cell_values(numbers: Mapping[Cell, float], *, has_users: bool) -> CellTable:
    """Numbers by cell as a table, users and items in alphabetical order."""
    items = {item: k for k, item in enumerate(sorted({cell.item_id for cell in numbers}))}
    users = {user: k for k, user in enumerate(sorted({cell.puppet for cell in numbers}))}
    values = np.full((len(users), len(items)), np.nan)
    for cell, number in numbers.items():
        values[users[cell.puppet], items[cell.item_id]] = number
    return CellTable(values, has_users)


def bounded_mean(
    cells: CellTable, form: Form, settings: RobustnessSettings, *, n_answers: int = 1
) -> BoundedMean:
    """The mean over one or more items with its interval.

    Without users items are the sample: Wilson's interval of shares, that of paired items of their
    differences, Student's t of other numbers. With users both are (`crossed_interval`).

    Args:
        n_answers: how many answers a number is a mean of, the fewest of all items; without users.
    """
    if cells.has_users:
        interval, reason = _crossed_ends(cells, form, settings)
    elif form == "share":
        n_items = len(cells.items)
        interval, reason = wilson_interval(cells.mean * n_items, n_items), None
    elif form == "share_difference":
        interval, reason = paired_interval(cells.items, n_answers), None
    else:
        interval, reason = _student(cells.items, settings)
    return BoundedMean(cells.mean, interval and _clip(interval, _RANGES[form]), reason)


def _clip(interval: Interval, limits: Interval) -> Interval:
    return Interval(max(limits.low, interval.low), min(limits.high, interval.high))


class _Ends(NamedTuple):
    interval: Interval | None
    reason: str | None


def _crossed_ends(cells: CellTable, form: Form, settings: RobustnessSettings) -> _Ends:
    n_users, n_items = cells.values.shape
    reason = too_few_users(n_users, settings.rarest_users) or too_few_prompts(
        n_items, settings.rarest_prompts
    )
    if reason:
        return _Ends(None, reason)
    items = cells.items
    if form == "share_difference":
        items = np.concatenate([items, added_items(items, n_users)])
    interval = crossed_interval(items, people_variance(cells.values))
    return _wide_enough(interval, "no interval: users and items are all alike")


def _student(items: Floats, settings: RobustnessSettings) -> _Ends:
    reason = too_few_prompts(len(items), settings.rarest_prompts)
    if reason:
        return _Ends(None, reason)
    error = math.sqrt(float(items.var(ddof=1)) / len(items))
    interval = student_interval(float(items.mean()), error, len(items) - 1)
    return _wide_enough(interval, "no interval: items are all alike")


def _wide_enough(interval: Interval, reason: str) -> _Ends:
    """Width zero would say that nothing is uncertain."""
    is_wide = interval.high - interval.low > NO_ERROR
    return _Ends(interval, None) if is_wide else _Ends(None, reason)

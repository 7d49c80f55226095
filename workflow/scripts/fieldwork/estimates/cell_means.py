"""Means over items of one number a user and item, with intervals for items, and users, like these.

Owns how one number a cell becomes a quantity: the mean over an item's users, then over items. Without
users items are the sample, with users both are.
"""

import math
from collections.abc import Mapping
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from fieldwork.estimates.quantity import ChanceSettings, Quantity
from fieldwork.statistics.arrays import Floats
from fieldwork.statistics.crossed import crossed_interval, people_variance
from fieldwork.statistics.intervals import NO_ERROR, Interval, student_interval, wilson_interval
from fieldwork.statistics.paired import added_items, paired_interval
from fieldwork.statistics.user_intervals import too_few_prompts, too_few_users

Form = Literal["share", "share_difference", "value", "value_difference"]
"""What an item gives: a share of answers, any number from 0 to 1, or the difference of two of these."""

_LOWER_ENDS: Mapping[Form, float] = {
    "share": 0.0,
    "share_difference": -1.0,
    "value": 0.0,
    "value_difference": -1.0,
}


class CellTable(NamedTuple):
    """One number a cell: shape (users, items), NaN where a user has none; one row without users."""

    values: Floats
    has_users: bool

    @classmethod
    def of(cls, numbers: pd.Series, *, has_users: bool) -> "CellTable":
        """Numbers with an index of item and user as a table, both in alphabetical order."""
        return cls(numbers.unstack(level=0).sort_index(axis=1).to_numpy(dtype=float), has_users)

    @property
    def items(self) -> Floats:
        """Means over users, shape (items,)."""
        means: Floats = np.nanmean(self.values, axis=0)
        return means

    @property
    def units(self) -> Floats:
        """Means of each user over the items answered; without users of the items. Shape (units,)."""
        means: Floats = np.nanmean(self.values, axis=1 if self.has_users else 0)
        return means

    @property
    def mean(self) -> float:
        """The mean over items."""
        return math.fsum(self.items.tolist()) / len(self.items)

    def minus(self, other: "CellTable") -> "CellTable":
        """The differences from other numbers of the same cells."""
        return CellTable(self.values - other.values, self.has_users)

    def quantity(self, form: Form, settings: ChanceSettings, *, n_answers: int = 1) -> Quantity:
        """The mean over one or more items with its interval.

        Without users Wilson's interval of shares, that of paired items of their differences, Student's t
        of other numbers; with users `crossed_interval`.

        Args:
            n_answers: how many answers a number is a mean of, the fewest of all items; without users.
        """
        n_items, reason = len(self.items), None
        if self.has_users or not form.startswith("share"):
            reason = too_few_prompts(n_items, settings.rarest_prompts)
        if self.has_users:
            reason = too_few_users(len(self.values), settings.rarest_users) or reason
        if reason:
            return Quantity(self.mean, reason=reason)
        interval = self._interval(form, n_answers).clip(_LOWER_ENDS[form], 1.0)
        # width zero would say that nothing is uncertain
        if interval.high - interval.low > NO_ERROR:
            return Quantity(self.mean, interval)
        units = "users and items" if self.has_users else "items"
        return Quantity(self.mean, reason=f"no interval: {units} are all alike")

    def _interval(self, form: Form, n_answers: int) -> Interval:
        items, n = self.items, len(self.items)
        if self.has_users:
            if form == "share_difference":
                items = np.concatenate([items, added_items(items, len(self.values))])
            return crossed_interval(items, people_variance(self.values))
        if form == "share":
            return wilson_interval(self.mean * n, n)
        if form == "share_difference":
            return paired_interval(items, n_answers)
        error = math.sqrt(float(items.var(ddof=1)) / n)
        return student_interval(float(items.mean()), error, n - 1)

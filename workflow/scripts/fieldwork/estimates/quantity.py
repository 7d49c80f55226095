"""What a table says of a quantity: value, interval, test, and the reason for what is missing."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np

from fieldwork.estimates.reasons import join_reasons
from fieldwork.statistics.arrays import Floats
from fieldwork.statistics.intervals import BoundedValue, Interval
from fieldwork.statistics.seeds import generator
from fieldwork.statistics.user_intervals import RAREST_PROMPTS, RAREST_USERS, interval_or_reason

Columns = Mapping[str, Any]
"""Columns of a row, by name."""


class Quantity(NamedTuple):
    """A value, its interval and its test, each None where it is missing; the reason says why.

    Attributes:
        p_value: of its test, not corrected.
    """

    value: float | None = None
    interval: Interval | None = None
    p_value: float | None = None
    reason: str | None = None

    @classmethod
    def over_users(cls, value: float | None, rest: Floats, rarest_users: float) -> Self:
        """A value with its interval over users; nothing of None.

        Args:
            rest: the value without each user, NaN where there is none then; shape (users,).
        """
        if value is None:
            return cls()
        interval, reason = interval_or_reason(value, rest, rarest_users)
        return cls(value, interval, reason=reason)

    @property
    def bounded_value(self) -> BoundedValue | None:
        """The value with its interval, where it has one."""
        if self.value is None or self.interval is None:
            return None
        return BoundedValue(self.value, self.interval)

    def columns(
        self, value: str = "estimate", low: str = "ci_low", high: str = "ci_high"
    ) -> dict[str, Any]:
        """Its value and the ends of its interval, as columns of these names."""
        ends = self.interval or (None, None)
        return {value: self.value, low: ends[0], high: ends[1]}

    def times(self, factor: float) -> Self:
        """The value in other units; the factor is above 0."""
        return self._map(lambda number: factor * number)

    def plus(self, shift: float) -> Self:
        """The value from another origin."""
        return self._map(lambda number: number + shift)

    def clip(self, low: float = -math.inf, high: float = math.inf) -> Self:
        """With the part of the interval that the value can reach."""
        return self._replace(interval=self.interval and self.interval.clip(low, high))

    def because(self, *reasons: str | None) -> Self:
        """With further reasons for what is missing."""
        return self._replace(reason=join_reasons(self.reason, *reasons))

    def _map(self, change: Any) -> Self:
        return self._replace(
            value=None if self.value is None else change(self.value),
            interval=self.interval and Interval(*map(change, self.interval)),
        )


class ChanceSettings(NamedTuple):
    """What a study says of chance.

    Attributes:
        rarest_users, rarest_prompts: shares of the rarest kinds that intervals cover.
    """

    n_permutations: int
    seed: int
    rarest_users: float = RAREST_USERS
    rarest_prompts: float = RAREST_PROMPTS

    def random(self, *names: str) -> np.random.Generator:
        """Random numbers of the cell with these names."""
        return generator(self.seed, *names)


def none_if_nan(value: float) -> float | None:
    """NULL stands for a number that is none."""
    return None if math.isnan(value) else value

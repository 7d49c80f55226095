"""The judgements on one scale as arrays, and intervals of what is computed from them.

Of each rater and unit the first judgement that has a value counts (`repeat` 0). Owns the jackknife
that leaves out a user with all of its units, as judgements of one user's units are alike. Where the users
of some units are not known, units are left out instead, and where there are many, groups of them. Raters
are not resampled: an interval speaks of these raters and of more users.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd

from fieldwork.sections.judging import Scale
from fieldwork.statistics.arrays import Flags, Floats, Indices
from fieldwork.statistics.intervals import (
    NO_ERROR,
    Interval,
    jackknife_variance,
    student_interval,
)
from fieldwork.statistics.user_intervals import too_few_users, unit_interval

PEOPLE, MODELS = "people", "models"
KINDS = {"person": PEOPLE, "model": MODELS}

Statistic = Callable[[Flags], float | None]
"""Of the rows that a mask keeps; None where it is not defined."""

MOST_CLUSTERS = 100
"""Users, or units, beyond which groups of them are left out together (the delete-a-group jackknife)."""


class JudgementSample(NamedTuple):
    """Judgements on a scale.

    Attributes:
        judgements: a row a judgement with a value. Columns are those of `Judgement` and of its unit,
            `place` (of its option on the scale), and numbers from 0: `unit` and `owner` (its user, or
            the unit itself where users are not known).
        has_users: whether owners are users.
        rarest_users: share of users of the rarest kind that intervals cover.
    """

    scale: Scale
    judgements: pd.DataFrame
    has_users: bool
    rarest_users: float

    def of_group(self, group: str) -> "JudgementSample":
        """The units of one group."""
        rows = self.judgements
        rows, has_users = _with_owners(rows[rows["unit_group"] == group])
        return self._replace(judgements=rows, has_users=has_users)

    def of_kind(self, kind: str) -> pd.DataFrame:
        """The first judgements of people or of models, `person` or `model`."""
        rows = self.judgements
        return rows[(rows["rater_kind"] == kind) & (rows["repeat"] == 0)]

    def models(self) -> list[str]:
        return sorted(self.of_kind("model")["rater"].unique())

    def numbers(self) -> Floats:
        """What each option is worth, in the order of the scale."""
        return np.array([self.scale.worth(option) for option in self.scale.options])

    def interval(
        self,
        value: float,
        rest: Floats,
        n_owners: int,
        freedom: float,
        n_decisive: int | None = None,
    ) -> tuple[Interval | None, str | None]:
        """The interval of a value, and why there is none.

        Args:
            rest: the value without each cluster of owners, NaN where it is not defined.
            n_owners: behind the value.
            freedom: degrees of freedom of these owners.
            n_decisive: of them, those that its precision hangs on; all of them by default.
        """
        # fewer than the most clusters are an owner each, so that no caller can claim more users
        n_users = n_owners if len(rest) == MOST_CLUSTERS else len(rest)
        n_decisive = n_users if n_decisive is None else min(n_users, n_decisive)
        shortage = too_few_users(n_decisive, self.rarest_users, "have units that count here")
        if self.has_users and shortage:
            return None, shortage
        if not np.isfinite(rest).all():
            return None, "no interval: without one of the units' users there is no value"
        # groups of users are no fewer users than the check above asks for
        rarest = self.rarest_users if self.has_users and n_users <= MOST_CLUSTERS else None
        if n_decisive < len(rest):
            interval = _interval_of_few(value, rest, min(freedom, n_decisive - 1))
        else:
            freedom = min(freedom, len(rest) - 1)
            interval = unit_interval(value, rest - value, rarest_users=rarest, freedom=freedom)
        return interval, None if interval else "no interval: leaving out a user changes nothing"


def _interval_of_few(value: float, rest: Floats, freedom: float) -> Interval | None:
    """Student's t with the degrees of freedom of the few owners that the precision hangs on."""
    error = math.sqrt(float(jackknife_variance(rest)))
    if freedom < 1 or not error > NO_ERROR:
        return None
    return student_interval(value, error, freedom)


def sample_of(
    judgements: pd.DataFrame, units: pd.DataFrame, scale: Scale, rarest_users: float
) -> JudgementSample:
    """The judgements on a scale that have a value.

    Args:
        judgements: rows of `Judgement`.
        units: rows of `JudgedUnit`.
    """
    rows = judgements[(judgements["scale"] == scale.name) & judgements["value"].notna()]
    rows = rows.sort_values(["unit_id", "rater", "repeat"]).reset_index(drop=True)
    rows = rows.merge(units, on="unit_id", how="left", validate="many_to_one")
    places = {option: place for place, option in enumerate(scale.options)}
    rows["place"] = rows["value"].map(places).astype(np.int64)
    rows["unit"] = pd.factorize(rows["unit_id"])[0]
    rows, has_users = _with_owners(rows)
    return JudgementSample(scale, rows, has_users, rarest_users)


def _with_owners(rows: pd.DataFrame) -> tuple[pd.DataFrame, bool]:
    """The rows with whose unit each is, and whether these are users: they are if all users are known."""
    has_users = bool(len(rows)) and bool(rows["user_id"].notna().all())
    owners = pd.factorize(rows["user_id" if has_users else "unit_id"], sort=True)[0]
    return rows.assign(owner=owners), has_users


def clusters_of(owners: Indices) -> Indices:
    """The owners that are left out together, as numbers from 0 without a gap: each alone if few.

    Made from the owners of the very rows that a value is of: numbers made for more rows would put
    some of these owners together and leave other clusters empty.
    """
    return np.unique(owners, return_inverse=True)[1] % MOST_CLUSTERS


def freedom_of(owners: Indices) -> float:
    """Degrees of freedom of a mean over rows whose owners have few rows or many.

    (sum of n²)² / sum of n⁴ less 1, with n rows of each owner: Satterthwaite's (1946), where the means of
    owners vary alike. Owners less 1 where all have as many; of a few who have most, hardly more than they
    are. At least 1 where there are two owners.
    """
    squares = np.bincount(clusters_of(owners)).astype(np.float64) ** 2
    if len(squares) < 2:
        return float(len(squares) - 1)
    return max(1.0, float(squares.sum() ** 2 / (squares**2).sum()) - 1)


def without_each(owners: Indices, statistic: Statistic) -> Floats:
    """A statistic without each cluster, NaN where it is not defined: shape (clusters,).

    Args:
        owners: of each row.
        statistic: of the rows that a mask keeps.
    """
    clusters = clusters_of(owners)
    values = [statistic(clusters != cluster) for cluster in np.unique(clusters)]
    return np.array([np.nan if value is None else value for value in values])


def without_each_sum(sums: Floats, owners: Indices) -> Floats:
    """Sums over rows without each cluster: shape (clusters, ...)."""
    clusters = clusters_of(owners)
    parts = np.zeros((len(np.unique(clusters)), *sums.shape[1:]))
    np.add.at(parts, clusters, sums)
    return np.asarray(parts.sum(axis=0) - parts)

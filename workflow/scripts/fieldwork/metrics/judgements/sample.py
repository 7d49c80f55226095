"""The judgements on one scale as arrays, and intervals of what is computed from them.

Owns which judgements count: of each rater and unit the first one that has a value. Owns the jackknife
that leaves out a user with all of its units, as judgements of one user's units are alike. Where the users
of some units are not known, units are left out instead, and where there are many, groups of them. Raters
are not resampled: an interval speaks of these raters and of more users.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd

from fieldwork.records.judging import Scale
from fieldwork.statistics.arrays import Counts, Flags, Floats, Indices
from fieldwork.statistics.intervals import Interval
from fieldwork.statistics.user_intervals import too_few_users, unit_interval

PEOPLE, MODELS = "people", "models"
KINDS = {"person": PEOPLE, "model": MODELS}

MOST_CLUSTERS = 100
"""Users, or units, beyond which groups of them are left out together (the delete-a-group jackknife)."""


class JudgementSample(NamedTuple):
    """Judgements on a scale.

    Attributes:
        judgements: a row a judgement with a value. Columns are those of `Judgement` and of its unit,
            `place` (of its option on the scale), and numbers from 0: `unit`, `owner` (its user, or the
            unit itself where users are not known) and `cluster` (owners that are left out together).
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
        return self._replace(judgements=rows[rows["unit_group"] == group])

    def of_kind(self, kind: str) -> pd.DataFrame:
        """The first judgements of people or of models, `person` or `model`."""
        rows = self.judgements
        return rows[(rows["rater_kind"] == kind) & (rows["repeat"] == 0)]

    def models(self) -> list[str]:
        return sorted(self.of_kind("model")["rater"].unique())

    def numbers(self) -> Floats:
        """What each option is worth, in the order of the scale."""
        return np.array([self.scale.number(option) for option in self.scale.options])

    def interval(
        self, value: float, rest: Floats, n_owners: int
    ) -> tuple[Interval | None, str | None]:
        """The interval of a value, and why there is none.

        Args:
            rest: the value without each cluster, NaN where it is not defined.
        """
        if self.has_users and (shortage := too_few_users(n_owners, self.rarest_users)):
            return None, shortage
        if not np.isfinite(rest).all():
            return None, "no interval: without one of the units' users there is no value"
        # groups of users are no fewer users than the check above asks for
        rarest = self.rarest_users if self.has_users and n_owners <= MOST_CLUSTERS else None
        interval = unit_interval(value, rest - value, rarest_users=rarest)
        return interval, None if interval else "no interval: leaving out a user changes nothing"


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
    # a judgement without a value does not make the next one a repeat
    rows["repeat"] = rows.groupby(["unit_id", "rater"]).cumcount()
    rows = rows.merge(units, on="unit_id", how="left", validate="many_to_one")
    places = {option: place for place, option in enumerate(scale.options)}
    rows["place"] = rows["value"].map(places).astype(np.int64)
    has_users = bool(len(rows)) and bool(rows["user_id"].notna().all())
    rows["unit"] = pd.factorize(rows["unit_id"])[0]
    rows["owner"] = pd.factorize(rows["user_id" if has_users else "unit_id"], sort=True)[0]
    rows["cluster"] = rows["owner"] % MOST_CLUSTERS
    return JudgementSample(scale, rows, has_users, rarest_users)


class RatedUnits(NamedTuple):
    """How many raters gave each option to each unit, and whose unit it is.

    Attributes:
        counts: shape (units, options).
        clusters: of each unit.
    """

    counts: Counts
    clusters: Indices


def rated_units(rows: pd.DataFrame, n_options: int) -> RatedUnits:
    """The options that units were given."""
    units, index = np.unique(rows["unit"].to_numpy(), return_inverse=True)
    counts = np.zeros((len(units), n_options), dtype=np.int64)
    np.add.at(counts, (index, rows["place"].to_numpy()), 1)
    clusters = np.zeros(len(units), dtype=np.int64)
    clusters[index] = rows["cluster"].to_numpy()
    return RatedUnits(counts, clusters)


def without_each(clusters: Indices, statistic: Callable[[Flags], float | None]) -> Floats:
    """A statistic without each cluster, NaN where it is not defined: shape (clusters,).

    Args:
        clusters: of each row.
        statistic: of the rows that a mask keeps.
    """
    values = [statistic(clusters != cluster) for cluster in np.unique(clusters)]
    return np.array([np.nan if value is None else value for value in values])


def without_each_sum(sums: Floats, clusters: Indices) -> Floats:
    """Sums over rows without each cluster: shape (clusters, ...)."""
    names, index = np.unique(clusters, return_inverse=True)
    parts = np.zeros((len(names), *sums.shape[1:]))
    np.add.at(parts, index, sums)
    return np.asarray(parts.sum(axis=0) - parts)

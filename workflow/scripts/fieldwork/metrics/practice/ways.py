"""Scores of models asked several ways, and how far two models lie apart one way.

Owns the reading of such scores, from a table of any origin or from a study's runs. A score is of a unit:
a rerun, a user or an item. Promises that models are paired only where the same users, or items, are
behind both.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from fieldwork.errors import StudyError
from fieldwork.metrics.accuracy import unit_of
from fieldwork.records.metrics import RunAccuracy
from fieldwork.statistics.intervals import BoundedValue, Interval, difference_interval
from fieldwork.statistics.user_intervals import (
    RAREST_USERS,
    mean_difference_interval,
    mean_interval,
    unit_interval,
)

COLUMNS = ("model", "way", "score")

MIN_MODELS = 3
"""Fewer models have no order worth a test."""

ScoreUnit = Literal["rerun", "puppet", "item"]


class WayScores(NamedTuple):
    """Scores of one model asked one way, one a unit and at least one.

    Attributes:
        names: the users or items, in the order of the scores; empty where the units are reruns.
    """

    scores: tuple[float, ...]
    unit: ScoreUnit = "rerun"
    names: tuple[str, ...] = ()

    @property
    def mean(self) -> float:
        """The same for every order of the scores."""
        return math.fsum(self.scores) / len(self.scores)


ModelScores = Mapping[str, WayScores]
"""Scores of models asked one way, by model."""


def read_ways(frame: pd.DataFrame) -> dict[str, dict[str, WayScores]]:
    """Scores by way and model, from rows with `model`, `way` and `score`.

    A row is a rerun; with a column `user` or `item` it is of that user or item, whose rows are averaged.
    Rows without a score are left out.

    Raises:
        StudyError: a column is missing, or a score is no number.
    """
    missing_columns = [column for column in COLUMNS if column not in frame.columns]
    if missing_columns:
        raise StudyError(
            f"scores by way: there is no column {missing_columns[0]}; give {', '.join(COLUMNS)}"
        )
    scores = pd.to_numeric(frame["score"], errors="coerce")
    if (scores.isna() & frame["score"].notna()).any() or np.isinf(scores).any():
        raise StudyError("scores by way: a score is no number; give a number, or leave it empty")
    rows = frame.assign(score=scores).dropna(subset="score")
    ways: dict[str, dict[str, WayScores]] = {}
    for (way, model), own_rows in rows.groupby(["way", "model"]):
        ways.setdefault(str(way), {})[str(model)] = _read_scores(own_rows)
    return ways


def _read_scores(rows: pd.DataFrame) -> WayScores:
    units: dict[str, ScoreUnit] = {"user": "puppet", "item": "item"}
    for column, unit in units.items():
        if column in rows.columns and rows[column].notna().all():
            means = rows.groupby(rows[column].astype(str))["score"].mean()
            return WayScores(tuple(means), unit, tuple(means.index))
    return WayScores(tuple(rows["score"]))


def scores_of_runs(
    runs: Sequence[RunAccuracy], read: Callable[[RunAccuracy], float]
) -> WayScores | None:
    """Scores of the counted runs of an arm; None without one."""
    counted_runs = [run for run in runs if run.is_counted]
    if not counted_runs:
        return None
    scores = tuple(map(read, counted_runs))
    if unit_of(runs) == "rerun":
        return WayScores(scores)
    return WayScores(scores, "puppet", tuple(run.puppet_id or "" for run in counted_runs))


def lead_interval(
    model: WayScores, other: WayScores, *, rarest_users: float = RAREST_USERS
) -> Interval | None:
    """Interval of the mean score of a model less that of another, asked the same way.

    Where the same users, or items, are behind both, differences are taken one by one. Else the sides are
    independent: Welch 1947, and with users the intervals of both sides (Zou and Donner 2008). None with
    too few users, without two units a side, or without spread.
    """
    has_users = "puppet" in (model.unit, other.unit)
    if model.names and sorted(model.names) == sorted(other.names):
        return _paired_interval(model, other, rarest_users if has_users else None)
    if not has_users:
        interval = mean_difference_interval(model.scores, other.scores, (None, None))
        return interval.clip(-1.0, 1.0) if interval else None
    bounds = [
        BoundedValue(side.mean, interval)
        for side in (model, other)
        if (interval := mean_interval(side.scores, _rarest(side, rarest_users)))
    ]
    return difference_interval(bounds[0], bounds[1:]) if len(bounds) > 1 else None


def _rarest(side: WayScores, rarest_users: float) -> float | None:
    return rarest_users if side.unit == "puppet" else None


def _paired_interval(
    model: WayScores, other: WayScores, rarest_users: float | None
) -> Interval | None:
    other_scores = dict(zip(other.names, other.scores, strict=True))
    pairs = sorted(zip(model.names, model.scores, strict=True))
    leads = np.array([score - other_scores[name] for name, score in pairs])
    moves = (leads.mean() - leads) / max(1, len(leads) - 1)
    lead = math.fsum(leads.tolist()) / len(leads)
    return unit_interval(lead, moves, rarest_users=rarest_users)

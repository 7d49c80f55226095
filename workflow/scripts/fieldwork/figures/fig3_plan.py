"""What figure 3 shows, read from its tables: bars, lines and places, before anything is drawn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pandas as pd

from fieldwork.figures.style import (
    FigureOptions,
    Look,
    conditions_in,
    looks,
    models_in,
    number,
    rows_of,
)

METRICS = ("em_strict", "em_flexible")
_LEAST_SPAN = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(FigureOptions):
    """What a study decides about Figure 3."""

    task: str | None = None
    """The task to draw; needed where the table holds several."""
    ranks: Sequence[int] = (1, 2, 5)
    """Leaderboard places that are named."""
    leaderboard_name: str = "the leaderboard"
    """Which leaderboard it is: printed at the strip and in the legend."""
    leaderboard_note: str | None = None
    """Printed at the head: why the questions are not the leaderboard's, which then only gives scale."""
    own_names: Mapping[str, str | None] = field(default_factory=dict)
    """What the models are called on the leaderboard."""


class Tables(NamedTuple):
    """What is drawn: `records.RunAccuracy`, `records.Accuracy` and `estimates.Rank` rows.

    `leaderboard` has the columns rank, model and score, and no rows where there is none.
    """

    runs: pd.DataFrame
    spread: pd.DataFrame
    ranks: pd.DataFrame
    leaderboard: pd.DataFrame


class Line(NamedTuple):
    """A model of the leaderboard."""

    rank: int
    model: str
    score: float


class Bar(NamedTuple):
    """The counted runs of a model, condition and reading; None where a table holds NULL."""

    mean: float | None
    low: float | None
    high: float | None
    minimum: float | None
    maximum: float | None
    n_items: int
    unit: str
    runs: tuple[float, ...]
    places: str
    p_user: float | None
    p_rerun: float | None


Bars = Mapping[tuple[str, str, str], Bar]


class Plan(NamedTuple):
    """What is drawn where; `span` is the stretch of score that each panel shows.

    `lines` are the leaderboard; `has_places` is false where it only gives scale. `measure` is what the
    scores are.
    """

    models: list[str]
    looks: dict[str, Look]
    bars: Bars
    lines: list[Line]
    has_places: bool
    measure: str
    span: float

    def ends(self, model: str) -> tuple[float, float]:
        """Lowest and highest value drawn of a model."""
        values = [
            value
            for (of, _, _), bar in self.bars.items()
            if of == model
            for value in (*bar.runs, bar.mean, bar.low, bar.high)
            if value is not None
        ]
        return (min(values), max(values)) if values else (0.5, 0.5)


def make_plan(tables: Tables, task: str, options: Options) -> Plan:
    """The bars of a task, in the order of the options, and one stretch of score for all panels."""
    shown = looks(conditions_in(tables.spread, options), labels=options.condition_labels)
    of_shown = tables.spread[tables.spread["condition"].isin(list(shown))]
    models = models_in(of_shown, options)
    lines = _lines(tables.leaderboard)
    has_places = bool(lines) and options.leaderboard_note is None
    subjects = tables.runs.loc[tables.runs["task"] == task, "n_subjects"].max()
    measure = "Exact match" + (", macro mean over subjects" if subjects > 1 else "")
    plan = Plan(models, shown, _bars(tables, task, shown), lines, has_places, measure, 0.0)
    widest = max(high - low for low, high in map(plan.ends, models))
    return plan._replace(span=max(_LEAST_SPAN, 1.12 * widest))


def _bars(tables: Tables, task: str, shown: Mapping[str, Look]) -> dict[tuple[str, str, str], Bar]:
    scores: dict[tuple[str, str, str], list[float]] = {}
    for run in rows_of(tables.runs):
        if run.task == task and run.is_counted:
            for metric in METRICS:
                key = (run.model, run.condition, metric)
                scores.setdefault(key, []).append(float(getattr(run, metric)))
    places = {
        (row.model, row.condition, row.metric): row
        for row in rows_of(tables.ranks)
        if row.task == task
    }
    return {
        key: _bar(row, scores.get(key, []), places.get(key))
        for row in rows_of(tables.spread)
        for key in [(row.model, row.condition, row.metric)]
        if row.condition in shown and row.metric in METRICS
    }


def _bar(row: Any, scores: Sequence[float], place: Any) -> Bar:
    by_users = row.unit == "puppet"
    return Bar(
        mean=number(row.mean),
        low=number(row.ci_low),
        high=number(row.ci_high),
        minimum=number(row.minimum),
        maximum=number(row.maximum),
        n_items=row.n_items,
        unit=row.unit,
        runs=tuple(scores),
        places=_places(place),
        p_user=number(place.p_change) if place is not None and by_users else None,
        p_rerun=number(place.p_change_rerun) if place is not None else None,
    )


def _places(place: Any) -> str:
    if place is None or number(place.rank_best) is None:
        return "n/a"
    best, worst = int(place.rank_best), int(place.rank_worst)
    if best == worst:
        return f"{best}"
    return f"{best}–{worst} ({place.rank_median:g})"


def _lines(leaderboard: pd.DataFrame) -> list[Line]:
    return [Line(int(r.rank), r.model, float(r.score)) for r in rows_of(leaderboard)]


def first_of_rank(lines: Sequence[Line]) -> list[Line]:
    """Of models that share a place, the first listed."""
    found: dict[int, Line] = {}
    for line in lines:
        found.setdefault(line.rank, line)
    return [found[rank] for rank in sorted(found)]

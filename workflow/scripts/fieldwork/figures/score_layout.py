"""The layout of figure 3: bars of runs, models of the leaderboard, and the range of scores of a panel."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pandas as pd

from fieldwork.figures.selection import conditions_in, float_or_none, models_in, rows_of
from fieldwork.figures.settings import FigureSettings
from fieldwork.figures.style import ConditionStyle, drawn_styles
from fieldwork.records.shared import Leaderboard, LeaderboardPlace

METRICS = ("em_strict", "em_flexible")
_LEAST_SPAN = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Fig3Settings(FigureSettings):
    """What a study decides about Figure 3. Tables of several tasks need `task`."""

    ranks: Sequence[int] = (1, 2, 5)
    """Leaderboard places whose models are named."""
    leaderboard_note: str | None = None
    """Why the questions are not the leaderboard's; printed at the head, and no places are drawn."""
    own_names: Mapping[str, str | None] = field(default_factory=dict)
    """The name of each model on the leaderboard."""


class RunAsker(NamedTuple):
    """Who asked in a run: a puppet, or nobody; and its repeat index."""

    puppet_id: str | None
    replicate: int


class RunBar(NamedTuple):
    """The counted runs of a model, condition and reading; None where a table holds NULL."""

    mean: float | None
    low: float | None
    high: float | None
    minimum: float | None
    maximum: float | None
    n_items: int
    unit: str
    runs: tuple[float, ...]
    askers: tuple[RunAsker, ...]
    places: str
    p_user: float | None
    p_rerun: float | None


class ScoreBarKey(NamedTuple):
    """Which runs a bar shows; `metric` is the strict or the flexible reading."""

    model: str
    condition: str
    metric: str


class ScoreLayout(NamedTuple):
    """What is drawn where.

    `has_places` is false where the leaderboard only gives scale. `measure` says what the scores are.
    `span` is the range of scores that each panel shows.
    """

    task: str
    models: list[str]
    styles: dict[str, ConditionStyle]
    bars: Mapping[ScoreBarKey, RunBar]
    leaderboard: Leaderboard
    has_places: bool
    measure: str
    span: float

    def readings(self, model: str, condition: str) -> Mapping[str, float]:
        """The readings to draw, with their places in the row: one where both agree in every run."""
        bars = [self.bars.get(ScoreBarKey(model, condition, metric)) for metric in METRICS]
        is_same = bars[0] is not None and bars[0] == bars[1]
        return {METRICS[0]: 0.0} if is_same else {METRICS[0]: -0.21, METRICS[1]: 0.21}

    def ends(self, model: str) -> tuple[float, float]:
        """Lowest and highest value drawn of a model."""
        values = [
            value
            for key, bar in self.bars.items()
            if key.model == model
            for value in (*bar.runs, bar.mean, bar.low, bar.high)
            if value is not None
        ]
        return (min(values), max(values)) if values else (0.5, 0.5)


def lay_out_scores(
    runs: pd.DataFrame,
    accuracy: pd.DataFrame,
    ranks: pd.DataFrame,
    leaderboard: Leaderboard,
    task: str,
    settings: Fig3Settings,
) -> ScoreLayout:
    """The bars of a task; all panels show an equally wide range of scores."""
    styles = drawn_styles(conditions_in(accuracy, settings), settings)
    accuracy = accuracy[accuracy["condition"].isin(list(styles))]
    models = models_in(accuracy, settings)
    subjects = runs.loc[runs["task"] == task, "n_subjects"].max()
    layout = ScoreLayout(
        task=task,
        models=models,
        styles=styles,
        bars=_bars(runs[runs["task"] == task], accuracy, ranks[ranks["task"] == task]),
        leaderboard=leaderboard,
        has_places=len(leaderboard.places) > 0 and settings.leaderboard_note is None,
        measure="Exact match" + (", macro mean over subjects" if subjects > 1 else ""),
        span=0.0,
    )
    widest = max(high - low for low, high in map(layout.ends, models))
    return layout._replace(span=max(_LEAST_SPAN, 1.12 * widest))


def _bars(
    runs: pd.DataFrame, accuracy: pd.DataFrame, ranks: pd.DataFrame
) -> dict[ScoreBarKey, RunBar]:
    scores: dict[ScoreBarKey, list[float]] = {}
    askers: dict[ScoreBarKey, list[RunAsker]] = {}
    for run in rows_of(runs):
        if run.is_counted:
            for metric in METRICS:
                key = ScoreBarKey(run.model, run.condition, metric)
                scores.setdefault(key, []).append(float(getattr(run, metric)))
                puppet = None if pd.isna(run.puppet_id) else str(run.puppet_id)
                askers.setdefault(key, []).append(RunAsker(puppet, int(run.replicate)))
    rank_rows = {ScoreBarKey(row.model, row.condition, row.metric): row for row in rows_of(ranks)}
    return {
        key: _bar(row, scores.get(key, []), askers.get(key, []), rank_rows.get(key))
        for row in rows_of(accuracy)
        for key in [ScoreBarKey(row.model, row.condition, row.measure)]
        if row.measure in METRICS
    }


def _bar(row: Any, scores: Sequence[float], askers: Sequence[RunAsker], rank: Any) -> RunBar:
    by_users = row.unit == "puppet"
    return RunBar(
        mean=float_or_none(row.value),
        low=float_or_none(row.ci_low),
        high=float_or_none(row.ci_high),
        minimum=min(scores) if len(scores) > 1 else None,
        maximum=max(scores) if len(scores) > 1 else None,
        n_items=row.n_items,
        unit=row.unit,
        runs=tuple(scores),
        askers=tuple(askers),
        places=_places(rank),
        p_user=float_or_none(rank.p_change) if rank is not None and by_users else None,
        p_rerun=float_or_none(rank.p_change_rerun) if rank is not None else None,
    )


def _places(rank: Any) -> str:
    if rank is None or float_or_none(rank.rank_best) is None:
        return "n/a"
    best, worst = int(rank.rank_best), int(rank.rank_worst)
    if best == worst:
        return f"{best}"
    return f"{best}–{worst} ({rank.rank_median:g})"


def named_models(leaderboard: Leaderboard, settings: Fig3Settings) -> list[LeaderboardPlace]:
    """The models whose names and places are printed; of models that share a place, the first listed."""
    first_by_rank: dict[int, LeaderboardPlace] = {}
    for entry in leaderboard.places:
        first_by_rank.setdefault(entry.rank, entry)
    return [first_by_rank[rank] for rank in sorted(first_by_rank) if rank in settings.ranks]

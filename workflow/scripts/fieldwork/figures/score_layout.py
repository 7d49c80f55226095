"""The layout of figure 3: bars of runs, models of the leaderboard, and the range of scores of a panel."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import pandas as pd

from fieldwork.figures.marks import Point, ends_of
from fieldwork.figures.selection import float_or_none, models_in, row_by, rows_by
from fieldwork.figures.settings import FigureSettings
from fieldwork.figures.style import ConditionStyle, styles_in
from fieldwork.records.shared import Leaderboard, LeaderboardPlace

METRICS = ("em_strict", "em_flexible")
_LEAST_SPAN = 0.05
_EDGE = 0.03


class RunBar(NamedTuple):
    """The counted runs of a model, condition and reading.

    Attributes:
        mean: of the runs, with its interval.
        ends: the lowest and the highest run; None of fewer than two.
        askers: who asked in each run: a puppet, or None for nobody, and the repeat index.
        places: on the leaderboard, in words.
        chances: of another place with another context, and with a rerun.
    """

    mean: Point
    ends: tuple[float, float] | None
    n_items: int
    unit: str
    runs: tuple[float, ...]
    askers: tuple[tuple[str | None, int], ...]
    places: str
    chances: tuple[float | None, float | None]

    @property
    def values(self) -> list[float]:
        """All that is drawn of it."""
        values = (*self.runs, self.mean.ci_low, self.mean.ci_high, self.mean.value)
        return [value for value in values if value is not None]


class ScoreLayout(NamedTuple):
    """What is drawn where.

    Attributes:
        bars: by model, condition and metric, the strict or the flexible reading.
        has_places: false where the leaderboard only gives scale.
        measure: what the scores are.
        span: the range of scores that each panel shows.
    """

    task: str
    models: list[str]
    styles: dict[str, ConditionStyle]
    bars: Mapping[tuple[str, str, str], RunBar]
    leaderboard: Leaderboard
    has_places: bool
    measure: str
    settings: FigureSettings
    span: float = 0.0

    def readings(self, model: str, condition: str) -> dict[str, tuple[float, RunBar]]:
        """The bars to draw, with their places in the row: one where both agree in every run."""
        bars = {metric: self.bars.get((model, condition, metric)) for metric in METRICS}
        strict, flexible = bars.values()
        if strict is not None and strict == flexible:
            return {METRICS[0]: (0.0, strict)}
        places = dict(zip(METRICS, (-0.21, 0.21), strict=True))
        return {name: (places[name], bar) for name, bar in bars.items() if bar is not None}

    def ends(self, model: str) -> tuple[float, float]:
        """Lowest and highest value drawn of a model."""
        values = [one for key, bar in self.bars.items() if key[0] == model for one in bar.values]
        return (min(values), max(values)) if values else (0.5, 0.5)

    def window(self, model: str) -> tuple[float, float]:
        """The range of scores that a model's panel shows."""
        low, high = self.ends(model)
        # a little room beyond 0 and 100 %, so that dots there are whole
        edge = max(_EDGE * self.span, (self.span - 1) / 2)
        left = min(max(-edge, (low + high - self.span) / 2), 1.0 + edge - self.span)
        return left, left + self.span

    @property
    def named_models(self) -> list[LeaderboardPlace]:
        """The models whose names and places are printed; of those that share a place the first."""
        first_by_rank: dict[int, LeaderboardPlace] = {}
        for entry in self.leaderboard.places:
            first_by_rank.setdefault(entry.rank, entry)
        return [
            first_by_rank[rank] for rank in sorted(first_by_rank) if rank in self.settings.ranks
        ]


def lay_out_scores(
    runs: pd.DataFrame,
    accuracy: pd.DataFrame,
    ranks: pd.DataFrame,
    leaderboard: Leaderboard,
    settings: FigureSettings,
) -> ScoreLayout:
    """The bars of a task; all panels show an equally wide range of scores."""
    models, task = models_in(accuracy, settings), str(accuracy["task"].iloc[0])
    runs, ranks = (table[table["task"] == task] for table in (runs, ranks))
    layout = ScoreLayout(
        task=task,
        models=models,
        styles=styles_in(accuracy, settings),
        bars=_bars(runs, accuracy, ranks),
        leaderboard=leaderboard,
        has_places=len(leaderboard.places) > 0 and settings.leaderboard_note is None,
        measure="Exact match"
        + (", macro mean over subjects" if runs["n_subjects"].max() > 1 else ""),
        settings=settings,
    )
    widest = max(high - low for low, high in map(layout.ends, models))
    return layout._replace(span=max(_LEAST_SPAN, 1.12 * widest))


def _bars(
    runs: pd.DataFrame, accuracy: pd.DataFrame, ranks: pd.DataFrame
) -> dict[tuple[str, str, str], RunBar]:
    runs_by_arm = rows_by(runs[runs["is_counted"].astype(bool)], "model", "condition")
    rank_rows = row_by(ranks, "model", "condition", "metric")
    bars = {}
    for key, row in row_by(accuracy, "model", "condition", "measure").items():
        *arm, metric = key
        if metric not in METRICS:
            continue
        arm_runs, rank = runs_by_arm.get(tuple(arm), ()), rank_rows.get(key)
        p_user = None if rank is None or row.unit != "puppet" else float_or_none(rank.p_change)
        scores = tuple(float(getattr(run, metric)) for run in arm_runs)
        bars[key] = RunBar(
            mean=Point(**ends_of(row)),
            ends=(min(scores), max(scores)) if len(scores) > 1 else None,
            n_items=row.n_items,
            unit=row.unit,
            runs=scores,
            askers=tuple(
                (None if pd.isna(run.puppet_id) else str(run.puppet_id), int(run.replicate))
                for run in arm_runs
            ),
            places=_places(rank),
            chances=(p_user, None if rank is None else float_or_none(rank.p_change_rerun)),
        )
    return bars


def _places(rank: Any) -> str:
    if rank is None or float_or_none(rank.rank_best) is None:
        return "n/a"
    best, worst = int(rank.rank_best), int(rank.rank_worst)
    if best == worst:
        return f"{best}"
    return f"{best}–{worst} ({rank.rank_median:g})"

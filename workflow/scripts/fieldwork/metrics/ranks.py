"""Places that runs would take on a leaderboard, and how often another user means another place.

Owns the place of a score among the models of a leaderboard, the chance that two runs differ in place,
and the chance that a user turns the order of two models of the study. A unit is a puppet, with its
counted run, or a rerun. Chances are means over pairs of units, which no number of units biases.
"""

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from types import MappingProxyType
from typing import Any, NamedTuple

from fieldwork.errors import StudyError
from fieldwork.estimates.answer_sets import Arm
from fieldwork.files.leaderboards import DECIMALS
from fieldwork.metrics.accuracy import (
    READERS,
    counted_scores,
    full_sizes,
    mean,
    runs_by_arm,
    unit_of,
)
from fieldwork.records.metrics import Rank, RunAccuracy
from fieldwork.records.shared import Leaderboard

METRICS = ("em_strict", "em_flexible")
_NO_PLACES: Mapping[str, Any] = dict.fromkeys(
    (
        "rank_best", "rank_median", "rank_worst", "rank_of_mean", "p_change", "p_change_rerun",
        "p_change_baseline", "rank_baseline", "p_change_from_baseline",
    )
)  # fmt: skip
_ScoreReader = Callable[[RunAccuracy], float]


class _RankedRuns(NamedTuple):
    """Runs of an arm and of its baseline, and what their places are among."""

    runs: Sequence[RunAccuracy]
    offline: Sequence[RunAccuracy]
    model_scores: Sequence[float]
    n_items: int


def measure_ranks(
    runs: Sequence[RunAccuracy],
    leaderboard: Leaderboard,
    *,
    baseline: str,
    own_names: Mapping[str, str] = MappingProxyType({}),
) -> list[Rank]:
    """A row for each metric and each arm, the baseline among them, in order of arm and metric.

    Args:
        runs: of tasks that ask the leaderboard's questions.
        own_names: what models of the study are called on the leaderboard.
    """
    arms, sizes = runs_by_arm(runs), full_sizes(runs)
    rows: list[Rank] = []
    for arm, arm_runs in arms.items():
        offline = arms.get(arm._replace(condition=baseline), [])
        scores = scores_of_others(leaderboard, own_names.get(arm.model))
        ranked_runs = _RankedRuns(arm_runs, offline, scores, sizes[arm.model, arm.task])
        for metric in sorted(METRICS):
            rows.append(
                _rank(arm, ranked_runs, metric, baseline=baseline, leaderboard=leaderboard.name)
            )
    return rows


def measure_places(
    runs: Sequence[RunAccuracy],
    leaderboards: Mapping[str, Leaderboard],
    *,
    baseline: str,
    own_names: Mapping[str, str],
) -> list[Rank]:
    """`measure_ranks` for each task that has a leaderboard.

    Raises:
        StudyError: what a model is called is on none of the leaderboards.
    """
    require_names([*leaderboards.values()], own_names)
    ranks: list[Rank] = []
    for task, board in leaderboards.items():
        task_runs = [run for run in runs if run.task == task]
        ranks += measure_ranks(task_runs, board, baseline=baseline, own_names=own_names)
    return ranks


def require_names(leaderboards: Sequence[Leaderboard], own_names: Mapping[str, str]) -> None:
    """Raise StudyError where what a model is called is on none of the leaderboards, if there are any."""
    board_models = {place.model for board in leaderboards for place in board.places}
    for model, name in own_names.items():
        if leaderboards and name not in board_models:
            raise StudyError(
                f"models.{model}.leaderboard_name: {name!r} is not in "
                f"{', '.join(board.source for board in leaderboards)}; write it as the file does, or "
                f"give null"
            )


def scores_of_others(leaderboard: Leaderboard, own_name: str | None) -> list[float]:
    """Scores of the leaderboard without the line of a model's own name."""
    return [round(p.score, DECIMALS) for p in leaderboard.places if p.model != own_name]


def place_of(score: float, model_scores: Sequence[float]) -> int:
    """1 + how many of the leaderboard's models score higher: of equal scores the better place."""
    return 1 + sum(other > round(score, DECIMALS) for other in model_scores)


def _rank(
    arm: Arm, ranked_runs: _RankedRuns, metric: str, *, baseline: str, leaderboard: str
) -> Rank:
    """The row of an arm, without places where the leaderboard is empty."""
    runs, offline, model_scores, n_items = ranked_runs
    read = READERS[metric]
    scores, offline_scores = (counted_scores(side, read) for side in (runs, offline))
    places, offline_places = (
        [place_of(score, model_scores) for score in side] for side in (scores, offline_scores)
    )
    p_change = share_of_pairs(combinations(places, 2))
    p_rerun = p_change if unit_of(runs) == "rerun" else _rerun_change(runs, model_scores, read)
    rank_baseline = _place_of_mean(offline_scores, model_scores)
    is_baseline = arm.condition == baseline
    row = Rank(
        **arm.columns,
        baseline=baseline,
        metric=metric,
        leaderboard=leaderboard,
        n_models=len(model_scores),
        rank_best=min(places, default=None),
        rank_median=statistics.median(places) if places else None,
        rank_worst=max(places, default=None),
        rank_of_mean=_place_of_mean(scores, model_scores),
        p_change=p_change,
        p_change_rerun=p_rerun,
        p_change_baseline=share_of_pairs(combinations(offline_places, 2)),
        rank_baseline=rank_baseline,
        p_change_from_baseline=_share_off_mean(scores, model_scores)
        if is_baseline
        else _share_off_place(places, rank_baseline),
        n_units=len(places),
        n_items=n_items,
        unit=unit_of(runs),
        reason=_reason(ranked_runs, baseline, p_rerun),
    )
    return row if model_scores else replace(row, **_NO_PLACES)


def _place_of_mean(scores: Sequence[float], model_scores: Sequence[float]) -> int | None:
    return place_of(mean(scores), model_scores) if scores else None


def _share_off_place(places: Sequence[int], baseline_place: int | None) -> float | None:
    if baseline_place is None or not places:
        return None
    return sum(place != baseline_place for place in places) / len(places)


def _share_off_mean(scores: Sequence[float], model_scores: Sequence[float]) -> float | None:
    """Of reruns: how often one is not at the place of the mean of all other reruns."""
    if len(scores) < 2:
        return None
    total, n_rest = math.fsum(scores), len(scores) - 1
    return sum(
        place_of(score, model_scores) != place_of((total - score) / n_rest, model_scores)
        for score in scores
    ) / len(scores)


def share_of_pairs(pairs: Iterable[tuple[int, int]]) -> float | None:
    """Share of pairs that differ, None of none. Over all pairs of a sample: 1 - Simpson's index."""
    differences = [first != second for first, second in pairs]
    return sum(differences) / len(differences) if differences else None


def _rerun_change(
    runs: Sequence[RunAccuracy], model_scores: Sequence[float], read: _ScoreReader
) -> float | None:
    """Mean over puppets with two complete runs or more of the share of their pairs that differ."""
    size = max((run.n_items for run in runs if run.is_counted), default=0)
    places_by_puppet: dict[str, list[int]] = {}
    for run in runs:
        if run.n_items == size:
            places = places_by_puppet.setdefault(run.puppet_id or "", [])
            places.append(place_of(read(run), model_scores))
    shares = [
        share
        for places in places_by_puppet.values()
        if (share := share_of_pairs(combinations(places, 2))) is not None
    ]
    return mean(shares) if shares else None


def _reason(ranked_runs: _RankedRuns, baseline: str, p_rerun: float | None) -> str | None:
    if not ranked_runs.model_scores:
        return "no places: the leaderboard is empty"
    n_runs, n_offline = (
        sum(run.is_counted for run in side) for side in (ranked_runs.runs, ranked_runs.offline)
    )
    if not n_runs:
        return "no run is counted: none answers all items, or no answer can be read"
    reasons = []
    if n_runs == 1:
        reasons.append("no p_change: one run has no other to differ from")
    if p_rerun is None:
        reasons.append("no p_change_rerun: no user has two complete runs")
    if not n_offline:
        reasons.append(f"no run is counted under the baseline condition {baseline}")
    elif n_offline == 1:
        reasons.append("no p_change_baseline: the baseline has one run")
    return "; ".join(reasons) or None

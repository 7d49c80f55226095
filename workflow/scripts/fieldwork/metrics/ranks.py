"""Places that runs would take on a leaderboard, and how often another user means another place.

Owns the place of a score among the models of a leaderboard, the chance that two runs differ in place,
and the chance that a user turns the order of two models of the study. A unit is a puppet, with its
counted run, or a rerun. Chances are means over pairs of units, which no number of units biases.
"""

import math
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, product
from types import MappingProxyType
from typing import NamedTuple

from fieldwork.errors import StudyError
from fieldwork.files.leaderboards import DECIMALS, Leaderboard
from fieldwork.metrics.accuracy import NOTHING, READERS, RunArm, full_sizes, runs_by_arm, unit_of
from fieldwork.records.metrics import OrderChange, Rank, RunAccuracy

METRICS = ("em_strict", "em_flexible")
_Read = Callable[[RunAccuracy], float]


class _Arms(NamedTuple):
    here: Sequence[RunAccuracy]
    there: Sequence[RunAccuracy]


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
    arms, full = runs_by_arm(runs), full_sizes(runs)
    return [
        _rank(
            arm,
            _Arms(of, arms.get(arm._replace(condition=baseline), [])),
            others_of(leaderboard, own_names.get(arm.model)),
            metric,
            (baseline, leaderboard.name, full[arm.model, arm.task]),
        )
        for arm, of in arms.items()
        for metric in sorted(METRICS)
    ]


def require_names(leaderboards: Sequence[Leaderboard], own_names: Mapping[str, str]) -> None:
    """Raise StudyError where what a model is called is on none of the leaderboards, if there are any."""
    known = {place.model for board in leaderboards for place in board.places}
    for model, name in own_names.items():
        if leaderboards and name not in known:
            raise StudyError(
                f"models.{model}.leaderboard_name: {name!r} is not in "
                f"{', '.join(board.source for board in leaderboards)}; write it as the file does, or "
                f"give null"
            )


def others_of(leaderboard: Leaderboard, own_name: str | None) -> list[float]:
    """Scores of the leaderboard without the line of a model's own name."""
    return [round(p.score, DECIMALS) for p in leaderboard.places if p.model != own_name]


def place_of(score: float, others: Sequence[float]) -> int:
    """1 + how many of the others score higher: of equal scores the better place."""
    return 1 + sum(other > round(score, DECIMALS) for other in others)


def _rank(
    arm: RunArm,
    arms: _Arms,
    others: Sequence[float],
    metric: str,
    told: tuple[str, str, int],
) -> Rank:
    baseline, leaderboard, n_items = told
    read = READERS[metric]
    here = _places(arms.here, others, read)
    mean, from_mean = (_place_of_mean(of, others, read) for of in (arms.here, arms.there))
    is_baseline = arm.condition == baseline
    moved = _left_mean(arms.here, others, read) if is_baseline else _moved(here, from_mean)
    p_change = share_of_pairs(combinations(here, 2))
    rerun = p_change if unit_of(arms.here) == "rerun" else _rerun_change(arms.here, others, read)
    return Rank(
        model=arm.model,
        task=arm.task,
        condition=arm.condition,
        baseline=baseline,
        metric=metric,
        leaderboard=leaderboard,
        n_models=len(others),
        rank_best=min(here) if here and others else None,
        rank_median=statistics.median(here) if here and others else None,
        rank_worst=max(here) if here and others else None,
        rank_of_mean=mean if others else None,
        p_change=p_change if others else None,
        p_change_rerun=rerun if others else None,
        p_change_baseline=share_of_pairs(combinations(_places(arms.there, others, read), 2))
        if others
        else None,
        rank_baseline=from_mean if others else None,
        p_change_from_baseline=moved if others else None,
        n_units=len(here),
        n_items=n_items,
        unit=unit_of(arms.here),
        reason=_reason(arms, others, baseline, rerun),
    )


def _counted(runs: Sequence[RunAccuracy], read: _Read) -> list[float]:
    return [read(run) for run in runs if run.is_counted]


def _places(runs: Sequence[RunAccuracy], others: Sequence[float], read: _Read) -> list[int]:
    return [place_of(score, others) for score in _counted(runs, read)]


def _place_of_mean(runs: Sequence[RunAccuracy], others: Sequence[float], read: _Read) -> int | None:
    scores = _counted(runs, read)
    return place_of(math.fsum(scores) / len(scores), others) if scores else None


def _moved(places: Sequence[int], from_place: int | None) -> float | None:
    if from_place is None or not places:
        return None
    return sum(place != from_place for place in places) / len(places)


def _left_mean(runs: Sequence[RunAccuracy], others: Sequence[float], read: _Read) -> float | None:
    """Of reruns: how often one is not at the place of the mean of all others."""
    scores = _counted(runs, read)
    if len(scores) < 2:
        return None
    total, rest = math.fsum(scores), len(scores) - 1
    return sum(
        place_of(score, others) != place_of((total - score) / rest, others) for score in scores
    ) / len(scores)


def share_of_pairs(pairs: Iterable[tuple[int, int]]) -> float | None:
    """Share of pairs that differ, None of none. Over all pairs of a sample: 1 - Simpson's index."""
    differ = [first != second for first, second in pairs]
    return sum(differ) / len(differ) if differ else None


def _rerun_change(
    runs: Sequence[RunAccuracy], others: Sequence[float], read: _Read
) -> float | None:
    """Mean over puppets with two complete runs or more of the share of their pairs that differ."""
    full = max((run.n_items for run in runs if run.is_counted), default=0)
    by_puppet: dict[str, list[int]] = {}
    for run in runs:
        if run.n_items == full:
            by_puppet.setdefault(run.puppet_id or "", []).append(place_of(read(run), others))
    shares = [share_of_pairs(combinations(of, 2)) for of in by_puppet.values()]
    known = [share for share in shares if share is not None]
    return math.fsum(known) / len(known) if known else None


def _reason(arms: _Arms, others: Sequence[float], baseline: str, rerun: float | None) -> str | None:
    if not others:
        return "no places: the leaderboard is empty"
    here, there = (sum(run.is_counted for run in of) for of in arms)
    if not here:
        return "no run is counted: none answers all items, or no answer can be read"
    parts = []
    if here == 1:
        parts.append("no p_change: one run has no other to differ from")
    if rerun is None:
        parts.append("no p_change_rerun: no user has two complete runs")
    if not there:
        parts.append(f"no run is counted under the baseline condition {baseline}")
    elif there == 1:
        parts.append("no p_change_baseline: the baseline has one run")
    return "; ".join(parts) or None


def measure_order_changes(runs: Sequence[RunAccuracy], *, baseline: str) -> list[OrderChange]:
    """A row for each pair of models, task, condition and metric; none where there is one model.

    Users are those whose puppet both models have; without puppets every rerun of one model is set
    beside every rerun of the other.
    """
    arms = runs_by_arm(runs)
    rows = [
        row
        for first, second in combinations(arms, 2)
        if first.model != second.model and first[1:] == second[1:]
        for row in _order(first, second, arms, baseline)
    ]
    return sorted(rows, key=lambda r: (r.model, r.other, r.task, r.condition, r.metric))


def _order(
    first: RunArm,
    second: RunArm,
    arms: Mapping[RunArm, Sequence[RunAccuracy]],
    baseline: str,
) -> Iterator[OrderChange]:
    offline = {a: arms.get(a._replace(condition=baseline), []) for a in (first, second)}
    for metric in METRICS:
        read = READERS[metric]
        means = {a: _mean(_counted(of, read)) for a, of in offline.items()}
        ahead, behind = sorted((first, second), key=lambda a: (-(means[a] or 0.0), a.model))
        lead = None
        if means[ahead] is not None and means[behind] is not None:
            lead = (means[ahead] or 0.0) - (means[behind] or 0.0)
        decided = lead is not None and lead > NOTHING
        pairs = _same_users(arms[ahead], arms[behind], read)
        reruns = [_counted(offline[a], read) for a in (ahead, behind)]
        has_users = unit_of(arms[ahead]) == unit_of(arms[behind]) == "puppet"
        yield OrderChange(
            model=ahead.model,
            other=behind.model,
            task=first.task,
            condition=first.condition,
            baseline=baseline,
            metric=metric,
            lead=lead,
            p_change=_turned(pairs) if decided else None,
            p_change_baseline=_turned(list(product(reruns[0], reruns[1]))) if decided else None,
            n_units=len(pairs),
            unit="puppet" if has_users else "pair of reruns",
            reason=_why_no_order(lead, pairs, baseline),
        )


def _mean(scores: Sequence[float]) -> float | None:
    return math.fsum(scores) / len(scores) if scores else None


def _same_users(
    ahead: Sequence[RunAccuracy], behind: Sequence[RunAccuracy], read: _Read
) -> list[tuple[float, float]]:
    """Scores of both models with one user, or of all pairs of reruns."""
    if "puppet" not in (unit_of(ahead), unit_of(behind)):
        return list(product(_counted(ahead, read), _counted(behind, read)))
    second = {run.puppet_id: read(run) for run in behind if run.is_counted}
    return [
        (read(run), second[run.puppet_id])
        for run in ahead
        if run.is_counted and run.puppet_id in second
    ]


def _turned(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Share of pairs in which the second is ahead; a tie counts half."""
    if not pairs:
        return None
    gaps = [first - second for first, second in pairs]
    return sum((gap < -NOTHING) + 0.5 * (abs(gap) <= NOTHING) for gap in gaps) / len(gaps)


def _why_no_order(
    lead: float | None, pairs: Sequence[tuple[float, float]], baseline: str
) -> str | None:
    if lead is None:
        return f"a model has no counted run under the baseline condition {baseline}"
    if lead <= NOTHING:
        return "no order to change: both score alike under the baseline"
    return None if pairs else "no puppet is a user of both models"

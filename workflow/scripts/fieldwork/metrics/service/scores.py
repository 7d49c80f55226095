"""What an arm scores, and what guessing would: the points that its price is divided by."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import pandas as pd

from fieldwork.estimates.answer_sets import Arm
from fieldwork.estimates.quantity import Quantity
from fieldwork.records.estimates import Estimate
from fieldwork.statistics.intervals import Interval

METRIC = "em_strict"


class PointScore(NamedTuple):
    """The mean score of an arm; the reasons say why there is nothing above 0.

    Attributes:
        whole: share of right answers.
        above_chance: the same less the share that guessing gets right.
        n_items: questions of a run.
    """

    whole: Quantity
    above_chance: Quantity
    n_items: int


def arm_scores(estimates: Iterable[Estimate]) -> list[Estimate]:
    """The score of each arm, of all that is estimated of it."""
    return [row for row in estimates if (row.measure, row.reference) == (METRIC, "baseline")]


def point_scores(scores: Iterable[Estimate], items: pd.DataFrame) -> dict[Arm, PointScore]:
    """The scores of the arms whose task has right answers.

    Args:
        items: of all tasks, with a column `task`.
    """
    chances = chance_shares(items)
    return {
        Arm.of(row.model, row.task, row.condition): _point_score(row, chances[row.task])
        for row in arm_scores(scores)
        if row.task in chances
    }


def chance_shares(items: pd.DataFrame) -> Mapping[str, float]:
    """The score that guessing gets in each task: 1 / options, over subjects as the score is."""
    has_gold = (items["kind"] == "choice") & items["gold"].notna()
    questions = items[has_gold]
    shares = 1 / questions["choices"].map(len)
    subjects = shares.groupby([questions["task"], questions["subject"].fillna("")]).mean()
    return {str(task): float(share) for task, share in subjects.groupby(level=0).mean().items()}


def _point_score(row: Estimate, chance: float) -> PointScore:
    if row.value is None:
        absent = Quantity(reason=f"no score: {row.reason}")
        return PointScore(absent, absent, row.n_items)
    interval = None
    if row.ci_low is not None and row.ci_high is not None:
        interval = Interval(row.ci_low, row.ci_high)
    whole = Quantity(row.value, interval, reason="no answer is right")
    above_chance = whole.plus(-chance)._replace(
        reason=f"the score is not above chance, {chance:.3g}"
    )
    return PointScore(whole, above_chance, row.n_items)

"""A judge beside people: what it accepts, how much higher it rates, and how its order follows theirs.

People's verdict on a unit is their majority, and its rating their mean. Units with as many people for as
against have no verdict.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from fieldwork.metrics.judgements.authors import author_rows
from fieldwork.metrics.judgements.rows import (
    CORRELATION,
    SHARE,
    EstimateBasis,
    EstimateName,
    EstimateValue,
    basis_of,
    estimate_row,
)
from fieldwork.metrics.judgements.sample import PEOPLE, JudgementSample, without_each
from fieldwork.records.judging import JudgementEstimate
from fieldwork.statistics.arrays import Flags, Floats, Indices
from fieldwork.statistics.rank_correlation import mean_rho

FEW_UNITS = 10
"""Units below which a person's order says nothing."""


class JudgedPair(NamedTuple):
    """Units judged by a model and by people, an entry a unit.

    Attributes:
        judge, people: the judge's number and the mean of people's.
        judge_accepts: whether the judge accepts it.
        people_accept: share of people who accept it.
        clusters: whose unit it is.
    """

    judge: Floats
    people: Floats
    judge_accepts: Flags
    people_accept: Floats
    clusters: Indices


def judge_rows(
    sample: JudgementSample, judge: str, group: str | None
) -> Iterator[JudgementEstimate]:
    """A judge's estimates against people."""
    rows = sample.of_kind("model")
    rows, people = rows[rows["rater"] == judge], sample.of_kind("person")
    shared_units = judged_by_both(sample, rows, people)
    if not len(shared_units.clusters):
        return
    on_both = people[people["unit"].isin(rows["unit"])]
    basis = basis_of(on_both)
    name = EstimateName("", judge, PEOPLE, group)
    if sample.scale.accepted:
        yield from _acceptance_rows(sample, name, shared_units, basis)
    if sample.scale.is_ordered:
        rest = without_each(shared_units.clusters, lambda mask: _inflation(shared_units, mask))
        result = EstimateValue(
            _inflation(shared_units, np.ones(len(shared_units.clusters), dtype=bool)), rest
        )
        yield estimate_row(sample, name._replace(measure="inflation"), result, basis)
        yield from _order_rows(sample, name, rows, people)
        yield from author_rows(sample, name, rows, people)


def judged_by_both(sample: JudgementSample, rows: pd.DataFrame, people: pd.DataFrame) -> JudgedPair:
    """The units that a judge and at least one person judged."""
    numbers = sample.numbers()
    judge = rows.set_index("unit")
    by_unit = people.assign(
        number_of_option=numbers[people["place"].to_numpy()],
        accepts=people["value"].isin(sample.scale.accepted),
    ).groupby("unit")[["number_of_option", "accepts"]]
    means = by_unit.mean()
    units = judge.index.intersection(means.index).sort_values()
    judge_side = judge.loc[units]
    return JudgedPair(
        judge=numbers[judge_side["place"].to_numpy()],
        people=means.loc[units, "number_of_option"].to_numpy(dtype=np.float64),
        judge_accepts=judge_side["value"].isin(sample.scale.accepted).to_numpy(),
        people_accept=means.loc[units, "accepts"].to_numpy(dtype=np.float64),
        clusters=judge_side["cluster"].to_numpy(),
    )


def _inflation(shared_units: JudgedPair, mask: Flags) -> float | None:
    """How much higher the judge rates than people, on average over units."""
    return float((shared_units.judge - shared_units.people)[mask].mean()) if mask.any() else None


# ---- acceptance ------------------------------------------------------------------------------------


def _acceptance_rows(
    sample: JudgementSample, name: EstimateName, shared_units: JudgedPair, basis: EstimateBasis
) -> Iterator[JudgementEstimate]:
    """The judge's acceptance held against people's verdicts."""
    has_verdict = shared_units.people_accept != 0.5
    judge, people = (
        shared_units.judge_accepts[has_verdict],
        shared_units.people_accept[has_verdict] > 0.5,
    )
    clusters = shared_units.clusters[has_verdict]
    verdict_basis = basis._replace(n_units=len(clusters))
    measures: dict[str, Callable[[Flags], float | None]] = {
        "precision": lambda mask: _share((judge & people & mask).sum(), (judge & mask).sum()),
        "recall": lambda mask: _share((judge & people & mask).sum(), (people & mask).sum()),
        "f1": lambda mask: _share(
            2 * (judge & people & mask).sum(), (judge & mask).sum() + (people & mask).sum()
        ),
        "over_selection": lambda mask: _share((judge & mask).sum(), (people & mask).sum()),
    }
    everything = np.ones(len(clusters), dtype=bool)
    for measure, statistic in measures.items():
        value = statistic(everything)
        result = EstimateValue(
            value,
            without_each(clusters, statistic),
            SHARE if measure != "over_selection" else (0.0, np.inf),
            reason=None if value is not None else "nothing was accepted",
        )
        yield estimate_row(sample, name._replace(measure=measure), result, verdict_basis)


def _share(part: int, whole: int) -> float | None:
    return float(part / whole) if whole else None


# ---- order -----------------------------------------------------------------------------------------


class _OrderSide(NamedTuple):
    """Ratings of the units of one person by someone, and by the mean of the other people."""

    ratings: Floats
    others_mean: Floats
    clusters: Indices


def _order_rows(
    sample: JudgementSample, name: EstimateName, rows: pd.DataFrame, people: pd.DataFrame
) -> Iterator[JudgementEstimate]:
    """Rank correlation with the mean of the other people: of the judge, and of people themselves.

    Each person is left out in turn, and the judge is held against the same means as the person, so that
    people's own correlation is what a judge can be expected to reach.
    """
    sides = _order_sides(sample, rows, people)
    for measure, place in (("rho", 0), ("rho_of_people", 1)):
        parts = [pair[place] for pair in sides]
        value = _mean_rho(parts, None)
        clusters: Indices = np.unique(
            np.concatenate([np.empty(0, np.int64), *(p.clusters for p in parts)])
        )
        rest = np.array([_or_nan(_mean_rho(parts, cluster)) for cluster in clusters])
        n_ratings = sum(len(part.ratings) for part in parts)
        basis = basis_of(people, n_ratings)._replace(n_raters=len(parts))
        reason = f"no person has {FEW_UNITS} units that another person and the judge rated too"
        result = EstimateValue(
            value, rest, CORRELATION, reason=None if value is not None else reason
        )
        yield estimate_row(sample, name._replace(measure=measure), result, basis)


def _order_sides(
    sample: JudgementSample, rows: pd.DataFrame, people: pd.DataFrame
) -> list[tuple[_OrderSide, _OrderSide]]:
    """The judge and each person, on the units that they and another person rated."""
    numbers = sample.numbers()
    judge = pd.Series(numbers[rows["place"].to_numpy()], index=rows["unit"].to_numpy())
    ratings_of_people = people.assign(rating=numbers[people["place"].to_numpy()])
    totals = ratings_of_people.groupby("unit")["rating"].agg(["sum", "count"])
    sides = []
    for _, person in ratings_of_people.groupby("rater"):
        units = person["unit"].to_numpy()
        total, count = (totals.loc[units, column].to_numpy() for column in ("sum", "count"))
        keep = (count >= 2) & np.isin(units, judge.index)
        if keep.sum() < FEW_UNITS:
            continue
        ratings = person["rating"].to_numpy()[keep]
        others_mean = (total[keep] - ratings) / (count[keep] - 1)
        clusters = person["cluster"].to_numpy()[keep]
        of_judge = judge.loc[units[keep]].to_numpy()
        sides.append(
            (
                _OrderSide(of_judge, others_mean, clusters),
                _OrderSide(ratings, others_mean, clusters),
            )
        )
    return sides


def _mean_rho(sides: list[_OrderSide], left_out: int | None) -> float | None:
    """Mean over people of Spearman's ρ; people whose units are all alike have none."""
    values = []
    for side in sides:
        mask = side.clusters != (-1 if left_out is None else left_out)
        if mask.sum() > 1:
            rho = mean_rho(side.ratings[None, mask], side.others_mean[None, mask])
            values += [] if rho is None else [rho]
    return float(np.mean(values)) if values else None


def _or_nan(value: float | None) -> float:
    return np.nan if value is None else value

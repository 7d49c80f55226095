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
from fieldwork.metrics.judgements.sample import PEOPLE, JudgementSample, freedom_of, without_each
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
        units, owners: which unit it is, and whose.
    """

    judge: Floats
    people: Floats
    judge_accepts: Flags
    people_accept: Floats
    units: Indices
    owners: Indices


def judge_rows(
    sample: JudgementSample, judge: str, group: str | None
) -> Iterator[JudgementEstimate]:
    """A judge's estimates against people."""
    rows = sample.of_kind("model")
    rows, people = rows[rows["rater"] == judge], sample.of_kind("person")
    shared_units = judged_by_both(sample, rows, people)
    if not len(shared_units.units):
        return
    on_both = people[people["unit"].isin(rows["unit"])]
    name = EstimateName("", judge, PEOPLE, group)
    if sample.scale.accepted:
        yield from _acceptance_rows(sample, name, shared_units, on_both)
    if sample.scale.is_ordered:
        rest = without_each(shared_units.owners, lambda mask: _inflation(shared_units, mask))
        result = EstimateValue(
            _inflation(shared_units, np.ones(len(shared_units.units), dtype=bool)), rest
        )
        row_name = name._replace(measure="inflation")
        yield estimate_row(sample, row_name, result, basis_of(on_both))
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
        units=units.to_numpy(),
        owners=judge_side["owner"].to_numpy(),
    )


def _inflation(shared_units: JudgedPair, mask: Flags) -> float | None:
    """How much higher the judge rates than people, on average over units."""
    return float((shared_units.judge - shared_units.people)[mask].mean()) if mask.any() else None


# ---- acceptance ------------------------------------------------------------------------------------


def _acceptance_rows(
    sample: JudgementSample, name: EstimateName, shared_units: JudgedPair, on_both: pd.DataFrame
) -> Iterator[JudgementEstimate]:
    """The judge's acceptance held against people's verdicts.

    Args:
        on_both: people's judgements of these units.
    """
    has_verdict = shared_units.people_accept != 0.5
    judge, people = (
        shared_units.judge_accepts[has_verdict],
        shared_units.people_accept[has_verdict] > 0.5,
    )
    owners = shared_units.owners[has_verdict]
    basis = basis_of(on_both[on_both["unit"].isin(shared_units.units[has_verdict])])
    measures: dict[str, Callable[[Flags], float | None]] = {
        "precision": lambda mask: _share((judge & people & mask).sum(), (judge & mask).sum()),
        "recall": lambda mask: _share((judge & people & mask).sum(), (people & mask).sum()),
        "f1": lambda mask: _share(
            2 * (judge & people & mask).sum(), (judge & mask).sum() + (people & mask).sum()
        ),
        "over_selection": lambda mask: _share((judge & mask).sum(), (people & mask).sum()),
    }
    everything = np.ones(len(owners), dtype=bool)
    for measure, statistic in measures.items():
        value = statistic(everything)
        result = EstimateValue(
            value,
            without_each(owners, statistic),
            SHARE if measure != "over_selection" else (0.0, np.inf),
            reason=None if value is not None else "nothing was accepted",
        )
        yield estimate_row(sample, name._replace(measure=measure), result, basis)


def _share(part: int, whole: int) -> float | None:
    return float(part / whole) if whole else None


# ---- order -----------------------------------------------------------------------------------------


class _OrderSide(NamedTuple):
    """Ratings of the units of one person by someone, and by the mean of the other people.

    Attributes:
        units, owners: which unit each is, and whose.
    """

    ratings: Floats
    others_mean: Floats
    units: Indices
    owners: Indices


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
        value = _mean_rho(parts, [np.ones(len(part.ratings), dtype=bool) for part in parts])
        basis = _basis_of_sides(parts)
        reason = f"no person has {FEW_UNITS} units that another person and the judge rated too"
        result = EstimateValue(
            value, _rest(parts), CORRELATION, reason=None if value is not None else reason
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
        owners = person["owner"].to_numpy()[keep]
        of_person = _OrderSide(ratings, others_mean, units[keep], owners)
        sides.append((of_person._replace(ratings=judge.loc[units[keep]].to_numpy()), of_person))
    return sides


def _basis_of_sides(sides: list[_OrderSide]) -> EstimateBasis:
    """What stands behind a mean over people: the units that they share with others and the judge."""
    return EstimateBasis(
        n_units=len({unit for side in sides for unit in side.units.tolist()}),
        n_judgements=sum(len(side.ratings) for side in sides),
        n_raters=len(sides),
        n_owners=len({owner for side in sides for owner in side.owners.tolist()}),
        freedom=freedom_of(np.concatenate([np.zeros(0, np.int64), *(s.owners for s in sides)])),
    )


def _rest(sides: list[_OrderSide]) -> Floats:
    """The mean without each cluster of owners, NaN where there is none."""
    if not sides:
        return np.empty(0)
    ends = np.cumsum([len(side.owners) for side in sides])[:-1]

    def mean_of(mask: Flags) -> float | None:
        return _mean_rho(sides, np.split(mask, ends))

    return without_each(np.concatenate([side.owners for side in sides]), mean_of)


def _mean_rho(sides: list[_OrderSide], masks: list[Flags]) -> float | None:
    """Mean over people of Spearman's ρ of what masks keep; people whose units are all alike have none."""
    values = []
    for side, mask in zip(sides, masks, strict=True):
        if mask.sum() > 1:
            rho = mean_rho(side.ratings[None, mask], side.others_mean[None, mask])
            values += [] if rho is None else [rho]
    return float(np.mean(values)) if values else None

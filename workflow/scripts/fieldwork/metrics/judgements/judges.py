"""A judge beside people: what it accepts, how much higher it rates, and how its order follows theirs.

People's verdict on a unit is their majority, and its rating their mean. Units with as many people for as
against have no verdict.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from fieldwork.metrics.judgements.authors import author_rows
from fieldwork.metrics.judgements.rows import (
    CORRELATION,
    SHARE,
    EstimateName,
    EstimateValue,
    basis_of,
    estimate_row,
    mean_of,
)
from fieldwork.metrics.judgements.sample import PEOPLE, JudgementSample, Statistic
from fieldwork.records.judging import JudgementEstimate
from fieldwork.statistics.arrays import Flags
from fieldwork.statistics.rank_correlation import mean_rho

FEW_UNITS = 10
"""Units below which a person's order says nothing."""


def judge_rows(
    sample: JudgementSample, judge: str, group: str | None
) -> Iterator[JudgementEstimate]:
    """A judge's estimates against people."""
    rows = sample.of_kind("model")
    rows, people = rows[rows["rater"] == judge], sample.of_kind("person")
    shared_units = judged_by_both(sample, rows, people)
    if shared_units.empty:
        return
    on_both = people[people["unit"].isin(rows["unit"])]
    name = EstimateName("", judge, PEOPLE, group)
    if sample.scale.accepted:
        yield from _acceptance_rows(sample, name, shared_units, on_both)
    if sample.scale.is_ordered:
        # how much higher the judge rates than people, on average over units
        beyond = (shared_units["rating"] - shared_units["rating_of_people"]).to_numpy()
        result = EstimateValue.over(shared_units["owner"].to_numpy(), mean_of(beyond))
        row_name = name._replace(measure="inflation")
        yield estimate_row(sample, row_name, result, basis_of(on_both))
        yield from _order_rows(sample, name, rows, people)
        yield from author_rows(sample, name, rows, people)


def judged_by_both(
    sample: JudgementSample, rows: pd.DataFrame, people: pd.DataFrame
) -> pd.DataFrame:
    """The units that a judge and at least one person judged, a row a unit in order.

    Columns are `owner`, the judge's `rating` and whether it `accepts`; `rating_of_people` and
    `accepts_of_people`, the mean of people's ratings and the share that accepts.
    """
    judge, of_people = (_with_ratings(sample, side) for side in (rows, people))
    means = of_people.groupby("unit")[["rating", "accepts"]].mean().astype(np.float64)
    means = means.add_suffix("_of_people")
    columns = judge.set_index("unit")[["owner", "rating", "accepts"]]
    return columns.join(means, how="inner").sort_index()


def _with_ratings(sample: JudgementSample, rows: pd.DataFrame) -> pd.DataFrame:
    ratings = sample.numbers()[rows["place"].to_numpy()]
    return rows.assign(rating=ratings, accepts=rows["value"].isin(sample.scale.accepted))


# ---- acceptance ------------------------------------------------------------------------------------


def _acceptance_rows(
    sample: JudgementSample, name: EstimateName, shared_units: pd.DataFrame, on_both: pd.DataFrame
) -> Iterator[JudgementEstimate]:
    """The judge's acceptance held against people's verdicts.

    Args:
        on_both: people's judgements of these units.
    """
    verdicts = shared_units[shared_units["accepts_of_people"] != 0.5]
    judge, owners = verdicts["accepts"].to_numpy(), verdicts["owner"].to_numpy()
    people = verdicts["accepts_of_people"].to_numpy() > 0.5
    basis = basis_of(on_both[on_both["unit"].isin(verdicts.index)])
    measures: dict[str, Statistic] = {
        "precision": lambda mask: _share((judge & people & mask).sum(), (judge & mask).sum()),
        "recall": lambda mask: _share((judge & people & mask).sum(), (people & mask).sum()),
        "f1": lambda mask: _share(
            2 * (judge & people & mask).sum(), (judge & mask).sum() + (people & mask).sum()
        ),
        "over_selection": lambda mask: _share((judge & mask).sum(), (people & mask).sum()),
    }
    for measure, statistic in measures.items():
        ends = SHARE if measure != "over_selection" else (0.0, np.inf)
        result = EstimateValue.over(owners, statistic, ends, reason="nothing was accepted")
        yield estimate_row(sample, name._replace(measure=measure), result, basis)


def _share(part: int, whole: int) -> float | None:
    return float(part / whole) if whole else None


# ---- order -----------------------------------------------------------------------------------------


def _order_rows(
    sample: JudgementSample, name: EstimateName, rows: pd.DataFrame, people: pd.DataFrame
) -> Iterator[JudgementEstimate]:
    """Rank correlation with the mean of the other people: of the judge, and of people themselves.

    Each person is left out in turn, and the judge is held against the same means as the person, so that
    people's own correlation is what a judge can be expected to reach.
    """
    ratings = _ratings_beside_others(sample, rows, people)
    reason = f"no person has {FEW_UNITS} units that another person and the judge rated too"
    for measure, column in (("rho", "rating_of_judge"), ("rho_of_people", "rating")):
        result = EstimateValue.over(
            ratings["owner"].to_numpy(), _mean_rho(ratings, column), CORRELATION, reason=reason
        )
        yield estimate_row(sample, name._replace(measure=measure), result, basis_of(ratings))


def _ratings_beside_others(
    sample: JudgementSample, rows: pd.DataFrame, people: pd.DataFrame
) -> pd.DataFrame:
    """People's ratings of units that another person and the judge rated, person after person.

    With the columns `rating_of_judge` and `mean_of_others`, of the other people.
    """
    judge, ratings = (_with_ratings(sample, side) for side in (rows, people))
    by_unit = ratings.groupby("unit")["rating"]
    n, total = by_unit.transform("size"), by_unit.transform("sum")
    ratings = ratings.assign(
        rating_of_judge=ratings["unit"].map(judge.set_index("unit")["rating"]),
        mean_of_others=(total - ratings["rating"]) / (n - 1),
    )
    ratings = ratings[(n >= 2) & ratings["rating_of_judge"].notna()]
    ratings = ratings[ratings.groupby("rater")["unit"].transform("size") >= FEW_UNITS]
    return ratings.sort_values("rater", kind="stable")


def _mean_rho(ratings: pd.DataFrame, column: str) -> Statistic:
    """Mean over people of Spearman's ρ with the others; people whose units are all alike have none."""
    values, means = ratings[column].to_numpy(), ratings["mean_of_others"].to_numpy()
    raters = pd.factorize(ratings["rater"])[0]

    def statistic(mask: Flags) -> float | None:
        of_people = (mask & (raters == rater) for rater in np.unique(raters))
        rhos = (mean_rho(values[None, m], means[None, m]) for m in of_people if m.sum() > 1)
        defined_rhos = [rho for rho in rhos if rho is not None]
        return float(np.mean(defined_rhos)) if defined_rhos else None

    return statistic

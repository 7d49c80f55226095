"""People's mean rating from few people and many judgements of a model.

Prediction-powered inference (Angelopoulos et al. 2023, Science 382:669-674) with the weight of PPI++
(Angelopoulos, Duchi and Zrnic 2023, arXiv 2311.01453): the judge's mean over the units that no person
rated, and on the rated ones what people say beyond the judge. With weight 0 it is people's own mean.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from fieldwork.metrics.judgements.judges import judged_by_both
from fieldwork.metrics.judgements.rows import (
    EstimateName,
    EstimateValue,
    basis_of,
    estimate_row,
)
from fieldwork.metrics.judgements.sample import PEOPLE, JudgementSample, clusters_of, freedom_of
from fieldwork.records.judging import JudgementEstimate
from fieldwork.statistics.arrays import Floats, Indices
from fieldwork.statistics.intervals import jackknife_variance


class _PoweredUnits(NamedTuple):
    """Units rated by both, and those rated by the judge alone.

    Attributes:
        people, judge, judge_alone: the mean rating of people, and the judge's.
        clusters, clusters_alone: numbers of the users, or units, that are left out together.
    """

    people: Floats
    judge: Floats
    clusters: Indices
    judge_alone: Floats
    clusters_alone: Indices


def prediction_powered_rows(sample: JudgementSample, judge: str) -> Iterator[JudgementEstimate]:
    """People's mean with a judge's help, and how many units rated by people the help is worth."""
    if not sample.scale.is_ordered:
        return
    rows = sample.of_kind("model")
    rows, people = rows[rows["rater"] == judge], sample.of_kind("person")
    shared_units = judged_by_both(sample, rows, people)
    unrated_rows = rows[~rows["unit"].isin(people["unit"])]
    if len(shared_units.units) < 2 or unrated_rows.empty:
        return
    numbers = sample.numbers()[unrated_rows["place"].to_numpy()]
    owners = np.concatenate([shared_units.owners, unrated_rows["owner"].to_numpy()])
    # users whom people rated come first, so that few of them are in one group
    is_rated = np.isin(owners, shared_units.owners)
    groups = clusters_of(np.where(is_rated, owners, owners + owners.max() + 1))
    clusters, clusters_alone = np.split(groups, [len(shared_units.units)])
    units = _PoweredUnits(
        shared_units.people, shared_units.judge, clusters, numbers, clusters_alone
    )
    weight = _weight(units)
    clusters = np.unique(groups)
    rest = np.array([_mean(units, weight, cluster) for cluster in clusters])
    basis = basis_of(rows)._replace(
        n_raters=int(people["rater"].nunique()), freedom=freedom_of(shared_units.owners)
    )
    name = EstimateName("people_mean", judge, PEOPLE)
    # the judge's many units make people's few no more: the interval hangs on these
    n_rated_owners = len(np.unique(shared_units.owners))
    value = EstimateValue(_mean(units, weight, None), rest, n_decisive=n_rated_owners)
    yield estimate_row(sample, name, value, basis)
    n_saved = _units_saved(units, weight, clusters)
    reason = (
        "no interval: it is a ratio of two variances" if n_saved is not None else "nothing varies"
    )
    row_name = name._replace(measure="units_saved")
    yield estimate_row(sample, row_name, EstimateValue(n_saved, reason=reason), basis)


def _weight(units: _PoweredUnits) -> float:
    """The judge's weight with the least variance (PPI++, section 6), not below 0 and not above 1."""
    all_numbers = np.concatenate([units.judge, units.judge_alone])
    variance = float(np.var(all_numbers, ddof=1))
    if not variance > 0:
        return 0.0
    covariance = float(np.cov(units.people, units.judge)[0, 1])
    ratio = len(units.judge) / len(units.judge_alone)
    return min(1.0, max(0.0, covariance / ((1 + ratio) * variance)))


def _mean(units: _PoweredUnits, weight: float, left_out: int | None) -> float:
    """The judge's mean on its own units, and what people say beyond it; NaN without either."""
    mask, mask_alone = units.clusters != left_out, units.clusters_alone != left_out
    if left_out is None:
        mask, mask_alone = np.full(len(mask), True), np.full(len(mask_alone), True)
    if not mask.any() or not mask_alone.any():
        return float("nan")
    corrections = (units.people - weight * units.judge)[mask]
    return float(weight * units.judge_alone[mask_alone].mean() + corrections.mean())


def _units_saved(units: _PoweredUnits, weight: float, clusters: Indices) -> float | None:
    """Units rated by people alone that would give as narrow an interval, less those that they rated."""
    with_judge, without_judge = (
        np.array([_mean(units, w, cluster) for cluster in clusters]) for w in (weight, 0.0)
    )
    variances = [float(jackknife_variance(v[np.isfinite(v)])) for v in (with_judge, without_judge)]
    if not min(variances) > 0:
        return None
    return len(units.people) * (variances[1] / variances[0] - 1)

"""People's mean rating from few people and many judgements of a model.

Prediction-powered inference (Angelopoulos et al. 2023, Science 382:669-674) with the weight of PPI++
(Angelopoulos, Duchi and Zrnic 2023, arXiv 2311.01453): the judge's mean over the units that no person
rated, and on the rated ones what people say beyond the judge. With weight 0 it is people's own mean.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

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


def prediction_powered_rows(sample: JudgementSample, judge: str) -> Iterator[JudgementEstimate]:
    """People's mean with a judge's help, and how many units rated by people the help is worth."""
    if not sample.scale.is_ordered:
        return
    rows = sample.of_kind("model")
    rows, people = rows[rows["rater"] == judge], sample.of_kind("person")
    shared_units = judged_by_both(sample, rows, people)
    unrated_rows = rows[~rows["unit"].isin(people["unit"])]
    if len(shared_units) < 2 or unrated_rows.empty:
        return
    ratings = sample.numbers()[unrated_rows["place"].to_numpy()]
    of_judge_alone = pd.DataFrame({"owner": unrated_rows["owner"].to_numpy(), "rating": ratings})
    units = pd.concat([shared_units, of_judge_alone], ignore_index=True)
    owners, rated_owners = units["owner"].to_numpy(), shared_units["owner"].to_numpy()
    # users whom people rated come first, so that few of them are in one group
    is_rated = np.isin(owners, rated_owners)
    units["cluster"] = clusters_of(np.where(is_rated, owners, owners + owners.max() + 1))
    weight, clusters = _weight(units), np.unique(units["cluster"])
    rest = np.array([_mean(units[units["cluster"] != cluster], weight) for cluster in clusters])
    basis = basis_of(rows)._replace(
        n_raters=int(people["rater"].nunique()), freedom=freedom_of(rated_owners)
    )
    name = EstimateName("people_mean", judge, PEOPLE)
    # the judge's many units make people's few no more: the interval hangs on these
    n_rated_owners = len(np.unique(rated_owners))
    value = EstimateValue(_mean(units, weight), rest, n_decisive=n_rated_owners)
    yield estimate_row(sample, name, value, basis)
    n_saved = _units_saved(units, rest, clusters)
    reason = (
        "no interval: it is a ratio of two variances" if n_saved is not None else "nothing varies"
    )
    row_name = name._replace(measure="units_saved")
    yield estimate_row(sample, row_name, EstimateValue(n_saved, reason=reason), basis)


def _weight(units: pd.DataFrame) -> float:
    """The judge's weight with the least variance (PPI++, section 6), not below 0 and not above 1."""
    shared_units = units.dropna(subset="rating_of_people")
    variance = float(np.var(units["rating"].to_numpy(), ddof=1))
    if not variance > 0:
        return 0.0
    covariance = float(np.cov(shared_units["rating_of_people"], shared_units["rating"])[0, 1])
    ratio = len(shared_units) / (len(units) - len(shared_units))
    return min(1.0, max(0.0, covariance / ((1 + ratio) * variance)))


def _mean(units: pd.DataFrame, weight: float) -> float:
    """The judge's mean on its own units, and what people say beyond it; NaN without either.

    Units that people rated have a `rating_of_people`.
    """
    judge, people = units["rating"].to_numpy(), units["rating_of_people"].to_numpy()
    is_rated = ~np.isnan(people)
    if is_rated.all() or not is_rated.any():
        return float("nan")
    corrections = (people - weight * judge)[is_rated]
    return float(weight * judge[~is_rated].mean() + corrections.mean())


def _units_saved(units: pd.DataFrame, with_judge: Floats, clusters: Indices) -> float | None:
    """Units rated by people alone that would give as narrow an interval, less those that they rated.

    Args:
        with_judge: the mean without each cluster.
    """
    without_judge = np.array(
        [_mean(units[units["cluster"] != cluster], 0.0) for cluster in clusters]
    )
    variances = [float(jackknife_variance(v[np.isfinite(v)])) for v in (with_judge, without_judge)]
    if not min(variances) > 0:
        return None
    return int(units["rating_of_people"].notna().sum()) * (variances[1] / variances[0] - 1)

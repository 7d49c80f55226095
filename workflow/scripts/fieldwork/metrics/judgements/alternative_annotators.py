"""May a judge stand in for a person? The alternative-annotator test.

Calderon, Reichart and Dror 2025 (ACL, arXiv 2501.10970). Each person is left out in turn. On each of the
person's units that other people judged, the judge and the person are held against the others: by the
share that gave the same option, or on a scale of steps by the root mean square distance. W_j is 1 where
the judge is as near or nearer, W_h where the person is. A one-sided t test asks whether the mean of
W_h - W_j lies below the penalty; p-values are corrected over people (Benjamini and Yekutieli 2001). A
judge passes that replaces at least half of the people.

The published test takes units as independent. Units of one user are not, so that a second one sums them
up by user first, and the larger p-value counts.
"""

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from fieldwork.metrics.judgements.sample import JudgementSample
from fieldwork.records.judging import AlternativeAnnotator
from fieldwork.statistics.arrays import Floats

MIN_UNITS = 30
"""Units that a person must share with others and the judge to be tested, as in the paper."""
LEVEL = 0.05


def alternative_annotators(sample: JudgementSample, judge: str) -> list[AlternativeAnnotator]:
    """The test of a judge against each person."""
    rows = sample.of_kind("model")
    people = sample.of_kind("person")
    judge_places = rows[rows["rater"] == judge].set_index("unit")["place"]
    people = people[people["unit"].isin(judge_places.index)]
    people = people[people.groupby("unit")["rater"].transform("size") >= 2]
    tests = [
        _test_beside(sample, judge, str(person), own_rows, people, judge_places)
        for person, own_rows in people.groupby("rater")
    ]
    return list(_correct_tests(tests))


def _test_beside(
    sample: JudgementSample,
    judge: str,
    person: str,
    person_rows: pd.DataFrame,
    people: pd.DataFrame,
    judge_places: pd.Series,
) -> AlternativeAnnotator:
    units = person_rows["unit"].to_numpy()
    is_near, is_person_near, p_value, p_by_user, reason = None, None, None, None, None
    if len(units) < MIN_UNITS:
        reason = (
            f"{len(units)} units are shared with other people and the judge, {MIN_UNITS} needed"
        )
    else:
        peers = people[(people["rater"] != person) & people["unit"].isin(units)]
        of_person = person_rows.set_index("unit")["place"]
        judge_scores = _nearness(sample, judge_places, peers)
        person_scores = _nearness(sample, of_person, peers)
        is_near, is_person_near = judge_scores >= person_scores, person_scores >= judge_scores
        differences = is_person_near.astype(np.float64) - is_near
        beyond = differences - sample.scale.penalty
        p_value = _one_sided_p(beyond)
        # nearness is in the order of the units
        owners = pd.factorize(person_rows.sort_values("unit")["owner"])[0]
        p_by_user = _one_sided_p(np.bincount(owners, weights=beyond).astype(np.float64))
    return AlternativeAnnotator(
        scale=sample.scale.name,
        judge=judge,
        person=person,
        n_units=len(units),
        judge_share=None if is_near is None else float(is_near.mean()),
        person_share=None if is_person_near is None else float(is_person_near.mean()),
        penalty=sample.scale.penalty,
        p_value=p_value,
        p_by_user=p_by_user,
        p_corrected=None,
        is_replaceable=None,
        reason=reason,
    )


def _nearness(sample: JudgementSample, places: pd.Series, peers: pd.DataFrame) -> Floats:
    """How near a rater is to the other people, by unit in the order of their numbers."""
    peer_places = peers["place"].to_numpy()
    own_places = places.loc[peers["unit"].to_numpy()].to_numpy()
    if sample.scale.level == "nominal":
        scores = pd.Series((own_places == peer_places).astype(np.float64))
        return scores.groupby(peers["unit"].to_numpy()).mean().to_numpy(dtype=np.float64)
    numbers = sample.numbers()
    squares = pd.Series((numbers[own_places] - numbers[peer_places]) ** 2)
    means = squares.groupby(peers["unit"].to_numpy()).mean().to_numpy(dtype=np.float64)
    distances: Floats = -np.sqrt(means)
    return distances


def _one_sided_p(values: Floats) -> float:
    """Student's t test that a mean lies below 0, of units or of the sums of whole users.

    Values that are all alike leave nothing to chance: the mean lies below 0, or it does not. One value
    says nothing.
    """
    from scipy.special import stdtr

    n, mean = len(values), float(values.mean())
    if n < 2:
        return 1.0
    error = float(values.std(ddof=1)) / math.sqrt(n)
    if not error > 0:
        return 0.0 if mean < 0 else 1.0
    return float(stdtr(n - 1, mean / error))


def _correct_tests(tests: list[AlternativeAnnotator]) -> Iterator[AlternativeAnnotator]:
    from scipy.stats import false_discovery_control

    p_values = [
        max(test.p_value, test.p_by_user)
        for test in tests
        if test.p_value is not None and test.p_by_user is not None
    ]
    p_corrected = iter(false_discovery_control(p_values, method="by") if p_values else [])
    for test in tests:
        if test.p_value is None:
            yield test
        else:
            p = float(next(p_corrected))
            yield replace(test, p_corrected=p, is_replaceable=p <= LEVEL)

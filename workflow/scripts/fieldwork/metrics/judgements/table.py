"""All estimates of a study's judgements."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from fieldwork.metrics.judgements.agreement_rows import agreement_rows
from fieldwork.metrics.judgements.alternative_annotators import alternative_annotators
from fieldwork.metrics.judgements.biases import bias_rows
from fieldwork.metrics.judgements.judges import judge_rows
from fieldwork.metrics.judgements.prediction_powered import prediction_powered_rows
from fieldwork.metrics.judgements.rows import EstimateName, EstimateValue, basis_of, estimate_row
from fieldwork.metrics.judgements.sample import PEOPLE, JudgementSample, sample_of
from fieldwork.metrics.judgements.shares import share_rows
from fieldwork.records.judging import AlternativeAnnotator, JudgementEstimate
from fieldwork.sections.judging import Scale
from fieldwork.statistics.user_intervals import RAREST_USERS


class JudgementTables(NamedTuple):
    """Rows of the two tables of judgements."""

    estimates: list[JudgementEstimate]
    annotators: list[AlternativeAnnotator]


def measure_judgements(
    judgements: pd.DataFrame,
    units: pd.DataFrame,
    scales: Sequence[Scale],
    *,
    rarest_users: float = RAREST_USERS,
) -> JudgementTables:
    """The estimates of every scale that has judgements, and the tests of its judges.

    Args:
        judgements: rows of `Judgement`.
        units: rows of `JudgedUnit`.
        rarest_users: share of users of the rarest kind that intervals cover.
    """
    estimates: list[JudgementEstimate] = []
    annotators: list[AlternativeAnnotator] = []
    for scale in scales:
        sample = sample_of(judgements, units, scale, rarest_users)
        if sample.judgements.empty:
            continue
        estimates += _group_rows(sample, None)
        groups = sample.judgements["unit_group"].dropna().unique()
        for group in sorted(map(str, groups)):
            estimates += _group_rows(sample.of_group(group), group)
        for judge in sample.models():
            tests = alternative_annotators(sample, judge)
            annotators += tests
            estimates += _winning_rows(sample, judge, tests)
            estimates += prediction_powered_rows(sample, judge)
    return JudgementTables(estimates, annotators)


def _group_rows(sample: JudgementSample, group: str | None) -> Iterator[JudgementEstimate]:
    yield from share_rows(sample, group)
    yield from agreement_rows(sample, group)
    yield from bias_rows(sample, group)
    for judge in sample.models():
        yield from judge_rows(sample, judge, group)


def _winning_rows(
    sample: JudgementSample, judge: str, tests: Sequence[AlternativeAnnotator]
) -> Iterator[JudgementEstimate]:
    """The share of people whom a judge may stand in for, and how often it is as near as they are.

    People with too few units have no test and are not among them.
    """
    complete_tests = [test for test in tests if test.is_replaceable is not None]
    people = sample.of_kind("person")
    people = people[people["unit"].isin(_units_of(sample, judge))]
    if people.empty:
        return
    shortage = "no person shares enough units with other people and the judge"
    people = people[people.groupby("unit")["rater"].transform("size") >= 2]
    people = people[people["rater"].isin([test.person for test in complete_tests])]
    basis = basis_of(people)
    wins = [float(bool(test.is_replaceable)) for test in complete_tests]
    shares = [test.judge_share or 0.0 for test in complete_tests]
    for measure, values in (("winning_rate", wins), ("advantage", shares)):
        value = float(np.mean(values)) if values else None
        name = EstimateName(measure, judge, PEOPLE)
        result = EstimateValue(
            value, reason="no interval: people are compared, not users" if values else shortage
        )
        yield estimate_row(sample, name, result, basis)


def _units_of(sample: JudgementSample, judge: str) -> pd.Series:
    rows = sample.of_kind("model")
    return rows.loc[rows["rater"] == judge, "unit"]

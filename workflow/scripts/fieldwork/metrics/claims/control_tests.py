"""Tests of users against the negative controls: a model may change between the baseline and the users.

A control asks the baseline again. Where answers of users differ from the baseline and not from the
control, the model has changed and not the users. So each test that compares a condition with the baseline
is made once more with the control in the baseline's place, and a difference is claimed where both show
it. Owns which tests these are.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import pandas as pd

from fieldwork.measures import claimed_measures
from fieldwork.metrics.claims.measures import study_tests
from fieldwork.metrics.claims.study_test import StudyTest
from fieldwork.metrics.comparisons import measure_comparisons
from fieldwork.metrics.scores import measure_score_spreads
from fieldwork.metrics.shifts import measure_shifts
from fieldwork.metrics.values.comparisons import measure_value_comparisons
from fieldwork.records.estimates import Estimate
from fieldwork.records.field import FIELD
from fieldwork.records.metrics import ControlTest, RunAccuracy


class ControlTestSettings(NamedTuple):
    """What the study says of these tests; names are those of `metrics` and `study` in the config.

    Attributes:
        users: conditions with a user, real ones included.
        controls: conditions that ask the baseline again.
    """

    users: Sequence[str]
    controls: Sequence[str]
    permutations: int
    rarest_users: float
    seed: int


def measure_control_tests(
    answers: pd.DataFrame,
    items: pd.DataFrame,
    runs: Sequence[RunAccuracy],
    estimates: Sequence[Estimate],
    settings: ControlTestSettings,
) -> list[ControlTest]:
    """A row for each test of a condition with a user and each control.

    Args:
        estimates: of declared measures, which are compared with the controls already.

    Raises:
        StudyError: no permutations.
    """
    rows: list[ControlTest] = []
    for control in settings.controls:
        sides = {control, *settings.users}
        part = answers[answers["condition"].isin(sides)]
        part_runs = [run for run in runs if run.condition in sides]
        tables = {
            **_tables_against(control, part, items, part_runs, settings),
            **_estimates_against(control, estimates),
        }
        rows += [_row(test, control) for test in _tests(tables, settings.users)]
    return rows


def _tables_against(
    control: str,
    answers: pd.DataFrame,
    items: pd.DataFrame,
    runs: Sequence[RunAccuracy],
    settings: ControlTestSettings,
) -> Mapping[str, Sequence[Any]]:
    """Metric tables that compare conditions with a baseline, by the measure that claims their tests."""
    seed, n, rarest = settings.seed, settings.permutations, settings.rarest_users
    return {
        "distance": measure_comparisons(
            answers,
            baseline=control,
            n_permutations=n,
            seed=seed,
            metrics=("js_bits",),
            rarest_users=rarest,
        ),
        "option_share": measure_shifts(answers, baseline=control, rarest_users=rarest),
        "score_spread": measure_score_spreads(
            runs, baseline=control, n_permutations=n, seed=seed, rarest_users=rarest
        ),
        # values of real users are compared with no baseline
        "value": measure_value_comparisons(
            answers[answers["condition"] != FIELD],
            items,
            baseline=control,
            n_permutations=n,
            seed=seed,
            rarest_users=rarest,
        ),
    }


def _estimates_against(
    control: str, estimates: Sequence[Estimate]
) -> Mapping[str, Sequence[Estimate]]:
    """The rows of declared measures, with the control in the baseline's place."""
    rows = [
        replace(row, reference="baseline")
        for row in estimates
        if (row.reference, row.versus) == ("control", control)
    ]
    return dict.fromkeys((*claimed_measures(), "score"), rows)


def _tests(tables: Mapping[str, Sequence[Any]], users: Sequence[str]) -> Iterator[StudyTest]:
    for measure, rows in tables.items():
        yield from (test for test in study_tests(measure, rows) if test.key.condition in users)


def _row(test: StudyTest, control: str) -> ControlTest:
    return ControlTest(
        **test.key._asdict(),
        control=control,
        estimate=test.estimate,
        ci_low=test.ci_low,
        ci_high=test.ci_high,
        p_value=test.p_confirmed if test.p_value is not None else None,
        direction=test.direction,
        reason=test.reason,
    )

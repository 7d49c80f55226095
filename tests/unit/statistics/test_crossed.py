"""Intervals over prompts and people: against closed forms, and coverage in a two-way layout."""

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from fieldwork.statistics.arrays import Floats
from fieldwork.statistics.crossed import PeopleVariance, crossed_interval, people_variance
from fieldwork.statistics.intervals import Interval


def test_without_people_it_is_student_over_prompts() -> None:
    values = np.array([0.1, 0.4, -0.2, 0.3, 0.0, 0.5])
    interval = crossed_interval(values, PeopleVariance(0.0, 0.0, 99))
    assert interval == pytest.approx(tuple(ttest_1samp(values, 0.0).confidence_interval(0.95)))


@pytest.mark.parametrize("spread", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("is_shared", [True, False], ids=["habits", "people of each prompt"])
def test_it_holds_the_mean_of_crossed_prompts_and_people(spread: float, is_shared: bool) -> None:
    random = np.random.default_rng(4)
    hits, prompts, people = 0, 9, 20
    for _ in range(400):
        # a prompt's own effect, a person's over all prompts or in each, and an answer's
        of_people = random.normal(0, 1, size=(people, 1 if is_shared else prompts))
        answers = of_people + random.normal(0, 1, size=(people, prompts))
        answers += random.normal(0, spread, size=(1, prompts))
        low, high = interval_of(answers)
        hits += low <= 0 <= high
    # 400 data sets at 95 %: 367 is past the 99.5 % point; too wide where prompts add nothing
    assert hits >= 367


def interval_of(answers: Floats) -> Interval:
    people = len(answers)
    covariance = np.cov(answers, rowvar=False) / people
    variance = PeopleVariance(
        float(covariance.mean()), float(np.diag(covariance).mean()), people - 1
    )
    return crossed_interval(answers.mean(axis=0), variance)


def test_people_who_answer_all_prompts_have_the_variance_of_a_mean() -> None:
    values = np.random.default_rng(2).normal(size=(12, 5))
    people = people_variance(values)
    assert people.of_mean == pytest.approx(values.mean(axis=1).var(ddof=1) / 12)
    assert people.of_prompt == pytest.approx(values.var(axis=0, ddof=1).mean() / 12)
    assert people.freedom == 11


def test_a_person_without_an_answer_is_left_out_where_it_is_missing() -> None:
    values = np.array([[0.0, 1.0], [1.0, np.nan], [0.5, 0.0], [np.nan, 0.5]])
    people = people_variance(values)
    without = [
        np.mean([np.nanmean(np.delete(values, k, axis=0)[:, item]) for item in (0, 1)])
        for k in range(4)
    ]
    assert people.of_mean == pytest.approx(3 / 4 * np.sum((without - np.mean(without)) ** 2))
    assert people.of_prompt == pytest.approx(0.25 / 3)


@pytest.mark.parametrize("spread", [0.0, 0.5])
def test_crossed_intervals_of_people_who_miss_prompts_hold_the_mean(spread: float) -> None:
    random, hits = np.random.default_rng(6), 0
    for _ in range(400):
        answers = random.normal(0, 1, size=(25, 1)) + random.normal(0, 1, size=(25, 12))
        answers += random.normal(0, spread, size=(1, 12))
        answers[random.random(answers.shape) < 0.2] = np.nan
        interval = crossed_interval(np.nanmean(answers, axis=0), people_variance(answers))
        hits += interval.low <= 0 <= interval.high
    assert hits >= 367

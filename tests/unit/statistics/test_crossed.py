"""Intervals over prompts and people: against closed forms, and coverage in a two-way layout."""

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from fieldwork.statistics.crossed import PeopleVariance, crossed_interval, people_variance


def test_without_people_it_is_student_over_prompts() -> None:
    values = np.array([0.1, 0.4, -0.2, 0.3, 0.0, 0.5])
    interval = crossed_interval(values, PeopleVariance(0.0, 0.0, 99))
    assert interval == pytest.approx(tuple(ttest_1samp(values, 0.0).confidence_interval(0.95)))


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("spread", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("is_shared", [True, False], ids=["habits", "people of each prompt"])
def test_it_holds_the_mean_of_crossed_prompts_and_people(
    spread: float, is_shared: bool, missing: float
) -> None:
    """Of a prompt's own effect, a person's over all prompts or in each, and an answer's."""
    random, hits = np.random.default_rng(4), 0
    for _ in range(400):
        of_people = random.normal(size=(25, 1 if is_shared else 9))
        answers = of_people + random.normal(size=(25, 9)) + random.normal(0, spread, size=(1, 9))
        answers[random.random(answers.shape) < missing] = np.nan
        low, high = crossed_interval(np.nanmean(answers, axis=0), people_variance(answers))
        hits += low <= 0 <= high
    # 400 data sets at 95 %: 367 is past the 99.5 % point; too wide where prompts add nothing
    assert hits >= 367


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

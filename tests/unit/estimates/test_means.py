"""Means over prompts and differences: closed forms, whole users, settled sides, prompts like these."""

import math

import numpy as np
import pytest
from scipy.stats import ttest_1samp, ttest_ind

from fieldwork.estimates.means import (
    LEAST_MOVERS,
    Mean,
    PromptValue,
    difference_of_means,
    mean_of_numbers,
    mean_over,
    mean_test,
    other_prompts_interval,
)
from fieldwork.estimates.samples import NumberSample
from fieldwork.statistics.arrays import Floats
from fieldwork.statistics.intervals import MIN_ALIKE

RAREST = 0.125
N_USERS = 40
"""As many as `RAREST` needs, and one more."""


def prompt(values: Floats, *, users: bool = True, deviations: Floats | None = None) -> PromptValue:
    """A prompt whose value is the mean of its answers, by users p0 and on or by nobody."""
    moves = (values.mean() - values) / max(1, len(values) - 1)
    names = [f"p{k}" if users else "" for k in range(len(values))]
    return PromptValue(float(values.mean()), moves, names, deviations)


def numbers(seed: int, n: int = N_USERS, centre: float = 0.0) -> Floats:
    return np.random.default_rng([seed, n]).exponential(1, n) + centre


def mean_of(*values: Floats, users: bool = True) -> Mean:
    return mean_over([prompt(one, users=users) for one in values])


def test_reruns_have_the_interval_of_students_t() -> None:
    values = numbers(1, 9)
    expected = ttest_1samp(values, 0.0).confidence_interval(0.95)
    assert mean_of(values, users=False).interval(RAREST) == pytest.approx(tuple(expected))
    # each prompt's mean takes a degree of freedom
    assert mean_of(values, numbers(2, 5), users=False).freedom == 12


def test_an_error_is_as_wide_as_samples_of_a_third_show() -> None:
    plain = mean_of(numbers(1))
    deviations = np.random.default_rng(1).normal(0, 3 * math.sqrt(plain.variance), 200)
    wide = mean_over([prompt(numbers(1), deviations=deviations)])
    assert wide.variance == pytest.approx(deviations.var(ddof=1))
    # less than the jackknife's, or little more, narrows and widens nothing
    for factor in (0.1, 1.05 * math.sqrt(plain.variance) / deviations.std()):
        same = mean_over([prompt(numbers(1), deviations=factor * deviations)])
        assert same.variance == plain.variance


def test_without_users_a_difference_is_welchs() -> None:
    first, second = numbers(1, 9, 1.0), numbers(2, 14)
    sides = [mean_of(values, users=False) for values in (first, second)]
    welch = ttest_ind(first, second, equal_var=False)
    difference = difference_of_means(sides[0], sides[1], RAREST)
    assert difference.value == pytest.approx(first.mean() - second.mean())
    assert difference.p_value == pytest.approx(welch.pvalue)
    assert difference.interval == pytest.approx(tuple(welch.confidence_interval(0.95)))


def test_with_users_the_test_rejects_where_the_interval_does_and_students_t_too() -> None:
    reruns = mean_of(numbers(99, 30, 0.5), users=False)
    n_rejections = [0, 0]
    for step in range(-60, 140, 2):
        users = mean_of(numbers(4, N_USERS, step / 100))
        difference, test = difference_of_means(users, reruns, RAREST), mean_test(users, reruns)
        assert difference.interval is not None
        assert test is not None
        assert (difference.p_value or 0.0) >= test.p_value
        excludes = not difference.interval.low <= 0 <= difference.interval.high
        assert ((difference.p_value or 0.0) < 0.05) == (excludes and test.p_value < 0.05)
        n_rejections[0] += excludes
        n_rejections[1] += test.p_value < 0.05
    # they are not the same
    assert 0 < n_rejections[0] != n_rejections[1] > 0


def test_beside_many_answers_that_never_vary_the_whole_error_is_the_other_sides() -> None:
    users, settled = mean_of(numbers(1)), mean_of(np.full(MIN_ALIKE, 0.2), users=False)
    difference, interval = difference_of_means(users, settled, RAREST), users.interval(RAREST)
    assert settled.is_settled
    assert interval is not None
    assert difference.interval == pytest.approx((interval.low - 0.2, interval.high - 0.2))
    assert (difference.p_value or 1.0) < 1e-4
    # fewer may be alike by chance, and of two sides that never vary nothing is uncertain
    few = mean_of(np.full(MIN_ALIKE - 1, 0.2), users=False)
    for sides in ((users, few), (settled, settled)):
        assert difference_of_means(*sides, RAREST)[1:3] == (None, None)


@pytest.mark.parametrize("n_movers", [LEAST_MOVERS - 1, LEAST_MOVERS])
def test_beside_them_few_who_differ_are_no_interval(n_movers: int) -> None:
    users = mean_of((np.arange(N_USERS) < n_movers).astype(float))
    settled = mean_of(np.zeros(200), users=False)
    assert users.n_movers == n_movers
    difference = difference_of_means(users, settled, RAREST)
    assert difference.p_value is not None
    assert (difference.interval is None) == (n_movers < LEAST_MOVERS)


@pytest.mark.parametrize("users", [True, False])
@pytest.mark.parametrize("sizes", [(40,), (40, 12, 1), (1,)])
def test_the_mean_of_numbers_is_that_over_their_prompts(
    users: bool, sizes: tuple[int, ...]
) -> None:
    values = [numbers(k, n) for k, n in enumerate(sizes)]
    over = mean_of(*values, users=users)
    items = np.repeat(np.arange(len(sizes)), sizes)
    units = np.concatenate([np.arange(n) for n in sizes]) if users else np.arange(sum(sizes))
    names = [*"abc"[: len(sizes)]]
    mean = mean_of_numbers(NumberSample(np.concatenate(values), items, units, names, users, 0, 0))
    assert mean is not None
    for name in ("value", "variance", "freedom", "n_units", "has_users", "is_settled", "n_movers"):
        assert getattr(mean, name) == pytest.approx(getattr(over, name)), name
    assert mean.interval(RAREST) == pytest.approx(over.interval(RAREST))
    if len(sizes) > 1:
        assert other_prompts_interval(mean) == pytest.approx(other_prompts_interval(over))


def test_where_people_do_not_matter_prompts_like_these_are_a_sample_for_students_t() -> None:
    sides = []
    for seed in (1, 2):
        centres = np.random.default_rng(seed).normal(0, 5, 9)
        noise = [numbers(k, 2000) / 1000 for k in range(9)]
        sides.append(mean_of(*[c + n for c, n in zip(centres, noise, strict=True)], users=False))
    first, second = sides
    expected = ttest_1samp(first.values, 0.0).confidence_interval(0.95)
    assert other_prompts_interval(first) == pytest.approx(tuple(expected), rel=0.001)
    expected = ttest_1samp(first.values - second.values, 0.0).confidence_interval(0.95)
    assert other_prompts_interval(first, second) == pytest.approx(tuple(expected), rel=0.001)


def test_what_letters_leave_open_widens_intervals_and_brings_sides_together() -> None:
    users, baseline = mean_of(numbers(1, centre=2.0)), mean_of(numbers(2, 60), users=False)
    whole = difference_of_means(users, baseline, RAREST)
    loose = users._replace(slack=0.3)
    assert whole.interval
    interval, own = difference_of_means(loose, baseline, RAREST), loose.interval(RAREST)
    assert interval.interval == pytest.approx(
        (whole.interval.low - 0.3, whole.interval.high + 0.3), abs=1e-12
    )
    own_alone = users.interval(RAREST)
    assert own_alone
    assert own == pytest.approx(own_alone.widen(0.3))
    nearer = mean_of(numbers(1, centre=1.7))
    assert interval.p_value == pytest.approx(difference_of_means(nearer, baseline, RAREST).p_value)
    assert interval.value == whole.value
    below = difference_of_means(baseline, loose, RAREST)
    assert below.p_value == pytest.approx(interval.p_value)
    anything = difference_of_means(users._replace(slack=5.0), baseline, RAREST)
    assert anything.p_value == 1.0

"""Closed forms against scipy, enumeration and hand-computed values."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from fieldwork.metrics.resampling import (
    generator,
    rarefaction_table,
    sampled_counts,
    student_quantile,
    subsample_indices,
    wilson_interval,
)


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
@pytest.mark.parametrize(
    ("successes", "trials"), [(0, 1), (1, 1), (0, 7), (7, 7), (3, 10), (118, 514), (1, 100_000)]
)
def test_wilson_is_scipys(successes: int, trials: int, confidence: float) -> None:
    expected = binomtest(successes, trials).proportion_ci(confidence, method="wilson")
    found = wilson_interval(successes, trials, confidence=confidence)
    assert found == pytest.approx((expected.low, expected.high), abs=1e-12)


@pytest.mark.parametrize("trials", range(1, 60))
def test_wilson_ends_are_exact(trials: int) -> None:
    assert wilson_interval(0, trials).low == 0.0
    assert wilson_interval(trials, trials).high == 1.0


@pytest.mark.parametrize(("successes", "trials"), [(0, 0), (2, 1), (-1, 3)])
def test_wilson_refuses_what_is_no_share(successes: int, trials: int) -> None:
    with pytest.raises(ValueError, match="have no interval"):
        wilson_interval(successes, trials)


@pytest.mark.parametrize(("population", "size"), [(1, 1), (5, 1), (5, 3), (6, 6), (9, 4)])
def test_rarefaction_table_is_the_share_of_subsets(population: int, size: int) -> None:
    subsets = list(combinations(range(population), size))
    for k, found in enumerate(rarefaction_table(population, size)):
        holding = sum(any(member < k for member in subset) for subset in subsets)
        assert found == pytest.approx(holding / len(subsets), abs=1e-12)


@pytest.mark.parametrize(("population", "size"), [(550, 37), (550, 549), (2000, 1000)])
def test_rarefaction_table_is_the_binomial_ratio(population: int, size: int) -> None:
    table = rarefaction_table(population, size)
    for k in (0, 1, 2, population // 2, population - 1, population):
        exact = 1 - math.comb(population - k, size) / math.comb(population, size)
        assert table[k] == pytest.approx(exact, rel=1e-9, abs=1e-12)


def test_rarefaction_table_at_full_size_is_exact() -> None:
    assert rarefaction_table(7, 7).tolist() == [0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]


def test_generators_differ_by_seed_and_name_and_by_nothing_else() -> None:
    draws = {
        generator(seed, *names).random()
        for seed in (1, 2)
        for names in (("a", "bc"), ("ab", "c"), ("a", "b", "c"), ())
    }
    assert len(draws) == 8
    assert generator(1, "a").random() == generator(1, "a").random()


def test_a_generator_does_not_change_between_versions() -> None:
    assert generator(7, "bootstrap", "m").integers(0, 1000, 4).tolist() == [155, 221, 124, 84]


@given(population=st.integers(1, 40), data=st.data())
def test_subsamples_hold_no_response_twice(population: int, data: st.DataObject) -> None:
    size = data.draw(st.integers(1, population))
    samples = subsample_indices(population, size, n_subsamples=5, random=generator(0))
    assert samples.shape == (5, size)
    assert all(len(set(sample)) == size for sample in samples.tolist())
    assert samples.min() >= 0
    assert samples.max() < population


def test_sampled_counts_count_repeats() -> None:
    indicator = np.array([[1, 0, 1], [0, 1, 1]], dtype=np.int64)
    samples = np.array([[0, 0, 1], [1, 1, 1]], dtype=np.int64)
    assert sampled_counts(samples, indicator).tolist() == [[2, 1, 3], [0, 3, 3]]


@pytest.mark.parametrize(
    ("freedom", "confidence", "expected"),
    # two-sided critical values as any printed table has them
    [(1, 0.95, 12.706), (9, 0.95, 2.262), (9, 0.99, 3.250), (99, 0.95, 1.984)],
)
def test_student_quantile_is_the_tables(freedom: int, confidence: float, expected: float) -> None:
    assert student_quantile(freedom, confidence) == pytest.approx(expected, abs=5e-4)


def test_one_unit_has_no_quantile() -> None:
    assert math.isnan(student_quantile(0))

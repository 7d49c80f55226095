"""The jackknife that leaves out most units: of a mean as the ordinary one, of a kink larger."""

import numpy as np
import pytest

from fieldwork.statistics.delete_many import (
    N_SAMPLES,
    scale_deviations,
    third_samples,
    widening,
)
from fieldwork.statistics.intervals import jackknife_variance


def test_a_mean_has_the_error_of_the_ordinary_jackknife() -> None:
    values = np.random.default_rng(2).normal(size=60)
    samples = third_samples(60, np.random.default_rng(3))
    deviations = scale_deviations(samples @ values / 20, 60)
    left_out = (values.sum() - values) / 59
    ratio = deviations.var(ddof=1) / float(jackknife_variance(left_out))
    # 200 samples have an error of a tenth
    assert ratio == pytest.approx(1.0, abs=0.3)
    assert 1.0 <= widening(deviations, float(jackknife_variance(left_out))) < 1.15


def test_an_estimate_with_a_kink_nearby_is_wider() -> None:
    """It falls faster below a share of a half, and leaving out one unit never comes there."""
    values = np.array([0.0] * 29 + [1.0] * 31)

    def estimate(shares: np.ndarray) -> np.ndarray:
        return np.where(shares >= 0.5, shares, 3 * shares - 1)

    samples = third_samples(60, np.random.default_rng(4))
    deviations = scale_deviations(estimate(samples @ values / 20), 60)
    variance = float(jackknife_variance(estimate((values.sum() - values) / 59)))
    assert widening(deviations, variance) > 1.5


def test_few_units_tell_nothing_more() -> None:
    samples = third_samples(5, np.random.default_rng(5))
    assert not scale_deviations(samples.sum(axis=1) * 1.0, 5).any()
    assert widening(np.zeros(N_SAMPLES), 0.1) == 1.0
    assert widening(np.ones(N_SAMPLES), 0.0) == 1.0

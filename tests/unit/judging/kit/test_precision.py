"""How precise judgements will be: the formulas against simulated raters."""

import numpy as np
import pytest

from fieldwork.judging.kit.precision import (
    NORMAL_95,
    kappa_half_width,
    precision_rows,
    share_half_width,
)
from fieldwork.sections.judging import UnitSharing
from fieldwork.sections.power import RaterAssumptions


def simulated_shares(
    share: float, kappa: float, likeness: float, n_users: int, m: int, raters: int
) -> np.ndarray:
    """Shares of yes of many studies, whose units and judgements are alike as the formula assumes.

    A user, a unit and a judgement each copy what is above them with some probability, or draw anew:
    two units of a user copy the user's value with probability likeness, so that they correlate by it.
    """
    random, shape = np.random.default_rng(8).random, (4_000, n_users, m, raters)
    user = random(shape[:2]) < share
    unit = np.where(random(shape[:3]) < likeness**0.5, user[..., None], random(shape[:3]) < share)
    judgement = np.where(random(shape) < kappa**0.5, unit[..., None], random(shape) < share)
    return judgement.mean(axis=(1, 2, 3))


@pytest.mark.parametrize(("m", "raters"), [(1, 1), (5, 1), (5, 3)])
def test_the_interval_of_a_share_is_as_wide_as_studies_differ(m: int, raters: int) -> None:
    share, kappa, likeness, n_users = 0.3, 0.49, 0.16, 30
    values = simulated_shares(share, kappa, likeness, n_users, m, raters)
    half_width = share_half_width(
        share, kappa, units=n_users * m, per_user=m, raters=raters, likeness=likeness
    )
    # units of a user are less alike where each is judged by few, so the formula is on the safe side
    spread = NORMAL_95 * float(values.std())
    assert spread <= half_width * 1.03
    assert spread >= half_width * (0.97 if m == 1 else 0.85)


def test_the_interval_of_kappa_is_as_wide_as_studies_differ() -> None:
    random, share, kappa, n = np.random.default_rng(4).random, 0.4, 0.5, 300
    unit = random((4_000, n)) < share
    one, other = (
        np.where(random(unit.shape) < kappa**0.5, unit, random(unit.shape) < share)
        for _ in range(2)
    )
    p, q = one.mean(axis=1), other.mean(axis=1)
    chance = p * q + (1 - p) * (1 - q)
    kappas = ((one == other).mean(axis=1) - chance) / (1 - chance)
    half_width = kappa_half_width(share, kappa, units=n, per_user=1, likeness=0)
    assert float(kappas.mean()) == pytest.approx(kappa, abs=0.01)
    assert NORMAL_95 * float(kappas.std()) == pytest.approx(half_width, rel=0.05)


def test_rows_say_how_many_raters_it_takes() -> None:
    assumptions = RaterAssumptions(
        users=[50], per_user=[2, 10], shares=[0.5], kappa=0.4, likeness=0.1, per_rater=100
    )
    small, large = precision_rows(assumptions, UnitSharing(overlap=0.2, shared_by=3))
    assert (small.n_units, small.n_judgements, small.n_raters) == (100, 140, 3)
    assert (large.n_units, large.n_judgements, large.n_raters) == (500, 700, 7)
    assert large.share_half_width < small.share_half_width
    assert large.kappa_half_width < small.kappa_half_width

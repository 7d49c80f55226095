"""Coefficients of agreement: published examples, bounds, and what has no value."""

import numpy as np
import pytest

from fieldwork.statistics.rater_agreement import (
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    pair_agreement,
)

# Krippendorff, "Computing Krippendorff's alpha-reliability" (2011), section D: four observers, 12 units
OBSERVERS = (
    "1 2 3 3 2 1 4 1 2 * * *",
    "1 2 3 3 2 2 4 1 2 5 * 3",
    "* 3 3 3 2 3 4 2 2 5 1 *",
    "1 2 3 3 2 4 4 1 2 5 1 *",
)

# Fleiss 1971, table 1 as it is often reprinted: 10 units, 14 raters, 5 options
FLEISS = np.array(
    [[0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
     [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7]]
)  # fmt: skip


def observer_counts() -> np.ndarray:
    counts = np.zeros((12, 5), dtype=np.int64)
    for line in OBSERVERS:
        for unit, letter in enumerate(line.split()):
            if letter != "*":
                counts[unit, int(letter) - 1] += 1
    return counts


@pytest.mark.parametrize(
    ("level", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_krippendorffs_matrix_has_its_published_alpha(level: str, published: float) -> None:
    value = krippendorff_alpha(observer_counts(), level, np.arange(1.0, 6.0))  # type: ignore[arg-type]
    assert value == pytest.approx(published, abs=5e-4)


def test_published_examples_have_their_published_kappa_and_ac1() -> None:
    """0.77544 in irrCAC for R, whose matrix it is; units with one rater count for chance."""
    assert fleiss_kappa(FLEISS) == pytest.approx(0.210, abs=5e-4)
    assert gwet_ac1(observer_counts()) == pytest.approx(0.77544, abs=5e-5)


def test_what_says_nothing_has_no_value() -> None:
    all_one, alone = np.array([[3, 0], [3, 0]]), np.array([[1, 0], [0, 1]])
    for counts in (all_one, alone):
        assert fleiss_kappa(counts) is None
        assert krippendorff_alpha(counts, "nominal", np.array([0.0, 1.0])) is None
    assert gwet_ac1(all_one) == pytest.approx(1.0)
    assert gwet_ac1(alone) is None
    assert pair_agreement(np.zeros((2, 2))) is None
    one_option = pair_agreement(np.array([[5.0, 0.0], [0.0, 0.0]]))
    assert one_option is not None
    assert (one_option.exact_share, one_option.kappa, one_option.largest_kappa) == (1.0, None, None)


def test_raters_who_draw_agree_as_chance_says() -> None:
    p, generator = [0.1, 0.2, 0.3, 0.3, 0.1], np.random.default_rng(1)
    pairs = np.zeros((5, 5))
    np.add.at(pairs, (*generator.choice(5, size=(2, 200_000), p=p),), 1)
    agreement = pair_agreement(pairs)
    assert agreement is not None
    assert agreement.exact_share == pytest.approx(agreement.chance_exact, abs=0.005)
    assert agreement.near_share == pytest.approx(agreement.chance_near, abs=0.005)
    assert agreement.kappa == pytest.approx(0, abs=0.005)
    assert agreement.weighted_kappa == pytest.approx(0, abs=0.01)

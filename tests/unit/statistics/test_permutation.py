"""The tests against enumeration of all permutations, and Fisher's."""

import itertools
import math
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy.stats import multivariate_hypergeom

from fieldwork.errors import StudyError
from fieldwork.statistics import permutation
from fieldwork.statistics.arrays import Counts, Floats
from fieldwork.statistics.permutation import (
    all_tables,
    count_tables,
    permutation_test,
    require_permutations,
    sign_flips,
    table_chances,
)


def array(*values: int) -> Counts:
    return np.array(values, dtype=np.int64)


def distance(first: Counts, second: Counts) -> Floats:
    shares = [side / side.sum(axis=1, keepdims=True) for side in (first, second)]
    return np.abs(shares[0] - shares[1]).sum(axis=1) / 2


@pytest.mark.parametrize(
    ("pooled", "size"), [((2, 3, 1), 3), ((5, 5), 4), ((1, 1, 1, 1, 1), 2), ((4,), 4), ((0, 3), 2)]
)
def test_tables_are_all_and_sum_to_one(pooled: tuple[int, ...], size: int) -> None:
    tables = all_tables(array(*pooled), size)
    expected = [t for t in itertools.product(*(range(k + 1) for k in pooled)) if sum(t) == size]
    assert sorted(map(tuple, tables.tolist())) == sorted(expected)
    assert count_tables(array(*pooled), size) == len(expected)
    chances = table_chances(tables, array(*pooled))
    assert chances.sum() == pytest.approx(1)
    assert chances[0] == pytest.approx(multivariate_hypergeom.pmf(tables[0], pooled, size))


@pytest.mark.parametrize(
    ("first", "second"), [((3, 1, 0), (0, 2, 2)), ((2, 2), (2, 2)), ((4, 0), (0, 3))]
)
def test_exact_p_is_the_share_of_relabellings(
    first: tuple[int, ...], second: tuple[int, ...]
) -> None:
    sides = array(*first), array(*second)
    kinds = np.repeat(np.arange(len(first)), sum(sides))
    ways = itertools.combinations(kinds, sum(first))
    tables = np.array([np.bincount(way, minlength=len(first)) for way in ways])
    distances = distance(tables, sum(sides) - tables)
    observed = distance(sides[0][None], sides[1][None])
    found = permutation_test(*sides, distance, n_permutations=9, random=np.random.default_rng(0))
    assert found.p_value == pytest.approx(np.mean(distances > observed - 1e-9))
    assert found.p_least == pytest.approx(np.mean(distances > max(distances) - 1e-9))
    assert found.n_permutations == 0


@pytest.mark.parametrize(
    ("differences", "p"),
    [([1.0] * 6, 2 / 64), ([1.0, -1.0], 1.0), ([3.0, 2.0, 1.0], 0.25), ([1.0] * 20, 1 / 100)],
)
def test_sign_flips(differences: list[float], p: float) -> None:
    tested = sign_flips(np.array(differences), n_permutations=99, random=np.random.default_rng(1))
    assert tested.p_value == pytest.approx(p)


def test_no_permutations_are_refused() -> None:
    with pytest.raises(StudyError, match=r"metrics\.permutations is 0: a test needs at least 1"):
        require_permutations(0)


def test_going_on_keeps_the_level() -> None:
    """Of p-values drawn in stages, as many are below a level as of the true ones, which are uniform."""
    random = np.random.default_rng(1)

    def staged(p: float) -> float:
        return permutation.staged_test(lambda n: int(random.binomial(n, p)), 199, 19_999).p_value

    p_values = np.array([staged(p) for p in random.random(40_000) * 0.02])
    for level in (0.0005, 0.002, 0.01):
        share, expected = (p_values <= level).mean(), level / 0.02
        assert 0.8 * expected <= share <= expected + 3 * math.sqrt(expected / len(p_values))


@pytest.mark.parametrize(
    "test",
    [
        partial(permutation_test, array(6, 3, 1), array(2, 4, 4), distance),
        partial(sign_flips, np.array([3.0, 1.0, -0.5, 2.0, 0.25, 1.5])),
    ],
)
def test_draws_come_near_the_exact_value(test: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = partial(test, n_permutations=4999, random=np.random.default_rng(1))
    exact = draw()
    monkeypatch.setattr(permutation, "MAX_TABLES", 1)
    drawn = draw()
    assert (exact.n_permutations, drawn.n_permutations) == (0, 4999)
    assert drawn.p_value == pytest.approx(exact.p_value, abs=4 * math.sqrt(0.25 / 4999))

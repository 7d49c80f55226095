"""The tests against enumeration of all permutations, and Fisher's."""

import itertools
import math

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
    kinds = [k for side in (first, second) for k, n in enumerate(side) for _ in range(n)]
    observed = distance(array(*first)[None], array(*second)[None])[0]
    hits = total = 0
    for chosen in itertools.combinations(range(len(kinds)), sum(first)):
        table = np.bincount([kinds[i] for i in chosen], minlength=len(first))
        hits += (
            distance(table[None], (array(*first) + array(*second) - table)[None])[0]
            > observed - 1e-9
        )
        total += 1
    found = permutation_test(
        array(*first), array(*second), distance, n_permutations=9, random=np.random.default_rng(0)
    )
    assert found.p_value == pytest.approx(hits / total)
    assert found.n_permutations == 0


def test_random_permutations_come_near_the_exact_value(monkeypatch: pytest.MonkeyPatch) -> None:
    sides = array(6, 3, 1), array(2, 4, 4)
    draw = {"n_permutations": 4999, "random": np.random.default_rng(1)}
    exact = permutation_test(*sides, distance, **draw)
    monkeypatch.setattr(permutation, "MAX_TABLES", 1)
    drawn = permutation_test(*sides, distance, **draw)
    assert drawn.n_permutations == 4999
    assert drawn.p_value == pytest.approx(exact.p_value, abs=4 * math.sqrt(0.25 / 4999))


@pytest.mark.parametrize(
    ("differences", "p"),
    [([1.0] * 6, 2 / 64), ([1.0, -1.0], 1.0), ([3.0, 2.0, 1.0], 0.25), ([1.0] * 20, 1 / 100)],
)
def test_sign_flips(differences: list[float], p: float) -> None:
    tested = sign_flips(np.array(differences), n_permutations=99, random=np.random.default_rng(1))
    assert tested.p_value == pytest.approx(p)


def test_too_many_signs_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    differences = np.array([3.0, 1.0, -0.5, 2.0, 0.25, 1.5])
    draw = {"n_permutations": 4999, "random": np.random.default_rng(1)}
    exact = sign_flips(differences, **draw)
    monkeypatch.setattr(permutation, "MAX_TABLES", 1)
    drawn = sign_flips(differences, **draw)
    assert (exact.n_permutations, drawn.n_permutations) == (0, 4999)
    assert drawn.p_value == pytest.approx(exact.p_value, abs=4 * math.sqrt(0.25 / 4999))


def test_no_permutations_are_refused() -> None:
    with pytest.raises(StudyError, match=r"metrics\.permutations is 0: a test needs at least 1"):
        require_permutations(0)


def test_going_on_keeps_the_level() -> None:
    """Of p-values drawn in stages, as many are below a level as of the true ones, which are uniform."""
    random = np.random.default_rng(1)
    true = random.random(40_000) * 0.02
    p_values = np.array(
        [
            permutation.staged_test(lambda n, p=p: int(random.binomial(n, p)), 199, 19_999).p_value
            for p in true
        ]
    )
    for level in (0.0005, 0.002, 0.01):
        share, expected = (p_values <= level).mean(), level / 0.02
        assert share <= expected + 3 * math.sqrt(expected / len(true))
        assert share >= 0.8 * expected


@pytest.mark.parametrize(
    ("sides", "least"), [((array(2, 0), array(0, 2)), 2 / 6), ((array(2, 2), array(2, 2)), 2 / 70)]
)
def test_the_least_p_value_is_that_of_the_furthest_split(
    sides: tuple[Counts, Counts], least: float
) -> None:
    test = permutation_test(*sides, distance, n_permutations=9, random=np.random.default_rng(0))
    assert test.p_least == pytest.approx(least)

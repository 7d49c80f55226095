"""The exact test of who asks against enumeration, a closed form, and the study's own permutations."""

import itertools
import math

import numpy as np
import pytest

from fieldwork.metrics.power.exact_test import exact_p_values


def p_value_of(ones: list[int], differing: int, puppets: int, answers: int) -> float:
    (chance,) = exact_p_values(
        np.array([ones]), np.array([differing]), puppets=puppets, answers=answers
    )
    return float(chance)


@pytest.mark.parametrize(("puppets", "answers"), [(2, 2), (4, 2), (3, 3), (2, 4), (2, 5)])
def test_one_item_is_all_assignments(puppets: int, answers: int) -> None:
    places = range(puppets * answers)
    for ones in range(puppets * answers + 1):
        pair_counts = [
            sum(
                k * (answers - k)
                for k in np.bincount(
                    [place // answers for place in ones_at], minlength=puppets
                ).tolist()
            )
            for ones_at in itertools.combinations(places, ones)
        ]
        for differing in set(pair_counts):
            expected = np.mean(np.array(pair_counts) <= differing)
            assert p_value_of([ones], differing, puppets, answers) == pytest.approx(expected)


def pairs_that_differ(puppets: int, ones: int) -> dict[int, float]:
    """Of twos: puppets! / (both! one! none!) 2^one / C(2 puppets, ones), as for genotypes."""
    chances = {}
    for one in range(ones % 2, min(ones, 2 * puppets - ones) + 1, 2):
        both = (ones - one) // 2
        ways = math.comb(puppets, both) * math.comb(puppets - both, one) * 2**one
        chances[one] = ways / math.comb(2 * puppets, ones)
    return chances


@pytest.mark.parametrize(("puppets", "ones"), [(10, 7), (40, 38), (100, 12), (400, 300), (800, 3)])
def test_twos_have_a_closed_form(puppets: int, ones: int) -> None:
    chances = pairs_that_differ(puppets, ones)
    assert sum(chances.values()) == pytest.approx(1)
    below = 0.0
    for differing in sorted(chances):
        below += chances[differing]
        if differing % max(1, puppets // 25) > 1:
            continue
        assert p_value_of([ones], differing, puppets, 2) == pytest.approx(below, abs=1e-9)

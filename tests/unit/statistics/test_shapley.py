"""Shapley's value against its definition over all orders, and its axioms on games with a known answer."""

import itertools
import math
from collections.abc import Iterable, Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldwork.statistics.shapley import (
    all_combinations,
    missing_combinations,
    shapley_weights,
)


def shapley_values(
    parts: Iterable[str], worths: Mapping[frozenset[str], float]
) -> dict[str, float]:
    """The value of each part, by its weights."""
    return {
        part: math.fsum(weight * worths[combination] for combination, weight in weights.items())
        for part, weights in shapley_weights(parts).items()
    }


PARTS = ("a", "b", "c", "d", "e", "f")


@st.composite
def games(draw: st.DrawFn) -> tuple[tuple[str, ...], dict[frozenset[str], float]]:
    parts = PARTS[: draw(st.integers(1, 5))]
    worth = st.floats(-10, 10, allow_nan=False)
    return parts, {combination: draw(worth) for combination in all_combinations(parts)}


@given(games())
def test_it_is_the_mean_over_all_orders(
    game: tuple[tuple[str, ...], dict[frozenset[str], float]],
) -> None:
    parts, worths = game
    changes: dict[str, list[float]] = {part: [] for part in parts}
    for order in itertools.permutations(parts):
        for place, part in enumerate(order):
            before = frozenset(order[:place])
            changes[part].append(worths[before | {part}] - worths[before])
    values = shapley_values(parts, worths)
    assert values == {part: pytest.approx(np.mean(c), abs=1e-9) for part, c in changes.items()}


def test_a_missing_combination_is_named() -> None:
    asked = {frozenset(), frozenset("a"), frozenset("ab")}
    assert missing_combinations("ab", asked) == [frozenset("b")]
    with pytest.raises(KeyError):
        shapley_values("ab", dict.fromkeys(asked, 1.0))

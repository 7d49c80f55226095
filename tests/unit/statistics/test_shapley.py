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


@given(games())
def test_the_values_sum_to_the_whole_change(
    game: tuple[tuple[str, ...], dict[frozenset[str], float]],
) -> None:
    parts, worths = game
    whole = worths[frozenset(parts)] - worths[frozenset()]
    assert sum(shapley_values(parts, worths).values()) == pytest.approx(whole, abs=1e-9)


def test_parts_that_add_up_get_what_they_add() -> None:
    steps = dict(zip(PARTS, (3.0, -1.0, 0.0, 2.0, 0.5, 0.25), strict=True))
    worths = {c: 10 - sum(steps[part] for part in c) for c in all_combinations(PARTS)}
    assert shapley_values(PARTS, worths) == {p: pytest.approx(-s) for p, s in steps.items()}


def test_what_only_two_do_together_is_shared_alike_and_a_bystander_gets_nothing() -> None:
    worths = {c: float({"a", "b"} <= c) for c in all_combinations("abc")}
    assert shapley_values("abc", worths) == pytest.approx({"a": 0.5, "b": 0.5, "c": 0.0})


def test_the_order_of_the_arguments_changes_no_bit() -> None:
    random = np.random.default_rng(1)
    worths = {c: float(random.normal()) for c in all_combinations("abcd")}
    turned = dict(reversed(worths.items()))
    assert shapley_values("abcd", worths) == shapley_values("dbca", turned)


def test_one_part_makes_the_whole_change() -> None:
    assert shapley_values("a", {frozenset(): 0.8, frozenset("a"): 0.5}) == pytest.approx(
        {"a": -0.3}
    )
    assert shapley_weights("a") == {"a": {frozenset(): -1.0, frozenset("a"): 1.0}}


def test_a_missing_combination_is_named() -> None:
    asked = {frozenset(), frozenset("a"), frozenset("ab")}
    assert missing_combinations("ab", asked) == [frozenset("b")]
    with pytest.raises(KeyError):
        shapley_values("ab", dict.fromkeys(asked, 1.0))

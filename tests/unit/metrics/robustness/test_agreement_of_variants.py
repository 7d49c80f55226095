"""Flips and overlap beside reruns: against loops over pairs, all swaps, and known sources."""

import itertools
from collections.abc import Sequence

import numpy as np
import pytest

from fieldwork.metrics.robustness.agreement import CellDistances, jaccard_distances, swap_test
from unit.metrics.robustness.wordings import letters, lists, measured, questions

ITEMS = [f"i{k}" for k in range(10)]
ONE = {"v": "o"}


def differ(a: Sequence[str], b: Sequence[str]) -> float:
    return 1 - len({*a} & {*b}) / len({*a} | {*b})


def excess(origin: Sequence[Sequence[str]], variant: Sequence[Sequence[str]]) -> float:
    """Mean distance of answers of two reruns on two sides, less that on the origin's side."""
    pairs = [*itertools.permutations(range(len(origin)), 2)]
    between = [differ(origin[a], variant[b]) for a, b in pairs]
    within = [differ(origin[a], origin[b]) for a, b in pairs]
    return sum(between) / len(pairs) - sum(within) / len(pairs)


@pytest.mark.parametrize(
    ("origin", "variant", "flips", "rerun"),
    [
        ("AA", "AA", 0.0, 0.0),
        ("AB", "AB", 1.0, 1.0),  # the first of one with the second of the other
        ("AAB", "AAA", 1 / 3, 2 / 3),
        ("A?", "A?", 1.0, 1.0),  # what cannot be read is an answer of its own
    ],
)
def test_flips_of_an_item(origin: str, variant: str, flips: float, rerun: float) -> None:
    answers = letters("o", {"i0": origin}) + letters("v", {"i0": variant})
    rows = measured(answers, questions("ov", ITEMS), ONE)
    assert rows["v", "flips"].estimate == pytest.approx(flips)
    assert rows["v", "flips_rerun"].estimate == pytest.approx(rerun)
    assert rows["v", "excess_flips"].estimate == pytest.approx(flips - rerun)


def test_one_answer_each_has_flips_and_no_control() -> None:
    answers = letters("o", {"i0": "A", "i1": "A"}) + letters("v", {"i0": "A", "i1": "B"})
    rows = measured(answers, questions("ov", ITEMS), ONE)
    assert rows["v", "flips"].estimate == 0.5
    for metric in ("flips_rerun", "excess_flips"):
        assert rows["v", metric].estimate is None
        assert "raise runs" in (rows["v", metric].reason or "")
    assert rows["v", "excess_flips"].p_value is None


def test_swaps_are_listed_as_a_loop_lists_them() -> None:
    origin, variant = ["ab", "bc", "cd"], ["ab", "xy", "d"]
    cell = CellDistances(jaccard_distances([tuple(text) for text in (*origin, *variant)]))
    assert cell.of_sides() - cell.of_reruns() == pytest.approx(excess(origin, variant))
    swaps = np.array([*itertools.product((0.0, 1.0), repeat=3)])
    expected = []
    for swap in swaps:
        sides = [
            (v, o) if is_swapped else (o, v)
            for o, v, is_swapped in zip(origin, variant, swap, strict=True)
        ]
        expected.append(excess([o for o, _ in sides], [v for _, v in sides]))
    assert cell.excess_of_swaps(swaps) == pytest.approx(expected)


def test_p_is_the_share_of_swaps_as_far_from_nothing() -> None:
    cells = {}
    for k, (origin, variant) in enumerate([("AAB", "BBB"), ("ABA", "CCA"), ("AAA", "AAB")]):
        cells[f"i{k}", ""] = CellDistances(jaccard_distances([*map(tuple, origin + variant)]))
    every = [
        sum(
            float(cell.excess_of_swaps(np.array([swap]))[0])
            for cell, swap in zip(cells.values(), swaps, strict=True)
        )
        for swaps in itertools.product(itertools.product((0.0, 1.0), repeat=3), repeat=3)
    ]
    exact = np.mean(np.abs(every) >= abs(every[0]) - 1e-9)
    test = swap_test(cells, n_permutations=20_000, random=np.random.default_rng(1))
    assert test.p_value == pytest.approx(exact, abs=0.01)
    # of nine reruns five have the same letter on both sides, where a swap changes nothing
    n_different = sum(int((c.distances[:3, 3:].diagonal() > 0).sum()) for c in cells.values())
    assert test.p_least == pytest.approx(max(1 / 20_001, 0.5**n_different))


def test_options_in_common() -> None:
    names = {f"i{k}": [["a", "b"], ["a", "c"]] for k in range(9)}
    moved = {f"i{k}": [["a", "b"], ["x", f"y{k}"]] for k in range(9)}
    rows = measured(lists("o", names) + lists("v", moved), questions("ov", ITEMS), ONE)
    # a first and the other's second have nothing in common, a second and the other's first one of three
    assert rows["v", "overlap"].estimate == pytest.approx(1 / 6)
    assert rows["v", "overlap_rerun"].estimate == pytest.approx(1 / 3)
    row = rows["v", "excess_overlap"]
    assert row.estimate == pytest.approx(-1 / 6)
    assert (row.reason, row.p_value is None) == ("no interval: items are all alike", False)
    assert {metric for _, metric in rows} >= {"distance", "distance_same", "excess_distance"}
    assert not [metric for _, metric in rows if "accuracy" in metric or "worst" in metric]


def test_users_have_no_interval_of_a_distance() -> None:
    answers = []
    for user in range(45):
        for task in "ov":
            names = {f"i{k}": [[f"n{(user + k) % 5}"], ["z"]] for k in range(9)}
            answers += lists(task, names, puppet=f"p{user:02}")
    rows = measured(answers, questions("ov", ITEMS), ONE)
    row = rows["v", "distance"]
    assert (row.ci_low, row.n_units, row.n_items) == (None, 45, 9)
    assert row.reason == "no interval: there is none over users"
    # one answer of each user: the second is z throughout
    assert row.estimate == pytest.approx(0.0, abs=1e-9)

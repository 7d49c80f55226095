"""Corrections against worked examples, within families."""

from dataclasses import dataclass

import pytest

from fieldwork.statistics.families import benjamini_hochberg, correct_rows, holm, holm_by_family


@pytest.mark.parametrize(
    ("p_values", "expected"),
    [
        ([], []),
        ([0.04], [0.04]),
        # by hand: 4 * .005, 3 * .01, then the running maximum of 2 * .03 and .04
        ([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]),
        ([0.9, 0.8], [1.0, 1.0]),
    ],
)
def test_holm(p_values: list[float], expected: list[float]) -> None:
    assert holm(p_values) == pytest.approx(expected)


def test_families_are_corrected_apart() -> None:
    p_values = [0.01, 0.04, None, 0.03, 0.005]
    assert holm_by_family(p_values, "aabab") == pytest.approx([0.03, 0.06, None, 0.06, 0.005])
    assert holm_by_family(p_values) == pytest.approx([0.03, 0.06, None, 0.06, 0.02])
    assert holm_by_family([None, None]) == [None, None]


@dataclass(frozen=True)
class Hypothesis:
    task: str
    p: float | None
    corrected: float | None = None


def test_rows_keep_their_order() -> None:
    rows = [
        Hypothesis("b", 0.02),
        Hypothesis("a", 0.5),
        Hypothesis("b", None),
        Hypothesis("b", 0.9),
    ]
    corrected = correct_rows(rows, lambda row: row.task, p_value="p", p_holm="corrected")
    assert [row.corrected for row in corrected] == [0.04, 0.5, None, 0.9]
    assert [row.p for row in corrected] == [0.02, 0.5, None, 0.9]


@pytest.mark.parametrize(
    ("p_values", "corrected"),
    [
        ([], []),
        ([0.01, 0.02, 0.03, 0.5], [0.04, 0.04, 0.04, 0.5]),
        ([0.5, 0.04, 0.001], [0.5, 0.06, 0.003]),
    ],
)
def test_benjamini_hochberg_by_hand(p_values: list[float], corrected: list[float]) -> None:
    assert benjamini_hochberg(p_values) == pytest.approx(corrected)

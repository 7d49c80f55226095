"""Corrections against worked examples, within families."""

from dataclasses import dataclass

import pytest

from fieldwork.statistics.families import benjamini_hochberg, correct_rows, holm, holm_by_family


def test_corrections_by_hand() -> None:
    assert holm([]) == benjamini_hochberg([]) == []
    # 4 * .005, 3 * .01, then the running maximum of 2 * .03 and .04
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert benjamini_hochberg([0.01, 0.02, 0.03, 0.5]) == pytest.approx([0.04, 0.04, 0.04, 0.5])
    assert benjamini_hochberg([0.5, 0.04, 0.001]) == pytest.approx([0.5, 0.06, 0.003])


@dataclass(frozen=True)
class Hypothesis:
    task: str
    p: float | None
    corrected: float | None = None


def test_families_are_corrected_apart_and_rows_keep_their_order() -> None:
    p_values = [0.01, 0.04, None, 0.03, 0.005]
    assert holm_by_family(p_values, "aabab") == pytest.approx([0.03, 0.06, None, 0.06, 0.005])
    assert holm_by_family(p_values) == pytest.approx([0.03, 0.06, None, 0.06, 0.02])
    assert holm_by_family([None, None]) == [None, None]
    rows = [Hypothesis(task, p) for task, p in zip("babb", (0.02, 0.5, None, 0.9), strict=True)]
    corrected = correct_rows(rows, lambda row: row.task, p_value="p", p_holm="corrected")
    assert [(row.p, row.corrected) for row in corrected] == [
        (0.02, 0.04), (0.5, 0.5), (None, None), (0.9, 0.9),
    ]  # fmt: skip

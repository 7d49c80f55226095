"""Corrections of the p-values of one family: Holm's, and Benjamini and Hochberg's.

A family is all the tests that one statement rests on. Which tests these are is for each caller to say.
"""

import dataclasses
from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeVar

import numpy as np

LEVEL = 0.05
"""Corrected p-values below this are claimed as a difference."""

Row = TypeVar("Row")


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm 1979: p-values that hold for all hypotheses together, in the order of `p_values`."""
    order = np.argsort(p_values, kind="stable")
    p_holms = [0.0] * len(order)
    highest = 0.0
    for rank, place in enumerate(order):
        highest = max(highest, min(1.0, (len(order) - rank) * p_values[place]))
        p_holms[place] = highest
    return p_holms


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Benjamini and Hochberg 1995: p-values that keep the expected share of false claims, in order.

    That share holds where tests are independent or positively dependent (Benjamini and Yekutieli 2001).
    """
    # takes half a second to import, and few jobs correct so
    from scipy.stats import false_discovery_control

    return [float(p) for p in false_discovery_control(p_values)] if p_values else []


def holm_by_family(
    p_values: Sequence[float | None], families: Sequence[Hashable] | None = None
) -> list[float | None]:
    """Holm's correction within each family; None where nothing was tested, which adds no hypothesis.

    Args:
        families: the family of each p-value; without it all are one family.
    """
    places: dict[Hashable, list[int]] = {}
    family_of = families or [None] * len(p_values)
    for place, (p_value, family) in enumerate(zip(p_values, family_of, strict=True)):
        if p_value is not None:
            places.setdefault(family, []).append(place)
    p_holms: list[float | None] = [None] * len(p_values)
    for members in places.values():
        tests = [p for place in members if (p := p_values[place]) is not None]
        for place, p_holm in zip(members, holm(tests), strict=True):
            p_holms[place] = p_holm
    return p_holms


def correct_rows(
    rows: Sequence[Row],
    family: Callable[[Row], Hashable],
    *,
    p_value: str = "p_value",
    p_holm: str = "p_holm",
) -> list[Row]:
    """Rows of a table with their corrected p-values, in the same order.

    Args:
        rows: dataclasses.
        family: what the rows of one family have in common.
        p_value, p_holm: names of the two columns.
    """
    p_holms = holm_by_family([getattr(row, p_value) for row in rows], [family(row) for row in rows])
    changes: list[dict[str, Any]] = [{p_holm: value} for value in p_holms]
    return [
        dataclasses.replace(row, **change)  # type: ignore[type-var]
        for row, change in zip(rows, changes, strict=True)
    ]
